/* memcheck.c: finds accesses to memory that the program may not access, and memory that it has lost.
 *
 * The allocator of the program's C library works as ever, but its functions are watched (LATHE_FUNCTION, and LATHE_RETURN at the same stack pointer): blocks are made
 * larger by a red zone, and what is freed gets to the allocator only some time later. Found are accesses outside of blocks, to freed blocks, near NULL, and to the stack below
 * the stack pointer; blocks that are freed twice, by the wrong function, or are none; and, at the end, blocks that nothing points to. Values that were
 * never set are found by undefined.c. A report says where, by the stack of calls, and which block is near:
 *
 *     ==4711== Invalid write of size 4
 *     ==4711==    at 0x401136: fill (a.c:7)
 *     ==4711==    by 0x401152: main (a.c:12)
 *     ==4711==  Address 0x3c2a8 is 0 bytes after a block of size 40 alloc'd
 *     ==4711==    at 0x30098930: malloc (in /usr/lib/x86_64-linux-gnu/libc.so.6)
 *     ==4711==    by 0x401146: main (a.c:11)
 *
 * Options: leak-check=no|summary|full (full: with the stacks of what is lost), show-possible, show-reachable (the stacks of these, too), error-exitcode=NUMBER (the status of a program that ends
 * by itself, if there were errors), depth=FRAMES, quarantine=BYTES (for each size of blocks), log=FILE, quiet (nothing is printed if nothing is found). */
#include <lathe/tool.h>

#include "memcheck/allocator.h"
#include "memcheck/leaks.h"
#include "memcheck/system.h"

enum { SHARED_MOST = 64 << 20 }; /* what memory of shmat is taken for, whose size is not known */
enum { LEAKS_NO, LEAKS_SUMMARY, LEAKS_FULL };
enum { BELOW_STACK = 128, BELOW_FAR = 64 << 10 }; /* leaf functions may use so much; farther down nobody looks */

static uint64_t exit_code, leak_check;
static bool quiet, show_possible, show_reachable, ended, becomes_another;

/* ------------------------------------------------------------------------------------------------------------- accesses */

static void report_access(Thread *t, bool writes, uint64_t bytes, uint64_t bad, uint64_t pc, uint64_t sp,
                          const char *name) {
    const Stack *s = stack_at(t, pc, sp);
    if (!report_begin(writes ? INVALID_WRITE : INVALID_READ, s))
        return;
    SAY("Invalid %s of size %lu", writes ? "write" : "read", bytes);
    say_stack(s, name);
    say_where(t, bad, sp);
    report_end();
}

/* The function is in the middle of what it does: its arguments are what it had at its beginning. */
static void check_string(Thread *t, Call *c, uint64_t pc, uint64_t sp) {
    const StringFunction *f = (const StringFunction *)c->about;
    if (c->checked)
        return;
    c->checked = true;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t bad = bad_read(f, i, c->arg);
        if (bad != NOWHERE)
            report_access(t, false, f->unit, bad, pc, sp, f->name);
    }
    uint64_t bad = bad_write(f, c->arg);
    if (bad != NOWHERE)
        report_access(t, true, f->unit, bad, pc, sp, f->name);
}

/* Code of the dynamic linker has string functions of its own, of which nothing is known. */
static uint64_t linker_from, linker_to;

static bool is_below_stack(const Thread *t, uint64_t address, uint64_t sp) {
    return sp > t->stack_low && sp <= t->stack_high && address >= t->stack_low &&
           address < sp - (call_pushes ? BELOW_STACK : 0);
}

__attribute__((noinline)) static void look_closer(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t sp, Thread *t,
                                                  bool writes) {
    Call *c = innermost(t);
    if (c && c->checked)
        return;
    uint64_t bad = shadow_first_bad(address, address + bytes);
    if (bad == address + bytes)
        bad = is_below_stack(t, address, sp) ? address : NOWHERE;
    if (bad == NOWHERE || pc - linker_from < linker_to - linker_from || is_of_allocator(pc) || in_allocator(t))
        return;
    if (c && c->what == STRING)
        check_string(t, c, pc, sp);
    else
        report_access(t, writes, bytes, bad, pc, sp, NULL);
}

/* The common way: one register, and no more, for each of three questions. */
static inline bool suspects(uint64_t address, uint64_t bytes, uint64_t sp) {
    return address - sp >= -(uint64_t)BELOW_FAR || shadow_suspects(address, bytes);
}

static void load(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t sp, Thread *t) {
    if (__builtin_expect(suspects(address, bytes, sp), false))
        look_closer(address, bytes, pc, sp, t, false);
}

static void store(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t sp, Thread *t) {
    if (__builtin_expect(suspects(address, bytes, sp), false))
        look_closer(address, bytes, pc, sp, t, true);
}

/* ---------------------------------------------------------------------------------------------------- string functions */

