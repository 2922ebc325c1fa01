/* no_quick_places.S: the places of assembly around quick code, for guests that have none on a host: see no_quick.c. */
    .text
    .globl quick_start, quick_end, quick_resume, quick_leave, quick_interrupted, quick_enter
    .hidden quick_start, quick_end, quick_resume, quick_leave, quick_interrupted, quick_enter
    .globl cross_start, cross_end, cross_enter, cross_back, cross_leave
    .hidden cross_start, cross_end, cross_enter, cross_back, cross_leave
quick_start:
quick_end:
quick_resume:
quick_leave:
quick_interrupted:
quick_enter:
cross_start:
cross_end:
cross_enter:
cross_back:
cross_leave:
    .long 0 /* no instruction of these hosts */

    .section .note.GNU-stack, "", %progbits
