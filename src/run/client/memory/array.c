/* array.c: see array.h. */
#include "run/client/memory/array.h"

#include "run/client/core/client.h"
#include "run/client/memory/own.h"

void *array_extend(Array *a, u64 bytes) {
    if (a->len + bytes > a->cap) {
        u64 cap = a->cap ? a->cap * 2 : 1 << 16;
        u8 *bigger = sys_pages(cap);
        if (!bigger)
            die("no memory for the tables of translated code");
        if (a->at) {
            memcpy(bigger, a->at, a->len);
            sys_pages_free(a->at, a->cap);
        }
        a->at = bigger;
        a->cap = cap;
    }
    a->len += bytes;
    return a->at + a->len - bytes;
}

void array_free(Array *a) {
    if (a->at)
        sys_pages_free(a->at, a->cap);
    *a = (Array){0};
}
