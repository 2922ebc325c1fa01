/* linked.c: see linked.h. */
#include "binopt/llvm/linked.h"

/* The place of one symbol among those of an object. */
typedef struct Wanted {
    const char *name;
    u64 address, size;
} Wanted;

static void note(void *user, const char *name, u64 address, u64 size) {
    Wanted *w = user;
    if (strcmp(name, w->name))
        return;
    w->address = address;
    w->size = size;
}

bool linked_init(Linked *l) {
    *l = (Linked){0};
    return codemem_init(&l->memory);
}

void linked_free(Linked *l) {
    codemem_free(&l->memory);
    VEC_FREE(&l->functions);
}

BinoptFunc linked_find(Linked *l, u64 id) {
    for (size_t i = 0; i < l->functions.len; i++)
        if (l->functions.at[i].id == id) {
            l->functions.at[i].users++;
            return l->functions.at[i].code;
        }
    return NULL;
}

BinoptFunc linked_add(Linked *l, u64 id, const char *name, const void *object, size_t size) {
    Wanted w = {.name = name};
    CodeSpan span;
    if (load_object(&l->memory, object, size, load_resolve, note, &w, &span) != LATHE_OK)
        return NULL;
    if (!w.address) {
        codemem_release(&l->memory, &span);
        return NULL;
    }
    LinkedFunction f = {id, (BinoptFunc)w.address, w.size, 1, span};
    VEC_PUSH(&l->functions, f);
    return f.code;
}

void linked_release(Linked *l, BinoptFunc code) {
    for (size_t i = 0; i < l->functions.len; i++) {
        LinkedFunction *f = &l->functions.at[i];
        if (f->code != code)
            continue;
        if (--f->users == 0) {
            codemem_release(&l->memory, &f->span);
            *f = l->functions.at[--l->functions.len];
        }
        return;
    }
}

size_t linked_bytes(const Linked *l, BinoptFunc code) {
    for (size_t i = 0; i < l->functions.len; i++)
        if (l->functions.at[i].code == code)
            return l->functions.at[i].bytes;
    return 0;
}
