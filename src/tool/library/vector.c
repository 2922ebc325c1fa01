/* vector.c: LatheVector and lathe_sort of lathe/tool.h. */
#include "tool/library/library.h"

void *lathe_vector_add(LatheVector *v) {
    enum { FIRST = 8 };
    if (v->count == v->room) {
        v->room = v->room ? 2 * v->room : FIRST;
        v->at = lathe_resize(v->at, v->room * v->bytes);
    }
    return (u8 *)v->at + v->count++ * v->bytes;
}

void lathe_vector_clear(LatheVector *v) {
    lathe_free(v->at);
    v->at = NULL;
    v->count = v->room = 0;
}

static void swap(u8 *a, u8 *b, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        u8 byte = a[i];
        a[i] = b[i], b[i] = byte;
    }
}

/* Heapsort: moves the element at `root` down until neither of the two below it comes behind it. */
static void sink(u8 *at, size_t root, size_t count, size_t bytes, int (*order)(const void *, const void *)) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && order(at + child * bytes, at + (child + 1) * bytes) < 0)
            child++;
        if (order(at + root * bytes, at + child * bytes) >= 0)
            return;
        swap(at + root * bytes, at + child * bytes, bytes);
    }
}

void lathe_sort(void *at, size_t count, size_t bytes, int (*order)(const void *, const void *)) {
    for (size_t i = count / 2; i--;)
        sink(at, i, count, bytes, order);
    for (size_t last = count; last-- > 1;) {
        swap(at, (u8 *)at + last * bytes, bytes);
        sink(at, 0, last, bytes, order);
    }
}
