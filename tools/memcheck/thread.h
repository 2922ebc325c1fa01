/* thread.h: what is known of each thread: where its calls return to, and which functions that are watched it is in. */
#ifndef MEMCHECK_THREAD_H
#define MEMCHECK_THREAD_H

#include "heap.h"
#include "strings.h"

/* The functions that are watched. All up to the last one of the allocator may access what nobody else may. */
typedef enum What {
    MALLOC,
    CALLOC,
    REALLOC,
    REALLOC_ARRAY,
    MEMALIGN,
    POSIX_MEMALIGN,
    VALLOC,
    PVALLOC,
    FREE,
    USABLE_SIZE,
    ALLOCATOR_OTHER,
    NEW,
    NEW_ARRAY,
    DELETE,
    DELETE_ARRAY,
    STRING,
} What;

/* A call of one of these that has not returned. */
typedef struct Call {
    uint64_t sp; /* at its beginning, and when it returns */
    uint64_t pc; /* of a STRING: where it begins */
    uint32_t what;
    bool checked; /* of a STRING: something was found already, or all is right */
    uint64_t arg[3];
    const void *about; /* the Stack of an allocation, or the StringFunction */
} Call;

typedef struct Frame {
    uint64_t sp, back; /* the stack pointer before the call, and where it returns to */
} Frame;

enum { CALLS_MOST = 6, FRAMES_KEPT = 1 << 14, FRAMES_SEARCHED = 64, STACK_SPAN = 8 << 20 };

/* It is in the words that Lathe has for the tool in each thread. */
typedef struct Thread {
    uint64_t sp; /* of the innermost call; 0: there is none */
    uint64_t call_count;
    Frame *frames;    /* calls that have not returned; the first one is none. NULL: there was no call yet */
    Frame *top, *end; /* behind the innermost one, and behind all that there is room for */
    uint64_t stack_low, stack_high;              /* where its stack is */
    uint64_t handler_stack, handler_stack_bytes; /* of sigaltstack */
    uint8_t *behind; /* for each call: BEHIND bytes of the table of undefined.h; NULL: nothing yet */
    Call call[CALLS_MOST];
} Thread;

_Static_assert(sizeof(Thread) <= LATHE_OWN_WORDS * sizeof(uint64_t), "a thread's own words hold it");

/* How many bytes a call puts on the stack, by the program's machine; if it is any, leaf functions may use memory below the stack pointer. */
static uint64_t call_pushes;

/* Stacks of threads that have ended stay mapped for others; what is on them is of no meaning. */
typedef struct DeadStack {
    uint64_t low, high;
} DeadStack;

static LatheMap dead_stacks = LATHE_MAP(DeadStack); /* by `low` */

static uint64_t thread_count; /* that have ever called something */

static void thread_start(Thread *t, uint64_t sp) {
    LatheMapping m;
    __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    *t = (Thread){.frames = (Frame *)lathe_alloc(FRAMES_KEPT * sizeof(Frame))};
    t->frames->sp = NOWHERE;
    t->top = t->frames + 1;
    t->end = t->frames + FRAMES_KEPT;
    if (lathe_mapping(sp, &m) && m.from <= sp) {
        t->stack_low = m.from;
        t->stack_high = sp;
        lathe_map_remove(&dead_stacks, t->stack_low);
    }
}

static void thread_end(Thread *t) {
    lathe_free(t->frames);
    lathe_free(t->behind);
    t->behind = NULL;
    t->frames = t->top = t->end = NULL;
    *(DeadStack *)lathe_map_at(&dead_stacks, t->stack_low) = (DeadStack){t->stack_low, t->stack_high};
}

/* --------------------------------------------------------------------------------------------------------- return addresses */

/* The older half of the calls is forgotten. */
static void frame_make_room(Thread *t) {
    memmove(t->frames + 1, t->end - FRAMES_KEPT / 2, FRAMES_KEPT / 2 * sizeof(Frame));
    t->top = t->frames + 1 + FRAMES_KEPT / 2;
}

