/* compile.c: the code of a program from its module, by several threads if it is large.
 *
 * A large module is dealt out in parts of some ten thousand instructions of the program. Each is optimised and compiled for itself, in a context of
 * its own, so that functions of one part are not inlined in another. A small program is one part. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/split.h"
#include "raise/raise.h"

enum { WHOLE_INSNS = 40000, PART_INSNS = 20000, THREADS_MAX = 16 };

typedef struct Crew {
    Raise *r;
    const LatheJitConfig *cfg;
    LatheOpt level;
    LLVMMemoryBufferRef *parts;
    unsigned count;
    pthread_mutex_t lock; /* of what follows */
    unsigned next, done;
    RaiseObject *objects;
    LatheStatus status;
} Crew;

static LatheStatus compile_part(const Crew *c, LLVMModuleRef mod, RaiseObject *object) {
    LatheJit *jit = lathe_jit_new(c->cfg);
    if (!jit)
        return LATHE_ERR_COMPILE;
    void *bytes = NULL;
    LatheStatus status = lathe_jit_emit(jit, mod, c->level, false, &bytes, &object->size);
    object->bytes = bytes;
    lathe_jit_free(jit);
    return status;
}

static LatheStatus compile_bitcode(const Crew *c, unsigned index) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef mod = NULL;
    LatheStatus status = LATHE_ERR_COMPILE;
    if (!LLVMParseBitcodeInContext2(context, c->parts[index], &mod)) {
        status = compile_part(c, mod, &c->objects[index]);
        LLVMDisposeModule(mod);
    }
    LLVMContextDispose(context);
    return status;
}

/* Takes the next part until there are no more; `status` is that of the last one. */
static bool take_part(Crew *c, LatheStatus status, bool first, unsigned *index) {
    pthread_mutex_lock(&c->lock);
    if (!first)
        raise_progress(c->r, "functions compiled", c->r->counts.functions * ++c->done / c->count,
                       c->r->counts.functions);
    if (status < 0)
        c->status = status;
    *index = c->next;
    bool more = c->next < c->count && c->status >= 0;
    c->next += more;
    pthread_mutex_unlock(&c->lock);
    return more;
}

static void *work(void *crew) {
    Crew *c = crew;
    LatheStatus status = LATHE_OK;
    unsigned index;
    for (bool first = true; take_part(c, status, first, &index); first = false)
        status = compile_bitcode(c, index);
    return NULL;
}

static void work_together(Crew *c) {
    pthread_t threads[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (unsigned)cpus, started = 0;
    while (started + 1 < wanted && started + 1 < c->count && !pthread_create(&threads[started], NULL, work, c))
        started++;
    work(c);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static LatheStatus compile_parts(Crew *c) {
    c->parts = arena_alloc(&c->r->arena, c->count * sizeof(*c->parts));
    split_module(c->r->mod, c->count, c->parts);
    work_together(c);
    for (unsigned i = 0; i < c->count; i++)
        LLVMDisposeMemoryBuffer(c->parts[i]);
    return c->status;
}

LatheStatus raise_compile(Raise *r, const LatheJitConfig *cfg, LatheOpt level, RaiseObject **objects, size_t *count) {
    unsigned parts = r->counts.insns < WHOLE_INSNS ? 1 : (unsigned)(r->counts.insns / PART_INSNS);
    Crew c = {.r = r, .cfg = cfg, .level = level, .count = parts, .lock = PTHREAD_MUTEX_INITIALIZER};
    c.objects = *objects = arena_alloc(&r->arena, parts * sizeof(**objects));
    memset(c.objects, 0, parts * sizeof(*c.objects));
    *count = parts;
    return parts == 1 ? compile_part(&c, r->mod, c.objects) : compile_parts(&c);
}
