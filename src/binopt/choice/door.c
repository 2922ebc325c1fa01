/* door.c: see door.h. */
#include "binopt/choice/door.h"

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

void door_free(Door *d) {
    if (d->memory && d->forks == fork_count())
        codemem_release(d->memory, &d->span);
    d->memory = NULL;
}
