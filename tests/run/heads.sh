#!/bin/sh
# heads.sh LATHE: a loop whose copied code is in two parts, since it is entered in its middle first, is optimised from its head on, wherever samples find the thread.
lathe=$(realpath "$1")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none

# Nearly all samples are behind the division, where the second part begins.
cat >loop.s <<'S'
.globl main, head, middle
main:   mov $30000000, %ecx
        mov $7, %esi
        jmp middle
head:   mov $100, %eax
        xor %edx, %edx
        div %rsi
middle: sub $1, %rcx
        jne head
        xor %eax, %eax
        ret
.section .note.GNU-stack
S
gcc loop.s -o loop || exit 1
expect 0 "the loop" run --hot-after=2 --dump=obj ./loop
# object NAME: the file with the code that begins there.
object() {
    printf 'lathe-dump/g_%x.o' $((0x$(nm loop | awk -v name="$1" '$3 == name { print $1 }')))
}
holds [ -f "$(object head)" ]
holds [ ! -f "$(object middle)" ]

finish
