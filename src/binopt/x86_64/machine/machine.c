/* machine.c: see machine.h. */
#include "binopt/x86_64/machine/machine.h"

#include <unistd.h>

#include "binopt/process/fork.h"
#include "binopt/process/idle.h"
#include "binopt/x86_64/machine/assemble.h"
#include "binopt/x86_64/machine/entry.h"
#include "binopt/x86_64/machine/gain.h"
#include "binopt/x86_64/machine/live.h"
#include "binopt/x86_64/machine/walk.h"

typedef struct Made {
    BinoptCfg *cfg;
    Depends depends; /* the memory it was made from */
    CodeMem *memory;
    CodeSpan span;
    u64 bytes;          /* size of the function; the span is longer */
    const void *unwind; /* its unwind tables, or NULL */
    BinoptFunc base;    /* the function it was made from, and may continue in, if the rewriter has made that, too */
    u32 users;
    u64 forks; /* fork_count() when it was made */
    bool gains;
} Made;

/* What is to be made, and how. */
typedef struct MachineJob {
    const BinoptCfg *cfg;
    Build *build;
    u64 most_work;
    bool *gains; /* not NULL: says whether something is gained, and code is made in any case */
} MachineJob;

typedef struct MachineRewriter {
    pid_t owner; /* a child of this process shares the memory for code and must not write there */
    u64 forks;   /* fork_count() when it was opened */
    Evaluator evaluator;
    Places places;
    VEC(Made) made;
    Choices choices;
} MachineRewriter;

static void unit_free(MachineUnit *u) {
    memory_free(&u->memory);
    callees_free(&u->callees);
    VEC_FREE(&u->blocks);
    VEC_FREE(&u->frames);
    VEC_FREE(&u->outs);
    VEC_FREE(&u->pool);
    VEC_FREE(&u->rows);
    map64_free(&u->row_at);
    arena_free(&u->arena);
}

/* The first block sets the fixed parameters; the rewriter makes the others. */
static void build_all(MachineUnit *u, Build *build) {
    State s;
    VEC_PUSH(&u->frames, ((MachineFrame){.parent = NO_FRAME, .function = u->cfg->function, .outer = NO_FRAME}));
    if (!memory_is_code(&u->memory, u->cfg->function) || !memory_insn(&u->memory, u->cfg->function)) {
        u->hopeless = arena_printf(&u->arena, "there is no code at %#llx", (unsigned long long)u->cfg->function);
        return;
    }
    if (!entry_state(u, &s))
        return;
    graph_add(u, u->cfg->function, 0, &s);
    MachineBlock *b = &u->blocks.at[0];
    b->end = END_JUMP;
    b->out_count = (u32)u->outs.len;
    b->out = ARENA_ARRAY(&u->arena, OutInsn, b->out_count + 1);
    if (b->out_count)
        memcpy(b->out, u->outs.at, b->out_count * sizeof(OutInsn));
    build(u, &s);
    if (!u->hopeless && (u64)-u->lowest > u->cfg->stack_bytes)
        u->hopeless = arena_printf(&u->arena, "it needs %lld bytes of stack, and BINOPT_F_STACKSZ allows %zu",
                                   (long long)-u->lowest, u->cfg->stack_bytes);
}

/* Finds out what is needed, and orders the blocks. */
static bool finish(MachineUnit *u, BlockOrder *order, bool only_gains) {
    if (u->hopeless)
        return false;
    live_join_blocks(u);
    live_run(u);
    order_blocks(u, order);
    bool gains = gain_is_enough(u, order);
    if (only_gains && !gains)
        u->hopeless = "nothing is gained: what is known saves less than one in 32 of its instructions";
    return gains;
}

/* Shows the new code to whoever wants to read it. */
static void show(const BinoptCfg *cfg, Arena *a, const Made *made) {
    char *text = "";
    for (u64 at = 0; config_wants_code(cfg) && at < made->bytes;) {
        ZydisDisassembledInstruction d;
        const u8 *code = made->span.code_run + at;
        if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, (u64)code, code, made->bytes - at, &d)))
            break;
        text = arena_printf(a, "%s%12llx  %s\n", text, (unsigned long long)code, d.text);
        at += d.info.length;
    }
    if (*text)
        config_show_code(cfg, "specialised", text);
}

static Made *find_made(MachineRewriter *r, BinoptFunc code) {
    for (size_t i = 0; i < r->made.len; i++)
        if (r->made.at[i].span.code_run == code)
            return &r->made.at[i];
    return NULL;
}

static BinoptFunc use_base(MachineRewriter *r, u64 function) {
    Made *base = find_made(r, (BinoptFunc)function);
    if (base)
        base->users++;
    return base ? (BinoptFunc)function : NULL;
}

/* If there is little time, or other code to choose from, the reason is only logged and not recorded as the final one. */
static void refuse(const MachineJob *job, const char *why) {
    if (job->most_work < MACHINE_WORK || job->gains)
        config_log(job->cfg, 2, "left alone: %s", why);
    else
        config_refuse(job->cfg, "%s", why);
}

