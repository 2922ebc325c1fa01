#!/bin/sh
# lift.sh LATHE MANDIR: what users of `lathe lift` meet: output, messages, exit statuses.
lathe=$(realpath "$1")
mandir=$(realpath "$2")
. "$(dirname "$0")/../check.sh"

lift() {
    "$lathe" lift "$@"
}

# An ELF file to read: the command itself.
program=$lathe
function=main

# ------------------------------------------------------------------------------------------------------- usage

expect 0 "help" "$lathe" --help
says out '^  lift '
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out >commands
while read -r command; do
    [ "$command" = help ] || is -f "$mandir/lathe-$command.1"
done <commands
is -f "$mandir/lathe.1"
expect 0 "version" "$lathe" --version
says out '^lathe [0-9]+\.[0-9]+'
documented lift
lift --help >help
expect 0 "help by name" "$lathe" help lift
same out help
expect 2 "no command" "$lathe"
expect 2 "unknown command" "$lathe" lfit
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

refuses "missing file" "^lathe: none: No such file" lift none --function=main
refuses "directory" 'directory' lift "$dir" --function=main
echo "not a program, but long enough to hold a header if it had one, really quite long" >text
refuses "not an ELF" "^lathe: text: not an ELF file" lift text --function=main
: >empty
refuses "empty file" 'not an ELF file' lift empty --list
for bytes in 4 20 63 64 100 700 5000; do
    head -c $bytes "$program" >short
    refuses "truncated to $bytes bytes" "^lathe: short: truncated" lift short --list
done
cp "$program" other
chmod u+w other
patch other 18 '\0026\0000'
refuses "no such architecture" "there is no 'arm'; there are x86-64 riscv64 aarch64" lift --hex=00 --isa=arm
refuses "other machine" 'unknown architecture: EM_S390' lift other --function=main
cp "$program" narrow
chmod u+w narrow
patch narrow 4 '\0001'
refuses "32-bit class" 'unknown architecture' lift narrow --function=main
refuses "unknown function" "no function called 'no_such_function'" lift "$program" --function=no_such_function
refuses "address without code" 'no code at 0x7' lift "$program" --function=0x7fffffff0000
refuses "odd hex" 'two hexadecimal digits' lift --hex="48 8"
refuses "no hex" 'no bytes' lift --hex=" "
refuses "not hex" "'zz" lift --hex="zz"
refuses "wrong signature" 'signature' lift --hex=c3 --signature=xyz
refuses "unwritable output" 'none/out' lift --hex=c3 -o none/out.ll

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
says_not out lathe_insn
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
says_not out ret
expect 0 "one block" lift --hex="4885ff 7401 90 c3" --block --cfg=text
is "$(grep -c '^block' out)" -eq 1
expect 0 "graph as text" lift --hex="4885ff 7401 90 c3" --cfg=text
is "$(grep -c '^block' out)" -eq 3
says out '-> 0x1005 0x1006$|-> 0x1006 0x1005$'
says out '-> exit$'
expect 0 "graph for Graphviz" lift --hex="4885ff 7401 90 c3" --cfg=dot
says out '^digraph '
says out '"0x1000" -> "0x1005"'
# ldr, ldr, fmul, fadd and fmla in a loop, and two sums behind it: only v3 and the sum are looked at.
expect 0 "NaNs of vectors" lift --isa=aarch64 --hex="0104c13c 2204c13c 23dc226e 63d4224e 20cc234e 420400f1 41ffff54 00d4206e 00d8307e c0035fd6"
is "$(grep -c 'icmp eq .*i32.* -4194304' out)" -eq 2
expect 0 "position independence" lift --hex="488d0500000000 c3" --pic --opt=none
says out '@guest_image'
expect 0 "calls" lift --hex="e8fb000000 c3"
says out 'call void @lifted_0x1100\('
expect 0 "calls that leave" lift --hex="e8fb000000 c3" --calls=exit
says_not out '@lifted_0x1100'
expect 0 "recursion" lift --hex="e8fbffffff c3" --opt=none
says out 'call void @lifted_0x1000\('
says_not out 'lathe_itself'
for flag in --keep-flags --no-jump-tables --strict-fp; do
    expect 0 "$flag" lift --hex="f20f58c1 c3" $flag
done
expect 0 "output file" lift --hex=c3 -o out.ll
says out.ll '^define '
expect 0 "statistics" lift --hex="4889f8 c3" --stats
says out '^guest instructions +2$'
expect 0 "statistics as JSON" lift --hex="4889f8 c3" --stats=json
cp out json
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
    cat out >>json
fi
if command -v python3 >/dev/null; then
    expect 0 "JSON" python3 -m json.tool --json-lines json
fi

finish
