/* compare.c: see compare.h. */
#include "compare.h"

#include <stdio.h>

#include "draw.h"
#include "isa/isa.h"
#include "oracle.h"

/* Both results of one run. `whole` is false if a signal ended lifted code: then only the trap can be compared. */
typedef struct Outcome {
    State oracle, lifted, ignore;
    bool whole;
} Outcome;

/* False: there is nothing to compare. */
static bool run_both(const Lifted *l, size_t index, const Case *c, const State *initial, Outcome *o) {
    o->oracle = o->lifted = *initial;
    o->ignore = (State){0};
    if (!sample_open(c, initial, &o->ignore))
        return false;
    o->whole = lifted_run(l, index, &o->lifted);
    oracle_run(&o->oracle, c->code, c->size, o->lifted.cpu.trap);
    return true;
}

static bool differ(const Outcome *o) {
    if (!o->whole || o->oracle.cpu.trap != o->lifted.cpu.trap)
        return o->oracle.cpu.trap != o->lifted.cpu.trap;
    Arena a = {0};
    bool changes = *state_changes(&a, &o->oracle, &o->lifted, &o->ignore);
    arena_free(&a);
    return changes;
}

static bool is_memory_trap(u32 trap) {
    return trap == LATHE_TRAP_PRIVILEGED || trap == TRAP_MEMORY || trap == LATHE_TRAP_MISALIGNED;
}

/* Nor are faults of operands compared that a loop moved out of the page: LLVM drops loads without a use. */
static bool faults_by_chance(const Sample *s, const Outcome *o) {
    return (s->misaligned || s->repeats) && (is_memory_trap(o->oracle.cpu.trap) || is_memory_trap(o->lifted.cpu.trap));
}

Verdict compare_sample(const Lifted *l, size_t index, const Case *c, const Sample *s) {
    Outcome o;
    if (!run_both(l, index, c, &s->initial, &o) || faults_by_chance(s, &o))
        return VERDICT_OPEN;
    return differ(&o) ? VERDICT_DIFFERENT : VERDICT_SAME;
}

/* ------------------------------------------------------------------------------------------------------- reporting */

/* A difference being reduced: the state it still shows in, and what must not change about it. */
typedef struct Reduction {
    const Lifted *l;
    size_t index;
    const Case *c;
    State initial, plain;
    u32 oracle_trap, lifted_trap;
} Reduction;

static bool still_differs(const Reduction *r, const State *s) {
    Outcome o;
    return run_both(r->l, r->index, r->c, s, &o) && differ(&o) && o.oracle.cpu.trap == r->oracle_trap &&
           o.lifted.cpu.trap == r->lifted_trap;
}

/* Sets a part of the state to its default if that leaves the difference. */
static void reduce(void *arg, size_t offset, size_t size) {
    Reduction *r = arg;
    State tried = r->initial;
    memcpy((u8 *)&tried + offset, (const u8 *)&r->plain + offset, size);
    if (memcmp(&tried, &r->initial, sizeof(tried)) && still_differs(r, &tried))
        r->initial = tried;
}

static void reduce_all(Reduction *r) {
    reduce(r, offsetof(State, memory), STATE_MEMORY_BYTES);
    for (size_t i = 0; i < STATE_MEMORY_BYTES; i += 16)
        reduce(r, offsetof(State, memory) + i, 16);
    sample_reduce(reduce, r);
}

/* All instructions of the sample. */
static char *text_of(Arena *a, const Case *c) {
    char *all = "";
    for (size_t offset = 0; offset < c->size; offset += draw_size_at(c, offset)) {
        char text[100] = "?";
        isa_find(GUEST_ARCH)->format(c->code + offset, c->size - offset, STATE_CODE + offset, text, sizeof(text));
        all = arena_printf(a, "%s%s%s", all, offset ? "; " : "", text);
    }
    return all;
}

static void print_bytes(const Case *c) {
    for (size_t i = 0; i < c->size; i++)
        printf("%s0x%02x", i ? "," : ".byte ", c->code[i]);
}

void compare_report(const Lifted *l, size_t index, const Case *c, const Sample *sample, const char *mode) {
    Reduction r = {.l = l, .index = index, .c = c, .initial = sample->initial};
    State nothing = {0};
    Outcome o;
    Arena a = {0};
    const char *text = text_of(&a, c);
    run_both(l, index, c, &r.initial, &o);
    r.oracle_trap = o.oracle.cpu.trap;
    r.lifted_trap = o.lifted.cpu.trap;
    state_default(&r.plain);
    reduce_all(&r);
    run_both(l, index, c, &r.initial, &o);
    printf("DIFFERENT [%s] seed %llu: %s\n  %-6s %s\n  lifted %s\n  ", mode, (unsigned long long)sample->seed, text,
           GUEST_ORACLE,
           o.whole ? state_changes(&a, &o.lifted, &o.oracle, &o.ignore) : state_trap_name(o.oracle.cpu.trap),
           o.whole ? state_changes(&a, &o.oracle, &o.lifted, &o.ignore) : state_trap_name(o.lifted.cpu.trap));
    print_bytes(c);
    printf(" # %s | %s | ", text, state_changes(&a, &r.plain, &r.initial, &nothing));
    r.initial.cpu.pc += o.oracle.cpu.trap ? 0 : c->size;
    printf("%s\n", state_changes(&a, &r.initial, &o.oracle, &o.ignore));
    arena_free(&a);
}
