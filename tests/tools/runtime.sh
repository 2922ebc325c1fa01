#!/bin/sh
# runtime.sh LATHE COUNTED ENDS SOURCE: the run-time of tools: memory, maps, files, options; and that a tool's results come however the program ends.
lathe=$(realpath "$1") counted=$(realpath "$2") ends=$(realpath "$3") here=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
unset LATHE_TOOL
mkdir "$work/out"
cd "$work/out" || exit 1

fail() {
    echo "FAIL: $*"
    failed=1
}

expect() {
    [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}

# Memory, locks, maps and the rest, in one thread and in eight.
for tier in quick opt auto; do
    for what in 0 t8; do
        expect "library $what, tier $tier" "$("$lathe" run --tier=$tier --tool="$here/library.c,name=value,flag,number=77,hex=0xAB12" -- "$counted" $what 2>&1)" "right"
    done
done
# What a thread has counted, asked for from quick code, from optimised code, and by functions that are called outside of both.
for option in --tier=quick --tier=opt "--tier=quick --no-tool-opt=counter" "--tier=quick --no-tool-opt"; do
    for what in 0 t8; do
        # shellcheck disable=SC2086
        expect "asked $what, $option" "$("$lathe" run $option --tool="$here/asked.c" -- "$counted" $what 2>&1)" "right"
    done
done
refuse() {
    got=$("$lathe" run --tool="$2" -- "$ends" exit 2>&1) && fail "$2: succeeds"
    case $got in
    *ready*) fail "$2: the program runs" ;;
    *"$1"*) ;;
    *) fail "$2: '$got' does not say '$1'" ;;
    esac
}
refuse "recording has no option 'wrong'; it knows out" "$here/recording.c,wrong=3"
refuse "number=7x is no number" "$here/library.c,name=value,flag,number=7x,hex=1"
refuse "/nosuch/file cannot be written: no such directory" "$here/recording.c,out=/nosuch/file"

# What the tool has recorded of a run with status $2: each file as a line, its lines sorted.
recorded() {
    rm -f record.*
    "$lathe" run --tool="$here/recording.c" -- "$ends" "$1" > output 2> errors
    expect "$1: status" $? "$2"
    for file in record.*; do
        sort "$file" | uniq -c | tr -s ' \n' ' ;'
        echo
    done | sort
}
expect "exit" "$(recorded exit 5)" " 1 begin ends; 1 end;"
expect "a fault" "$(recorded segv 139 2>/dev/null)" " 1 begin ends; 1 end;"
expect "threads" "$(recorded threads 5)" " 1 begin ends; 1 end; 3 thread ends;"
expect "fork" "$(recorded fork 5)" " 1 begin ends; 1 call getppid; 1 end;
 1 begin ends; 1 end;"
expect "vfork" "$(recorded vfork 5)" " 1 begin ends; 1 end;"
expect "exec" "$(recorded exec 5)" " 1 begin ends; 1 end;
 1 begin ends; 1 end;"
got=$(recorded forks 5)
expect "copies of a busy program" "$(echo "$got" | grep -c ' 1 begin ends; 20 call getppid; 1 end;')" 40
expect "the busy program itself" "$(echo "$got" | grep -c ' 1 begin ends;.* call getppid; 1 end; 3 thread ends;')" 1
recorded descriptors 5 > /dev/null
expect "descriptors" "$(cat output)" "$("$ends" descriptors)"

# What cannot be written is said, and the program goes on.
"$lathe" run --tool="$here/recording.c,out=/dev/full" -- "$ends" exit > output 2> errors
expect "a full disk: status" $? 5
grep -q '/dev/full cannot be written: no space is left (error 28): .* bytes' errors || fail "a full disk: $(cat errors)"
recorded small 5 > /dev/null
grep -q 'cannot be written: it would be too large (error 27)' errors || fail "a file that is too large: $(cat errors)"

# Symbols, registers, arguments.
line=$(addr2line -e "$ends" "0x$(nm "$ends" | awk '$3 == "nine" {print $1}')" | sed 's/.*://;s/ .*//')
for tier in quick opt auto; do
    expect "symbols and arguments, tier $tier" "$("$lathe" run --tier=$tier --tool="$here/naming.c,function=nine" -- "$ends" nine 2>&1)" "ready
nine(1, 2, 3, 4, 5, 6, 7, 8, 9) ends.c:$line foo::bar(int)
getppid in getppid of libc.so.6
1037"
done

[ $failed = 0 ] && echo ok
exit $failed
