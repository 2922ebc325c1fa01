/* once.c: see once.h. */
#include "run/client/code/optimised/once.h"

#include "run/client/memory/array.h"

typedef struct Part {
    u8 *at;
    u64 bytes;
} Part;

static Array parts; /* Part */

void once_add(u8 *at, u64 bytes) {
    *(Part *)array_extend(&parts, sizeof(Part)) = (Part){at, bytes};
}

void once_after_fork(void) {
    for (u64 i = 0; i < parts.len / sizeof(Part); i++) {
        const Part *p = (const Part *)parts.at + i;
        memset(p->at, 0, p->bytes);
    }
}

void once_forget_all(void) {
    array_free(&parts);
}
