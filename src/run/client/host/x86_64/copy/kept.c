/* kept.c: registers of the guest's that a visit has used and not given back, because the instruction behind it overwrites them without reading them.
 * If that instruction faults, a handler must see the values from before the visit. They are in the Thread; this list says for which instructions that
 * is so. */
#include "run/client/host/x86_64/copy/copy.h"
#include "run/client/memory/array.h"

typedef struct Kept {
    const u8 *code;
    u32 registers;
} Kept;

static Array all; /* in the order of addresses, in which code is made; protected by the arena's lock */

void kept_add(const u8 *code, u32 registers) {
    *(Kept *)array_extend(&all, sizeof(Kept)) = (Kept){code, registers};
}

u32 kept_at(const u8 *code) {
    const Kept *kept = (const Kept *)all.at;
    u64 low = 0, high = all.len / sizeof(Kept);
    while (low < high) {
        u64 mid = low + (high - low) / 2;
        if (kept[mid].code < code)
            low = mid + 1;
        else
            high = mid;
    }
    return low < all.len / sizeof(Kept) && kept[low].code == code ? kept[low].registers : 0;
}

void kept_forget_all(void) {
    array_free(&all);
}
