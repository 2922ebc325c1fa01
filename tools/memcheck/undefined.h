/* undefined.h: which bits of memory were never set. Blocks of the heap are undefined when they are given out, but for those of calloc, and frames of functions when they begin. The rest of memory is
 * defined, unless undefined values are stored there. Without MEMCHECK_UNDEFINED, nothing of this is done. */
#ifndef MEMCHECK_UNDEFINED_H
#define MEMCHECK_UNDEFINED_H

#include "system.h"
#include "thread.h"

static void report_decision(Thread *t, uint64_t pc, uint64_t sp, const char *name) {
    const Stack *s = stack_at(t, pc, sp);
    if (!report_begin(UNDEFINED_JUMP, s))
        return;
    SAY("Conditional jump or move depends on uninitialised value(s)");
    say_stack(s, name);
    report_end();
}

#ifdef MEMCHECK_UNDEFINED

uint8_t *lathe_undefined;
static bool unknown_writes; /* the system writes at any time, and nobody knows where: nothing is reported any more */

static uint8_t *undefined_at(uint64_t address) {
    return &lathe_undefined[address & (LATHE_UNDEFINED_BYTES - 1)];
}

/* Vectors may reach beyond the end. */
static void undefined_start(void) {
    lathe_undefined = (uint8_t *)lathe_alloc(LATHE_UNDEFINED_BYTES + PAGE);
}

static bool is_library(const char *name) {
    return !strncmp(name, "/lib", 4) || !strncmp(name, "/usr/lib", 8);
}

/* Values are followed in optimised code only, so all of the program's is optimised; that of libraries if it is wanted, since their functions are many. */
static void undefined_module(uint64_t from, uint64_t bytes, const char *name, bool is_linker) {
    const char *where = lathe_option("code");
    bool all = where && !strcmp(where, "all");
    if (where && !all && strcmp(where, "program"))
        lathe_fail("code is program or all, not %s", where);
    if (!is_linker && *name == '/' && (all || !is_library(name)))
        lathe_optimise(from, bytes);
}

/* As many of these bytes as the table has from there on: what is said to be large may be no size. */
static uint64_t in_table(uint64_t from, uint64_t bytes) {
    uint64_t room = LATHE_UNDEFINED_BYTES - (from & (LATHE_UNDEFINED_BYTES - 1));
    return bytes < room ? bytes : room;
}

static void undefine(uint64_t from, uint64_t bytes) {
    memset(undefined_at(from), 0xff, in_table(from, bytes));
}

static void undefined_copy(uint64_t to, uint64_t from, uint64_t bytes) {
    memmove(undefined_at(to), undefined_at(from), in_table(to, in_table(from, bytes)));
}

/* The first byte of [from, to) of which something is undefined; `to`: none. */
static uint64_t undefined_first(uint64_t from, uint64_t to) {
    for (; from < to && from % 8; from++)
        if (*undefined_at(from))
            return from;
    while (from + 8 <= to && !*(const uint64_t *)undefined_at(from))
        from += 8;
    while (from < to && !*undefined_at(from))
        from++;
    return from;
}

/* Memory of the table that was never written takes none. */
static void define(uint64_t from, uint64_t bytes) {
    enum { LOOKED_AT = 64 << 10 };
    bytes = in_table(from, bytes);
    if (bytes > LOOKED_AT || undefined_first(from, from + bytes) != from + bytes)
        lathe_clear(undefined_at(from), bytes);
}

/* ------------------------------------------------------------------------------------------------------- of lathe/tool.h */

__attribute__((noinline)) static void define_rare(uint64_t from, uint64_t bytes) {
    memset(undefined_at(from), 0, in_table(from, bytes));
}

void lathe_undefined_clear(uint64_t wanted, uint64_t from, uint64_t bytes) {
    if (__builtin_expect(wanted != 0, false))
        define_rare(from, bytes);
}

/* What is larger is no frame: the program has gone to another stack. */
__attribute__((noinline)) static void undefine_frame(uint64_t from, uint64_t bytes) {
    if (bytes <= STACK_SPAN)
        undefine(from, bytes);
}

void lathe_undefined_set(uint64_t from, uint64_t bytes) {
    undefine_frame(from, bytes);
}

void lathe_undefined_stored(uint64_t address, uint64_t bytes) {
    const uint64_t *at = (const uint64_t *)undefined_at(address);
    bool any = bytes == 1    ? *(const uint8_t *)at
               : bytes == 2  ? *(const uint16_t *)at
               : bytes == 4  ? *(const uint32_t *)at
               : bytes == 8  ? *at
               : bytes == 16 ? at[0] | at[1]
                             : true;
    if (__builtin_expect(any, false))
        define_rare(address, bytes);
}

