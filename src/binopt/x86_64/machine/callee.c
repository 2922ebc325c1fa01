/* callee.c: see callee.h. */
#include "binopt/x86_64/machine/callee.h"

#include "binopt/process/object.h"

static Callee *entry_of(Callees *c, u64 at) {
    for (size_t i = 0; i < c->list.len; i++)
        if (c->list.at[i].at == at)
            return &c->list.at[i];
    u64 function = object_skip_stub(at);
    VEC_PUSH(&c->list, ((Callee){.at = at, .function = function, .stub = object_is_stub(function)}));
    return &c->list.at[c->list.len - 1];
}

Callee callee_find(Callees *c, u64 at) {
    return *entry_of(c, at);
}

Callee callee_place(Callees *c, u64 at) {
    Callee *callee = entry_of(c, at);
    if (!callee->placed)
        callee->library = object_is_library(callee->function);
    callee->placed = true;
    return *callee;
}

Callee callee_describe(Callees *c, u64 at) {
    Callee *callee = entry_of(c, at);
    callee_place(c, at);
    if (!callee->named) {
        callee->never_returns = object_never_returns(callee->function);
        callee->unusual = object_unusual(callee->function);
        if (!callee->unusual && at != callee->function)
            callee->unusual = object_unusual(at);
    }
    callee->named = true;
    return *callee;
}

void callees_free(Callees *c) {
    VEC_FREE(&c->list);
}
