/* door.c: see door.h. */
#include "binopt/x86_64/door/door.h"

#include "binopt/process/fork.h"

static bool alloc(Door *d, CodeMem *memory) {
    enum { CODE_BYTES = 32, DATA_BYTES = 16 };
    if (!memory || !codemem_alloc(memory, CODE_BYTES, DATA_BYTES, DOOR_WORD_BYTES, &d->span))
        return false;
    d->memory = memory;
    return true;
}

bool door_make(Door *d, Places *places, u64 function) {
    d->forks = fork_count();
    return alloc(d, places_near(places, function)) || alloc(d, places_new(places, function)) ||
           alloc(d, places_far(places));
}

/* mov $bell, %r11; jmp *(%r11). A function's caller expects nothing of r11, and gives nothing in it. */
void door_hang(const Door *d, const DoorBell *bell) {
    u8 code[] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23};
    memcpy(code + 2, &bell, sizeof(bell));
    memcpy(d->span.code_write + DOOR_BELL, code, sizeof(code));
}

void door_free(Door *d) {
    if (d->memory && d->forks == fork_count())
        codemem_release(d->memory, &d->span);
    d->memory = NULL;
}
