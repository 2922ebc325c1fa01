/* calls.c: a profiler of calls: which functions execute how many instructions, by themselves and with all that they call.
 *
 * Writes callgrind.out.PID, for callgrind_annotate and KCachegrind:
 *
 *     fn=(7) main
 *     12 345                    line 12 has executed 345 instructions
 *     cfn=(9) parse
 *     calls=3 40                and has called parse, which begins at line 40, three times:
 *     12 6789                   6789 instructions were executed in these calls
 *
 * With the option `folded`, it writes folded.out.PID instead, for flame graphs: a line `main;parse;read_token 5023` for each stack. `out=NAME` is another
 * name for the file.
 *
 * Each thread has a list of the calls that it is in, its frames. A call adds one, a return takes it away. All else that may lead to another function is looked at where
 * it leaves its own: returns that are not those of the last call, jumps to computed addresses, and jumps and branches that are known to leave. If it is longjmp or
 * an exception, the stack pointer is above that of frames which are gone. If it is a jump into another function, a tail call, this adds a frame
 * that goes away together with the one before it. The same happens when a signal is handled: the function that was interrupted calls the handler. */
#include "costs.h"

/* A stack in folded output: the function, and what has called it. */
typedef struct Node {
    uint64_t function, cost, depth;
    struct Node *caller, *callees, *next; /* `next`: of those that have the same caller */
    struct Node *made;                    /* the one that was made next in the same thread */
    struct Node *merged;                  /* its counterpart in the tree of all threads */
} Node;

enum { DEEPEST_NODE = 1000 };

/* Calls from one instruction to one function, or jumps from there into it. */
typedef struct Edge {
    uint64_t target;   /* of calls: the address that is called */
    uint32_t function; /* its id */
    uint32_t number;   /* of the edge, from 0 on */
    uint32_t greatest; /* of both */
    uint16_t size;     /* of a call: how many bytes behind pc it goes on afterwards */
    bool jumped;       /* no call, but a jump */
    bool handles;      /* no call, but a signal: the function is its handler */
    bool stub;         /* what is called is one, and the function is it, or what it leads to */
    bool passes;       /* the function is the stub, or the dynamic linker, and only leads to another one */
    uint64_t pc;       /* the instruction; of a signal: the one before which it came */
    struct Edge *jump; /* of the last jump that came from the function, if it was this edge that led there */
    struct Edge *next; /* another one from the same instruction */
} Edge;

/* A call that has not returned. */
typedef struct Frame {
    uint64_t key;    /* the stack pointer before the call; see frame_key */
    uint64_t before; /* how many instructions the thread had executed when it called */
    Edge *edge;
} Frame;

/* What a thread has counted of an edge. */
typedef struct Sum {
    uint64_t calls, instructions;
} Sum;

/* What is known of a call that may lead to several functions, by the words of its site, or of a jump into another one. */
typedef struct Link {
    uint64_t from, target;
    Edge *edge;
    uint64_t unused;
} Link;

/* The function that an address is in, by its id. */
typedef struct Place {
    uint64_t pc, function;
} Place;

enum { LINKS = 4096, PLACES = 4096 };

/* What each thread has. */
typedef struct Own {
    uint64_t function;       /* the id of the one that it is in; 0: the thread has just begun */
    Frame *top, *end;        /* behind the innermost frame, and behind all that there is room for */
    uint64_t room;           /* of the two arrays that follow, which are in one piece of memory */
    uint64_t *counts;        /* of each function, backwards: see active */
    Sum *sums;               /* by the numbers of edges */
    uint64_t executed;       /* instructions, when something rare happens */
    const uint64_t *counted; /* what they are counted by */
    Frame *frames; /* the first one is no call: it has the function that the thread is in if all others have returned */
    Edge outermost;                /* its edge */
    Link *links;                   /* LINKS of them */
    const Link *call_links;        /* the same, or as many of nothing, in folded output */
    Place *places;                 /* PLACES of them: where jumps have led to */
    Node **nodes;                  /* folded, for each frame: what has called */
    Node *root, *last_node, *node; /* folded: the first and the last one that were made; where the thread is */
    uint64_t node_since;           /* what `executed` was when the thread came to `node` */
} Own;

_Static_assert(sizeof(Own) <= LATHE_OWN_WORDS * sizeof(uint64_t), "each thread has so much");

