/* compare.c: see compare.h. */
#include "compare.h"

#include <stdio.h>

#include "decoded.h"

/* Both results of one run. `whole` is false if a signal ended lifted code: then only the trap can be compared. */
typedef struct Outcome {
    State cpu, lifted, ignore;
    bool whole;
} Outcome;

static void run_both(const Lifted *l, size_t index, const Case *c, const State *initial, Outcome *o) {
    o->cpu = o->lifted = *initial;
    o->ignore = (State){0};
    o->whole = lifted_run(l, index, &o->lifted);
    u8 *memory = state_memory();
    memcpy(memory, initial->memory, STATE_MEMORY_BYTES);
    NativeResult result = native_run(&o->cpu.cpu, c->code, c->size);
    memcpy(o->cpu.memory, memory, STATE_MEMORY_BYTES);
    o->cpu.cpu.trap = state_trap_of(result, o->lifted.cpu.trap);
    decoded_open_flags(c, initial, &o->ignore);
}

static bool differ(const Outcome *o) {
    if (!o->whole || o->cpu.cpu.trap != o->lifted.cpu.trap)
        return o->cpu.cpu.trap != o->lifted.cpu.trap;
    Arena a = {0};
    bool changes = *state_changes(&a, &o->cpu, &o->lifted, &o->ignore);
    arena_free(&a);
    return changes;
}

/* Whether a misaligned 16-byte operand faults is not compared: LLVM may take AVX forms, which do not fault, and AMD's SHA
 * instructions do not either. */
static bool only_alignment(const Sample *s, const Outcome *o) {
    return s->misaligned && (o->cpu.cpu.trap == LATHE_TRAP_PRIVILEGED || o->lifted.cpu.trap == TRAP_MISALIGNED);
}

Verdict compare_sample(const Lifted *l, size_t index, const Case *c, const Sample *s) {
    Outcome o;
    if (decoded_result_undefined(c, &s->initial))
        return VERDICT_OPEN;
    run_both(l, index, c, &s->initial, &o);
    if (only_alignment(s, &o))
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
    u32 cpu_trap, lifted_trap;
} Reduction;

static bool still_differs(const Reduction *r, const State *s) {
    Outcome o;
    if (decoded_result_undefined(r->c, s))
        return false;
    run_both(r->l, r->index, r->c, s, &o);
    return differ(&o) && o.cpu.cpu.trap == r->cpu_trap && o.lifted.cpu.trap == r->lifted_trap;
}

/* Sets a piece of the state to its default if that leaves the difference. */
static void reduce(Reduction *r, size_t offset, size_t size) {
    State tried = r->initial;
    memcpy((u8 *)&tried + offset, (const u8 *)&r->plain + offset, size);
    if (memcmp(&tried, &r->initial, sizeof(tried)) && still_differs(r, &tried))
        r->initial = tried;
}

static void reduce_all(Reduction *r) {
    State *s = &r->initial;
#define REDUCE(member) reduce(r, offsetof(State, member), sizeof(s->member))
    REDUCE(memory);
    for (size_t i = 0; i < STATE_MEMORY_BYTES; i += 16)
        reduce(r, offsetof(State, memory) + i, 16);
    REDUCE(cpu.vec);
    REDUCE(cpu.gp);
    REDUCE(cpu.st);
    for (int i = 0; i < 16; i++) {
        REDUCE(cpu.gp[i]);
        REDUCE(cpu.vec[i]);
        REDUCE(cpu.st[i & 7]);
    }
    for (size_t i = offsetof(State, cpu.cf); i <= offsetof(State, cpu.id); i++)
        reduce(r, i, 1);
    REDUCE(cpu.fsbase);
    REDUCE(cpu.gsbase);
    REDUCE(cpu.mxcsr);
    REDUCE(cpu.fpu_cw);
    REDUCE(cpu.fpu_sw);
    REDUCE(cpu.fpu_top);
    REDUCE(cpu.fpu_tag);
#undef REDUCE
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
    char text[100] = "?";
    run_both(l, index, c, &r.initial, &o);
    r.cpu_trap = o.cpu.cpu.trap;
    r.lifted_trap = o.lifted.cpu.trap;
    state_default(&r.plain);
    reduce_all(&r);
    run_both(l, index, c, &r.initial, &o);
    isa_x86_64.format(c->code, c->size, STATE_CODE, text, sizeof(text));
    printf("DIFFERENT [%s] seed %llu: %s\n  CPU    %s\n  lifted %s\n  ", mode, (unsigned long long)sample->seed, text,
           o.whole ? state_changes(&a, &o.lifted, &o.cpu, &o.ignore) : state_trap_name(o.cpu.cpu.trap),
           o.whole ? state_changes(&a, &o.cpu, &o.lifted, &o.ignore) : state_trap_name(o.lifted.cpu.trap));
    print_bytes(c);
    printf(" # %s | %s | ", text, state_changes(&a, &r.plain, &r.initial, &nothing));
    r.initial.cpu.pc += o.cpu.cpu.trap ? 0 : c->size;
    printf("%s\n", state_changes(&a, &r.initial, &o.cpu, &o.ignore));
    arena_free(&a);
}
