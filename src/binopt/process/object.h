/* object.h: which file of the process a function belongs to, and its name there. */
#ifndef BINOPT_OBJECT_H
#define BINOPT_OBJECT_H

#include "base/base.h"

/* The function that a call of `pc` really reaches: for a bound stub of a procedure linkage table, the target of its
 * jump; otherwise pc. */
u64 object_skip_stub(u64 pc);

/* The same; for a stub that is not bound yet, finds its future target by name. */
u64 object_stub_target(u64 pc);

/* object_is_stub: true if pc is in a stub of a procedure linkage table. object_stub_slot: the address of its slot, or 0
 * if pc is not in one. */
bool object_is_stub(u64 pc);
u64 object_stub_slot(u64 pc);

/* True if this is the descriptor of a thread-local variable. The function that it leads to preserves all registers but
 * one, unlike the calling convention. */
bool object_is_tls_descriptor(u64 addr);

/* True if the dynamic linker stores the address of a function at this place. */
bool object_is_function_slot(u64 addr);

/* True if the memory of the file with the code in [start, end) contains an address between start and end, as tables of
 * labels do. Also true if the code is in no file. */
bool object_points_inside(u64 start, u64 end);

/* True if the function belongs to the C or C++ library, the dynamic linker or the kernel. */
bool object_is_library(u64 pc);

/* True if the function's name is that of one that never returns. */
bool object_never_returns(u64 pc);

/* The name of a function that returns twice or changes the stack of its caller; NULL for other functions. */
const char *object_unusual(u64 pc);

#endif
