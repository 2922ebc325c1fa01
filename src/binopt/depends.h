/* depends.h: memory that was read to make a function, and what was in it: where it is the same, so would the function be. */
#ifndef BINOPT_DEPENDS_H
#define BINOPT_DEPENDS_H

#include "base/base.h"

typedef struct Depend {
    u64 addr;
    u32 size, off; /* off: in the bytes of all of them */
} Depend;

typedef struct Depends {
    VEC(Depend) list;
    VEC(u8) bytes;
} Depends;

void depends_add(Depends *d, u64 addr, const void *bytes, size_t size);
void depends_free(Depends *d);
/* Is the memory as it was? */
bool depends_hold(const Depends *d);

#endif
