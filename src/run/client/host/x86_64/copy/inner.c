/* inner.c: looks at the machine code of a tool's function, to call it from copied code or to put a copy of it there.
 *
 * The function was compiled like any C function, so it keeps rbx, rbp and r12 to r15. Which other registers it changes is read from its instructions,
 * and from those of the functions that it calls; the functions of lathe/tool.h change only those that their gates do (tool/gate.h).
 *
 * A compiler leaves the stack alone on the short way through a function if it can, and has what saves registers and calls others where it is needed.
 * So blocks of a small function that do not use the stack are copied; a jump to another one is a call of the rest of the function, from there on: on
 * the stack there would be nothing but the return address in both cases. */
#include "run/client/host/x86_64/copy/encode.h"
#include "run/client/tool/gate.h"

enum { INNERS = 8 * TOOL_HOOKS_MAX, STEPS = 1 << 13, SEEN = 4 * STEPS, COPIED_BYTES = 176 };
/* Registers that a C function may change, but for the flags. */
enum {
    RSP_BIT = 1 << RSP,
    C_CHANGES = 0xfc7,
    ARGUMENTS = 1 << RDI | 1 << RSI | 1 << RDX | 1 << RCX | 1 << R8 | 1 << R9,
    GATE_CHANGES = 1 << RAX | 1 << R11
};

static struct {
    u32 count;
    Inner all[INNERS];
} known;

/* ------------------------------------------------------------------------------------------------------------ registers */

typedef struct Walk {
    u32 count, seen_count;
    u64 todo[STEPS], seen[SEEN];      /* the latter by a hash of the address; 0: there is none */
    u16 todo_held[STEPS], held[SEEN]; /* the registers that may have an argument of the function's there still */
    u32 clobbers, needed;
} Walk;

/* The entry of an address in the hash table of those that were seen, or the free entry for it. */
static u64 *seen_at(Walk *w, u64 at) {
    u64 i = at * 0x9e3779b97f4a7c15u >> 40;
    while (w->seen[i % SEEN] && w->seen[i % SEEN] != at)
        i++;
    return &w->seen[i % SEEN];
}

static u16 *held_at(Walk *w, u64 at) {
    return &w->held[seen_at(w, at) - w->seen];
}

/* True if the instruction does not depend on the flag of direction, changes only general registers and memory, and leads to a known place. */
static bool is_plain(const InsnView *v) {
    enum { NOT = CLASS_STRING | CLASS_VECTOR | CLASS_FLOAT | CLASS_SYSTEM };
    return !v->indirect || v->flow == FLOW_RETURN ? !(v->classes & NOT) || v->flow == FLOW_STOP : false;
}

static void add(Walk *w, u64 at, u32 held) {
    if (w->count == STEPS)
        return;
    w->todo[w->count] = at;
    w->todo_held[w->count++] = (u16)held;
}

/* Looks at one instruction, and notes where the walk goes on. Returns false if it is not known what the instruction does. */
static bool walk_insn(Walk *w, u64 at, u32 held) {
    InsnView v;
    if (!insn_view((const u8 *)at, SHAPE_BYTES, at, &v) || !is_plain(&v) || w->seen_count == STEPS ||
        w->count + 2 > STEPS)
        return false;
    w->seen_count += !*seen_at(w, at);
    *seen_at(w, at) = at;
    bool gate = v.flow == FLOW_CALL && gate_is(v.target);
    if (gate && gate_wants_state(v.target))
        return false;
    w->needed |= held & (gate ? ARGUMENTS : v.reads);
    if (v.flow == FLOW_NEXT || v.flow == FLOW_BRANCH || v.flow == FLOW_CALL)
        add(w, at + v.size, held & ~(v.flow == FLOW_CALL ? C_CHANGES : v.kills));
    if ((v.flow == FLOW_JUMP || v.flow == FLOW_BRANCH || v.flow == FLOW_CALL) && !gate)
        add(w, v.target, held);
    if (v.flow != FLOW_STOP)
        w->clobbers |= v.writes;
    w->clobbers |= gate ? GATE_CHANGES : 0;
    return true;
}

