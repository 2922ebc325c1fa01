/* compiled.c: see compiled.h. */
#include "compiled.h"

#include <binopt.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source.h"

enum { MAX_FLAGS = 8, CALLS = 4 };

extern char **environ;

/* --------------------------------------------------------------------------------------------------------------- compiling */

typedef struct Compiler {
    const char *c, *cpp;
} Compiler;

/* Those that were there when this program was built. */
static const Compiler compilers[] = {FUZZ_COMPILERS};

typedef struct Build {
    char directory[64], source[96], library[96];
    const char *argument[20 + MAX_FLAGS];
    u32 count;
    bool cpp;
} Build;

static void add(Build *b, const char *argument) {
    b->argument[b->count++] = argument;
    b->argument[b->count] = NULL;
}

/* What changes the shape of the code. Not all compilers know all of them. */
static void draw_flags(Rng *r, Build *b, bool gcc) {
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O2", "-O3", "-Os"};
    static const char *const both[] = {"-fno-plt",
                                       "-fcf-protection=full",
                                       "-fcf-protection=none",
                                       "-fno-jump-tables",
                                       "-mavx2",
                                       "-march=native",
                                       "-fno-omit-frame-pointer",
                                       "-fstack-protector-all",
                                       "-fno-exceptions",
                                       "-fno-asynchronous-unwind-tables",
                                       "-fno-optimize-sibling-calls",
                                       "-funroll-loops",
                                       "-fno-inline",
                                       "-fvisibility=hidden",
                                       "-mbmi2"};
    add(b, levels[rng_below(r, ARRAY_LEN(levels))]);
    for (u32 i = rng_below(r, 4); i > 0; i--) {
        const char *flag = both[rng_below(r, ARRAY_LEN(both))];
        if (strcmp(flag, "-fno-exceptions") || !b->cpp)
            add(b, flag);
    }
    /* gcc 12 describes the stack around its inline thunks wrongly: exceptions do not pass them, natively either. */
    if (rng_once_in(r, 16) && !(gcc && b->cpp)) {
        add(b, gcc ? "-mindirect-branch=thunk-inline" : "-mretpoline");
        add(b, "-fcf-protection=none"); /* which gcc insists on */
    }
}

static void draw_build(Rng *r, Build *b) {
    const Compiler *compiler = &compilers[rng_below(r, ARRAY_LEN(compilers))];
    b->cpp = rng_next(r) & 1;
    snprintf(b->source, sizeof(b->source), "%s/source.%s", b->directory, b->cpp ? "cc" : "c");
    snprintf(b->library, sizeof(b->library), "%s/library.so", b->directory);
    add(b, b->cpp ? compiler->cpp : compiler->c);
    draw_flags(r, b, !strstr(compiler->c, "clang"));
    add(b, "-w");
    add(b, "-Wfatal-errors");
    add(b, "-g0");
    add(b, "-fPIC");
    add(b, "-shared");
    add(b, "-fwrapv");
    add(b, "-fno-strict-aliasing");
    add(b, b->source);
    add(b, "-o");
    add(b, b->library);
}

