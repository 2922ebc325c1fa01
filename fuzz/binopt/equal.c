/* equal.c: see equal.h. A function that faults, as by a division, is not compared. */
#include "equal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "configure.h"
#include "function.h"

enum { CODE_BYTES = 0x8000, CALLEE_AT = 0x100, FUNCTION_AT = 0x2000, CALLS = 4 };

typedef u64 Function(void *, u64, u64, u64, u64, u64, double, double, double, double, double, double, double, double,
                     u64, u64, u64);

typedef struct Arguments {
    u64 at[MAX_PARAMS]; /* in the order of the parameters; what a narrow one has above its size is anything */
} Arguments;

typedef struct Case {
    Signature sig;
    bool fixed[MAX_PARAMS];
    bool guard;
    Arguments arguments;
    u8 *code, *buffer;
    u8 initial[BUFFER_BYTES];
    Function *original;
    size_t size;
} Case;

static u8 *code_memory, *buffer_memory;

/* Where a fault of the original leads. */
static sigjmp_buf out;
static volatile sig_atomic_t calling;

static void on_fault(int sig) {
    (void)sig;
    if (calling)
        siglongjmp(out, 1);
    abort();
}

static double as_double(u64 bits) {
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* Those that are not there are passed all the same. */
static u64 call(Function *f, const Case *c, const Arguments *a) {
    u64 i[MAX_INTS] = {0}, s[MAX_ON_STACK] = {0};
    double d[MAX_FLOATS] = {0};
    u32 at = 1;
    for (u32 k = 0; k < c->sig.ints; k++)
        i[k] = a->at[at++];
    for (u32 k = 0; k < c->sig.floats; k++)
        d[k] = as_double(a->at[at++]);
    for (u32 k = 0; k < c->sig.on_stack; k++)
        s[k] = a->at[at++];
    return f(c->buffer, i[0], i[1], i[2], i[3], i[4], d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], s[0], s[1], s[2]);
}

/* ------------------------------------------------------------------------------------------------------------------ drawing */

static void draw_code(Rng *r, const Choice *choice, bool lifts, Case *c) {
    Signature inner = {.ints = MAX_INTS, .bytes = {8, 8, 8, 8, 8, 8}};
    FunctionOptions o = {
        .choice = choice, .exact = lifts, .avx = rng_next(r) & 1 && !lifts && __builtin_cpu_supports("avx2")};
    mprotect(c->code, CODE_BYTES, PROT_READ | PROT_WRITE);
    function_draw(r, &o, &inner, (u64)c->code + CALLEE_AT, c->code + CALLEE_AT);
    o.callee = (u64)c->code + CALLEE_AT;
    signature_draw(r, &c->sig);
    c->size = function_draw(r, &o, &c->sig, (u64)c->code + FUNCTION_AT, c->code + FUNCTION_AT);
    mprotect(c->code, CODE_BYTES, PROT_READ | PROT_EXEC);
    c->original = (Function *)(c->code + FUNCTION_AT);
    rng_fill(r, c->initial, BUFFER_BYTES);
    memcpy(c->initial + CALLEE_OFFSET, &o.callee, sizeof(o.callee));
}

static u64 draw_value(Rng *r) {
    static const u64 special[] = {
        0, 1, 7, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~(u64)0};
    return rng_next(r) & 1 ? special[rng_below(r, ARRAY_LEN(special))] : rng_next(r) >> rng_below(r, 64);
}

static BinoptType type_of(const Signature *s, u32 index) {
    static const BinoptType ints[2][9] = {
        {[1] = BINOPT_TY_UINT8, [2] = BINOPT_TY_UINT16, [4] = BINOPT_TY_UINT32, [8] = BINOPT_TY_UINT64},
        {[1] = BINOPT_TY_INT8, [2] = BINOPT_TY_INT16, [4] = BINOPT_TY_INT32, [8] = BINOPT_TY_INT64}};
    if (index == 0)
        return BINOPT_TY_PTR;
    if (index > s->ints && index <= s->ints + s->floats)
        return s->bytes[index] == 4 ? BINOPT_TY_FLOAT : BINOPT_TY_DOUBLE;
    return ints[s->is_signed[index]][s->bytes[index]];
}

