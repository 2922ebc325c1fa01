/* ground.c: see ground.h. */
#include "ground.h"

#include <elf.h>

#include "run/client/memory/watch.h"

const GuestFacts guest_facts = {.name = "x86-64", .machine = EM_X86_64, .arch = LATHE_ARCH_X86_64};
Process the;
u64 forgotten;

void code_forget(u64 start, u64 end) {
    CHECK(start < end, "something is forgotten");
    forgotten += end - start;
}

bool quick_give_up_map(void) {
    return true;
}

bool quick_allow_writes_to(u64 start, u64 end) {
    return start > end;
}

void quick_remapped(u64 start, u64 end, bool shared) {
    (void)start, (void)end, (void)shared;
}

void quick_made_writable(u64 start, u64 end) {
    (void)start, (void)end;
}

void image_check(const Module *m) {
    (void)m;
}

u64 number(const char *text) {
    u64 n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (u64)(*text - '0');
    return n;
}

u64 next(u64 *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
