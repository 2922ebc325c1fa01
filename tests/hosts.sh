#!/bin/sh
# hosts.sh SOURCE: what is particular to a host is in src/host and src/run/client/host, and in src/binopt/x86_64 where libbinopt works on machine code,
# guest and host being one: shared code has no inline assembly, no opcode bytes, no register names of a host, and does not ask the compiler what
# machine it is compiled for. A line elsewhere is an error.
cd "${1:?}" || exit 2

# What only a host has:
facts='\b(__)?asm(__)?( volatile)? *\('                                         # assembly in C
facts="$facts"'|ir_asm[a-z_]*\(l, "|"llvm\.x86'                                 # assembly or intrinsics of a target where IR is built
facts="$facts"'|__(x86_64|aarch64|riscv)__|HOST_IS_|__builtin_(ia32|cpu)_'      # what the compiler says of the machine
facts="$facts"'|<(cpuid|[a-z0-9]*intrin)\.h>|\b_(mm_[a-z]|_rdtsc)'
facts="$facts"'|%%?[re]?(ax|bx|cx|dx|si|di|sp|bp)\b|%%?(xmm|ymm|st)[0-9(]|%(r[0-9]+|gs|fs)\b' # registers by name, in assembly
facts="$facts"'|\{([re]?(ax|bx|cx|dx|si|di|sp|bp)|r[0-9]+|flags|dirflag|fpsr|xmm[0-9]+)\}' # and in its constraints
facts="$facts"'|"(ld|st)mxcsr'
facts="$facts"'|0x9090|, 0xcc\b|\(0xcc|0xff, 0x25\b|"\\x[0-9a-f]{2}'              # opcodes: nops, breakpoints, jumps, strings of them
relocations='R_X86_64_(PC|32|64|GOT|PLT)' # of a guest's files, guests know them

lines() { # EXPRESSION FOLDERS FOLDER: in that one, but for those
    grep -rnE --include='*.[chS]' --include='*.cpp' --include='*.def' -- "$1" "$3" | grep -vE "^($2)/"
}
found=$(
    lines "$facts" 'src/host|src/run/client/host|src/binopt/x86_64' src
    lines "$relocations" 'src/host|src/run/client/host|src/binopt/x86_64|src/isa/x86_64' src
    # The registers of who was interrupted by a signal; frames of a guest have the same names.
    lines '->r(ip|flags|sp)\b' 'src/run/client/(host|guest)' src/run/client
)
if [ -n "$found" ]; then
    echo "FAIL: these lines know a host:"
    printf '%s\n' "$found"
    exit 1
fi
echo "what is a host's is in src/host, src/run/client/host and src/binopt/x86_64"
