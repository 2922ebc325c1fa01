/* callee.c: see callee.h. */
#include "run/client/code/quick/callee.h"

#include "run/protocol/small.h"

/* The answers for functions that were looked at lately. If the code changes, an old answer does no harm: it only decides what is requested. */
enum { KNOWN = 256 };
typedef struct Known {
    u64 pc;
    u32 insns; /* how many instructions the function has with all that it calls; 0: it is not small */
} Known;

/* The instructions of a function, in the order in which they are found. */
typedef struct Body {
    u64 pc[SMALL_INSNS];
    u32 count;
    bool full;
} Body;

static void add(Body *b, u64 pc) {
    for (u32 i = 0; i < b->count; i++)
        if (b->pc[i] == pc)
            return;
    b->full |= b->count == SMALL_INSNS;
    if (!b->full)
        b->pc[b->count++] = pc;
}

static u32 size_of(u64 pc, u32 depth, StepLook *look);

/* Adds the places to which this step leads. Returns how many instructions of called functions it counts for; more than SMALL_INSNS if it leaves the
 * function otherwise than by a return. */
static u32 follow(Body *b, const Step *s, u32 depth, StepLook *look) {
    u32 called = 0;
    if (s->kind == STEP_END)
        return SMALL_INSNS + 1;
    if (s->kind == STEP_CALL && !(called = size_of(s->target, depth + 1, look)))
        return SMALL_INSNS + 1;
    if (s->kind != STEP_RETURN && s->kind != STEP_JUMP)
        add(b, s->next);
    if (s->kind == STEP_JUMP || s->kind == STEP_BRANCH)
        add(b, s->target);
    return called;
}

static u32 measure(u64 pc, u32 depth, StepLook *look) {
    Body body = {.count = 0};
    Step s;
    u32 called = 0;
    add(&body, pc);
    for (u32 i = 0; i < body.count && !body.full && called <= SMALL_INSNS; i++)
        called += look(body.pc[i], &s) ? follow(&body, &s, depth, look) : SMALL_INSNS + 1;
    return body.full || body.count + called > SMALL_INSNS ? 0 : body.count + called;
}

/* How many instructions a function has, with all that it calls; 0: it is not small. A function that calls itself, directly or not, gets too deep. */
static u32 size_of(u64 pc, u32 depth, StepLook *look) {
    static Known all[KNOWN];
    Known *known = &all[(pc ^ pc >> 8) % KNOWN];
    if (!pc || depth > SMALL_DEPTH)
        return 0;
    if (known->pc == pc)
        return known->insns;
    u32 insns = measure(pc, depth, look);
    *known = (Known){pc, insns};
    return insns;
}

bool callee_is_small(u64 pc, StepLook *look) {
    return size_of(pc, 1, look);
}