static bool walk(Inner *in) {
    static Walk w; /* too large for a stack */
    w = (Walk){.count = 1, .todo = {in->function}, .todo_held = {ARGUMENTS}};
    while (w.count) {
        u64 at = w.todo[--w.count];
        u16 *held = held_at(&w, at), more = w.todo_held[w.count];
        bool known = *seen_at(&w, at) && !(more & ~*held);
        *held |= more;
        if (!known && !walk_insn(&w, at, *held))
            return false;
    }
    in->clobbers = w.clobbers & C_CHANGES;
    in->needed = w.needed;
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- blocks */

/* The number of the block that begins there, which is a new one perhaps; INNER_BLOCKS: there are too many. */
static u8 block_at(Inner *in, u64 start) {
    for (u32 i = 0; i < in->count; i++)
        if (in->block[i].start == start)
            return (u8)i;
    if (in->count == INNER_BLOCKS)
        return INNER_BLOCKS;
    in->block[in->count] = (InnerBlock){.start = start};
    return (u8)in->count++;
}

/* Sets which blocks follow b. Returns false if b has to be cold: it ends a loop, or there are too many blocks. */
static bool set_branch(Inner *in, InnerBlock *b, const Shape *s, u64 next) {
    enum { RETURN = 0xc3 };
    u64 target = next + (u64)s->target;
    if (target < next && *(const u8 *)target != RETURN) /* a loop */
        return false;
    b->ends = s->kind == SHAPE_JCC ? INNER_BRANCHES : INNER_JUMPS;
    b->condition = s->opcode & 15;
    b->target = block_at(in, target);
    b->next = b->ends == INNER_BRANCHES ? block_at(in, next) : 0;
    return b->target < INNER_BLOCKS && b->next < INNER_BLOCKS;
}

/* True if words in memory may have other values behind the instruction. A fence counts: behind it, other threads' stores may be seen. */
static bool may_change_memory(const InsnView *v) {
    for (u32 i = 0; i < v->access_count; i++)
        if (v->access[i].how & ACCESS_WRITE)
            return true;
    return !v->access_count && !v->writes && !v->writes_flags;
}

static void note_effect(Inner *in, u64 at, const Shape *s, const InsnView *v, u32 written) {
    RenameWord word;
    bool is_word = rename_is_word((const u8 *)at, s, &word) && !word.stores;
    for (u32 left = v->writes & ~written & LIVE_ALL; left; left &= left - 1)
        if (is_word) {
            in->loads[__builtin_ctz(left)].base = (u8)word.base;
            in->loads[__builtin_ctz(left)].disp = word.disp;
        }
    if (at - in->function >= INNER_SPAN)
        return;
    in->effect[at - in->function].writes = (u16)v->writes;
    in->effect[at - in->function].stores = may_change_memory(v);
}

/* Reads a block to its end. If that lies in another block, that part is copied twice. Returns false if the block is cold. */
static bool read_block(Inner *in, InnerBlock *b, u32 *bytes) {
    InsnView v;
    Shape s;
    u32 reads = 0, writes = 0;
    RenameUses uses = {0};
    bool renames = true;
    for (b->end = b->start; *bytes <= COPIED_BYTES; b->end += s.length, *bytes += s.length) {
        if (!insn_view((const u8 *)b->end, SHAPE_BYTES, b->end, &v) || !shape_of((const u8 *)b->end, SHAPE_BYTES, &s))
            return false;
        bool jumps = s.kind == SHAPE_JCC || s.kind == SHAPE_JMP;
        if (s.kind == SHAPE_RET || jumps) {
            in->copied_clobbers |= writes;
            in->copied_reads |= reads;
            in->pinned |= uses.pinned;
            in->indexes |= uses.indexes;
            in->constants &= ~(uses.named | uses.pinned | writes);
            in->bases &= in->constants & ~uses.sources;
            in->renames &= renames;
            return !jumps || set_branch(in, b, &s, b->end + s.length);
        }
        if (s.kind != SHAPE_PLAIN || (v.reads | v.writes) & RSP_BIT)
            return false;
        note_effect(in, b->end, &s, &v, writes | in->copied_clobbers);
        reads |= v.reads;
        writes |= v.writes;
        renames &= rename_look((const u8 *)b->end, &s, &v, &uses);
    }
    return false;
}

/* A block that only returns. */
static bool only_returns(const InnerBlock *b) {
    return !b->cold && b->ends == INNER_RETURNS && b->start == b->end;
}

static bool is_straight(const Inner *in) {
    for (u32 i = 0; i < in->count; i++) {
        const InnerBlock *b = &in->block[i], *target = &in->block[b->target], *next = &in->block[b->next];
        bool branches = !b->cold && b->ends == INNER_BRANCHES;
        if (branches && !target->cold && !next->cold && !only_returns(target) && !only_returns(next))
            return false;
    }
    return true;
}

static void split(Inner *in) {
    u32 bytes = 0;
    in->renames = true;
    in->bases = in->constants = LIVE_ALL;
    block_at(in, in->function);
    for (u32 i = 0; i < in->count; i++) {
        in->block[i].cold = !read_block(in, &in->block[i], &bytes);
        in->has_cold |= in->block[i].cold;
    }
    if (in->block[0].cold)
        in->count = 0;
    in->straight = is_straight(in);
}

const Inner *inner_of(u64 function) {
    for (u32 i = 0; i < known.count; i++)
        if (known.all[i].function == function)
            return &known.all[i];
    if (known.count == INNERS)
        return NULL;
    Inner *in = &known.all[known.count++];
    *in = (Inner){.function = function};
    for (u32 r = 0; r < EMIT_REGISTERS; r++)
        in->loads[r].base = REG_NONE;
    in->direct = walk(in);
    split(in);
    return in;
}
