/* held_registers.h: the host registers that hold guest registers while code of stencils runs (those of src/host/aarch64/stencil.c): CPU_SLOT that each holds,
 * and its number. The first seven are where optimised code has them, too. */
/* clang-format off */
#ifndef RUN_CLIENT_HOST_HELD_REGISTERS_H
#define RUN_CLIENT_HOST_HELD_REGISTERS_H

#define EACH_HELD_BY_ALL(M) M(0, 0) M(1, 1) M(2, 2) M(3, 3) M(4, 4) M(5, 5) M(6, 6)
#define EACH_HELD_BY_QUICK(M) M(7, 21) M(8, 22) M(9, 23) M(10, 7) M(11, 24) M(12, 25) M(13, 26) M(14, 27) M(15, 28)
#define EACH_HELD(M) EACH_HELD_BY_ALL(M) EACH_HELD_BY_QUICK(M)

#define HELD_LINK x21 /* what holds CPU_LINK */
#define HELD_STACK x6 /* what holds the guest's stack pointer */

#endif
