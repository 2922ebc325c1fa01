/* rewriter.c: see rewriter.h. */
#include "binopt/machine/rewriter.h"

#include <stdio.h>

#include "binopt/machine/emit.h"
#include "binopt/machine/encode.h"
#include "binopt/machine/entry.h"
#include "binopt/machine/walk.h"

typedef struct MachineRewriter {
    Evaluator evaluator;
    VEC(CodeMem) places; /* each near to some of the functions that were rewritten */
} MachineRewriter;

void *machine_open(void) {
    MachineRewriter *r = mem_new(sizeof(*r));
    evaluator_init(&r->evaluator);
    return r;
}

void machine_close(void *self) {
    MachineRewriter *r = self;
    for (size_t i = 0; i < r->places.len; i++)
        codemem_free(&r->places.at[i]);
    VEC_FREE(&r->places);
    evaluator_free(&r->evaluator);
    mem_free(r);
}

/* Memory for code from which the function and its data are in reach. */
static CodeMem *place_near(MachineRewriter *r, u64 function) {
    for (size_t i = 0; i < r->places.len; i++)
        if (encode_reaches((u64)r->places.at[i].code_run, function))
            return &r->places.at[i];
    CodeMem one;
    if (!codemem_init_near(&one, function))
        return NULL;
    VEC_PUSH(&r->places, one);
    return &r->places.at[r->places.len - 1];
}

static void unit_free(Unit *u) {
    memory_free(&u->memory);
    VEC_FREE(&u->blocks);
    VEC_FREE(&u->frames);
    VEC_FREE(&u->outs);
    VEC_FREE(&u->pool);
    arena_free(&u->arena);
}

/* The first block has the fixed parameters; what follows is the rewriter's. */
static void build_all(Unit *u, Build *build) {
    State s;
    VEC_PUSH(&u->frames, ((Frame){.parent = NO_FRAME, .function = u->cfg->function}));
    if (!memory_is_code(&u->memory, u->cfg->function) || !memory_insn(&u->memory, u->cfg->function)) {
        u->hopeless = "there is no code";
        return;
    }
    if (!entry_state(u, &s))
        return;
    graph_add(u, u->cfg->function, 0, &s);
    Block *b = &u->blocks.at[0];
    b->end = END_JUMP;
    b->out_count = (u32)u->outs.len;
    b->out = ARENA_ARRAY(&u->arena, Out, b->out_count + 1);
    if (b->out_count)
        memcpy(b->out, u->outs.at, b->out_count * sizeof(Out));
    build(u, &s);
    if (!u->hopeless && (u64)-u->lowest > u->cfg->stack_bytes)
        u->hopeless = "it needs more stack than is allowed";
}

/* The new code, for those who want to read it. */
static void dump(const BinoptCfg *cfg, const u8 *code, u64 size) {
    for (u64 at = 0; cfg->log_level >= 3 && at < size;) {
        ZydisDisassembledInstruction d;
        if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, (u64)code + at, code + at, size - at, &d)))
            return;
        fprintf(stderr, "binopt: %llx  %s\n", (unsigned long long)code + at, d.text);
        at += d.info.length;
    }
}

void *machine_specialize(void *self, const BinoptCfg *cfg, Build *build) {
    MachineRewriter *r = self;
    CodeMem *place = cfg->typed ? place_near(r, cfg->function) : NULL;
    if (!place) {
        config_log(cfg, 1, "left alone: %s", cfg->typed ? "no memory for code" : "its signature is not known");
        return NULL;
    }
    Unit u = {.cfg = cfg, .evaluator = &r->evaluator, .code_base = (u64)place->code_run};
    memory_init(&u.memory, cfg, &u.arena);
    build_all(&u, build);
    void *made = u.hopeless ? NULL : emit_graph(&u, place);
    if (made) {
        dump(cfg, made, (u64)(place->code_run + place->code_used - (u8 *)made));
        config_log(cfg, 2, "specialised: %llu instructions followed, at %p", (unsigned long long)u.total_outs, made);
    } else {
       
        config_log(cfg, 1, "left alone: %s", u.hopeless ? u.hopeless : "no memory for code");
    }
    unit_free(&u);
    return made;
}
