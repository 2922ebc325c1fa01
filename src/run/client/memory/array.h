/* array.h: lists that only grow, in memory of the client's own. */
#ifndef RUN_CLIENT_ARRAY_H
#define RUN_CLIENT_ARRAY_H

#include "base/base.h"

typedef struct Array {
    u8 *at;
    u64 len, cap; /* bytes */
} Array;

/* Adds so many zero bytes and returns their address. The whole array may move. */
void *array_extend(Array *a, u64 bytes);
void array_free(Array *a);

#endif
