# bash completion for lathe: commands, options and their choices, as the command's own --help tells them. Behind the program that is to
# be run, raised or lifted come files.

# What --help of command $1 lists: an option a line, as it is written there.
_lathe_options() {
    lathe "$1" --help 2>/dev/null | sed -n 's/^  \(--*[^ ]*\).*/\1/p'
    echo --help
}

# The places of the installed tools are beside the command's.
_lathe_tools() {
    local file
    for file in "$(dirname "$(command -v lathe)")"/../share/lathe/tools/*.c; do
        basename "$file" .c
    done
}

# Is there a word that is no option between the command and the word that is completed? `-0 ARG` and the like have their argument as a word.
_lathe_has_program() {
    local word skip=
    for word; do
        if [ -n "$skip" ]; then
            skip=
        elif [ "$word" = -- ]; then
            return 0
        elif [[ $word == -[0EULgo] ]]; then
            skip=1
        elif [[ $word != -* ]]; then
            return 0
        fi
    done
    return 1
}

_lathe() {
    local line=${COMP_LINE:0:COMP_POINT} words cur command options name values
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cur=${words[${#words[@]} - 1]}
    case ${words[0]##*/} in
    lathe-*) command=run words=(lathe run "${words[@]:1}") ;;
    *) command=${words[1]} ;;
    esac
    COMPREPLY=()
    if [ "${#words[@]}" -le 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(lathe --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p') --help --version" -- "$cur")
    elif [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(lathe --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')" -- "$cur")
    elif _lathe_has_program "${words[@]:2:${#words[@]}-3}" || [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    elif [[ $cur == --*=* ]]; then
        # The shell takes what is behind '=' for a word of its own.
        name=${cur%%=*} cur=${cur#*=}
        values=$(_lathe_options "$command" | sed -n "s/^$name\[*=\([a-z0-9|-]*\)\]*\$/\1/p")
        [ "$name" = --tool ] && values=$(_lathe_tools)
        mapfile -t COMPREPLY < <(compgen -W "${values//|/ }" -- "$cur")
        [ -z "$values" ] && mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    else
        options=$(_lathe_options "$command" | sed 's/\[.*//; s/=.*/=/')
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    fi
}

complete -o filenames -F _lathe lathe lathe-aarch64 lathe-riscv64 lathe-x86-64