/* The options. */
static bool folded;
static const char *output;

static Function *function_no(uint64_t id) {
    return function_chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
}

/* --------------------------------------------------------------------------------------------------------- threads that run */

/* What the threads that run now have as their own (LATHE_THREAD_OWN). Whoever looks at what others have holds the lock, and so does a thread that moves or frees what is
 * its own. */
static LatheVector live = LATHE_VECTOR(void *);
static LatheLock live_lock;

static void live_add(void *own) {
    lathe_lock(&live_lock);
    *(void **)lathe_vector_add(&live) = own;
    lathe_unlock(&live_lock);
}

/* The caller holds the lock. */
static void live_remove(const void *own) {
    void **each = live.at;
    for (size_t i = 0; i < live.count; i++)
        if (each[i] == own)
            each[i] = each[--live.count];
}

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

/* ------------------------------------------------------------------------------------------------------------ surprises */

/* Has the program left the top frame, if it is at pc, which is in a function, with this stack pointer, or one that is greater by `slack` at most? Handlers of signals are not left by returns. */
static bool is_gone(const Frame *f, uint64_t pc, uint64_t sp, uint64_t slack, const Function *function) {
    if (slack && f->edge->handles)
        return false;
    if (frame_sp(f) - sp > slack)
        return frame_sp(f) < sp;
    return frame_back(f) == pc || (f[-1].edge->function == function->id && pc != function->start);
}

/* The program has jumped back into a function from which it has jumped: the frame of that jump; NULL: it is no such function. */
static Frame *jump_from(Own *own, uint64_t function) {
    for (Frame *f = own->top; f > own->frames + 1 && f[-1].edge->jumped; f--)
        if (f[-2].edge->function == function)
            return f - 1;
    return NULL;
}

static uint64_t link_number(uint64_t from, uint64_t target) {
    return (from / 8 ^ target / 4) % LINKS;
}

static Link *link_slot(Own *own, uint64_t from, uint64_t target) {
    return &own->links[link_number(from, target)];
}

/* The edge of a jump into a function. If it comes from one that only leads there, which another edge has led to, it is instead of that. What is known of these is among the links: an edge
 * has a number there that is no address of an instruction, and a function one that is no target of a call. */
static Edge *edge_of_jump(Own *own, const Edge *instead_of, uint64_t pc, uint64_t target, uint64_t function) {
    uint64_t key = instead_of ? ~instead_of->number : pc, where = 4 * function;
    Link *slot = link_slot(own, key, where);
    if (slot->from == key && slot->target == where)
        return slot->edge;
    bool stub = !instead_of && is_stub(target);
    Edge edge = instead_of ? *instead_of : (Edge){.pc = pc, .jumped = true, .stub = stub};
    edge.function = (uint32_t)function;
    edge.passes = stub || (instead_of && is_resolver(function_no(function)));
    *slot = (Link){.from = key, .target = where, .edge = edge_like(edge)};
    return slot->edge;
}

/* The call of a function that only leads to another one is done, and in its place is that of the other one. */
static void pass_on(Own *own, Edge *edge) {
    uint64_t sp = frame_sp(own->top - 1);
    pop(own);
    push(own, edge, sp);
}

/* The stub does not lead to the function that was noted as called, but to another one. */
static void call_instead(Own *own, Edge *edge) {
    Frame *f = own->top - 1;
    reach(own, edge->greatest);
    --*active(own, f->edge->function);
    ++*active(own, edge->function);
    f->edge = edge;
    set_function(own, folded ? own->nodes[f - own->frames] : NULL, edge->function);
}

/* A jump into another function. If it comes from one that only leads there, that one is done, and whoever has called it calls the other one. */
static void jump(Own *own, uint64_t pc, uint64_t target, uint64_t function) {
    if (!has_frames(own)) {
        own->outermost.function = (uint32_t)function;
        set_function(own, own->root, function);
        return;
    }
    Edge *top = own->top[-1].edge;
    bool instead = top->stub && !top->passes && function_at(own, pc) != own->function;
    Edge *edge = edge_of_jump(own, top->passes || instead ? top : NULL, pc, target, function);
    if (instead)
        call_instead(own, edge);
    else if (top->passes)
        pass_on(own, edge);
    else
        push(own, edge, frame_sp(own->top - 1));
    __atomic_store_n(&top->jump, edge, __ATOMIC_RELEASE);
}

