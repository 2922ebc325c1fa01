/* compare.c: see compare.h. */
#include "compare.h"

#include <stdio.h>

#include "decoded.h"

#define STEPS_MAX 200

/* Both results of one run. `whole` is false if a signal ended lifted code: then only the trap can be compared. */
typedef struct Outcome {
    State cpu, lifted, ignore;
    bool whole;
} Outcome;

void compare_run_cpu(State *s, const u8 *code, size_t size, u32 expected_trap) {
    u8 *memory = state_memory();
    memcpy(memory, s->memory, STATE_MEMORY_BYTES);
    NativeResult result = native_run(&s->cpu, code, size);
    memcpy(s->memory, memory, STATE_MEMORY_BYTES);
    s->cpu.trap = state_trap_of(result, expected_trap);
}

static size_t size_at(const Case *c, size_t offset) {
    Insn in = {.pc = STATE_CODE + offset};
    CHECK(isa_find(LATHE_ARCH_X86_64)->decode(c->code + offset, c->size - offset, in.pc, &in) == LATHE_OK, "a sample of no instructions");
    return in.size;
}

/* Goes through the sample as the CPU does, to find the flags that are undefined at its end. False: a result is
 * undefined, because of an operand or of a flag that an earlier instruction left undefined; or the sample is a very
 * long loop. */
static bool find_open(const Case *c, const State *initial, State *ignore) {
    State s = *initial;
    for (u32 steps = 0; s.cpu.pc - STATE_CODE < c->size && !s.cpu.trap; steps++) {
        size_t offset = s.cpu.pc - STATE_CODE;
        Case one = {.file = c->file, .code = c->code + offset, .size = size_at(c, offset)};
        if (steps == STEPS_MAX || decoded_result_undefined(&one, &s) || !decoded_step_flags(&one, &s, ignore))
            return false;
        if (one.size == c->size)
            return true;
        compare_run_cpu(&s, one.code, one.size, LATHE_TRAP_NONE);
    }
    return true;
}

/* False: there is nothing to compare. */
static bool run_both(const Lifted *l, size_t index, const Case *c, const State *initial, Outcome *o) {
    o->cpu = o->lifted = *initial;
    o->ignore = (State){0};
    if (!find_open(c, initial, &o->ignore))
        return false;
    o->whole = lifted_run(l, index, &o->lifted);
    compare_run_cpu(&o->cpu, c->code, c->size, o->lifted.cpu.trap);
    return true;
}

static bool differ(const Outcome *o) {
    if (!o->whole || o->cpu.cpu.trap != o->lifted.cpu.trap)
        return o->cpu.cpu.trap != o->lifted.cpu.trap;
    Arena a = {0};
    bool changes = *state_changes(&a, &o->cpu, &o->lifted, &o->ignore);
    arena_free(&a);
    return changes;
}

static bool is_memory_trap(u32 trap) {
    return trap == LATHE_TRAP_PRIVILEGED || trap == TRAP_MEMORY || trap == TRAP_MISALIGNED;
}

/* Whether a misaligned 16-byte operand faults is not compared: LLVM may take AVX forms, which do not fault, and
 * AMD's SHA instructions do not either. Nor are faults of operands that a loop moved out of the page: LLVM drops
 * loads without a use. */
static bool faults_by_chance(const Sample *s, const Outcome *o) {
    return (s->misaligned || s->repeats) && (is_memory_trap(o->cpu.cpu.trap) || is_memory_trap(o->lifted.cpu.trap));
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
    u32 cpu_trap, lifted_trap;
} Reduction;

static bool still_differs(const Reduction *r, const State *s) {
    Outcome o;
    return run_both(r->l, r->index, r->c, s, &o) && differ(&o) &&
           o.cpu.cpu.trap == r->cpu_trap && o.lifted.cpu.trap == r->lifted_trap;
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

/* All instructions of the sample. */
static char *text_of(Arena *a, const Case *c) {
    char *all = "";
    for (size_t offset = 0; offset < c->size; offset += size_at(c, offset)) {
        char text[100] = "?";
        isa_find(LATHE_ARCH_X86_64)->format(c->code + offset, c->size - offset, STATE_CODE + offset, text, sizeof(text));
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
    r.cpu_trap = o.cpu.cpu.trap;
    r.lifted_trap = o.lifted.cpu.trap;
    state_default(&r.plain);
    reduce_all(&r);
    run_both(l, index, c, &r.initial, &o);
    printf("DIFFERENT [%s] seed %llu: %s\n  CPU    %s\n  lifted %s\n  ", mode, (unsigned long long)sample->seed, text,
           o.whole ? state_changes(&a, &o.lifted, &o.cpu, &o.ignore) : state_trap_name(o.cpu.cpu.trap),
           o.whole ? state_changes(&a, &o.cpu, &o.lifted, &o.ignore) : state_trap_name(o.lifted.cpu.trap));
    print_bytes(c);
    printf(" # %s | %s | ", text, state_changes(&a, &r.plain, &r.initial, &nothing));
    r.initial.cpu.pc += o.cpu.cpu.trap ? 0 : c->size;
    printf("%s\n", state_changes(&a, &r.initial, &o.cpu, &o.ignore));
    arena_free(&a);
}