static bool in_string(const Thread *t) {
    return t->call_count && t->call[t->call_count - 1].what == STRING;
}

__attribute__((noinline)) static void report_use(uint64_t use, uint64_t pc, uint64_t sp, Thread *t) {
    if (unknown_writes || in_string(t) || is_of_allocator(pc) || in_allocator(t))
        return;
    if (use == LATHE_UNDEFINED_JUMP)
        return report_decision(t, pc, sp, NULL);
    const Stack *s = stack_at(t, pc, sp);
    if (!report_begin(UNDEFINED_ADDRESS, s))
        return;
    SAY("Use of uninitialised value of size 8");
    say_stack(s, NULL);
    report_end();
}

void lathe_undefined_used(uint64_t any, uint64_t use, uint64_t pc, uint64_t sp, void *own) {
    if (__builtin_expect(any != 0, false))
        report_use(use, pc, sp, (Thread *)own);
}

static void undefined_stop(void) {
    unknown_writes = true;
}

/* String functions look at words beyond the end of a string, and what they make of that is right for reasons that no rule knows. Where a function of the tool's reads a register in this way, the
 * program's instruction is never optimised (lathe/tool.h): so the program's function has no optimised code, and its result is defined. */
static void undefined_stay_quick(void) {
    lathe_arg(0);
}

static void undefined_save(uint8_t *to, uint64_t from, uint64_t bytes) {
    memcpy(to, undefined_at(from), bytes);
}

/* What was saved is used up. */
static void undefined_restore(uint8_t *saved, uint64_t at, uint64_t bytes) {
    uint64_t *word = (uint64_t *)saved, *to = (uint64_t *)undefined_at(at);
    for (uint64_t i = 0; i < bytes / sizeof(*word); i++, word++)
        if (*word) {
            to[i] |= *word;
            *word = 0;
        }
}

#define UNDEFINED_HOOKS                                                                                                \
    LATHE_ON(LATHE_STORE, lathe_undefined_stored, {LATHE_ADDRESS}, {LATHE_BYTES}),                                     \
        LATHE_ON(LATHE_SIGNAL, undefined_signal, {LATHE_SP}, {LATHE_THREAD_OWN}),                                      \
        LATHE_ON(LATHE_SYSCALL_DONE, last_arguments, {LATHE_NUMBER}, {LATHE_RESULT}, {LATHE_ARGUMENT, 3},              \
                 {LATHE_ARGUMENT, 4}, {LATHE_ARGUMENT, 5}),

#else

#define UNDEFINED_HOOKS
static void undefined_module(uint64_t from, uint64_t bytes, const char *name, bool is_linker) {
}
static void undefined_start(void) {
}
static void undefined_stop(void) {
}
static void undefined_stay_quick(void) {
}
static void undefined_save(uint8_t *to, uint64_t from, uint64_t bytes) {
}
static void undefined_restore(uint8_t *saved, uint64_t at, uint64_t bytes) {
}
static void undefine(uint64_t from, uint64_t bytes) {
}
static void define(uint64_t from, uint64_t bytes) {
}
static void undefined_copy(uint64_t to, uint64_t from, uint64_t bytes) {
}
static uint64_t undefined_first(uint64_t from, uint64_t to) {
    return to;
}

#endif

/* -------------------------------------------------------------------------------------------------------- string functions */

static bool copies(const StringFunction *f) {
    return f->read[1] == COUNT && f->write == COUNT;
}

/* Vectors of which only a part is stored are taken for whole ones by quick code, so what is behind all that the function writes is kept; not if another thread could
 * write there meanwhile. */
enum { BEHIND = 64 };

static uint64_t end_of_written(const Call *c) {
    const StringFunction *f = (const StringFunction *)c->about;
    return f->write == COUNT ? c->arg[0] + c->arg[2] * f->unit : 0;
}

static void undefined_enter(Thread *t, const Call *c) {
    uint64_t end = end_of_written(c);
    if (thread_count > 1 || !end || undefined_first(end, end + BEHIND) == end + BEHIND)
        return;
    if (!t->behind)
        t->behind = (uint8_t *)lathe_alloc(CALLS_MOST * BEHIND);
    undefined_save(&t->behind[(uint64_t)(c - t->call) * BEHIND], end, BEHIND);
}