/* True: a jump into a function is done, as it was done the last time. The stack pointer says that the innermost call has not returned. */
static bool jump_again(Own *own, uint64_t pc, uint64_t function, uint64_t sp) {
    const Frame *f = own->top - 1;
    Edge *edge = __atomic_load_n(&f->edge->jump, __ATOMIC_ACQUIRE);
    if (!edge || edge->function != function || f->edge->jumped || folded || f->key <= sp)
        return false;
    if (f->edge->passes)
        pass_on(own, edge);
    else if (edge->pc == pc && edge->jumped)
        push(own, edge, f->key);
    else
        return false;
    return true;
}

/* From pc, control goes to another place; the stack pointer is `sp` there, or greater by `slack` at most. */
static __attribute__((noinline)) void find_way(Own *own, uint64_t pc, uint64_t target, uint64_t sp, uint64_t slack) {
    uint64_t id = function_at(own, target);
    const Function *function = function_no(id);
    while (has_frames(own) && is_gone(own->top - 1, target, sp, slack, function))
        pop(own);
    if (own->function == id)
        return;
    const Frame *from = jump_from(own, id);
    while (from && own->top > from)
        pop(own);
    if (!from)
        jump(own, pc, target, id);
}

/* --------------------------------------------------------------------------------------------------------------- blocks */

static LatheTable passes;     /* how often blocks were executed: address, number of instructions */
static LatheCounter executed; /* instructions */

