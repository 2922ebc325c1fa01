/* linked.c: see linked.h. */
#include "binopt/llvm/store/linked.h"

#include "binopt/process/fork.h"
#include "binopt/process/unwind.h"

/* The address of one symbol of an object. */
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

void linked_free(Linked *l) {
    for (size_t i = 0; i < l->functions.len; i++)
        unwind_remove(l->functions.at[i].unwind);
    places_free(&l->places);
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

static LinkedFunction *find_code(const Linked *l, BinoptFunc code) {
    for (size_t i = 0; i < l->functions.len; i++)
        if (l->functions.at[i].code == code)
            return &l->functions.at[i];
    return NULL;
}

static BinoptFunc use_base(Linked *l, u64 function) {
    LinkedFunction *f = find_code(l, (BinoptFunc)function);
    if (f)
        f->users++;
    return f ? f->code : NULL;
}

void linked_identify(Linked *l, BinoptFunc code, u64 id) {
    find_code(l, code)->id = id;
}

void linked_keep(Linked *l, BinoptFunc code) {
    use_base(l, (u64)code);
}

static LatheStatus load(LinkedFunction *f, CodeMem *memory, const void *object, size_t size, Wanted *w) {
    u64 unwind = 0;
    f->memory = memory;
    LatheStatus status =
        memory ? load_object(memory, object, size, load_resolve, note, w, &f->span, &unwind) : LATHE_ERR_NOMEM;
    f->unwind = (const void *)unwind;
    return status;
}

BinoptFunc linked_add(Linked *l, u64 near, u64 id, const char *name, const void *object, size_t size) {
    Wanted w = {.name = name};
    LinkedFunction f = {.id = id, .users = 1, .forks = fork_count()};
    LatheStatus status = load(&f, places_near(&l->places, near), object, size, &w);
    if (status == LATHE_ERR_NOMEM)
        status = load(&f, places_new(&l->places, near), object, size, &w);
    if (status == LATHE_ERR_NOMEM)
        status = load(&f, places_far(&l->places), object, size, &w);
    if (status != LATHE_OK)
        return NULL;
    if (!w.address) {
        codemem_release(f.memory, &f.span);
        return NULL;
    }
    f.code = (BinoptFunc)w.address;
    f.bytes = w.size;
    f.base = use_base(l, near);
    unwind_add(f.unwind);
    VEC_PUSH(&l->functions, f);
    return f.code;
}

void linked_release(Linked *l, BinoptFunc code) {
    LinkedFunction *f = find_code(l, code);
    if (!f || --f->users)
        return;
    BinoptFunc base = f->base;
    unwind_remove(f->unwind);
    if (f->forks == fork_count())
        codemem_release(f->memory, &f->span);
    *f = l->functions.at[--l->functions.len];
    if (base)
        linked_release(l, base);
}

size_t linked_bytes(const Linked *l, BinoptFunc code) {
    const LinkedFunction *f = find_code(l, code);
    return f ? f->bytes : 0;
}
