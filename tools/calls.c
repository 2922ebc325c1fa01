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
#include "calls/jumps.h"
#include "calls/output.h"

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
    Edge *edge = edge_like((Edge){.function = (uint32_t)function_of(target)->id,
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
    if (__builtin_expect(!has_room(own, edge), false))
        goto slowly;
    push_quickly(own, edge, sp, lathe_counted(counted));
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
