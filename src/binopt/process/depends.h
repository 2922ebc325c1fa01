/* depends.h: memory that was read to make a function, and what was in it: where it is the same, so would the function be. */
#ifndef BINOPT_DEPENDS_H
#define BINOPT_DEPENDS_H

#include "base/base.h"

typedef struct Depend {
    u64 addr;
    u32 size, off;  /* off: in the bytes of all of them */
    bool read_only; /* it counts as constant because nobody can write to it */
} Depend;

typedef struct Depends {
    VEC(Depend) list;
    VEC(u8) bytes;
} Depends;

void depends_add(Depends *d, u64 addr, const void *bytes, size_t size);
/* The same for memory that was found to be read-only, and has to be later. */
void depends_add_read_only(Depends *d, u64 addr, const void *bytes, size_t size);
/* One of another list. */
void depends_copy(Depends *d, const Depends *from, const Depend *one);
void depends_free(Depends *d);
/* Is the memory as it was? */
bool depends_hold(const Depends *d);

#endif
