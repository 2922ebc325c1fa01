/* frames.h: the calls that a thread is in: edges between functions, stacks in folded output, frames. */
#ifndef CALLS_FRAMES_H
#define CALLS_FRAMES_H

#include "own.h"

/* --------------------------------------------------------------------------------------------------------------- edges */

/* The part of the dynamic linker that finds a function when it is called for the first time, and goes on there. Its file may have no symbol for it. */
static bool is_resolver(const Function *f) {
    static const char name[] = "_dl_runtime_resolve";
    const char *file = strrchr(f->object->text, '/');
    return f->start ? !strncmp(f->name->text, name, sizeof(name) - 1) : file && !strncmp(file, "/ld", 3);
}

static LatheVector edges = LATHE_VECTOR(Edge *); /* by their numbers; they stay where they are */
static LatheMap edges_from = LATHE_MAP(Edge *);  /* by pc: the first one */
static LatheLock edges_lock;

static Edge *new_edge(Edge edge) {
    Edge *e = lathe_alloc(sizeof(*e));
    edge.number = (uint32_t)edges.count;
    edge.greatest = edge.number > edge.function ? edge.number : edge.function;
    edge.jump = NULL;
    *e = edge;
    *(Edge **)lathe_vector_add(&edges) = e;
    return e;
}

static bool is_like(const Edge *a, const Edge *b) {
    return a->function == b->function && a->jumped == b->jumped && a->handles == b->handles && a->stub == b->stub &&
           a->passes == b->passes;
}

/* The one from the same instruction to the same function. */
static __attribute__((noinline)) Edge *edge_like(Edge edge) {
    lathe_lock(&edges_lock);
    Edge **first = lathe_map_at(&edges_from, edge.pc), *e = *first;
    while (e && !is_like(e, &edge))
        e = e->next;
    edge.next = *first;
    if (!e)
        *first = e = new_edge(edge);
    lathe_unlock(&edges_lock);
    return e;
}

/* --------------------------------------------------------------------------------------------------------------- nodes */

/* A callee of a node; if it is made, it follows the last one that was. */
static Node *callee_of(Node *caller, uint64_t function, Node **last) {
    for (Node *n = caller->callees; n; n = n->next)
        if (n->function == function)
            return n;
    if (caller->depth == DEEPEST_NODE)
        return caller;
    Node *n = lathe_alloc(sizeof(*n));
    *n = (Node){.function = function, .depth = caller->depth + 1, .caller = caller, .next = caller->callees};
    (*last)->made = n;
    *last = caller->callees = n;
    return n;
}

static __attribute__((noinline)) void go_to_node(Own *own, Node *node) {
    own->node->cost += own->executed - own->node_since;
    own->node_since = own->executed;
    own->node = node;
}

/* The function of the top frame is another one. */
static void set_function(Own *own, Node *caller, uint64_t function) {
    own->function = function;
    if (caller)
        go_to_node(own, callee_of(caller, function, &own->last_node));
}

/* -------------------------------------------------------------------------------------------------------------- frames */

/* What is left by a return in a quick way has the stack pointer as its key: a call, or a jump from what was called. All else has something that no stack pointer is near to. */
static uint64_t frame_key(const Edge *edge, const Edge *before, uint64_t sp) {
    return folded || (edge->jumped && before->jumped) ? ~sp : sp;
}

static uint64_t frame_sp(const Frame *f) {
    return (int64_t)f->key < 0 ? ~f->key : f->key;
}

/* Where the program goes on when the call has returned; a jump returns with the call before it. */
static uint64_t frame_back(const Frame *f) {
    while (f->edge->jumped && f->edge->pc)
        f--;
    return f->edge->pc + f->edge->size;
}

static bool has_frames(const Own *own) {
    return own->top > own->frames + 1;
}

static __attribute__((noinline)) void more_frames(Own *own) {
    enum { FEWEST = 256 };
    uint64_t depth = (uint64_t)(own->top - own->frames), room = 2 * depth < FEWEST ? FEWEST : 2 * depth;
    lathe_lock(&live_lock);
    own->frames = lathe_resize(own->frames, room * sizeof(Frame));
    if (folded)
        own->nodes = lathe_resize(own->nodes, room * sizeof(Node *));
    own->top = own->frames + depth;
    own->end = own->frames + room;
    lathe_unlock(&live_lock);
}

