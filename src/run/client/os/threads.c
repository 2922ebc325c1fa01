/* threads.c: how threads of the guest begin and end. */

#include "host_context.h"
#include "run/client/code/translated.h"
#include "run/client/memory/own.h"
#include "run/client/os/process.h"
#include "run/client/os/seccomp.h"
#include "run/client/os/signal/signal.h"
#include "run/client/tool/table/tables.h"
#include "run/client/tool/tool.h"

enum { SIGNAL_STACK_BYTES = 64 << 10, FLAGS_FIXED = 0x202, SPARES_MAX = 8 };

static u64 thread_bytes(void) {
    return sizeof(Thread) + rows_bytes();
}

/* Places the tables of the first thread in one huge page if the kernel provides it, because a program touches them all
 * over when it begins; with a map (code/quick/map.h) they are hardly used. */
static Thread *first_thread(void) {
    enum { HUGE_PAGE = 2 << 20, ADVISE_HUGE = 14 };
    u64 tables = offsetof(Thread, lookup), all = (u64)sys_pages(thread_bytes() + HUGE_PAGE);
    if (!all)
        return NULL;
    u64 t = ((all + tables + HUGE_PAGE - 1) & -(u64)HUGE_PAGE) - tables, end = t + page_up(thread_bytes());
    if (t > all)
        sys_pages_free((void *)all, t - all);
    sys_pages_free((void *)end, all + page_up(thread_bytes() + HUGE_PAGE) - end);
    if (!the.map)
        sys_madvise(t + tables, HUGE_PAGE, ADVISE_HUGE);
    return (Thread *)t;
}

/* The stack is marked as one for the kernel (MAP_GROWSDOWN), so that it does not count as data, which may be limited.
 * It cannot grow, because the page below it allows no access. */
static i64 map_stack(u64 size) {
    u32 flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_GROWSDOWN;
    return own_map(size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static Thread *new_memory(u64 host_stack_size) {
    Thread *t = the.threads ? sys_pages(thread_bytes()) : first_thread();
    i64 stack = map_stack(host_stack_size);
    if (!t || sys_failed(stack) || !tool_stack_new(t))
        return NULL;
    sys_mprotect((u64)stack, 4096, PROT_NONE);
    t->stack.signal = (u64)sys_pages(SIGNAL_STACK_BYTES);
    t->stack.host = (u64)stack;
    return t;
}

static void free_memory(Thread *t) {
    own_unmap(t->stack.host, t->stack.host_size);
    tool_stack_free(t);
    sys_pages_free((void *)t->stack.signal, SIGNAL_STACK_BYTES);
    sys_pages_free(t, thread_bytes());
}

/* Takes a thread structure that another thread has left. Without these, a program that starts threads all the time would
 * wait for the kernel to map and clear pages for each of them. The tables' contents are reused as well if they are still
 * valid. The caller holds the lock of translated code. */
static Thread *take_spare(u64 host_stack_size) {
    while (the.os.spare) {
        Thread *t = the.os.spare;
        the.os.spare = t->next;
        the.os.spare_count--;
        if (translated_fits_new_thread(t) && t->stack.host_size == host_stack_size)
            return t;
        free_memory(t);
    }
    return NULL;
}

/* A thread of optimised code has used more memory: its table, which the next thread does not need, and its host stack, perhaps to a great depth.
 * Gives that back. */
static void empty_rest(Thread *t) {
    if (t->stack.host_size <= HOST_STACK_SMALL)
        return;
    sys_madvise((u64)t->table, sizeof(t->table), MADV_DONTNEED);
    sys_madvise(t->stack.host, t->stack.host_size - HOST_STACK_SMALL, MADV_DONTNEED);
}

/* Keeps the memory of a thread that has ended for take_spare. Returns false if there is enough of that. */
static bool keep_spare(Thread *t) {
    ThreadStack stack = t->stack;
    u64 age = t->quick.tables_age;
    if (__atomic_load_n(&the.os.spare_count, __ATOMIC_RELAXED) >= SPARES_MAX)
        return false;
    empty_rest(t);
    memset(t, 0, offsetof(Thread, table));
    t->stack = stack, t->quick.tables_age = age;
    translated_lock();
    t->next = the.os.spare;
    the.os.spare = t;
    the.os.spare_count++;
    translated_unlock();
    return true;
}

Thread *thread_new(u64 host_stack_size) {
    translated_lock();
    Thread *t = take_spare(host_stack_size);
    if (!t) {
        translated_unlock();
        t = new_memory(host_stack_size);
        if (!t)
            return NULL;
        translated_lock();
    }
    t->stack.signal_size = SIGNAL_STACK_BYTES;
    t->self = t;
    t->memory.limits = &the.memory.limits;
    t->process.lives = 1;
    t->debug = (ThreadDebug){.goes = true};
    t->quick.flags = FLAGS_FIXED;
    t->tier.optimised = the.opt.tier == TIER_OPT;
    t->stack.host_size = host_stack_size;
    t->stack_limit = thread_stack_limit(t);
    guest_reset(&t->cpu);
    translated_thread_begins(t);
    t->next = the.threads;
    the.threads = t;
    translated_unlock();
    return t;
}

void thread_unlist(Thread *t) {
    Thread **at = &the.threads;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at) {
        *at = t->next;
        translated_thread_ends(t);
    }
    tool_thread_ends(t);
}

void thread_free(Thread *t) {
    translated_lock();
    thread_unlist(t);
    translated_unlock();
    signal_forget(t);
    translated_thread_free(t);
    seccomp_forget(t);
    if (!keep_spare(t))
        free_memory(t);
}

void thread_become(Thread *t) {
    t->pid = (u32)sys_getpid();
    t->tid = (u32)sys_gettid();
    host_set_thread(t);
    sys_sigaltstack(&(AltStack){.base = t->stack.signal, .size = t->stack.signal_size}, NULL);
}
