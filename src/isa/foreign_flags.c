/* foreign_flags.c: flags of open(2), which machines have at different bits: see foreign.h. */
#include "isa/foreign.h"

#include <fcntl.h>

/* O_TMPFILE has the bit of O_DIRECTORY, and moves with it. */
static int moved(int flags, int kept, bool to_host) {
    int result = flags & kept;
    for (size_t i = 0; i < GUEST_OPEN_FLAGS; i++) {
        HostConstant row = guest_open_rows[i];
        result |= flags & (to_host ? row.own : row.host) ? (to_host ? row.host : row.own) : 0;
    }
    return result;
}

int guest_open_flags(int flags) {
    int guest_bits = guest_large_file; /* which says nothing here */
    for (size_t i = 0; i < GUEST_OPEN_FLAGS; i++)
        guest_bits |= guest_open_rows[i].own;
    return moved(flags, ~guest_bits, true);
}

int guest_of_open_flags(int flags) {
    return moved(flags, ~(O_DIRECTORY | O_NOFOLLOW | O_DIRECT | __O_LARGEFILE), false);
}