static void count_block(uint64_t pc, uint64_t count) {
    lathe_count_in(&passes, pc, count, 0, 1);
    lathe_count(&executed, (long)count);
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

/* Words of a call's site: the first two targets, once they are known, and the edges to them. They stay. In folded output, no call is quick, and they are zero. */
enum { CALL_FIRST, CALL_FIRST_EDGE, CALL_SECOND, CALL_SECOND_EDGE };

/* Who finds the target finds the edge, too. */
static void set_site(uint64_t *site, uint64_t target, Edge *edge) {
    lathe_lock(&edges_lock);
    uint64_t *words = site[CALL_FIRST] ? site + CALL_SECOND : site;
    if (!*words && site[CALL_FIRST] != target) {
        words[1] = (uint64_t)edge;
        __atomic_store_n(words, target, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
}

/* The edge of a call. A stub is left out as soon as it is known where it leads: its jump looks whether it is there again. */
static Edge *new_call(uint64_t pc, uint64_t target) {
    LatheInsn insn = {0};
    bool stub = is_stub(target);
    lathe_insn(pc, &insn);
    Edge *edge = edge_like((Edge){.target = target,
                                  .function = (uint32_t)function_of(target)->id,
                                  .pc = pc,
                                  .size = (uint16_t)insn.size,
                                  .stub = stub,
                                  .passes = stub});
    return without_stub(edge);
}

/* Calls that lead to several functions find their edges in the thread's own table. */
static Edge *find_edge(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    Link *slot = link_slot(own, (uint64_t)site, target);
    if (slot->from == (uint64_t)site && slot->target == target)
        return slot->edge;
    Edge *edge = new_call(pc, target);
    if (edge->passes)
        return edge;
    if (!site[CALL_SECOND] && !folded)
        set_site(site, target, edge);
    *slot = (Link){.from = (uint64_t)site, .target = target, .edge = edge};
    return edge;
}

/* The compiler leaves the value in its register up to here: what Lathe knows of it becomes a part of the instructions that use it. */
#define STAYS(value) __asm__("" ::"r"(value))

static __attribute__((noinline)) void call_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp) {
    if (!own->outermost.function)
        begin_in(own, pc);
    push(own, find_edge(own, site, pc, target), sp);
}

/* The compiler does not make one load of this and that of the first edge. */
static inline Edge *second_edge(const uint64_t *site) {
    Edge *edge = (Edge *)__atomic_load_n(&site[CALL_SECOND_EDGE], __ATOMIC_RELAXED);
    __asm__("" : "+r"(edge));
    return edge;
}

/* In the thread's own table, by the address of the site's words; NULL: it does not have it. */
static inline Edge *linked_edge(const Own *own, const uint64_t *site, uint64_t target) {
    const Link *slot = &own->call_links[link_number((uint64_t)site, target)];
    return slot->from == (uint64_t)site && slot->target == target ? slot->edge : NULL;
}

static void call(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp, const uint64_t *counted) {
    Edge *edge;
    if (__builtin_expect(__atomic_load_n(&site[CALL_FIRST], __ATOMIC_ACQUIRE) == target, true))
        edge = (Edge *)__atomic_load_n(&site[CALL_FIRST_EDGE], __ATOMIC_RELAXED);
    else if (__atomic_load_n(&site[CALL_SECOND], __ATOMIC_ACQUIRE) == target)
        edge = second_edge(site);
    else if (!(edge = linked_edge(own, site, target)))
        goto slowly;
    Frame *top = own->top;
    if (__builtin_expect(top == own->end || edge->greatest >= own->room, false))
        goto slowly;
    top->key = sp;
    top->edge = edge;
    top->before = lathe_counted(counted);
    own->top = top + 1;
    own->function = edge->function;
    ++*active(own, edge->function);
    STAYS(own);
    STAYS(site);
    STAYS(pc);
    STAYS(sp);
    STAYS(counted);
    return;
slowly:
    own->executed = lathe_counted(counted);
    call_slowly(own, site, pc, target, sp);
}

/* Is it the return from a frame? Before it, the stack pointer is that of the frame, or below it by the address that it takes from the stack. */
static bool returns_from(const Frame *f, uint64_t target, uint64_t sp) {
    return frame_sp(f) - sp <= sizeof(uint64_t) && frame_back(f) == target;
}

/* The innermost frame that a return can be from. */
static Frame *returning(Own *own, uint64_t target, uint64_t sp) {
    Frame *f = own->top - 1;
    while (f > own->frames && !returns_from(f, target, sp) && !f->edge->handles && frame_sp(f) <= sp + sizeof(uint64_t))
        f--;
    return f > own->frames && returns_from(f, target, sp) ? f : NULL;
}

/* A return from a function that was jumped to, or one that leaves several frames. One that is a way of jumping is told where its function begins. */
static __attribute__((noinline)) void leave_slowly(Own *own, uint64_t sp, uint64_t target) {
    const Frame *f = returning(own, target, sp);
    if (!f) {
        uint64_t start = own->function ? function_no(own->function)->start : 0;
        find_way(own, start ? start : target, target, sp, sizeof(uint64_t));
        return;
    }
    while (own->top > f || own->top->edge->jumped)
        pop(own);
}

static inline const Edge *pop_quickly(Own *own, const Frame *f, uint64_t now) {
    const Edge *edge = f->edge;
    Sum *sum = &own->sums[edge->number];
    sum->calls++;
    if (!--*active(own, edge->function))
        sum->instructions += now - f->before;
    return edge;
}

/* The stack pointer is that before the return, which may take an address from the stack. It tells which call returns; where the return leads to is not asked for, since that takes time. */
static void leave(Own *own, uint64_t sp, const uint64_t *counted, uint64_t target) {
    Frame *f = own->top - 1;
    uint64_t now = lathe_counted(counted);
    if (__builtin_expect(f->key - sp > sizeof(uint64_t), false)) {
        own->executed = now;
        leave_slowly(own, sp, target);
        return;
    }
    if (pop_quickly(own, f, now)->jumped)
        pop_quickly(own, --f, now);
    own->top = f;
    own->function = f[-1].edge->function;
    STAYS(own);
    STAYS(sp);
    STAYS(counted);
}

/* ---------------------------------------------------------------------------------------------------------------- jumps */

/* Words of a site of a computed jump: the addresses of the function that it is in, from the first one on, and how many; a stub's target, once it is known, and the id of its function. */
enum { JUMP_FROM, JUMP_BYTES, JUMP_TARGET, JUMP_FUNCTION };

static void set_extent(uint64_t *site, uint64_t pc) {
    uint64_t from, to;
    lathe_extent(pc, &from, &to);
    __atomic_store_n(&site[JUMP_FROM], from, __ATOMIC_RELAXED);
    __atomic_store_n(&site[JUMP_BYTES], to - from, __ATOMIC_RELEASE);
}

/* Another thread sets the same, or has done so. */
static void set_target(uint64_t *site, uint64_t target, uint64_t function) {
    lathe_lock(&edges_lock);
    if (!site[JUMP_TARGET]) {
        site[JUMP_FUNCTION] = function;
        __atomic_store_n(&site[JUMP_TARGET], target, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
}

/* A jump that may lead to another function. */
static __attribute__((noinline)) void jump_slowly(Own *own, uint64_t pc, uint64_t target, uint64_t sp) {
    if (!own->outermost.function)
        begin_in(own, pc);
    uint64_t function = function_at(own, target);
    if (function != own->function && !(has_frames(own) && jump_again(own, pc, function, sp)))
        find_way(own, pc, target, sp, 0);
}

static __attribute__((noinline)) void jump_computed_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target,
                                                           uint64_t sp) {
    if (!site[JUMP_BYTES])
        set_extent(site, pc);
    if (target - site[JUMP_FROM] < site[JUMP_BYTES])
        return;
    uint64_t before = own->function;
    jump_slowly(own, pc, target, sp);
    if (own->function == before && !site[JUMP_TARGET])
        set_target(site, target, before);
}

/* Most jumps to computed addresses lead within the function, or are those of stubs, whose calls were noted as those of the function that they lead to. */
static void jump_computed(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp,
                          const uint64_t *counted) {
    if (__builtin_expect(target - site[JUMP_FROM] < site[JUMP_BYTES], true))
        return;
    if (__atomic_load_n(&site[JUMP_TARGET], __ATOMIC_ACQUIRE) == target && site[JUMP_FUNCTION] == own->function)
        return;
    own->executed = lathe_counted(counted);
    jump_computed_slowly(own, site, pc, target, sp);
}

/* Words of a site of a jump into another function: the id of the function that it is in, and the edge; NULL: by their ids, both are one. */
enum { AWAY_FUNCTION, AWAY_EDGE };

/* What was done the first time will be done again. */
static void set_away(const Own *own, uint64_t *site, uint64_t pc, uint64_t before) {
    bool same = own->function == before;
    Edge *edge = own->top[-1].edge, *whole = same ? NULL : without_stub(edge);
    if (site[AWAY_FUNCTION] || folded || (!same && (!edge->jumped || edge->pc != pc || whole->passes)))
        return;
    lathe_lock(&edges_lock);
    if (!site[AWAY_FUNCTION]) {
        site[AWAY_EDGE] = (uint64_t)whole;
        __atomic_store_n(&site[AWAY_FUNCTION], before, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
}

/* The second jump since the last call, if it is not back into the function that the first one came from. */
static bool jump_on(Own *own, const uint64_t *site) {
    const Frame *top = own->top;
    Edge *edge = (Edge *)site[AWAY_EDGE];
    bool second = edge && top > own->frames + 2 && top[-1].edge->jumped && !top[-2].edge->jumped;
    if (site[AWAY_FUNCTION] != own->function || !second || edge->function == top[-2].edge->function)
        return false;
    push(own, edge, frame_sp(top - 1));
    return true;
}

static __attribute__((noinline)) void jump_away_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target,
                                                       uint64_t sp) {
    uint64_t before = own->function;
    if (jump_on(own, site))
        return;
    jump_slowly(own, pc, target, sp);
    if (before)
        set_away(own, site, pc, before);
}

static void jump_away(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp, const uint64_t *counted) {
    Frame *top = own->top;
    if (__builtin_expect(__atomic_load_n(&site[AWAY_FUNCTION], __ATOMIC_ACQUIRE) != own->function, false))
        goto slowly;
    Edge *edge = (Edge *)site[AWAY_EDGE];
    if (!edge)
        return;
    if (__builtin_expect(top == own->end || edge->greatest >= own->room || top[-1].edge->jumped, false))
        goto slowly;
    top->key = top[-1].key;
    top->edge = edge;
    top->before = lathe_counted(counted);
    own->top = top + 1;
    own->function = edge->function;
    ++*active(own, edge->function);
    STAYS(own);
    STAYS(site);
    STAYS(pc);
    STAYS(target);
    STAYS(sp);
    STAYS(counted);
    return;
slowly:
    own->executed = lathe_counted(counted);
    jump_away_slowly(own, site, pc, target, sp);
}

static void branch_away(Own *own, uint64_t pc, uint64_t target, uint64_t taken, uint64_t sp, const uint64_t *counted) {
    if (__builtin_expect(!taken, true))
        return;
    own->executed = lathe_counted(counted);
    jump_slowly(own, pc, target, sp);
}

/* -------------------------------------------------------------------------------------------------------------- signals */

/* The function that is interrupted calls the handler, in a way. */
static void handle(Own *own, uint64_t pc, uint64_t handler, uint64_t sp, const uint64_t *counted) {
    own->executed = lathe_counted(counted);
    if (!own->outermost.function)
        begin_in(own, pc);
    Edge edge = {.pc = pc, .function = (uint32_t)function_at(own, handler), .jumped = true, .handles = true};
    push(own, edge_like(edge), sp);
}

/* The last handler is done, and whatever it was doing. */
static void end_handler(Own *own) {
    const Frame *f = own->top - 1;
    while (f > own->frames && !f->edge->handles)
        f--;
    while (f > own->frames && own->top > f)
        pop(own);
}

static void call_system(Own *own, uint64_t pc, uint64_t number, const uint64_t *counted) {
    const char *name = lathe_syscall_name(number);
    own->executed = lathe_counted(counted);
    if (!own->outermost.function)
        begin_in(own, pc);
    if (name && !strcmp(name, "rt_sigreturn"))
        end_handler(own);
}

/* -------------------------------------------------------------------------------------------------------------- threads */

static const Link no_links[LINKS];

static void begin(Own *own, const uint64_t *counted) {
    *own = (Own){.counted = counted,
                 .outermost = {.jumped = true},
                 .links = lathe_alloc(LINKS * sizeof(Link)),
                 .call_links = no_links,
                 .places = lathe_alloc(PLACES * sizeof(Place))};
    if (!folded)
        own->call_links = own->links;
    more_frames(own);
    *own->top++ = (Frame){.key = ~0ul, .edge = &own->outermost};
    if (folded)
        own->node = own->last_node = own->root = lathe_alloc(sizeof(Node));
    live_add(own);
}

static void begin_thread(Own *own, uint64_t pc, const uint64_t *counted) {
    begin(own, counted);
    begin_in(own, pc);
}

/* What was executed up to now by threads that have ended, or by all. */
typedef struct Total {
    Sum *sums; /* by the numbers of edges */
    uint64_t room;
    Node *root, *last_node;
} Total;

static Total ended;

static void add_sums(Total *total, const Sum *sums, uint64_t count) {
    if (count > total->room) {
        total->sums = lathe_resize(total->sums, count * sizeof(Sum));
        total->room = count;
    }
    for (uint64_t i = 0; i < count; i++) {
        total->sums[i].calls += sums[i].calls;
        total->sums[i].instructions += sums[i].instructions;
    }
}

/* The calls that a thread is in have cost what was executed so far. The thread goes on in them. */
static void add_frames(Total *total, const Own *own) {
    size_t bytes = own->room * sizeof(uint64_t);
    uint64_t *counts = lathe_alloc(bytes + 1);
    if (bytes)
        memcpy(counts, own->counts, bytes);
    for (const Frame *f = own->top - 1; f > own->frames; f--) {
        Sum *sum = &total->sums[f->edge->number];
        sum->calls++;
        if (!--counts[own->room - 1 - f->edge->function])
            sum->instructions += own->executed - f->before;
    }
    lathe_free(counts);
}

static void add_nodes(Total *total, Node *root) {
    if (root && !total->root)
        total->root = total->last_node = lathe_alloc(sizeof(Node));
    for (Node *n = root; n; n = n->made) {
        n->merged = n == root ? total->root : callee_of(n->caller->merged, n->function, &total->last_node);
        n->merged->cost += n->cost;
    }
}

static void add_thread(Total *total, Own *own) {
    own->executed = lathe_counted(own->counted);
    add_sums(total, own->sums, own->room);
    add_frames(total, own);
    if (own->node)
        go_to_node(own, own->node);
    add_nodes(total, own->root);
}

static void free_nodes(Node *root) {
    for (Node *n = root, *next; n; n = next) {
        next = n->made;
        lathe_free(n);
    }
}

static void end_thread(Own *own) {
    lathe_lock(&live_lock);
    live_remove(own);
    add_thread(&ended, own);
    lathe_unlock(&live_lock);
    lathe_free(own->counts);
    lathe_free(own->nodes);
    lathe_free(own->frames);
    lathe_free(own->links);
    lathe_free(own->places);
    free_nodes(own->root);
}

static Total take_total(void) {
    Total total = {0};
    lathe_lock(&live_lock);
    add_sums(&total, ended.sums, ended.room);
    add_nodes(&total, ended.root);
    for (size_t i = 0; i < live.count; i++)
        add_thread(&total, ((Own **)live.at)[i]);
    lathe_unlock(&live_lock);
    return total;
}

static void free_total(Total *total) {
    lathe_free(total->sums);
    free_nodes(total->root);
    *total = (Total){0};
}

/* --------------------------------------------------------------------------------------------------------- folded output */

static void write_stack(LatheFile *out, const Node *n, LatheVector *path) {
    path->count = 0;
    for (const Node *at = n; at->caller; at = at->caller)
        *(const char **)lathe_vector_add(path) = function_no(at->function)->name->text;
    for (size_t i = path->count; i-- > 0;)
        lathe_fprint(out, "%s%s", ((const char **)path->at)[i], i ? ";" : "");
    lathe_fprint(out, " %lu\n", n->cost);
}

static void write_folded(LatheFile *out, const Total *total) {
    LatheVector path = LATHE_VECTOR(const char *);
    name_functions();
    for (const Node *n = total->root; n; n = n->made)
        if (n->cost && n->caller)
            write_stack(out, n, &path);
    lathe_vector_clear(&path);
}

/* ------------------------------------------------------------------------------------------------------ callgrind output */

/* What an item is about: instructions that were executed at a place, or calls from there. */
typedef struct Cost {
    uint64_t instructions;
    uint64_t calls;
    const Function *called; /* NULL: it is about no calls */
} Cost;

static LatheMap own_costs = LATHE_MAP(Cost); /* by the addresses of instructions */

/* If the code of a block has changed, it may have had another number of instructions at times: the sum is right in any case. */
static void add_block(const Block *b, uint64_t pc, uint64_t executed) {
    uint64_t passes = b->count ? executed / b->count : 0, rest = executed - passes * b->count;
    ((Cost *)lathe_map_at(&own_costs, pc))->instructions += rest;
    for (uint64_t i = 0; i < b->count; i++) {
        ((Cost *)lathe_map_at(&own_costs, pc))->instructions += passes;
        pc += b->insn[i].size;
    }
}

static uint64_t collect_blocks(void) {
    uint64_t sum = 0;
    lathe_map_clear(&own_costs);
    for (LatheRow r = {0}; lathe_table_next(&passes, &r);) {
        uint64_t pc = r.key[0], executed = r.key[1] * r.total;
        add_block(block_at(pc, r.key[1]), pc, executed);
        sum += executed;
    }
    for (LatheWalk w = {0}; lathe_map_next(&own_costs, &w);)
        item_add(w.key, w.value);
    return sum;
}

/* Returns what the items refer to. */
static Cost *collect_edges(const Total *total) {
    uint64_t count = total->room < edges.count ? total->room : edges.count;
    Cost *costs = lathe_alloc((count + 1) * sizeof(Cost));
    for (uint64_t i = 0; i < count; i++) {
        const Edge *edge = ((Edge **)edges.at)[i];
        costs[i] = (Cost){total->sums[i].instructions, total->sums[i].calls, function_no(edge->function)};
        if (costs[i].calls)
            item_add(edge->pc, &costs[i]);
    }
    return costs;
}

/* A name is written out once for each kind; later its number stands for it. */
enum { AS_OBJECT = 1, AS_FILE = 2, AS_FUNCTION = 4 };

static void write_name(LatheFile *out, const char *key, Name *name, unsigned kind) {
    bool known = name->written & kind;
    lathe_fprint(out, "%s=(%lu)%s%s\n", key, name->id, known ? "" : " ", known ? "" : name->text);
    name->written |= kind;
}

static void write_call(LatheFile *out, const Item *item, const Cost *cost) {
    write_name(out, "cob", cost->called->object, AS_OBJECT);
    write_name(out, "cfi", cost->called->file, AS_FILE);
    write_name(out, "cfn", cost->called->name, AS_FUNCTION);
    lathe_fprint(out, "calls=%lu %lu\n%lu %lu\n", cost->calls, cost->called->line, item->line, cost->instructions);
}

/* What is new since the last line that was written: the function, or only the file. */
static void write_head(LatheFile *out, const Item *item, const Item *last) {
    if (!last || last->function != item->function) {
        lathe_fprint(out, "\n");
        write_name(out, "ob", item->function->object, AS_OBJECT);
        write_name(out, "fl", item->function->file, AS_FILE);
        write_name(out, "fn", item->function->name, AS_FUNCTION);
        last = NULL;
    }
    if (item->file != (last ? last->file : item->function->file))
        write_name(out, "fi", item->file, AS_FILE);
}

/* All items of one line, which are `count`. */
static void write_line(LatheFile *out, const Item *item, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const Cost *cost = item[i].what;
        sum += cost->called ? 0 : cost->instructions;
    }
    if (sum)
        lathe_fprint(out, "%lu %lu\n", item->line, sum);
    for (size_t i = 0; i < count; i++) {
        const Cost *cost = item[i].what;
        if (cost->called)
            write_call(out, &item[i], cost);
    }
}

static void write_items(LatheFile *out) {
    const Item *item = items.at, *last = NULL;
    for (size_t i = 0, count; i < items.count; i += count) {
        for (count = 1; i + count < items.count && same_line(&item[i], &item[i + count]);)
            count++;
        write_head(out, &item[i], last);
        write_line(out, &item[i], count);
        last = &item[i];
    }
}

static void write_callgrind(LatheFile *out, const Total *total) {
    items_begin();
    uint64_t sum = collect_blocks();
    Cost *calls = collect_edges(total);
    items_sort();
    lathe_fprint(out, "# callgrind format\nversion: 1\ncreator: lathe\npid: %lu\n", lathe_process());
    write_command(out);
    lathe_fprint(out, "part: 1\npositions: line\nevents: Ir\nsummary: %lu\n", sum);
    write_items(out);
    lathe_fprint(out, "\ntotals: %lu\n", sum);
    lathe_free(calls);
}

/* --------------------------------------------------------------------------------------------------------- the program */

/* A copy of the program is where the one that made it was, but nothing has cost anything yet, and its only thread is
 * this one. */
static void begin_copy(Own *own) {
    lathe_vector_clear(&live);
    live_add(own);
    memset(own->sums, 0, own->room * sizeof(Sum));
    free_total(&ended);
    for (Frame *f = own->frames + 1; f < own->top; f++)
        f->before = 0;
    for (Node *n = own->root; n; n = n->made)
        n->cost = 0;
    own->executed = own->node_since = 0;
}

static void start(Own *own, const uint64_t *counted) {
    folded = lathe_option("folded");
    output = lathe_option("out");
    if (own->links)
        begin_copy(own);
    else
        begin(own, counted);
}

static void end(void) {
    LatheFile *out = lathe_open(output ? output : folded ? "folded.out.%p" : "callgrind.out.%p");
    Total total = take_total();
    if (folded)
        write_folded(out, &total);
    else
        write_callgrind(out, &total);
    free_total(&total);
    lathe_close(out);
}

#define EXECUTED                                                                                                       \
    { LATHE_COUNTED, (long)&executed }

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}, EXECUTED),
            LATHE_ON(LATHE_THREAD, begin_thread, {LATHE_THREAD_OWN}, {LATHE_PC}, EXECUTED),
            LATHE_ON(LATHE_THREAD_END, end_thread, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_SYSCALL, call_system, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_NUMBER}, EXECUTED),
            LATHE_ON(LATHE_SIGNAL, handle, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_TARGET}, {LATHE_SP}, EXECUTED),
            LATHE_ON(LATHE_BLOCK, count_block, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}, {LATHE_SP},
                     EXECUTED),
            LATHE_ON(LATHE_RETURN, leave, {LATHE_THREAD_OWN}, {LATHE_SP}, EXECUTED, {LATHE_TARGET}),
            LATHE_ON(LATHE_JUMP, jump_computed, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET},
                     {LATHE_SP}, EXECUTED),
            LATHE_WHERE(LATHE_GOTO, jump_away, ((LatheWhere){.leaves = true}), {LATHE_THREAD_OWN}, {LATHE_SITE},
                        {LATHE_PC}, {LATHE_TARGET}, {LATHE_SP}, EXECUTED),
            LATHE_WHERE(LATHE_BRANCH, branch_away, ((LatheWhere){.leaves = true}), {LATHE_THREAD_OWN}, {LATHE_PC},
                        {LATHE_TARGET}, {LATHE_TAKEN}, {LATHE_SP}, EXECUTED));