/* Which function begins at an address: the address and, in its lowest byte, the number of the function from 1 on; 0: it is none of these. A slot is for all
 * addresses that have its number. */
enum { KNOWN_BITS = 10 };
static uint64_t known[1 << KNOWN_BITS];

static uint64_t *known_at(uint64_t pc) {
    return &known[pc * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS)];
}

__attribute__((noinline)) static uint64_t learn(uint64_t pc) {
    LatheSymbol symbol;
    const StringFunction *f = lathe_symbol(pc, &symbol) ? string_function(symbol.name) : NULL;
    uint64_t is = pc << 8 | (f ? (uint64_t)(f - string_functions) + 1 : 0);
    __atomic_store_n(known_at(pc), is, __ATOMIC_RELAXED);
    return is;
}

/* A function whose name begins like that of a string function. */
static void enter_string(uint64_t pc, uint64_t sp, Thread *t, uint64_t first, uint64_t second, uint64_t third) {
    uint64_t is = __atomic_load_n(known_at(pc), __ATOMIC_RELAXED);
    undefined_stay_quick();
    if (is >> 8 != pc)
        is = learn(pc);
    Call *c = is & 255 ? call_enter(t, sp, STRING, first, second, third) : NULL;
    if (!c)
        return;
    const Call *outer = t->call_count > 1 ? c - 1 : NULL; /* may call this one, as strcat calls strcpy */
    c->checked = outer && outer->what == STRING && outer->checked;
    c->about = &string_functions[(is & 255) - 1];
    c->pc = pc;
    undefined_enter(t, c);
}

/* C libraries have several versions of a function. What the symbol names is code that chooses one (IFUNC), and returns its address, which no string function does; the
 * version itself may have no name. It gets that of the function, so that enter_string sees it. */
static void leave_string(Thread *t, const Call *c, uint64_t result) {
    LatheMapping m;
    if (!c->checked && lathe_mapping(result, &m) && m.from <= result && m.executable)
        lathe_name_function(result, ((const StringFunction *)c->about)->name);
    else
        undefined_leave(t, c);
}

/* ------------------------------------------------------------------------------------------------------ calls and returns */

static void enter(uint64_t what, uint64_t pc, uint64_t sp, Thread *t) {
    if (what <= ALLOCATOR_OTHER)
        note_allocator(pc);
    Call *c = call_enter(t, sp, (What)what, lathe_arg(0), lathe_arg(1), lathe_arg(2));
    if (!c)
        return;
    c->about = what < FREE ? stack_at(t, pc, sp) : NULL;
    allocator_enter(t, c, pc);
}

/* Functions that call each other by a jump at their end return together. */
static void leave(Thread *t, uint64_t sp, uint64_t result) {
    while (t->sp == sp) {
        const Call *c = innermost(t);
        if (c->what == STRING)
            leave_string(t, c, result);
        else
            allocator_leave(c, result);
        set_count(t, t->call_count - 1);
    }
}

/* An exception leaves operator new, if there is no memory. */
static void throws(Thread *t) {
    set_count(t, 0);
}

__attribute__((noinline)) static void rare_call(uint64_t next, uint64_t sp, uint64_t classes, Thread *t) {
    call_pushes = classes & LATHE_CLASS_STORE ? sizeof(uint64_t) : 0;
    if (t->frames)
        frame_make_room(t);
    else
        thread_start(t, sp);
    frame_push(t, sp, next);
}

static void call(uint64_t next, uint64_t sp, uint64_t classes, Thread *t) {
    if (__builtin_expect(t->top == t->end, false))
        rare_call(next, sp, classes, t);
    else
        frame_push(t, sp, next);
}

__attribute__((noinline)) static void rare_return(uint64_t sp, uint64_t result, Thread *t) {
    leave(t, sp, result);
    if (t->frames)
        frame_pop(t, sp + call_pushes);
}

static void back(uint64_t sp, uint64_t result, Thread *t) {
    if (__builtin_expect(t->sp != sp && t->top && t->top[-1].sp == sp + call_pushes, true))
        t->top--;
    else
        rare_return(sp, result, t);
}

/* ---------------------------------------------------------------------------------------------------------- system calls */

static void report_argument(Thread *t, const BufferCall *b, uint64_t bad, uint64_t pc, uint64_t sp) {
    const Stack *s = stack_at(t, pc, sp);
    if (!report_begin(BAD_ARGUMENT, s))
        return;
    SAY("System call %s %s memory that may not be accessed", b->name, b->writes ? "writes to" : "reads");
    say_stack(s, NULL);
    say_where(t, bad, sp);
    report_end();
}

