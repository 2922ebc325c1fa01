#!/bin/bash
# completion.sh LATHE COMPLETIONS TOOLS: what bash, zsh and fish offer for a command line. The shells' own functions that draw the choices are replaced where there
# is no terminal.
lathe=$(realpath "$1")
completions=$(realpath "$2")
tools=$(realpath "$3")
. "$(dirname "$0")/../check.sh"

# As it is installed: the tools are beside the command.
mkdir -p bin share/lathe
ln -s "$lathe" bin/lathe
ln -s "$tools" share/lathe/tools
PATH=$dir/bin:$PATH

cat >bash.sh <<END
. $completions/lathe.bash
COMP_LINE=\$1 COMP_POINT=\${#1}
_lathe
printf '%s\n' "\${COMPREPLY[@]}"
END
cat >zsh.sh <<END
_describe() { print -rl -- "\${(@P)2}" | grep -- "^\$PREFIX" | sed 's/:.*//' }
compadd() { [[ \$1 == -a ]] && print -rl -- "\${(@P)2}" | grep -- "^\${PREFIX#*=}" }
compset() { : }
_files() { print -rl -- *(N) }
words=(\${=1}) && [[ \$1 == *' ' ]] && words+=('')
CURRENT=\$#words PREFIX=\$words[-1] service=\$words[1]
. $completions/_lathe
END
cat >fish.sh <<END
source $completions/lathe.fish
complete -C \$argv[1] | cut -f 1
END

# offers SHELL LINE WORD...: the choices are these and no others, in any order.
offers() {
    local shell=$1 line=$2
    shift 2
    expect 0 "$shell: $line" $shell "$shell.sh" "$line"
    printf '%s\n' "$@" | sort >wanted
    sort out >offered
    same wanted offered
}
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        skip "completion in $shell" "it is not installed"
        continue
    fi
    offers $shell "lathe r" run raise
    offers $shell "lathe help li" lift
    choice=
    [ $shell = fish ] && choice="--tier=" # which replaces the whole word
    offers $shell "lathe run --tier=q" "${choice}quick"
    [ $shell = fish ] && choice="--tool="
    offers $shell "lathe run --tool=mem" "${choice}memcheck" "${choice}memtrace"
done
offers bash "lathe run --t" --tier= --tool=
offers bash "lathe-riscv64 --st" --strict-fp --stats --strace
offers bash "lathe run -L /nowhere --gd" --gdb
touch program.c
offers bash "lathe run --tier=opt progr" program.c
offers bash "lathe run -- /bin/true --progr" # an option of the program's is not one of lathe's
finish
