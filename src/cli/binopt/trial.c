/* trial.c: see trial.h. */
#include "cli/binopt/trial.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "binopt/config/config.h"

enum { INTS = 6, VECTORS = 8, SERIES = 9, SECONDS = 10 };
static const double series_ns = 2e6;

/* Arguments in the order of the calling convention (SysV ABI, 3.2.3). */
typedef struct TrialCall {
    void *function;
    u64 ints[INTS];
    double vectors[VECTORS];
    bool is_float;
} TrialCall;

typedef u64 ReturnsInt(u64, u64, u64, u64, u64, u64, double, double, double, double, double, double, double, double);
typedef double ReturnsFloat(u64, u64, u64, u64, u64, u64, double, double, double, double, double, double, double,
                            double);

#define ARGUMENTS(c)                                                                                                   \
    (c)->ints[0], (c)->ints[1], (c)->ints[2], (c)->ints[3], (c)->ints[4], (c)->ints[5], (c)->vectors[0],               \
        (c)->vectors[1], (c)->vectors[2], (c)->vectors[3], (c)->vectors[4], (c)->vectors[5], (c)->vectors[6],          \
        (c)->vectors[7]

static u64 call(const TrialCall *c) {
    if (!c->is_float)
        return ((ReturnsInt *)c->function)(ARGUMENTS(c));
    double d = ((ReturnsFloat *)c->function)(ARGUMENTS(c));
    u64 bits;
    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

static TrialCall arrange(const Prototype *p, void *function, const TypedValue *args) {
    TrialCall c = {.function = function, .is_float = config_type_is_float(p->ret)};
    u32 ints = 0, vectors = 0;
    for (u32 i = 0; i < p->count; i++) {
        u32 unused = 64 - 8 * config_type_bytes(p->params[i]);
        u64 bits = args[i].bits;
        if (config_type_is_float(p->params[i]))
            memcpy(&c.vectors[vectors++], &bits, sizeof(bits));
        else
            c.ints[ints++] = config_type_is_signed(p->params[i]) ? (u64)((i64)(bits << unused) >> unused) : bits;
    }
    return c;
}

/* -------------------------------------------------------------------------------------------------------------- children */

/* What a child process tells its parent, in shared memory. */
typedef struct Report {
    u64 result;
    double ns;
} Report;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double series(const TrialCall *c, u64 count) {
    double start = now_ns();
    for (u64 i = 0; i < count; i++)
        call(c);
    return now_ns() - start;
}

static void call_once(const TrialCall *c, Report *r) {
    r->result = call(c);
}

static void measure(const TrialCall *c, Report *r) {
    u64 count = 1;
    while (series(c, count) < series_ns)
        count *= 2;
    for (int i = 0; i < SERIES; i++) {
        double ns = series(c, count) / (double)count;
        r->ns = i && r->ns < ns ? r->ns : ns;
    }
}

/* Does the work in a child process. Returns the signal that ended it, or 0. */
static int in_child(void (*work)(const TrialCall *, Report *), const TrialCall *c, Report *r) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        work(c, r);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "a process can be started and waited for");
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* -------------------------------------------------------------------------------------------------------------- memory */

static size_t memory_size(const Prototype *p, const TypedValue *args) {
    size_t size = 0;
    for (u32 i = 0; i < p->count; i++)
        size += args[i].size;
    return size;
}

static u8 *save(const Prototype *p, const TypedValue *args) {
    u8 *copy = mem_new(memory_size(p, args) + 1), *at = copy;
    for (u32 i = 0; i < p->count; at += args[i++].size)
        if (args[i].size)
            memcpy(at, args[i].memory, args[i].size);
    return copy;
}

static void restore(const Prototype *p, const TypedValue *args, const u8 *copy) {
    for (u32 i = 0; i < p->count; copy += args[i++].size)
        if (args[i].size)
            memcpy(args[i].memory, copy, args[i].size);
}

/* -------------------------------------------------------------------------------------------------------------- public */

bool trial_possible(const Prototype *p) {
    u32 vectors = 0;
    for (u32 i = 0; i < p->count; i++)
        vectors += config_type_is_float(p->params[i]);
    return vectors <= VECTORS && p->count - vectors <= INTS;
}

Trial trial_run(const Prototype *p, void *function, const TypedValue *args) {
    TrialCall c = arrange(p, function, args);
    Report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(r != MAP_FAILED, "there is a page of memory");
    u8 *before = save(p, args);
    Trial t = {.signal = in_child(call_once, &c, r), .size = memory_size(p, args)};
    t.memory = save(p, args);
    restore(p, args, before);
    u32 bytes = config_type_bytes(p->ret);
    t.result = bytes == 8 ? r->result : r->result & (((u64)1 << 8 * bytes) - 1);
    if (!t.signal)
        t.signal = in_child(measure, &c, r);
    t.ns = r->ns;
    restore(p, args, before);
    mem_free(before);
    munmap(r, sizeof(*r));
    return t;
}

void trial_free(Trial *t) {
    mem_free(t->memory);
}

bool trial_equal(const Trial *a, const Trial *b) {
    return a->signal == b->signal && a->result == b->result && a->size == b->size &&
           !memcmp(a->memory, b->memory, a->size);
}
