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
 * Each thread has a list of the calls that it is in, its frames. A call adds one, a return takes it away. At the beginning of each block, the function
 * that the block is in is compared with the one that was called last; if they differ, the program has come there in another way. If it was longjmp or
 * an exception, the stack pointer is above that of frames which are gone. If it was a jump into another function, a tail call, this adds a frame
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
    bool passes;       /* the function only leads to another one: is_on_the_way */
    uint64_t pc;       /* the instruction; of a jump: the block */
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

/* What is known of a call that may lead to several functions, or of a jump into another one. */
typedef struct Link {
    uint64_t pc, target;
    Edge *edge;
} Link;

enum { LINKS = 4096 };

/* What each thread has. */
typedef struct Own {
    uint64_t function;       /* the id of the one that it is in, and perhaps LOST */
    uint64_t block;          /* the address of the last one */
    Frame *top, *end;        /* behind the innermost frame, and behind all that there is room for */
    uint64_t room;           /* of the two arrays that follow */
    Sum *sums;               /* by the numbers of edges */
    uint64_t *active;        /* by function: how many calls of it the thread is in */
    uint64_t executed;       /* instructions, when something rare happens */
    const uint64_t *counted; /* what they are counted by */
    Frame *frames; /* the first one is no call: it has the function that the thread is in if all others have returned */
    Edge outermost;                /* its edge */
    Link *links;                   /* LINKS of them */
    Node **nodes;                  /* folded, for each frame: what has called */
    Node *root, *last_node, *node; /* folded: the first and the last one that were made; where the thread is */
    uint64_t node_since;           /* what `executed` was when the thread came to `node` */
} Own;

_Static_assert(sizeof(Own) <= LATHE_OWN_WORDS * sizeof(uint64_t), "each thread has so much");

#define LOST (1ul << 63) /* it is not sure that the thread is in this function */

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

/* A function that only leads to another one: a stub that calls of other files go through, which has no symbol, or the dynamic linker, which finds a function when it
 * is called for the first time. */
static bool is_on_the_way(const Function *f) {
    static const char linker[] = "_dl_runtime_resolve";
    return !f->start || (f->name->text[0] == linker[0] && !strncmp(f->name->text, linker, sizeof(linker) - 1));
}

static LatheVector edges = LATHE_VECTOR(Edge *); /* by their numbers; they stay where they are */
static LatheMap edges_from = LATHE_MAP(Edge *);  /* by pc: the first one */
static LatheLock edges_lock;

static Edge *new_edge(Edge edge) {
    Edge *e = lathe_alloc(sizeof(*e));
    edge.number = (uint32_t)edges.count;
    edge.greatest = edge.number > edge.function ? edge.number : edge.function;
    edge.passes = is_on_the_way(function_no(edge.function));
    edge.jump = NULL;
    *e = edge;
    *(Edge **)lathe_vector_add(&edges) = e;
    return e;
}