static void configure(Rng *r, Case *c, BinoptCfgRef cfg) {
    BinoptType types[CONFIGURE_MAX] = {0};
    u32 count = signature_count(&c->sig);
    for (u32 i = 0; i < count; i++)
        types[i] = type_of(&c->sig, i);
    if (rng_next(r) & 1)
        types[0] = BINOPT_TY_PTR_NOALIAS;
    configure_type(cfg, count, BINOPT_TY_UINT64, types);
    c->arguments.at[0] = (u64)c->buffer;
    for (u32 i = 0; i < count; i++)
        if ((c->fixed[i] |= rng_next(r) & 1)) /* what was fixed for the last version stays so */
            binopt_cfg_set_param(cfg, i, &c->arguments.at[i]);
    c->guard = rng_once_in(r, 4);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, c->guard);
    binopt_cfg_set(cfg, BINOPT_F_NOWRAP, rng_once_in(r, 8));
    if (rng_next(r) & 1)
        binopt_cfg_mem(cfg, c->buffer, CONST_BYTES, rng_next(r) & 1 ? BINOPT_MEM_CONST : BINOPT_MEM_NESTED_CONST);
}

/* ---------------------------------------------------------------------------------------------------------------- comparing */

static bool is_narrow(const Case *c, u32 index) {
    return c->sig.bytes[index] < 8;
}

static void draw_arguments(Rng *r, const Case *c, bool others, Arguments *a) {
    *a = c->arguments;
    for (u32 i = 1; i < signature_count(&c->sig); i++) {
        if (!c->fixed[i] || (others && rng_next(r) & 1))
            a->at[i] = draw_value(r);
        if (is_narrow(c, i))
            a->at[i] = (a->at[i] & (((u64)1 << 8 * c->sig.bytes[i]) - 1)) | rng_next(r) << 8 * c->sig.bytes[i];
    }
}

/* False: it faults. */
static bool run_original(const Case *c, const Arguments *a, u8 *after, u64 *result) {
    memcpy(c->buffer, c->initial, BUFFER_BYTES);
    if (sigsetjmp(out, 1)) {
        calling = 0;
        return false;
    }
    calling = 1;
    *result = call(c->original, c, a);
    calling = 0;
    memcpy(after, c->buffer, BUFFER_BYTES);
    return true;
}

static void report(const Case *c, const Arguments *a, const u8 *expected, u64 x, u64 y) {
    printf("the original returns %#llx, the other %#llx\n", (unsigned long long)x, (unsigned long long)y);
    for (u32 i = 0; i < BUFFER_BYTES; i += 8)
        if (memcmp(expected + i, c->buffer + i, 8))
            printf("  at %#x: %#llx, not %#llx\n", i, *(unsigned long long *)(c->buffer + i),
                   *(const unsigned long long *)(expected + i));
    for (u32 i = 0; i < signature_count(&c->sig); i++)
        printf("  parameter %u, %u bytes%s: %#llx\n", i, c->sig.bytes[i], c->fixed[i] ? ", fixed" : "",
               (unsigned long long)a->at[i]);
    FILE *f = fopen("binopt-fuzz.bin", "wb");
    if (f) {
        fwrite(c->code, 1, CODE_BYTES, f);
        fclose(f);
    }
    printf("  the code is in binopt-fuzz.bin, the function at %#x of it, its callee at %#x\n", FUNCTION_AT, CALLEE_AT);
}

static bool compare(Rng *r, const Case *c, Function *made) {
    for (u32 i = 0; i < CALLS; i++) {
        Arguments a;
        static u8 expected[BUFFER_BYTES];
        u64 x, y;
        draw_arguments(r, c, c->guard && i & 1, &a);
        if (!run_original(c, &a, expected, &x))
            continue;
        memcpy(c->buffer, c->initial, BUFFER_BYTES);
        y = call(made, c, &a);
        if (x == y && !memcmp(expected, c->buffer, BUFFER_BYTES))
            continue;
        report(c, &a, expected, x, y);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------- public */

void equal_init(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    code_memory = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    buffer_memory = aligned_alloc(4096, 4096);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        signal(signals[i], on_fault);
}

bool equal_run(Rng *r, const Choice *choice, bool lifts) {
    static Case c;
    memset(&c, 0, sizeof(c));
    c.code = code_memory;
    c.buffer = buffer_memory;
    draw_code(r, choice, lifts, &c);
    memcpy(c.buffer, c.initial, BUFFER_BYTES);
    for (u32 i = 1; i < MAX_PARAMS; i++)
        c.arguments.at[i] = draw_value(r);
    BinoptHandle handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)c.original);
    configure(r, &c, cfg);
    BinoptFunc made = binopt_spec_create(cfg);
    bool right = compare(r, &c, (Function *)made);
    if (right && !c.guard && rng_once_in(r, 4)) { /* that again, with more that is known, and without the first one */
        cfg = binopt_cfg_new(handle, made);
        memcpy(c.buffer, c.initial, BUFFER_BYTES);
        configure(r, &c, cfg);
        BinoptFunc next = binopt_spec_create(cfg);
        c.guard = false; /* other values than the fixed ones are for `made`, which is not for them */
        if (next != made)
            binopt_spec_delete(handle, made);
        right = compare(r, &c, (Function *)next);
    }
    binopt_fini(handle);
    return right;
}
