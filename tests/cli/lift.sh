#!/bin/sh
# lift.sh LATHE MANDIR: what users of `lathe lift` meet: output, messages, exit statuses.
lathe=$1
mandir=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# expect STATUS WHAT ARGS...: runs lathe; its output is then in $dir/out and $dir/err.
expect() {
    want=$1
    what=$2
    shift 2
    "$lathe" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -ne "$want" ]; then
        fail "$what: exit status $got, not $want"
        sed 's/^/    /' "$dir/err" | head -5
    else
        passed=$((passed + 1))
    fi
}

fail() {
    failed=$((failed + 1))
    echo "FAIL: $1"
}

# says STREAM PATTERN: the output of the last run has a line with the pattern (an extended regular expression).
says() {
    if grep -Eq -- "$2" "$dir/$1"; then
        passed=$((passed + 1))
    else
        fail "$what: no '$2' in std$1"
        head -5 "$dir/$1" | sed 's/^/    /'
    fi
}

# refuses WHAT PATTERN ARGS...: the input's fault: status 1, exactly one line on stderr, nothing on stdout.
refuses() {
    what=$1
    pattern=$2
    shift 2
    expect 1 "$what" "$@"
    says err "$pattern"
    [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "$what: more than one line of message"
    [ ! -s "$dir/out" ] || fail "$what: output in spite of the error"
}

# An ELF file to read: the command itself.
program=$lathe
function=main

patch() { # patch FILE OFFSET BYTES(octal escapes)
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# ------------------------------------------------------------------------------------------------------- usage

expect 0 "help" --help
says out '^  lift '
for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/out"); do
    page=$mandir/lathe-$command.1
    [ "$command" = help ] || [ -f "$page" ] || fail "no manual page $page"
done
[ -f "$mandir/lathe.1" ] || fail "no manual page lathe.1"
expect 0 "version" --version
says out '^lathe [0-9]+\.[0-9]+'
expect 0 "help of lift" lift --help
says out '^usage: lathe lift '
for option in $(sed -n 's/^  --\([a-z-]*\).*/\1/p' "$dir/out"); do
    page=$(sed 's/\\-/-/g' "$mandir/lathe-lift.1")
    case $page in
    *"Fl -$option"*) ;;
    *) fail "--$option is not in lathe-lift.1" ;;
    esac
done
cp "$dir/out" "$dir/help"
expect 0 "help by name" help lift
cmp -s "$dir/out" "$dir/help" || fail "'help lift' and 'lift --help' differ"
expect 2 "no command"
expect 2 "unknown command" lfit
says err "unknown command 'lfit' \(did you mean 'lift'\?\)"
expect 2 "unknown option" lift --functon=main
says err 'unknown option --functon \(did you mean --function\?\)'
expect 2 "nothing to lift" lift
expect 2 "wrong choice" lift --hex=c3 --opt=fast
says err "'fast' is not one of none"
expect 2 "wrong number" lift --hex=c3 --at=here
expect 2 "missing argument" lift --hex
expect 2 "two outputs" lift --hex=c3 --asm --stats
expect 2 "file and hex" lift "$program" --hex=c3
expect 2 "no function named" lift "$program"

# ------------------------------------------------------------------------------------------------- broken input

refuses "missing file" "^lathe: $dir/none: No such file" lift "$dir/none" --function=main
refuses "directory" 'directory' lift "$dir" --function=main
echo "not a program, but long enough to hold a header if it had one, really quite long" >"$dir/text"
refuses "not an ELF" "^lathe: $dir/text: not an ELF file" lift "$dir/text" --function=main
: >"$dir/empty"
refuses "empty file" 'not an ELF file' lift "$dir/empty" --list
for bytes in 4 20 63 64 100 700 5000; do
    head -c $bytes "$program" >"$dir/short"
    refuses "truncated to $bytes bytes" "^lathe: $dir/short: truncated" lift "$dir/short" --list
done
cp "$program" "$dir/arm"
chmod u+w "$dir/arm"
patch "$dir/arm" 18 '\267\000'
refuses "no such architecture" "there is no 'arm'; there are x86-64 riscv64" lift --hex=00 --isa=arm
refuses "other machine" 'unknown architecture: EM_AARCH64' lift "$dir/arm" --function=main
cp "$program" "$dir/narrow"
chmod u+w "$dir/narrow"
patch "$dir/narrow" 4 '\001'
refuses "32-bit class" 'unknown architecture' lift "$dir/narrow" --function=main
refuses "unknown function" "no function called 'no_such_function'" lift "$program" --function=no_such_function
refuses "address without code" 'no code at 0x7' lift "$program" --function=0x7fffffff0000
refuses "odd hex" 'two hexadecimal digits' lift --hex="48 8"
refuses "no hex" 'no bytes' lift --hex=" "
refuses "not hex" "'zz" lift --hex="zz"
refuses "wrong signature" 'signature' lift --hex=c3 --signature=xyz
refuses "unwritable output" '/none/' lift --hex=c3 -o "$dir/none/out.ll"

