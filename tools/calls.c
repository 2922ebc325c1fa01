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

typedef struct Frame {
    uint64_t sp, back; /* the stack pointer, and where it goes on, when the call has returned */
    uint64_t before;   /* how many instructions the thread had executed when it called */
    uint64_t function; /* what has called: its id */
    uint64_t edge;     /* the number of the edge, from 0 on */
    Node *node;        /* folded: what has called */
    uint64_t jumped;   /* 1: this was no call, but a jump. A whole word, because frames are copied word by word */
} Frame;

/* What is known of a call that may lead to several functions, or of a jump into another one. */
typedef struct Link {
    uint64_t pc, target, link;
} Link;

enum { LINKS = 4096 };

/* What each thread has. */
typedef struct Own {
    uint64_t function; /* the id of the one that it is in, and perhaps LOST */
    uint64_t executed; /* instructions */
    uint64_t block;    /* the address of the last one */
    Sums edges;        /* two words for each edge: calls, instructions */
    Sums active;       /* by function: how many calls of it the thread is in */
    Frame *frames, *top, *end;
    Link *links;                   /* LINKS of them */
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

/* --------------------------------------------------------------------------------------------------------------- edges */

/* Calls from one instruction to one function. */
typedef struct Edge {
    uint64_t pc, function;
    uint64_t next; /* another one from the same instruction; its number from 1 on, 0: there is none */
} Edge;

static LatheVector edges = LATHE_VECTOR(Edge);
static LatheMap edges_from = LATHE_MAP(uint64_t); /* by pc: the first one, its number from 1 on */
static LatheLock edges_lock;

static __attribute__((noinline)) uint64_t edge_of(uint64_t pc, uint64_t function) {
    lathe_lock(&edges_lock);
    uint64_t *first = lathe_map_at(&edges_from, pc), number = *first;
    while (number && ((Edge *)edges.at)[number - 1].function != function)
        number = ((Edge *)edges.at)[number - 1].next;
    if (!number) {
        *(Edge *)lathe_vector_add(&edges) = (Edge){pc, function, *first};
        number = *first = edges.count;
    }
    lathe_unlock(&edges_lock);
    return number - 1;
}

static Edge edge_no(uint64_t number) {
    lathe_lock(&edges_lock);
    Edge edge = ((Edge *)edges.at)[number];
    lathe_unlock(&edges_lock);
    return edge;
}

static void edge_add(Sums *sums, uint64_t edge, uint64_t cost) {
    sums->at[2 * edge]++;
    sums->at[2 * edge + 1] += cost;
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

static __attribute__((noinline)) void more_frames(Own *own) {
    enum { FEWEST = 256 };
    uint64_t depth = (uint64_t)(own->top - own->frames), room = 2 * depth < FEWEST ? FEWEST : 2 * depth;
    lathe_lock(&live_lock);
    own->frames = lathe_resize(own->frames, room * sizeof(Frame));
    own->top = own->frames + depth;
    own->end = own->frames + room;
    lathe_unlock(&live_lock);
}

static void put_frame(Own *own, Frame frame, uint64_t function) {
    frame.before = own->executed;
    frame.function = own->function;
    *own->top++ = frame;
    own->active.at[function]++;
}

static void push(Own *own, Frame frame, uint64_t function) {
    if (own->top == own->end)
        more_frames(own);
    sums_reach(&own->active, function);
    frame.node = own->node;
    put_frame(own, frame, function);
    set_function(own, own->node, function);
}

/* Returns the cost of the call. If a function calls itself, perhaps through others, the cost of the first call has that of the others in it; these cost nothing. So a function costs what
 * was executed while the program was in it, however often it was. */
static uint64_t take_frame(Own *own) {
    Frame *f = --own->top;
    bool still_active = --own->active.at[own->function];
    own->function = f->function;
    return still_active ? 0 : own->executed - f->before;
}

static void pop(Own *own) {
    uint64_t cost = take_frame(own);
    sums_reach(&own->edges, 2 * own->top->edge + 1);
    edge_add(&own->edges, own->top->edge, cost);
    if (own->top->node)
        go_to_node(own, own->top->node);
}

/* ------------------------------------------------------------------------------------------------------------ surprises */

/* Has the program left the top frame, if it is at pc, which is in a function, with this stack pointer? */
static bool is_gone(const Frame *f, uint64_t pc, uint64_t sp, const Function *function) {
    if (f->sp != sp)
        return f->sp < sp;
    return f->back == pc || (f->function == function->id && pc != function->start);
}

/* The program has jumped back into a function from which it has jumped: the frame of that jump; NULL: it is no such function. */
static Frame *jump_from(Own *own, uint64_t function) {
    for (Frame *f = own->top; f > own->frames && f[-1].jumped; f--)
        if (f[-1].function == function)
            return f - 1;
    return NULL;
}

/* A function that only leads to another one: a stub that calls of other files go through, which has no symbol, or the dynamic linker, which finds a function when it
 * is called for the first time. */
static bool is_on_the_way(const Function *f) {
    static const char linker[] = "_dl_runtime_resolve";
    return !f->start || (f->name->text[0] == linker[0] && !strncmp(f->name->text, linker, sizeof(linker) - 1));
}

static Link *link_slot(Own *own, uint64_t pc, uint64_t target) {
    return &own->links[(pc * 31 + target / 4) % LINKS];
}

/* The edge of a jump into a function, from an instruction, or, if `from` is 0, instead of where another edge leads to. What is known of these is among the links: an edge
 * has a number there that is no address of an instruction, and a function one that is no target of a call. */

static uint64_t edge_of_jump(Own *own, uint64_t from, uint64_t edge, uint64_t function) {
    uint64_t key = from ? from : ~edge, target = 4 * function;
    Link *slot = link_slot(own, key, target);
    if (slot->pc != key || slot->target != target)
        *slot = (Link){key, target, edge_of(from ? from : edge_no(edge).pc, function)};
    return slot->link;
}

/* A jump into another function. If it comes from one that only leads there, that one is done, and whoever has called it calls the other one. */
static void jump(Own *own, uint64_t function) {
    if (own->top == own->frames) {
        set_function(own, own->root, function);
        return;
    }
    Frame top = own->top[-1], frame = {.sp = top.sp, .back = top.back, .jumped = true};
    if (is_on_the_way(function_no(own->function))) {
        pop(own);
        frame.edge = edge_of_jump(own, 0, top.edge, function);
        frame.jumped = top.jumped;
    } else {
        frame.edge = edge_of_jump(own, own->block, 0, function);
    }
    push(own, frame, function);
}

/* The thread is in another function than its frames say. */
static void find_way(Own *own, uint64_t pc, uint64_t sp, const Function *function) {
    own->function &= ~LOST;
    while (own->top > own->frames && is_gone(own->top - 1, pc, sp, function))
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

static LatheTable passes; /* how often blocks were executed: address, number of instructions */

static void count_block(uint64_t pc, uint64_t count) {
    lathe_count_in(&passes, pc, count, 0, 1);
}

static void execute(Own *own, uint64_t pc, uint64_t count) {
    own->block = pc;
    own->executed += count;
}

static __attribute__((noinline)) void enter(Own *own, uint64_t *site, uint64_t pc, uint64_t count, uint64_t sp) {
    if (!*site) {
        block_at(pc, count);
        __atomic_store_n(site, function_of(pc)->id, __ATOMIC_RELAXED);
    }
    if (*site != own->function)
        find_way(own, pc, sp, function_no(*site));
    execute(own, pc, count);
}

/* The word of a block's site is the function that it is in. */
static void block(Own *own, uint64_t *site, uint64_t pc, uint64_t count, uint64_t sp) {
    if (__builtin_expect(*site != own->function, false))
        enter(own, site, pc, count, sp);
    else
        execute(own, pc, count);
}

/* Words of a call's site: the first target that it has had, and its link. Once set, they stay. */
enum { CALL_TARGET, CALL_LINK };

/* A link is the number of an edge, and in the lower half the id of the function that it leads to. */
static uint64_t new_link(uint64_t pc, uint64_t target) {
    uint64_t function = function_of(target)->id;
    return edge_of(pc, function) << 32 | function;
}

/* Calls that lead to several functions find their links in the thread's own table. */
static __attribute__((noinline)) uint64_t find_link(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    Link *slot = link_slot(own, pc, target);
    if (slot->pc == pc && slot->target == target)
        return slot->link;
    *slot = (Link){pc, target, new_link(pc, target)};
    lathe_lock(&edges_lock);
    if (!site[CALL_TARGET]) {
        site[CALL_LINK] = slot->link;
        __atomic_store_n(&site[CALL_TARGET], target, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
    return slot->link;
}

static __attribute__((noinline)) void call_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t next,
                                                  uint64_t sp) {
    uint64_t link = find_link(own, site, pc, target);
    push(own, (Frame){.sp = sp, .back = next, .edge = link >> 32}, (uint32_t)link);
}

static void call(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t next, uint64_t sp) {
    bool known = __atomic_load_n(&site[CALL_TARGET], __ATOMIC_ACQUIRE) == target;
    uint64_t link = site[CALL_LINK];
    if (!known || own->top == own->end || own->node || (uint32_t)link >= own->active.room) {
        call_slowly(own, site, pc, target, next, sp);
        return;
    }
    put_frame(own, (Frame){.sp = sp, .back = next, .edge = link >> 32}, (uint32_t)link);
    own->function = (uint32_t)link;
}

static __attribute__((noinline)) void leave_slowly(Own *own) {
    do
        pop(own);
    while (own->top->jumped);
}

/* The stack pointer is that before the return, which may take an address from the stack. It tells which call returns; where a return leads to is not asked for, since that takes time. */
static void leave(Own *own, uint64_t sp) {
    const Frame *top = own->top - 1;
    if (own->top == own->frames || top->sp - sp > sizeof(uint64_t)) {
        own->function |= LOST;
        return;
    }
    if (top->jumped || top->node || 2 * top->edge + 1 >= own->edges.room) {
        leave_slowly(own);
        return;
    }
    edge_add(&own->edges, top->edge, take_frame(own));
}

/* -------------------------------------------------------------------------------------------------------------- threads */

static void begin(Own *own) {
    *own = (Own){.function = LOST, .links = lathe_alloc(LINKS * sizeof(Link))}; /* no block is known to be in it */
    more_frames(own);
    if (folded)
        own->node = own->last_node = own->root = lathe_alloc(sizeof(Node));
    live_add(own);
}

/* What was executed up to now by threads that have ended, or by all. */
typedef struct Total {
    Sums edges;
    Node *root, *last_node;
} Total;

static Total ended;

static void *copy_memory(const void *from, size_t bytes) {
    return memcpy(lathe_alloc(bytes), from, bytes);
}

/* The calls that a thread is in have cost what was executed so far. The thread goes on in them: they are left in a copy of what it has. */
static void add_frames(Total *total, const Own *own) {
    Own copy = *own;
    copy.function &= ~LOST;
    size_t depth = (size_t)(own->top - own->frames);
    copy.frames = copy_memory(own->frames, (size_t)(own->end - own->frames) * sizeof(Frame));
    copy.active.at = copy_memory(own->active.at, own->active.room * sizeof(uint64_t));
    for (copy.top = copy.frames + depth; copy.top > copy.frames;) {
        uint64_t cost = take_frame(&copy);
        sums_grow(&total->edges, 2 * copy.top->edge + 1);
        edge_add(&total->edges, copy.top->edge, cost);
    }
    lathe_free(copy.frames);
    sums_free(&copy.active);
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
    sums_add(&total->edges, &own->edges);
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
    sums_free(&own->edges);
    sums_free(&own->active);
    lathe_free(own->frames);
    lathe_free(own->links);
    free_nodes(own->root);
}

static Total take_total(void) {
    Total total = {0};
    lathe_lock(&live_lock);
    sums_add(&total.edges, &ended.edges);
    add_nodes(&total, ended.root);
    for (size_t i = 0; i < live.count; i++)
        add_thread(&total, ((Own **)live.at)[i]);
    lathe_unlock(&live_lock);
    return total;
}

static void free_total(Total *total) {
    sums_free(&total->edges);
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
static Cost *collect_edges(const Sums *sums) {
    uint64_t count = sums->room / 2 < edges.count ? sums->room / 2 : edges.count;
    Cost *costs = lathe_alloc((count + 1) * sizeof(Cost));
    for (uint64_t i = 0; i < count; i++) {
        Edge edge = edge_no(i);
        costs[i] = (Cost){sums->at[2 * i + 1], sums->at[2 * i], function_no(edge.function)};
        if (costs[i].calls)
            item_add(edge.pc, &costs[i]);
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
    Cost *calls = collect_edges(&total->edges);
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
    sums_clear(&own->edges);
    free_total(&ended);
    for (Frame *f = own->frames; f < own->top; f++)
        f->before = 0;
    for (Node *n = own->root; n; n = n->made)
        n->cost = 0;
    own->executed = own->node_since = 0;
}

static void start(Own *own) {
    folded = lathe_option("folded");
    output = lathe_option("out");
    if (own->links)
        begin_copy(own);
    else
        begin(own);
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

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD_END, end_thread, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_BLOCK, count_block, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_BLOCK, block, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_COUNT}, {LATHE_SP}),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}, {LATHE_NEXT},
                     {LATHE_SP}),
            LATHE_ON(LATHE_RETURN, leave, {LATHE_THREAD_OWN}, {LATHE_SP}));
