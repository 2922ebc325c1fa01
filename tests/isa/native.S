/* native.S: the way into the guest. The signal handler in native.c takes over at the int3 and comes back behind it with
 * all vector registers lost, as the C ABI allows an ordinary function. */
    .globl native_enter
    .type native_enter, @function
native_enter:
    int3
    ret
    .size native_enter, . - native_enter
    .section .note.GNU-stack, "", @progbits