static void report_undefined(Thread *t, const BufferCall *b, uint64_t bad, uint64_t pc, uint64_t sp) {
    const Stack *s = stack_at(t, pc, sp);
    if (!report_begin(UNDEFINED_ARGUMENT, s))
        return;
    SAY("Syscall param %s(buf) points to uninitialised byte(s)", b->name);
    say_stack(s, NULL);
    say_where(t, bad, sp);
    report_end();
}

static void check_buffer(Thread *t, const BufferCall *b, const uint64_t arg[3], uint64_t pc, uint64_t sp) {
    uint64_t from = arg[b->pointer], to = from + arg[b->size], bad = shadow_first_bad(from, to);
    if (to > from && bad < to) {
        report_argument(t, b, bad, pc, sp);
        return;
    }
    bad = to > from && !b->writes ? undefined_first(from, to) : to;
    if (bad < to)
        report_undefined(t, b, bad, pc, sp);
}

/* ---------------------------------------------------------------------------------------------------------- begin and end */

static uint64_t leak_level(void) {
    const char *text = lathe_option("leak-check");
    if (!text || !strcmp(text, "full"))
        return LEAKS_FULL;
    if (strcmp(text, "summary") && strcmp(text, "no"))
        lathe_fail("leak-check is no, summary or full, not %s", text);
    return strcmp(text, "no") ? LEAKS_SUMMARY : LEAKS_NO;
}

/* A copy of the program has the blocks of the one that made it. */
static void start(void) {
    const char *log = lathe_option("log");
    leak_check = leak_level();
    exit_code = lathe_option_number("error-exitcode", 0);
    depth = lathe_option_number("depth", 12);
    queue_bytes_most = lathe_option_number("quarantine", 2 << 20);
    quiet = lathe_option("quiet");
    show_possible = lathe_option("show-possible");
    show_reachable = lathe_option("show-reachable");
    if (!depth || depth > FRAMES)
        lathe_fail("depth is a number from 1 to %d", FRAMES);
    ended = becomes_another = false;
    error_count = context_count = 0;
    if (shadow)
        return;
    out = lathe_open(log ? log : "-");
    shadow_start();
    undefined_start();
    system_start();
}

static bool is_shown(uint32_t loss) {
    return loss == LOST || (loss == POSSIBLE && show_possible) || (loss == REACHABLE && show_reachable);
}

static void say_heap(void) {
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < held.count; i++)
        bytes += held_no(i)->block->size;
    SAY();
    SAY("HEAP SUMMARY:");
    SAY("   in use at exit: %lu bytes in %lu blocks", bytes, held.count);
    SAY("   total heap usage: %lu allocs, %lu frees, %lu bytes allocated", allocations, frees, bytes_allocated);
}

static void say_leaks(void) {
    for (uint64_t i = 0; i < records.count; i++) {
        const Record *r = (const Record *)records.at + i;
        if (leak_check != LEAKS_FULL || !is_shown(r->loss))
            continue;
        say_record(r);
        error_count += r->loss != REACHABLE;
        context_count += r->loss != REACHABLE;
    }
}

/* What is lost is looked for at exit only: exec replaces everything. */
static void finish(Thread *t, uint64_t sp) {
    if (ended)
        return;
    ended = true;
    lathe_lock(&report_lock);
    bool leaks = leak_check != LEAKS_NO && !becomes_another;
    if (leaks)
        find_leaks(t, sp);
    if (!quiet && leaks)
        say_heap();
    if (leaks)
        say_leaks();
    if (!quiet && leaks)
        say_summary();
    if (error_count || (!quiet && !becomes_another)) {
        SAY();
        SAY("ERROR SUMMARY: %lu errors from %lu contexts", error_count, context_count);
    }
    lathe_flush(out);
    lathe_unlock(&report_lock);
}

static void system_call(uint64_t number, uint64_t pc, uint64_t sp, Thread *t) {
    const SystemCall *s = system_call_no(number);
    uint64_t arg[3] = {lathe_arg(0), lathe_arg(1), lathe_arg(2)};
    if (s->buffer)
        check_buffer(t, s->buffer, arg, pc, sp);
    if (s->kind == CALL_EXEC)
        becomes_another = true;
    if (s->kind == CALL_EXIT) {
        finish(t, sp);
        if (exit_code && error_count)
            lathe_set_argument(0, exit_code);
    }
}

static void system_call_done(uint64_t number, uint64_t result, uint64_t first, uint64_t second, uint64_t third,
                             Thread *t) {
    const SystemCall *s = system_call_no(number);
    const uint64_t arg[CALL_ARGUMENTS] = {first, second, third};
    undefined_called(s, result, arg, true);
    if (s->kind == CALL_STACK)
        note_handler_stack(t, first);
    if (s->kind == CALL_EXEC)
        becomes_another = ended = false;
    if (s->kind >= CALL_BRK && (int64_t)result >= 0)
        system_map(s->kind, result, arg, in_allocator(t));
    if (s->kind >= CALL_MMAP && s->kind <= CALL_SHMAT && (int64_t)result >= 0)
        define(result, s->kind == CALL_MMAP ? second : s->kind == CALL_MREMAP ? third : SHARED_MOST);
}