static bool compile(const Build *b) {
    pid_t child;
    int status;
    if (posix_spawnp(&child, b->argument[0], NULL, NULL, (char *const *)b->argument, environ))
        return false;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void say_command(const Build *b, FILE *to) {
    for (u32 i = 0; i < b->count; i++)
        fprintf(to, " %s", b->argument[i]);
}

static void *build(Rng *r, Build *b) {
    snprintf(b->directory, sizeof(b->directory), "/tmp/fuzz-binopt-XXXXXX");
    if (!mkdtemp(b->directory))
        return NULL;
    draw_build(r, b);
    FILE *f = fopen(b->source, "w");
    if (!f)
        return NULL;
    fputs("/*", f);
    say_command(b, f);
    fputs(" */\n", f);
    source_draw(r, f, b->cpp);
    fclose(f);
    return compile(b) ? dlopen(b->library, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* What was wrong stays to be looked at. */
static void finish(const Build *b, bool right) {
    if (right) {
        unlink(b->source);
        unlink(b->library);
        rmdir(b->directory);
        return;
    }
    printf("  the source is %s, compiled with", b->source);
    say_command(b, stdout);
    printf("\n");
}

/* --------------------------------------------------------------------------------------------------------------- comparing */

typedef struct Case {
    Data data;
    long x, y;
    bool fixed[4], guard;
} Case;

static long draw_value(Rng *r) {
    static const long special[] = {0, 1, -1, 2, 3, 7, 8, 255, 0x7fffffff, -0x80000000L};
    return rng_next(r) & 1 ? special[rng_below(r, ARRAY_LEN(special))] : (long)(rng_next(r) >> rng_below(r, 64));
}

static void draw_data(Rng *r, Data *d) {
    for (u32 i = 0; i < ARRAY_LEN(d->word); i++)
        d->word[i] = draw_value(r);
    for (u32 i = 0; i < ARRAY_LEN(d->real); i++)
        d->real[i] = (double)(i32)rng_next(r) / 1024;
    for (u32 i = 0; i < ARRAY_LEN(d->number); i++)
        d->number[i] = (int)draw_value(r);
    u32 length = 1 + rng_below(r, SOURCE_CODE);
    for (u32 i = 0; i < SOURCE_CODE; i++) {
        d->code[i] = (u8)(i < length - 1 ? rng_below(r, SOURCE_OPS - 1) : SOURCE_OPS - 1);
        d->op[i] = d->code[i];
    }
}

static BinoptFunc specialize(Rng *r, Case *c, BinoptHandle handle, BinoptFunc function, long *out) {
    static const BinoptMemFlags kinds[] = {BINOPT_MEM_DEFAULT, BINOPT_MEM_CONST, BINOPT_MEM_NESTED_CONST};
    BinoptCfgRef cfg = binopt_cfg_new(handle, function);
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_PTR);
    c->x = draw_value(r);
    c->y = draw_value(r);
    for (u32 i = 0; i < ARRAY_LEN(c->fixed); i++)
        c->fixed[i] = rng_next(r) & 1;
    c->guard = rng_once_in(r, 8);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, c->guard);
    if (c->fixed[0])
        binopt_cfg_set_paramp(cfg, 0, &c->data, sizeof(c->data), kinds[rng_below(r, ARRAY_LEN(kinds))]);
    if (c->fixed[1])
        binopt_cfg_set_parami(cfg, 1, (size_t)c->x);
    if (c->fixed[2])
        binopt_cfg_set_parami(cfg, 2, (size_t)c->y);
    if (c->fixed[3])
        binopt_cfg_set_paramp(cfg, 3, out, 0, BINOPT_MEM_DEFAULT);
    return binopt_spec_create(cfg);
}

static bool is_same(const Case *c, Entry *original, Entry *made, long x, long y, long *out) {
    long expected[SOURCE_OUT];
    memset(out, 0x55, sizeof(expected));
    long should = original(&c->data, x, y, out);
    memcpy(expected, out, sizeof(expected));
    memset(out, 0x55, sizeof(expected));
    long is = made(&c->data, x, y, out);
    if (should == is && !memcmp(expected, out, sizeof(expected)))
        return true;
    printf("the original returns %#lx, the other %#lx, for x %#lx%s, y %#lx%s%s%s\n", should, is, x,
           c->fixed[1] ? " (fixed)" : "", y, c->fixed[2] ? " (fixed)" : "", c->fixed[0] ? ", data fixed" : "",
           c->fixed[3] ? ", out fixed" : "");
    for (u32 i = 0; i < SOURCE_OUT; i++)
        if (expected[i] != out[i])
            printf("  out[%u]: %#lx, not %#lx\n", i, out[i], expected[i]);
    return false;
}

static bool test_entry(Rng *r, Case *c, BinoptHandle handle, Entry *entry) {
    static long out[SOURCE_OUT];
    Entry *made = (Entry *)specialize(r, c, handle, (BinoptFunc)entry, out);
    for (u32 i = 0; i < CALLS; i++) {
        bool others = c->guard && i & 1;
        long x = c->fixed[1] && !others ? c->x : draw_value(r), y = c->fixed[2] && !others ? c->y : draw_value(r);
        if (!is_same(c, entry, made, x, y, out))
            return false;
    }
    binopt_spec_delete(handle, (BinoptFunc)made);
    return true;
}

static bool test_library(Rng *r, void *library) {
    static Case c;
    void (*setup)(Data *) = (void (*)(Data *))dlsym(library, "setup");
    bool right = true;
    draw_data(r, &c.data);
    setup(&c.data);
    BinoptHandle handle = binopt_init();
    for (u32 i = 0; i < SOURCE_ENTRIES && right; i++) {
        char name[16];
        snprintf(name, sizeof(name), "entry_%u", i);
        right = test_entry(r, &c, handle, (Entry *)dlsym(library, name));
        if (!right)
            printf("  the function is %s\n", name);
    }
    binopt_fini(handle);
    return right;
}

bool compiled_possible(void) {
    return ARRAY_LEN(compilers) > 0;
}

bool compiled_run(Rng *r) {
    Build b = {0};
    void *library = build(r, &b);
    bool right = library && test_library(r, library);
    if (!library)
        printf("  could not be compiled, or not be loaded\n");
    else
        dlclose(library);
    finish(&b, right);
    return right;
}
