/* cfg.c: see cfg.h. */
#include "binopt/function/cfg.h"

enum { MAX_INSNS = 6000 };

static u32 node_at(Cfg *c, u64 pc) {
    u32 n;
    if (map64_get(&c->at, pc, &n))
        return n;
    map64_set(&c->at, pc, (u32)c->nodes.len);
    VEC_PUSH(&c->nodes, ((CfgNode){.pc = pc}));
    return (u32)c->nodes.len - 1;
}

/* Finds all targets of jumps, before blocks are cut there. */
static void find_nodes(Cfg *c, Memory *m) {
    Map64 seen = {0};
    VEC(u64) todo = {0};
    u32 count = 0, unused;
    VEC_PUSH(&todo, c->function);
    node_at(c, c->function);
    while (todo.len) {
        u64 pc = todo.at[--todo.len];
        const MachineInsn *in;
        while (!map64_get(&seen, pc, &unused) && count++ < MAX_INSNS && (in = memory_insn(m, pc))) {
            map64_set(&seen, pc, 0);
            bool direct = in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH;
            if (direct) {
                node_at(c, in->target);
                VEC_PUSH(&todo, in->target);
            }
            pc += in->length;
            if (in->flow == FLOW_BRANCH)
                node_at(c, pc);
            if (in->flow != FLOW_NEXT && in->flow != FLOW_BRANCH && in->flow != FLOW_CALL)
                break;
        }
    }
    VEC_FREE(&todo);
    map64_free(&seen);
}

static void add_edge(Cfg *c, u32 from, u64 to) {
    u32 n;
    if (map64_get(&c->at, to, &n))
        c->nodes.at[from].next[c->nodes.at[from].next_count++] = n;
}

static void find_edges(Cfg *c, Memory *m) {
    for (u32 i = 0; i < c->nodes.len; i++) {
        u64 pc = c->nodes.at[i].pc;
        for (u32 count = 0; count < MAX_INSNS; count++) {
            const MachineInsn *in = memory_insn(m, pc);
            if (!in)
                break;
            pc += in->length;
            bool direct = in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH;
            bool falls = in->flow == FLOW_NEXT || in->flow == FLOW_CALL;
            if (direct)
                add_edge(c, i, in->target);
            if (in->flow == FLOW_BRANCH || (falls && cfg_begins(c, pc)))
                add_edge(c, i, pc);
            if (!falls || cfg_begins(c, pc))
                break;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- loops */

static CfgLoop *loop_for(Cfg *c, Arena *a, u64 first) {
    for (size_t i = 0; i < c->loops.len; i++)
        if (c->loops.at[i].first == first)
            return &c->loops.at[i];
    VEC_PUSH(&c->loops, ((CfgLoop){first, ARENA_ARRAY(a, u8, c->nodes.len)}));
    return &c->loops.at[c->loops.len - 1];
}

/* Adds the blocks of a loop, backwards from its last block up to its first one. */
static void add_members(const Cfg *c, CfgLoop *l, u32 first, u32 last) {
    l->member[first] = 1;
    l->member[last] = 1;
    for (bool more = true; more;) {
        more = false;
        for (u32 i = 0; i < c->nodes.len; i++)
            for (u32 k = 0; !l->member[i] && k < c->nodes.at[i].next_count; k++) {
                u32 next = c->nodes.at[i].next[k];
                if (next != first && l->member[next])
                    l->member[i] = 1, more = true;
            }
    }
}

/* An edge to a block that is on the path from the entry to the edge itself closes a loop. */
static void find_loops(Cfg *c, Arena *a) {
    VEC(u32) way = {0};
    VEC_PUSH(&way, 0);
    while (way.len) {
        u32 at = way.at[way.len - 1];
        CfgNode *n = &c->nodes.at[at];
        if (n->open || n->done) {
            way.len--;
            n->open = false;
            n->done = true;
            continue;
        }
        n->open = true;
        for (u32 k = 0; k < n->next_count; k++) {
            u32 next = n->next[k];
            if (c->nodes.at[next].open)
                add_members(c, loop_for(c, a, c->nodes.at[next].pc), next, at);
            else if (!c->nodes.at[next].done)
                VEC_PUSH(&way, next);
        }
    }
    VEC_FREE(&way);
}

/* --------------------------------------------------------------------------------------------------------------- public */

void cfg_init(Cfg *c, Memory *m, Arena *a, u64 function) {
    *c = (Cfg){.function = function};
    find_nodes(c, m);
    find_edges(c, m);
    find_loops(c, a);
}

void cfg_free(Cfg *c) {
    VEC_FREE(&c->nodes);
    VEC_FREE(&c->loops);
    map64_free(&c->at);
}

bool cfg_begins(const Cfg *c, u64 pc) {
    u32 n;
    return map64_get(&c->at, pc, &n);
}

const CfgLoop *cfg_loop(const Cfg *c, u64 pc) {
    for (size_t i = 0; i < c->loops.len; i++)
        if (c->loops.at[i].first == pc)
            return &c->loops.at[i];
    return NULL;
}

bool cfg_is_in(const Cfg *c, const CfgLoop *l, u64 pc) {
    u32 n;
    return !map64_get(&c->at, pc, &n) || l->member[n];
}