/* What a function has looked at to decide something. A closer look is taken only if something near is undefined. */
static void check_operand(Thread *t, const Call *c, unsigned operand) {
    enum { NEAR = 256 };
    const StringFunction *f = (const StringFunction *)c->about;
    Extent extent = (Extent)f->read[operand];
    uint64_t from = c->arg[operand];
    if (extent == NOTHING || extent == COUNT || extent == FROM_BYTE ||
        undefined_first(from, from + NEAR) == from + NEAR)
        return;
    uint64_t to = from + extent_of(f, extent, operand, c->arg) * f->unit;
    if (undefined_first(from, to) != to)
        report_decision(t, c->pc, c->sp, f->name);
}

/* Copies what is undefined as the function has copied bytes, which quick code takes for a definition. Where both overlap, it stays that. */
static void undefined_leave(Thread *t, const Call *c) {
    uint64_t to = c->arg[0], from = c->arg[1], bytes = c->arg[2], end = end_of_written(c);
    bool apart = to + bytes <= from || from + bytes <= to;
    if (copies((const StringFunction *)c->about) && apart && undefined_first(from, from + bytes) != from + bytes)
        undefined_copy(to, from, bytes);
    check_operand(t, c, 0);
    check_operand(t, c, 1);
    if (end && t->behind && thread_count == 1)
        undefined_restore(&t->behind[(uint64_t)(c - t->call) * BEHIND], end, BEHIND);
}

/* ------------------------------------------------------------------------------------------------------------ system calls */

/* How much a call writes is not known for each one. If an argument could be an address, then so much is taken for written there: more than any structure has, or what the other
 * arguments could mean as a number of elements. */
enum { WRITTEN = 4096, ELEMENT = 64, ELEMENTS_MOST = 1 << 16, LOWEST = 1 << 16 };

static uint64_t written_most(const uint64_t arg[CALL_ARGUMENTS]) {
    uint64_t most = WRITTEN;
    for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
        if (arg[i] <= ELEMENTS_MOST && arg[i] * ELEMENT > most)
            most = arg[i] * ELEMENT;
    return most;
}

static bool is_address(uint64_t word) {
    return word >= LOWEST && word < 1ul << ADDRESS_BITS;
}

/* What readv, recvmsg and the like have: lists of addresses, each with a number of bytes, and lists of such lists. They are looked for in whatever an argument leads to. */
static void define_list(uint64_t at, unsigned depth) {
    enum { WORDS = 256, BYTES_MOST = 1 << 30 };
    uint64_t word, next;
    for (unsigned i = 0; i < WORDS && lathe_read_guest(&word, at, sizeof(word)); i++, at += sizeof(word)) {
        bool has_size =
            is_address(word) && lathe_read_guest(&next, at + sizeof(word), sizeof(next)) && next <= BYTES_MOST;
        if (has_size && depth)
            define_list(word, depth - 1);
        if (has_size)
            define(word, next);
    }
}

/* Three arguments of a call that has returned: the first three, or the last. */
static void undefined_called(const SystemCall *s, uint64_t result, const uint64_t arg[CALL_ARGUMENTS], bool first) {
    if (s->how == CALL_READS || (int64_t)result < 0)
        return;
    if (s->how == CALL_ANY_TIME)
        undefined_stop();
    if (s->buffer && first) {
        define(arg[s->buffer->pointer], result);
        return;
    }
    for (unsigned i = 0; i < CALL_ARGUMENTS; i++) {
        if (!is_address(arg[i]))
            continue;
        if (s->how == CALL_LISTS)
            define_list(arg[i], 1);
        define(arg[i], written_most(arg));
    }
}

#ifdef MEMCHECK_UNDEFINED

static void last_arguments(uint64_t number, uint64_t result, uint64_t fourth, uint64_t fifth, uint64_t sixth) {
    undefined_called(system_call_no(number), result, (uint64_t[]){fourth, fifth, sixth}, false);
}

/* The frame that is written to the stack: below what the handler interrupts, or on a stack of its own. */
static void undefined_signal(uint64_t sp, const Thread *t) {
    enum { FRAME = 16 << 10 };
    define(sp - FRAME, FRAME);
    define(t->handler_stack, t->handler_stack_bytes);
}

#endif

/* stack_t, of sigaltstack. */
static void note_handler_stack(Thread *t, uint64_t at) {
    struct {
        uint64_t start, flags, bytes;
    } stack;
    if (!at || !lathe_read_guest(&stack, at, sizeof(stack)))
        return;
    t->handler_stack = stack.start;
    t->handler_stack_bytes = stack.bytes;
}

#endif
