# fish completion for lathe: commands, options and their choices, as the command's own --help tells them. Behind the program that is to be
# run, raised or lifted come files.

function __lathe_commands
    lathe --help | string replace -rf '^  ([a-z]+)   *(.*)' '$1\t$2'
end

# The command of the line so far; lathe-KIND is `lathe run`.
function __lathe_command
    set -l words (commandline -opc)
    if string match -q '*lathe-*' -- $words[1]
        echo run
    else
        echo $words[2]
    end
end

# Each option with what --help says of it; one that has choices once for each.
function __lathe_options
    for line in (lathe (__lathe_command) --help | string match -r '^  --[^ ]+.*')
        set -l name (string replace -rf '^  (--[a-z-]+).*' '$1' -- $line)
        set -l text (string replace -r '^  [^ ]+ *' '' -- $line)
        set -l choices (string replace -rf '^  --[a-z-]+\[?=([a-z0-9|-]+)\]?( .*)?$' '$1' -- $line)
        if test "$name" = --tool
            set choices (string join '|' (__lathe_tools))
        end
        if test -n "$choices"
            for choice in (string split '|' -- $choices)
                printf '%s=%s\t%s\n' $name $choice $text
            end
        else if string match -qr '^  --[a-z-]+=' -- $line
            printf '%s=\t%s\n' $name $text
        else
            printf '%s\t%s\n' $name $text
        end
    end
end

# The installed tools, which are beside the command.
function __lathe_tools
    for file in (command -s lathe | path dirname)/../share/lathe/tools/*.c
        path basename $file | string replace -r '\.c$' ''
    end
end

complete -c lathe -n 'test (count (commandline -opc)) -eq 1' -xa '(__lathe_commands)'
complete -c lathe -n 'test (__lathe_command) = help' -xa '(__lathe_commands)'
for name in lathe lathe-aarch64 lathe-riscv64 lathe-x86-64
    complete -c $name -n 'string match -q -- "-*" (commandline -ct)' -xa '(__lathe_options)'
end
