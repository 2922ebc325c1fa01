# vector.S: an instruction that is in no table: of the vector extension.
    .globl _start
_start:
    .4byte 0x0d007057 # vsetvli x0, x0, e32, m1, ta, ma
    li a0, 0
    li a7, 93 # exit
    ecall
