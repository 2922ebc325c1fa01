/* undefined.c: memcheck, which also finds uses of values that were never set: conditional jumps and addresses that depend on them, and what system calls read of them.
 *
 *     ==4711== Conditional jump or move depends on uninitialised value(s)
 *     ==4711==    at 0x401136: largest (a.c:7)
 *     ==4711==    by 0x401152: main (a.c:12)
 *
 * Values are followed bit by bit in optimised code (lathe/tool.h, "Undefined values"), so code is optimised before it runs. Options: those of memcheck, and code=program|all: whether values are followed in the
 * program and libraries of its own, or everywhere. */
#define MEMCHECK_UNDEFINED
#include "memcheck.c"