/* The one from the same instruction to the same function. */
static __attribute__((noinline)) Edge *edge_like(Edge edge) {
    lathe_lock(&edges_lock);
    Edge **first = lathe_map_at(&edges_from, edge.pc), *e = *first;
    while (e && (e->function != edge.function || e->jumped != edge.jumped))
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

/* What is left by a return in a quick way has the stack pointer as its key; all else something that no stack pointer is near to. */
static uint64_t frame_key(const Edge *edge, uint64_t sp) {
    return edge->jumped || folded ? ~sp : sp;
}

static uint64_t frame_sp(const Frame *f) {
    return frame_key(f->edge, f->key);
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

/* Makes room for what is counted by the number of an edge, or of a function. */
static void reach(Own *own, uint64_t number) {
    enum { FEWEST = 4096 };
    if (number < own->room)
        return;
    uint64_t room = 2 * number < FEWEST ? FEWEST : 2 * number;
    lathe_lock(&live_lock);
    own->sums = lathe_resize(own->sums, room * sizeof(Sum));
    own->active = lathe_resize(own->active, room * sizeof(uint64_t));
    own->room = room;
    lathe_unlock(&live_lock);
}

static void push(Own *own, Edge *edge, uint64_t sp) {
    if (own->top == own->end)
        more_frames(own);
    reach(own, edge->greatest);
    if (folded)
        own->nodes[own->top - own->frames] = own->node;
    *own->top++ = (Frame){.key = frame_key(edge, sp), .before = own->executed, .edge = edge};
    own->active[edge->function]++;
    set_function(own, own->node, edge->function);
}

/* If a function calls itself, perhaps through others, the cost of the first call has that of the others in it; these cost nothing. So a function costs what
 * was executed while the program was in it, however often it was. */
static void pop(Own *own) {
    const Frame *f = --own->top;
    Sum *sum = &own->sums[f->edge->number];
    sum->calls++;
    if (!--own->active[f->edge->function])
        sum->instructions += own->executed - f->before;
    own->function = f[-1].edge->function;
    if (folded)
        go_to_node(own, own->nodes[f - own->frames]);
}

/* ------------------------------------------------------------------------------------------------------------ surprises */

/* Has the program left the top frame, if it is at pc, which is in a function, with this stack pointer? */
static bool is_gone(const Frame *f, uint64_t pc, uint64_t sp, const Function *function) {
    if (frame_sp(f) != sp)
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

static Link *link_slot(Own *own, uint64_t pc, uint64_t target) {
    return &own->links[(pc * 31 + target / 4) % LINKS];
}

/* The edge of a jump into a function. If it comes from one that only leads there, which another edge has led to, it is instead of that. What is known of these is among the links: an edge
 * has a number there that is no address of an instruction, and a function one that is no target of a call. */
static Edge *edge_of_jump(Own *own, const Edge *instead_of, uint64_t function) {
    uint64_t key = instead_of ? ~instead_of->number : own->block, target = 4 * function;
    Link *slot = link_slot(own, key, target);
    if (slot->pc == key && slot->target == target)
        return slot->edge;
    Edge edge = instead_of ? *instead_of : (Edge){.pc = own->block, .jumped = true};
    edge.function = (uint32_t)function;
    *slot = (Link){key, target, edge_like(edge)};
    return slot->edge;
}

/* A jump into another function. If it comes from one that only leads there, that one is done, and whoever has called it calls the other one. */
static void jump(Own *own, uint64_t function) {
    if (!has_frames(own)) {
        own->outermost.function = (uint32_t)function;
        set_function(own, own->root, function);
        return;
    }
    Edge *top = own->top[-1].edge, *edge = edge_of_jump(own, top->passes ? top : NULL, function);
    uint64_t sp = frame_sp(own->top - 1);
    if (top->passes)
        pop(own);
    push(own, edge, sp);
    __atomic_store_n(&top->jump, edge, __ATOMIC_RELEASE);
}

/* The call of a function that only leads to another one is done, and in its place is that of the other one. */
static void pass_on(Own *own, Edge *edge) {
    Frame *f = own->top - 1;
    Sum *sum = &own->sums[f->edge->number];
    sum->calls++;
    if (!--own->active[f->edge->function])
        sum->instructions += own->executed - f->before;
    f->before = own->executed;
    f->edge = edge;
    own->active[edge->function]++;
    own->function = edge->function;
}

/* True: a jump into a function is done, as it was done the last time. The stack pointer says that the innermost call has not returned. */
static bool jump_again(Own *own, uint64_t function, uint64_t sp) {
    const Edge *top = own->top[-1].edge;
    Edge *edge = __atomic_load_n(&top->jump, __ATOMIC_ACQUIRE);
    uint64_t frame = own->top[-1].key;
    if (!edge || edge->function != function || top->jumped || folded || frame <= sp || own->function & LOST)
        return false;
    if (top->passes && edge->greatest < own->room) {
        pass_on(own, edge);
        return true;
    }
    if (top->passes || edge->pc != own->block)
        return false;
    push(own, edge, frame);
    return true;
}

/* The thread is in another function than its frames say. */
static void find_way(Own *own, uint64_t pc, uint64_t sp, const Function *function) {
    own->function &= ~LOST;
    while (has_frames(own) && is_gone(own->top - 1, pc, sp, function))
        pop(own);
    if (own->function == function->id)
        return;
    const Frame *from = jump_from(own, function->id);
    while (from && own->top > from)
        pop(own);
    if (!from)
        jump(own, function->id);
}

/* -------------------------------------------------------------------------------------------------------------- events */

static LatheTable passes;     /* how often blocks were executed: address, number of instructions */
static LatheCounter executed; /* instructions */

static void count_block(uint64_t pc, uint64_t count) {
    lathe_count_in(&passes, pc, count, 0, 1);
    lathe_count(&executed, (long)count);
}

static __attribute__((noinline)) void enter_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t count, uint64_t sp) {
    if (!*site) {
        block_at(pc, count);
        __atomic_store_n(site, function_of(pc)->id, __ATOMIC_RELAXED);
    }
    if (*site != own->function)
        find_way(own, pc, sp, function_no(*site));
}

static __attribute__((noinline)) void enter(Own *own, uint64_t *site, uint64_t pc, uint64_t count, uint64_t sp) {
    if (!jump_again(own, *site, sp))
        enter_slowly(own, site, pc, count, sp);
    own->block = pc;
}

/* The word of a block's site is the function that it is in. The block itself is counted already. */
static void block(Own *own, uint64_t *site, uint64_t pc, uint64_t count, uint64_t sp, const uint64_t *counted) {
    if (__builtin_expect(*site == own->function, true)) {
        own->block = pc;
        return;
    }
    own->executed = lathe_counted(counted) - count;
    enter(own, site, pc, count, sp);
}

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

/* Calls that lead to several functions find their edges in the thread's own table. */
static Edge *find_edge(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    Link *slot = link_slot(own, pc, target);
    if (slot->pc != pc || slot->target != target) {
        LatheInsn insn = {0};
        lathe_insn(pc, &insn);
        Edge edge = {
            .target = target, .function = (uint32_t)function_of(target)->id, .pc = pc, .size = (uint16_t)insn.size};
        *slot = (Link){pc, target, edge_like(edge)};
    }
    if (!site[CALL_SECOND] && !folded)
        set_site(site, target, slot->edge);
    return slot->edge;
}

/* The compiler leaves the value in its register up to here: what Lathe knows of it becomes a part of the instructions that use it. */
#define STAYS(value) __asm__("" ::"r"(value))

static __attribute__((noinline)) void call_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp) {
    push(own, find_edge(own, site, pc, target), sp);
}

/* The compiler does not make one load of this and that of the first edge. */
static inline Edge *second_edge(const uint64_t *site) {
    Edge *edge = (Edge *)__atomic_load_n(&site[CALL_SECOND_EDGE], __ATOMIC_RELAXED);
    __asm__("" : "+r"(edge));
    return edge;
}

static void call(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp, const uint64_t *counted) {
    Frame *top = own->top;
    Edge *edge = NULL;
    if (__builtin_expect(__atomic_load_n(&site[CALL_FIRST], __ATOMIC_ACQUIRE) == target, true))
        edge = (Edge *)__atomic_load_n(&site[CALL_FIRST_EDGE], __ATOMIC_RELAXED);
    else if (__atomic_load_n(&site[CALL_SECOND], __ATOMIC_ACQUIRE) == target)
        edge = second_edge(site);
    else
        goto slowly;
    if (__builtin_expect(top == own->end || edge->greatest >= own->room, false))
        goto slowly;
    top->key = sp;
    top->edge = edge;
    top->before = lathe_counted(counted);
    own->top = top + 1;
    own->function = edge->function;
    own->active[edge->function]++;
    STAYS(own);
    STAYS(site);
    STAYS(pc);
    STAYS(target);
    STAYS(sp);
    STAYS(counted);
    return;
slowly:
    own->executed = lathe_counted(counted);
    call_slowly(own, site, pc, target, sp);
}

static __attribute__((noinline)) void leave_slowly(Own *own, uint64_t sp) {
    if (!has_frames(own) || frame_sp(own->top - 1) - sp > sizeof(uint64_t)) {
        own->function |= LOST;
        return;
    }
    do
        pop(own);
    while (own->top->edge->jumped);
}

/* The stack pointer is that before the return, which may take an address from the stack. It tells which call returns; where a return leads to is not asked for, since that takes time. */
static void leave(Own *own, uint64_t sp, const uint64_t *counted) {
    Frame *f = own->top - 1;
    if (__builtin_expect(f->key - sp > sizeof(uint64_t), false)) {
        own->executed = lathe_counted(counted);
        leave_slowly(own, sp);
        return;
    }
    const Edge *edge = f->edge;
    own->top = f;
    own->function = f[-1].edge->function;
    Sum *sum = &own->sums[edge->number];
    sum->calls++;
    if (!--own->active[edge->function])
        sum->instructions += lathe_counted(counted) - f->before;
    STAYS(own);
    STAYS(sp);
    STAYS(counted);
}

/* -------------------------------------------------------------------------------------------------------------- threads */

static void begin(Own *own, const uint64_t *counted) {
    *own = (Own){.function = LOST, /* no block is known to be in it */
                 .counted = counted,
                 .outermost = {.jumped = true},
                 .links = lathe_alloc(LINKS * sizeof(Link))};
    more_frames(own);
    *own->top++ = (Frame){.key = ~0ul, .edge = &own->outermost};
    if (folded)
        own->node = own->last_node = own->root = lathe_alloc(sizeof(Node));
    live_add(own);
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
    uint64_t *active = lathe_alloc(bytes + 1);
    memcpy(active, own->active, bytes);
    for (const Frame *f = own->top - 1; f > own->frames; f--) {
        Sum *sum = &total->sums[f->edge->number];
        sum->calls++;
        if (!--active[f->edge->function])
            sum->instructions += own->executed - f->before;
    }
    lathe_free(active);
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
    lathe_free(own->sums);
    lathe_free(own->active);
    lathe_free(own->nodes);
    lathe_free(own->frames);
    lathe_free(own->links);
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
            LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}, EXECUTED),
            LATHE_ON(LATHE_THREAD_END, end_thread, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_BLOCK, count_block, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_BLOCK, block, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_COUNT}, {LATHE_SP},
                     EXECUTED),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}, {LATHE_SP},
                     EXECUTED),
            LATHE_ON(LATHE_RETURN, leave, {LATHE_THREAD_OWN}, {LATHE_SP}, EXECUTED));
