/* offsets.h: places in a Thread that translated code and assembly know, behind those of the guest's state; client.h asserts them. Code of the quick tier
 * reaches the Thread through gs. */
#ifndef RUN_CLIENT_OFFSETS_H
#define RUN_CLIENT_OFFSETS_H

#include "guest_cpu.h"

#define THREAD_STACK_LIMIT 2496
#define THREAD_SELF 2504
#define THREAD_HOST_SP 2512
#define THREAD_EXPECTED 2520
#define THREAD_FLAGS 2528
#define THREAD_EXIT 2536
#define THREAD_TARGET 2544
#define THREAD_SPILL_RCX 2552
#define THREAD_SPILL_RDX 2560
#define THREAD_SPILL_RAX 2568
#define THREAD_SPILL_BASE 2576
#define THREAD_LEAVE 2584
#define THREAD_RETURN 2592
#define THREAD_CALL 2600
#define THREAD_JUMP 2608
#define THREAD_PENDING 2616
#define THREAD_ARENA 2624
#define THREAD_HOST_BASE 2632
#define THREAD_CROSS_ENTER 2640
#define THREAD_CROSS_LEAVE 2648
#define THREAD_CROSSINGS 2656
#define THREAD_CROSSED 2664
#define THREAD_NEXT 2672
#define THREAD_STOP 2680
#define THREAD_C(n) (2688 + 8 * (n)) /* quick_lookup, _lookup_call, _lookup_jump, _arrive, _exit; cross_back, quick_interrupted */
#define THREAD_RETURN_EXPECTED 2744
#define THREAD_RETURN_PLAIN 2752
#define THREAD_RETURN_EXACT 2760
#define THREAD_HELPING 2768
#define THREAD_TABLE_PC (4096 + (16 << 16)) /* behind THREAD_TABLE */
#define THREAD_TABLE_CODE (THREAD_TABLE_PC + 8 * QUICK_TABLE)
#define THREAD_JUMP_PC (THREAD_TABLE_CODE + 8 * QUICK_TABLE)
#define THREAD_JUMP_CODE (THREAD_JUMP_PC + 8 * QUICK_TABLE)

#define QUICK_TABLE 0x10000 /* entries: 16 bits of an address are one instruction's work */

#endif
