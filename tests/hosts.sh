#!/bin/sh
# hosts.sh SOURCE: what is particular to a host is in src/host and src/run/client/host: shared code has no inline assembly, no opcode bytes, no
# register names of a host, and does not ask the compiler what machine it is compiled for. A line elsewhere is in one of the files below,
# each with its reason, or an error; a file that has no such line any more is an error, too, until it is taken off the list.
cd "${1:?}" || exit 2

# What only a host has:
facts='\b(__)?asm(__)?( volatile)? *\('                                         # assembly in C
facts="$facts"'|ir_asm[a-z_]*\(l, "|"llvm\.x86'                                 # assembly or intrinsics of a target where IR is built
facts="$facts"'|__(x86_64|aarch64|riscv)__|HOST_IS_|__builtin_(ia32|cpu)_'      # what the compiler says of the machine
facts="$facts"'|<(cpuid|x86intrin|immintrin)\.h>'
facts="$facts"'|%%?[re]?(ax|bx|cx|dx|si|di|sp|bp)\b|%%?(xmm|ymm|st)[0-9(]|%(r[0-9]+|gs|fs)\b' # registers by name, in assembly
facts="$facts"'|\{(ax|bx|cx|dx|si|di|flags|dirflag|fpsr|xmm[0-9]+)\}'           # and in its constraints
facts="$facts"'|"(ld|st)mxcsr'
facts="$facts"'|0x9090|, 0xcc\b|\(0xcc|0xff, 0x25\b'                            # opcodes: nops, breakpoints, jumps
facts="$facts"'|R_X86_64_(PC|32|64|GOT|PLT)'                                    # relocations

exceptions=
# libbinopt: functions of a process, specialised in it. Guest and host are one.
exceptions="$exceptions
src/binopt/machine/emit.c src/binopt/machine/walk.c src/binopt/machine/evaluate.c src/binopt/machine/divide.c
src/binopt/choice/contest.c src/binopt/choice/contest.h src/binopt/choice/contest_enter.S src/binopt/choice/contest_turn.c
src/binopt/llvm/passes/convert.c src/binopt/llvm/passes/lower.c src/binopt/llvm/lift/lift.c"

failed=0
found=$(grep -rnE "$facts" src --include='*.[chS]' --include='*.cpp' --include='*.def' | grep -vE '^src/(host|run/client/host)/')
for file in $exceptions; do
    if printf '%s\n' "$found" | grep -q "^$file:"; then
        found=$(printf '%s\n' "$found" | grep -v "^$file:")
    else
        echo "FAIL: $file knows no host any more: take it off the list"
        failed=1
    fi
done
if [ -n "$found" ]; then
    echo "FAIL: these lines know a host:"
    printf '%s\n' "$found"
    failed=1
fi
[ "$failed" = 0 ] && echo "what is a host's is in src/host and src/run/client/host, and in $(echo $exceptions | wc -w) files that are listed"
exit "$failed"
