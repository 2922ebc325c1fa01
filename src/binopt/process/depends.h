/* depends.h: the memory that was read to make a function, and its content. If the content is unchanged, the same
 * function would be made again. */
#ifndef BINOPT_DEPENDS_H
#define BINOPT_DEPENDS_H

#include "base/base.h"

typedef struct Depend {
    u64 addr;
    u32 size, off;  /* off: offset in the bytes of all dependencies */
    bool read_only; /* it counts as constant because it cannot be written; this has to stay so */
} Depend;

typedef struct Depends {
    VEC(Depend) list;
    VEC(u8) bytes;
} Depends;

void depends_add(Depends *d, u64 addr, const void *bytes, size_t size);
/* The same for memory that was found to be read-only, which it has to be later, too. */
void depends_add_read_only(Depends *d, u64 addr, const void *bytes, size_t size);
/* Adds one dependency of another list. */
void depends_copy(Depends *d, const Depends *from, const Depend *one);
void depends_free(Depends *d);
/* True if the memory is still as it was. */
bool depends_hold(const Depends *d);

#endif