/* The dynamic linker is known by its name. */
static void module(uint64_t from, uint64_t bytes, const char *name) {
    const char *file = strrchr(name, '/');
    bool is_linker = !strncmp(file ? file + 1 : name, "ld-", 3);
    undefined_module(from, bytes, name, is_linker);
    if (!is_linker)
        return;
    linker_from = from;
    linker_to = from + bytes;
}

#define ENTER(name, what)                                                                                              \
    LATHE_WHERE(LATHE_FUNCTION, enter, ((LatheWhere){.symbol = name}), {LATHE_CONSTANT, what}, {LATHE_PC}, {LATHE_SP}, \
                {LATHE_THREAD_OWN})
#define ENTER_STRING(name)                                                                                             \
    LATHE_WHERE(LATHE_FUNCTION, enter_string, ((LatheWhere){.symbol = name}), {LATHE_PC}, {LATHE_SP},                  \
                {LATHE_THREAD_OWN}, {LATHE_ARGUMENT, 0}, {LATHE_ARGUMENT, 1}, {LATHE_ARGUMENT, 2})

LATHE_HOOKS(
    UNDEFINED_HOOKS LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_THREAD_END, thread_end, {LATHE_THREAD_OWN}),
    LATHE_ON(LATHE_END, finish, {LATHE_THREAD_OWN}, {LATHE_SP}),
    LATHE_ON(LATHE_MODULE, module, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_NAME}),
    LATHE_ON(LATHE_SYSCALL, system_call, {LATHE_NUMBER}, {LATHE_PC}, {LATHE_SP}, {LATHE_THREAD_OWN}),
    LATHE_ON(LATHE_SYSCALL_DONE, system_call_done, {LATHE_NUMBER}, {LATHE_RESULT}, {LATHE_ARGUMENT, 0},
             {LATHE_ARGUMENT, 1}, {LATHE_ARGUMENT, 2}, {LATHE_THREAD_OWN}),
    LATHE_WHERE(LATHE_LOAD, load, ((LatheWhere){.not_stack = true}), {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC},
                {LATHE_SP}, {LATHE_THREAD_OWN}),
    LATHE_WHERE(LATHE_STORE, store, ((LatheWhere){.not_stack = true}), {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC},
                {LATHE_SP}, {LATHE_THREAD_OWN}),
    LATHE_ON(LATHE_CALL, call, {LATHE_NEXT}, {LATHE_SP}, {LATHE_CLASSES}, {LATHE_THREAD_OWN}),
    LATHE_WHERE(LATHE_RETURN, leave_usable_size, ((LatheWhere){.symbol = "malloc_usable_size"}), {LATHE_THREAD_OWN}),
    LATHE_ON(LATHE_RETURN, back, {LATHE_SP}, {LATHE_RESULT}, {LATHE_THREAD_OWN}), ENTER("malloc", MALLOC),
    ENTER("calloc", CALLOC), ENTER("realloc", REALLOC), ENTER("reallocarray", REALLOC_ARRAY),
    ENTER("memalign", MEMALIGN), ENTER("aligned_alloc", MEMALIGN), ENTER("posix_memalign", POSIX_MEMALIGN),
    ENTER("valloc", VALLOC), ENTER("pvalloc", PVALLOC), ENTER("free", FREE), ENTER("malloc_usable_size", USABLE_SIZE),
    ENTER("malloc_trim", ALLOCATOR_OTHER), ENTER("malloc_stats", ALLOCATOR_OTHER),
    ENTER("malloc_info", ALLOCATOR_OTHER), ENTER("mallinfo*", ALLOCATOR_OTHER), ENTER("mallopt", ALLOCATOR_OTHER),
    ENTER("__malloc_*", ALLOCATOR_OTHER), ENTER("_Znw*", NEW), ENTER("_Zna*", NEW_ARRAY), ENTER("_Zdl*", DELETE),
    ENTER("_Zda*", DELETE_ARRAY),
    LATHE_WHERE(LATHE_FUNCTION, throws, ((LatheWhere){.symbol = "__cxa_throw"}), {LATHE_THREAD_OWN}),
    ENTER_STRING("str*"), ENTER_STRING("mem*"), ENTER_STRING("stp*"), ENTER_STRING("wcs*"), ENTER_STRING("wmem*"),
    ENTER_STRING("raw*"), ENTER_STRING("bcmp"), ENTER_STRING("index"), ENTER_STRING("rindex"), ENTER_STRING("__mem*"),
    ENTER_STRING("__str*"), ENTER_STRING("__stp*"), ENTER_STRING("__raw*"), ENTER_STRING("__wmem*"));
