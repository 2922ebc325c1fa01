/* object.h: which file of the process a function belongs to, and what it is called there. */
#ifndef BINOPT_OBJECT_H
#define BINOPT_OBJECT_H

#include "base/base.h"

/* Where the function that is called at `pc` really is: what a stub of a procedure linkage table jumps to once it is bound;
 * else pc. */
u64 object_skip_stub(u64 pc);

/* The same, and what a stub that is not bound yet will jump to by its name. */
u64 object_stub_target(u64 pc);

/* Is pc in a stub of a procedure linkage table? Where is the address then that it jumps to; 0: it is none. */
bool object_is_stub(u64 pc);
u64 object_stub_slot(u64 pc);

/* Is this a descriptor of a thread-local variable? What it leads to keeps all registers but one, against the calling
 * convention. */
bool object_is_tls_descriptor(u64 addr);

/* Does the dynamic linker put the address of a function into this place? */
bool object_is_function_slot(u64 addr);

/* Is there an address behind the first one and before `end` anywhere in the memory of the file that has the code in [start, end)? So
 * it is with labels whose addresses are in tables. Also true if no file has that code. */
bool object_points_inside(u64 start, u64 end);

/* Does the function belong to the C or C++ library, the dynamic linker or the kernel? */
bool object_is_library(u64 pc);

/* Does it never return? By name. */
bool object_never_returns(u64 pc);

/* The name of a function that returns twice or changes the stack of its caller; NULL: it is none of those. */
const char *object_unusual(u64 pc);

#endif