/* *full is set if that memory does not have enough room. */
static BinoptFunc make(MachineRewriter *r, const MachineJob *job, CodeMem *memory, bool *full) {
    const BinoptCfg *cfg = job->cfg;
    MachineUnit u = {
        .cfg = cfg, .evaluator = &r->evaluator, .code_base = (u64)memory->code_run, .most_work = job->most_work};
    Made made = {.memory = memory, .users = 1, .forks = fork_count()};
    BlockOrder order = {0};
    memory_init(&u.memory, cfg, &u.arena);
    build_all(&u, job->build);
    made.gains = finish(&u, &order, !cfg->always && !job->gains);
    *full = !u.hopeless && !assemble_graph(&u, &order, memory, &made.span, &made.unwind);
    if (u.hopeless) {
        refuse(job, u.hopeless);
    } else if (!*full) {
        made.bytes = u.code_bytes;
        show(cfg, &u.arena, &made);
        config_log(cfg, 2, "specialised: %llu instructions followed, at %p", (unsigned long long)u.total_outs,
                   made.span.code_run);
        made.cfg = config_clone(cfg);
        made.depends = u.memory.depends;
        u.memory.depends = (Depends){0};
        unwind_add(made.unwind);
        made.base = use_base(r, cfg->function);
        VEC_PUSH(&r->made, made);
    }
    if (job->gains)
        *job->gains = made.gains;
    order_free(&order);
    unit_free(&u);
    return u.hopeless || *full ? NULL : made.span.code_run;
}

/* Returns what was made before, if the same would be made again. */
static BinoptFunc recall(MachineRewriter *r, const BinoptCfg *cfg, bool *gains) {
    for (size_t i = r->made.len; i-- > 0;) {
        Made *m = &r->made.at[i];
        if (config_same(m->cfg, cfg) && depends_hold(&m->depends)) {
            m->users++;
            if (gains)
                *gains = m->gains;
            return m->span.code_run;
        }
    }
    return NULL;
}

BinoptFunc machine_specialize(void *self, const BinoptCfg *cfg, Build *build, u64 most_work, bool *gains) {
    MachineRewriter *r = self;
    MachineJob job = {cfg, build, most_work, gains};
    BinoptFunc code = recall(r, cfg, gains);
    if (code)
        return code;
    CodeMem *memory = places_near(&r->places, cfg->function);
    bool full = true;
    if (memory)
        code = make(r, &job, memory, &full);
    if (full && (memory = places_new(&r->places, cfg->function)))
        code = make(r, &job, memory, &full);
    if (full)
        refuse(&job, "there is no memory for its code");
    return code;
}

BinoptFunc machine_offer(void *self, const BinoptCfg *cfg, Build *build) {
    MachineRewriter *r = self;
    BinoptCfg on_base = *cfg;
    on_base.function = choice_base(&r->choices, cfg->function);
    BinoptFunc code = machine_specialize(self, &on_base, build, MACHINE_WORK, NULL);
    return code ? choice_offer(&r->choices, &r->places, &on_base, &code, 1, machine_code_bytes(self, code)) : NULL;
}

static void free_made(Made *m) {
    unwind_remove(m->unwind);
    config_free(m->cfg);
    depends_free(&m->depends);
}

static void release_made(void *self, BinoptFunc code) {
    MachineRewriter *r = self;
    Made *m = find_made(r, code);
    if (!m || --m->users)
        return;
    BinoptFunc base = m->base;
    free_made(m);
    if (m->forks == fork_count())
        codemem_release(m->memory, &m->span);
    *m = r->made.at[--r->made.len];
    if (base)
        release_made(r, base);
}

void machine_release(void *self, BinoptFunc code) {
    choice_release(&((MachineRewriter *)self)->choices, code);
}

void machine_reason(void *self, BinoptFunc code, char *text, size_t size) {
    choice_reason(&((MachineRewriter *)self)->choices, code, text, size);
}

void machine_keep(void *self, BinoptFunc code) {
    use_base(self, (u64)code);
}

size_t machine_code_bytes(void *self, BinoptFunc code) {
    MachineRewriter *r = self;
    const Made *m = find_made(r, choice_version(&r->choices, code));
    return m ? m->bytes : 0;
}

Places *machine_places(void *self) {
    return &((MachineRewriter *)self)->places;
}

/* Rewriters that no handle uses any more: their memory for code is mapped, and the instructions that they execute are
 * copied already. */
static Idle idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void destroy(MachineRewriter *r) {
    places_free(&r->places);
    VEC_FREE(&r->made);
    evaluator_free(&r->evaluator);
    mem_free(r);
}

void *machine_open(void) {
    for (MachineRewriter *r; (r = idle_take(&idle)); destroy(r))
        if (r->owner == getpid() && r->forks == fork_count())
            return r;
    MachineRewriter *r = mem_new(sizeof(*r));
    r->owner = getpid();
    r->forks = fork_count();
    r->choices = (Choices){.self = r, .release = release_made};
    evaluator_init(&r->evaluator);
    return r;
}

void machine_close(void *self) {
    enum { MANY_COPIES = 1 << 14, MOST_IDLE = 2 };
    MachineRewriter *r = self;
    choice_free_all(&r->choices);
    for (size_t i = 0; i < r->made.len; i++) {
        free_made(&r->made.at[i]);
        codemem_release(r->made.at[i].memory, &r->made.at[i].span);
    }
    r->made.len = 0;
    if (r->evaluator.copies.len > MANY_COPIES || !idle_give(&idle, r, MOST_IDLE))
        destroy(r);
}
