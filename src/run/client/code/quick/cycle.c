/* cycle.c: see cycle.h. */
#include "run/client/code/quick/cycle.h"

enum { NODES = 512, SLOTS = 1024, PASSES = 16, ASIDE_INSNS = 32, REACH_BYTES = 64 * 1024 };

/* Places for which no loop was found. The search is not repeated for the next VAIN_TIMES samples there; after that, more code may be known. */
enum { VAIN = 64, VAIN_TIMES = 100 };
typedef struct Vain {
    u64 pc;
    u32 times;
} Vain;

/* An instruction that can be reached from where a walk begins. */
typedef struct Node {
    u64 pc;
    Step step;
    bool returns; /* there is a way from it to the beginning */
} Node;

typedef struct Walk {
    StepLook *look;
    u64 end;         /* the walk does not go on behind this instruction */
    bool past_calls; /* the walk goes on behind calls */
    Node nodes[NODES];
    u32 count;
    u16 slots[SLOTS]; /* of addresses: the number of their node, from 1 */
} Walk;

static Node *find(Walk *w, u64 pc, u16 **slot) {
    u32 i = (u32)(pc * 0x9e3779b97f4a7c15u >> 54);
    while (w->slots[i] && w->nodes[w->slots[i] - 1].pc != pc)
        i = (i + 1) % SLOTS;
    *slot = &w->slots[i];
    return **slot ? &w->nodes[**slot - 1] : NULL;
}

static void add(Walk *w, u64 pc) {
    u16 *slot;
    Step step;
    bool is_near = pc - w->nodes[0].pc + REACH_BYTES < 2 * REACH_BYTES;
    if (find(w, pc, &slot) || w->count == NODES || !is_near || !w->look(pc, &step))
        return;
    w->nodes[w->count++] = (Node){pc, step, false};
    *slot = (u16)w->count;
}

static bool goes_on(const Step *s) {
    return s->kind == STEP_ON || s->kind == STEP_BRANCH;
}

static bool jumps(const Step *s) {
    return s->kind == STEP_JUMP || s->kind == STEP_BRANCH;
}

static void walk(Walk *w, u64 start) {
    memset(w->slots, 0, sizeof(w->slots));
    w->count = 0;
    w->nodes[0].pc = start;
    add(w, start);
    for (u32 i = 0; i < w->count; i++) {
        Step s = w->nodes[i].step;
        if (w->nodes[i].pc == w->end)
            continue;
        if (goes_on(&s) || (w->past_calls && s.kind == STEP_CALL))
            add(w, s.next);
        if (jumps(&s))
            add(w, s.target);
    }
}

static bool leads_back(Walk *w, u64 pc) {
    u16 *slot;
    const Node *n = find(w, pc, &slot);
    return n && (n == w->nodes || n->returns);
}

static void find_ways_back(Walk *w) {
    bool changed = true;
    for (u32 pass = 0; pass < PASSES && changed; pass++) {
        changed = false;
        for (u32 i = w->count; i-- > 0;) {
            Node *n = &w->nodes[i];
            if (n->returns || !((goes_on(&n->step) && leads_back(w, n->step.next)) ||
                                (jumps(&n->step) && leads_back(w, n->step.target))))
                continue;
            n->returns = changed = true;
        }
    }
}

/* `from` is code that a branch of the loop leads around. Does it come to a call before it leads back into the loop or elsewhere? */
static bool calls_aside(Walk *w, u64 from) {
    Step s;
    for (u32 i = 0; i < ASIDE_INSNS && !leads_back(w, from) && w->look(from, &s); i++, from = s.next) {
        if (s.kind == STEP_CALL)
            return true;
        if (!goes_on(&s))
            return false;
    }
    return false;
}

/* Can pc be reached from there, too? If not, the guest, which was found at pc, had not come by that call. */
static bool leads_to(const Walk *w, u64 from, u64 pc) {
    static Walk aside;
    u16 *slot;
    aside.look = w->look;
    aside.end = w->nodes[0].pc;
    aside.past_calls = true;
    walk(&aside, from);
    return find(&aside, pc, &slot);
}

static bool has_calls(Walk *w, u64 pc) {
    for (u32 i = 0; i < w->count; i++) {
        const Node *n = &w->nodes[i];
        bool goes_around = n->returns && n->step.kind == STEP_BRANCH && n->step.target > n->pc;
        if (goes_around && calls_aside(w, n->step.next) && leads_to(w, n->step.next, pc))
            return true;
    }
    return false;
}

static bool is_cycle(u64 head, u64 pc, StepLook *look) {
    static Walk w;
    u16 *slot;
    w.look = look;
    walk(&w, head);
    find_ways_back(&w);
    const Node *n = find(&w, pc, &slot);
    return n && n->returns && w.nodes[0].returns && !has_calls(&w, pc);
}

u64 loops_scattered(const QuickLoop *loops, u32 count, u64 pc, StepLook *look) {
    static Vain all[VAIN];
    Vain *vain = &all[(pc ^ pc >> 6) % VAIN];
    if (vain->pc == pc && vain->times--)
        return 0;
    for (u32 i = 0; i < count; i++)
        if ((!i || loops[i].start != loops[i - 1].start) && is_cycle(loops[i].start, pc, look))
            return loops[i].start;
    *vain = (Vain){pc, VAIN_TIMES};
    return 0;
}