/* How many calls of a function the thread is in. These words are in front of the sums: one register is enough to reach both. */
static inline uint64_t *active(const Own *own, uint32_t function) {
    return (uint64_t *)own->sums + ~(uint64_t)function;
}

/* Makes room for what is counted by the number of an edge, or of a function. */
static void reach(Own *own, uint64_t number) {
    enum { FEWEST = 4096 };
    if (number < own->room)
        return;
    uint64_t room = 2 * number < FEWEST ? FEWEST : 2 * number;
    uint64_t *counts = lathe_alloc(room * (sizeof(uint64_t) + sizeof(Sum)));
    lathe_lock(&live_lock);
    if (own->room) {
        memcpy(counts + (room - own->room), own->counts, own->room * sizeof(uint64_t));
        memcpy(counts + room, own->sums, own->room * sizeof(Sum));
    }
    lathe_free(own->counts);
    own->counts = counts;
    own->sums = (Sum *)(counts + room);
    own->room = room;
    lathe_unlock(&live_lock);
}

static void push(Own *own, Edge *edge, uint64_t sp) {
    if (own->top == own->end)
        more_frames(own);
    reach(own, edge->greatest);
    if (folded)
        own->nodes[own->top - own->frames] = own->node;
    *own->top = (Frame){.key = frame_key(edge, own->top[-1].edge, sp), .before = own->executed, .edge = edge};
    own->top++;
    ++*active(own, edge->function);
    set_function(own, own->node, edge->function);
}

/* Is there room for a frame of this edge and its counts? */
static inline bool has_room(const Own *own, const Edge *edge) {
    return own->top != own->end && edge->greatest < own->room;
}

/* What push does where there is room and no folded output; `now` is how many instructions the thread has executed. */
static inline void push_quickly(Own *own, Edge *edge, uint64_t key, uint64_t now) {
    Frame *top = own->top;
    top->key = key;
    top->edge = edge;
    top->before = now;
    own->top = top + 1;
    own->function = edge->function;
    ++*active(own, edge->function);
}

/* If a function calls itself, perhaps through others, the cost of the first call has that of the others in it; these cost nothing. So a function costs what
 * was executed while the program was in it, however often it was. */
static void pop(Own *own) {
    const Frame *f = --own->top;
    Sum *sum = &own->sums[f->edge->number];
    sum->calls++;
    if (!--*active(own, f->edge->function))
        sum->instructions += own->executed - f->before;
    own->function = f[-1].edge->function;
    if (folded)
        go_to_node(own, own->nodes[f - own->frames]);
}

/* ----------------------------------------------------------------------------------------------------------- functions */

/* Where an address was asked for before, its function is known. */
static uint64_t function_at(Own *own, uint64_t pc) {
    Place *place = &own->places[pc / 2 % PLACES];
    if (place->pc != pc)
        *place = (Place){pc, function_of(pc)->id};
    return place->function;
}

/* The first function of a thread: all that it has executed up to now was of it. */
static void begin_in(Own *own, uint64_t pc) {
    uint64_t function = function_at(own, pc);
    own->outermost.function = (uint32_t)function;
    own->function = function;
    if (folded)
        own->node = callee_of(own->root, function, &own->last_node);
}

/* Is there only a jump to a computed address, as in the stubs of a PLT? */
static bool is_stub(uint64_t pc) {
    enum { STUB_INSNS = 4 };
    const uint32_t flow = LATHE_CLASS_BRANCH | LATHE_CLASS_JUMP | LATHE_CLASS_CALL | LATHE_CLASS_RETURN;
    LatheInsn insn = {0};
    for (int i = 0; i < STUB_INSNS && lathe_insn(pc, &insn) && !(insn.classes & flow); i++)
        pc += insn.size;
    return insn.classes & LATHE_CLASS_JUMP && insn.computed;
}

/* The edge instead of one to a stub, once it is known where that leads. */
static Edge *without_stub(Edge *edge) {
    for (Edge *next; edge->passes && (next = __atomic_load_n(&edge->jump, __ATOMIC_ACQUIRE));)
        edge = next;
    return edge;
}

#endif
