#!/bin/sh
# isas.sh SOURCE: shared code names no instruction set: what is particular to one is in its folder, or in the tables of src/isa. A line
# elsewhere is one of the places below, each with its reason, or an error.
cd "${1:?}" || exit 2

# Facts of guests:
#   src/isa                                 the folders and the tables of architectures
#   src/run/client/guest                    what the client knows of its guest, a folder for each
#   include/lathe                           the public types: a state and functions for each architecture
#   meson.build                             the lists of files
#   src/elf/elf.c src/run/client/memory/program.c
#                                           ELF's names for machines, most of which we do not have, in messages
# Facts of hosts:
#   src/host                                what code for them is like, a folder for each
#   src/run/client/host src/stencil         the host that programs run on
# Both at once: the guest's code is the host's.
#   src/binopt src/cli/binopt.c   functions of a process, specialised in it
permitted='^(src/isa/|src/run/client/guest/|include/lathe/|([a-z/]*/)?meson\.build:|src/elf/elf\.c:|src/run/client/memory/program\.c:'
permitted="$permitted"'|src/host/|src/run/client/host/|src/stencil/|src/binopt/|src/cli/binopt\.c:)'

names=$(sed -n 's/^ISA(\([^,]*\), "\([^"]*\)".*/\1|\2/p' src/isa/isas.def | paste -sd'|' -)
[ -n "$names" ] || exit 2
found=$(grep -rniE "$names|riscv|rv64|EM_X86" src include | grep -vE "$permitted")
if [ -n "$found" ]; then
    echo "FAIL: these lines name an instruction set:"
    echo "$found"
    exit 1
fi
# Shared code that may name the host's does not decide by it what a guest is.
found=$(grep -rnE 'LATHE_ARCH_[A-Z0-9_]+' src | grep -vE '^src/(isa|binopt|run/client/guest)/')
if [ -n "$found" ]; then
    echo "FAIL: these lines decide by the guest's architecture:"
    echo "$found"
    exit 1
fi
echo "no line of shared code names one of: $names"