static inline void frame_push(Thread *t, uint64_t sp, uint64_t back) {
    *t->top++ = (Frame){sp, back};
}

/* A return to where the stack pointer is `sp`. Calls may have been left by longjmp or an exception, and returns may be none of calls. */
static void frame_pop(Thread *t, uint64_t sp) {
    for (Frame *f = t->top; f > t->frames + 1 && t->top - f < FRAMES_SEARCHED; f--)
        if (f[-1].sp == sp) {
            t->top = f - 1;
            return;
        }
}

/* The stack at an instruction. Calls that were left without a return are recognised by the stack pointer. */
static const Stack *stack_at(const Thread *t, uint64_t pc, uint64_t sp) {
    uint64_t pcs[FRAMES] = {pc}, count = 1;
    for (const Frame *f = t->top; f > t->frames + 1 && count < depth; f--) {
        if (f[-1].sp < sp && sp - f[-1].sp < STACK_SPAN)
            continue;
        pcs[count++] = f[-1].back;
        sp = f[-1].sp;
    }
    return stack_of(pcs, count);
}

/* What an address is. */
static void say_where(const Thread *t, uint64_t address, uint64_t sp) {
    if (address >= t->stack_low && address < t->stack_high)
        SAY(" Address 0x%lx is on the thread's stack, %lu bytes %s the stack pointer", address,
            address < sp ? sp - address : address - sp, address < sp ? "below" : "above");
    else
        say_address(address);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static Call *innermost(Thread *t) {
    return t->call_count ? &t->call[t->call_count - 1] : NULL;
}

static void set_count(Thread *t, uint64_t count) {
    t->call_count = count;
    t->sp = count ? t->call[count - 1].sp : 0;
}

static bool in_allocator(const Thread *t) {
    for (uint64_t i = 0; i < t->call_count; i++)
        if (t->call[i].what <= ALLOCATOR_OTHER)
            return true;
    return false;
}

/* Where the functions of the C library's allocator lie, and in front of them those that it has without names of their own: such code runs also when a thread ends, or at fork. */
static uint64_t allocator_low = ~0ul, allocator_high;

enum { BEFORE_ALLOCATOR = 16 << 10 };

static void note_allocator(uint64_t pc) {
    LatheSymbol symbol;
    if (pc >= allocator_low && pc <= allocator_high)
        return;
    lathe_symbol(pc, &symbol);
    const char *file = strrchr(symbol.file, '/');
    if (!file || strncmp(file, "/libc", 5))
        return;
    allocator_low = pc < allocator_low ? pc : allocator_low;
    allocator_high = pc > allocator_high ? pc : allocator_high;
}

static bool is_of_allocator(uint64_t pc) {
    return allocator_high && pc >= allocator_low - BEFORE_ALLOCATOR && pc < allocator_high;
}

/* Calls that an exception or longjmp has left lie below the stack pointer. Those of other stacks are far away. */
static void drop_left(Thread *t, uint64_t sp) {
    while (t->call_count && t->sp < sp && sp - t->sp < STACK_SPAN)
        set_count(t, t->call_count - 1);
}

/* NULL: this is a part of what the allocator does. */
static Call *call_enter(Thread *t, uint64_t sp, What what, uint64_t first, uint64_t second, uint64_t third) {
    drop_left(t, sp);
    if (in_allocator(t))
        return NULL;
    bool own = t->top && is_of_allocator(t->top[-1].back); /* the allocator calls this for itself */
    if (t->call_count == CALLS_MOST)
        set_count(t, 0);
    Call *c = &t->call[t->call_count];
    *c = (Call){.sp = sp, .what = own ? ALLOCATOR_OTHER : what, .arg = {first, second, third}};
    set_count(t, t->call_count + 1);
    return own ? NULL : c;
}

#endif