# ------------------------------------------------------------------------------------------------------ lifting

expect 0 "hex" lift --hex="4889f8 c3"
says out '^define .*void @lifted_0x1000\(ptr'
expect 0 "hex at an address" lift --hex="4889f8 c3" --at=0x400000
says out '@lifted_0x400000\('
for level in none quick full max; do
    expect 0 "level $level" lift --hex="48 01 f8 c3" --opt=$level
    says out '^define '
done
expect 0 "guest comments" lift --hex="4889f8 4801f0 c3" --opt=none --guest
says out '^  ; 0x1000: mov rax, rdi$'
says out '^  ; 0x1003: add rax, rsi$'
says out '^  ; 0x1006: ret'
! grep -q lathe_insn "$dir/out" || fail "a marker is left in the output"
expect 0 "guest listing" lift --hex="4889f8 c3" --guest
says out '^; +0x1000: mov rax, rdi$'
expect 0 "assembly" lift --hex="4889f8 c3" --asm
says out '^lifted_0x1000:|^"lifted_0x1000":'
expect 0 "signature" lift --hex="488d0437 c3" --signature=lll
says out '^define .*i64 @sysv_0x1000\(i64'
expect 0 "side by side" lift --hex="488d0437 c3" --signature=lll --side-by-side
says out 'lea rax, .*\|'
says out '\|.*ret'
expect 0 "one instruction" lift --hex="4889f8 c3" --insn --cfg=text
! grep -q ret "$dir/out" || fail "--insn decoded more than one instruction"
expect 0 "one block" lift --hex="4885ff 7401 90 c3" --block --cfg=text
[ "$(grep -c '^block' "$dir/out")" -eq 1 ] || fail "--block decoded more than one block"
expect 0 "graph as text" lift --hex="4885ff 7401 90 c3" --cfg=text
[ "$(grep -c '^block' "$dir/out")" -eq 3 ] || fail "the graph has not three blocks"
says out '-> 0x1005 0x1006$|-> 0x1006 0x1005$'
says out '-> exit$'
expect 0 "graph for Graphviz" lift --hex="4885ff 7401 90 c3" --cfg=dot
says out '^digraph '
says out '"0x1000" -> "0x1005"'
expect 0 "position independence" lift --hex="488d0500000000 c3" --pic --opt=none
says out '@guest_image'
expect 0 "calls" lift --hex="e8fb000000 c3"
says out 'call void @lifted_0x1100\('
expect 0 "calls that leave" lift --hex="e8fb000000 c3" --calls=exit
! grep -q '@lifted_0x1100' "$dir/out" || fail "--calls=exit calls the callee"
expect 0 "recursion" lift --hex="e8fbffffff c3" --opt=none
says out 'call void @lifted_0x1000\('
! grep -q 'lathe_itself' "$dir/out" || fail "a stand-in is left in the output"
for flag in --keep-flags --no-jump-tables --strict-fp; do
    expect 0 "$flag" lift --hex="f20f58c1 c3" $flag
done
expect 0 "output file" lift --hex=c3 -o "$dir/out.ll"
grep -q '^define ' "$dir/out.ll" || fail "-o wrote no IR"
expect 0 "statistics" lift --hex="4889f8 c3" --stats
says out '^guest instructions +2$'
expect 0 "statistics as JSON" lift --hex="4889f8 c3" --stats=json
cp "$dir/out" "$dir/json"
expect 0 "support" lift --support
says out '^mov '
says out '^[1-9][0-9]* instructions'

# ------------------------------------------------------------------------------------------------- whole programs

expect 0 "list" lift "$program" --list
says out '^0x[0-9a-f]+ +[0-9]+ main$'
expect 0 "function by name" lift "$program" --function=$function
says out "^define .*@lifted_$function\\("
address=$("$lathe" lift "$program" --list | sed -n 's/ .* main$//p')
expect 0 "function by address" lift "$program" --function="$address" --cfg=text
says out "^block $address-.*entry"
expect 0 "side by side, of a program" lift "$program" --function=$function --side-by-side
true_program=$(command -v true)
if [ -f "$true_program" ]; then
    expect 0 "all functions" lift "$true_program" --all
    says out '^functions +[1-9]'
    says out '^  failed +0$'
    expect 0 "all functions as JSON" lift "$true_program" --all --stats=json
    cat "$dir/out" >>"$dir/json"
fi
if command -v python3 >/dev/null; then
    what="JSON"
    while read -r line; do
        echo "$line" | python3 -m json.tool >/dev/null || fail "not JSON: $line"
    done <"$dir/json"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
