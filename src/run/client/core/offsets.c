/* offsets.c is compiled but linked into no program: the build makes asm_offsets.h from the sizes of these arrays, each
 * of which is the offset of a member plus one (scripts/offsets). */
#include "run/client/core/thread.h"

#define OFFSET(name, member) char offset_##name[offsetof(Thread, member) + 1];
#include "guest_offsets.def"
#include "run/client/core/offsets.def"
