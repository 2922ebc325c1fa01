/* reasons.c: a program learns why a function was left alone: what was met, and at which address. */
#include <binopt.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUBJECT __attribute__((noinline, used, noipa))

/* The first unsupported instruction has a name of its own, so that it is known which one the reason means. */
SUBJECT int with_avx(int a, int b) {
    __asm__ volatile("vpaddd %%ymm1, %%ymm2, %%ymm3\n\tvzeroupper" ::: "xmm3");
    return a + b;
}

SUBJECT int with_x87(int a, int b) {
    __asm__ volatile("fld1\n\tfstp %%st(0)" ::: "st");
    return a + b;
}

static jmp_buf place;

SUBJECT int with_setjmp(int a, int b) {
    return setjmp(place) ? a : b;
}

SUBJECT int with_frame(int a, int b) {
    char *buffer = __builtin_alloca((size_t)a + 16);
    __asm__ volatile("" ::"r"(buffer) : "memory");
    return a + b;
}

SUBJECT int with_much_stack(int a, int b) {
    char buffer[5000];
    __asm__ volatile("" ::"r"(buffer) : "memory");
    return a + b;
}

SUBJECT int plain(int a, int b) {
    int sum = 0;
    for (int i = 0; i < b; i++)
        sum = sum * 3 + a;
    return sum;
}

static int failures;
static const char *driver;

static BinoptCfgRef configure(BinoptHandle handle, int (*function)(int, int)) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)function);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 5);
    return cfg;
}

static void expect(bool right, const char *what, const char *reason) {
    failures += !right;
    if (!right)
        printf("%s: %s: %s\n", driver, what, reason ? reason : "no reason");
}

/* Is there an address in the text that is in the function, or in one byte of it? */
static bool names_address(const char *text, int (*function)(int, int)) {
    const char *at = strstr(text, "at 0x");
    uintptr_t addr = at ? (uintptr_t)strtoull(at + 3, NULL, 16) : 0;
    return addr - (uintptr_t)function < 400;
}

/* Of tiered: when it is certain. */
static const char *final_reason(BinoptCfgRef cfg) {
    const char *reason;
    while ((reason = binopt_spec_reason(cfg)) && strstr(reason, "not there yet"))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return reason;
}

static void expect_reason(BinoptHandle handle, int (*function)(int, int), const char *what, bool place_named) {
    BinoptCfgRef cfg = configure(handle, function);
    expect(!binopt_spec_reason(cfg), "a reason before there is one", binopt_spec_reason(cfg));
    BinoptFunc made = binopt_spec_create(cfg);
    const char *reason = final_reason(cfg);
    bool right = reason && strstr(reason, what) && (!place_named || names_address(reason, function));
    expect(right, what, reason);
    expect(((int (*)(int, int))made)(3, 5) == function(3, 5), "the result", reason);
    binopt_cfg_free(cfg);
}

/* What only those have that lift. */
static void check_lifting(BinoptHandle handle) {
    expect_reason(handle, with_avx, "vpaddd ymm3, ymm2, ymm1", true);
    expect_reason(handle, with_x87, "x87", true);
    expect_reason(handle, with_x87, "fld1", true);
    expect_reason(handle, with_setjmp, "setjmp", false);
    expect_reason(handle, with_frame, "stack frame has no fixed size: sub rsp", true);
}

static void check_stack(BinoptHandle handle) {
    BinoptCfgRef cfg = configure(handle, with_much_stack);
    binopt_cfg_set(cfg, BINOPT_F_STACKSZ, 1024);
    binopt_spec_create(cfg);
    const char *reason = final_reason(cfg);
    expect(reason && strstr(reason, "BINOPT_F_STACKSZ allows 1024"), "much stack", reason);
}

static void check_success(BinoptHandle handle) {
    BinoptCfgRef cfg = configure(handle, with_x87), other = binopt_cfg_clone(cfg);
    binopt_spec_create(cfg);
    expect(!binopt_spec_reason(other), "a reason of another configuration", binopt_spec_reason(other));
    cfg = configure(handle, plain);
    BinoptFunc made = binopt_spec_create(cfg);
    expect(made != (BinoptFunc)plain && !final_reason(cfg), "a reason without need", binopt_spec_reason(cfg));
}

static void check_untyped(BinoptHandle handle) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)plain);
    binopt_spec_create(cfg);
    const char *reason = binopt_spec_reason(cfg);
    expect(reason && strstr(reason, "its type is not known: there is no debug information"), "no type", reason);
}

/* A function that takes LLVM too long is left alone, and another one is not. */
static void check_limit(BinoptHandle handle) {
    setenv("BINOPT_LIMIT_MS", "0", 1);
    BinoptCfgRef late = configure(handle, plain);
    unsetenv("BINOPT_LIMIT_MS");
    BinoptCfgRef cfg = configure(handle, plain);
    binopt_cfg_set_parami(late, 1, 6); /* not made yet */
    binopt_cfg_set_parami(cfg, 1, 6);
    BinoptFunc made = binopt_spec_create(late);
    const char *reason = final_reason(late);
    expect(made == (BinoptFunc)plain && reason && strstr(reason, "LLVM takes too long"), "no time", reason);
    expect(binopt_spec_create(cfg) != (BinoptFunc)plain && !final_reason(cfg), "time enough", binopt_spec_reason(cfg));
}

static void check_inherited(BinoptHandle handle) {
    int status = 0;
    pid_t child = fork();
    if (!child) {
        BinoptCfgRef cfg = configure(handle, plain);
        binopt_spec_create(cfg);
        const char *reason = binopt_spec_reason(cfg);
        expect(reason && strstr(reason, "parent of this process"), "in a child", reason);
        fflush(stdout);
        _exit(failures != 0);
    }
    expect(waitpid(child, &status, 0) == child && !status, "the child", NULL);
}

int main(void) {
    BinoptHandle handle = binopt_init();
    driver = binopt_driver();
    bool none = !strncmp(driver, "Default", 7), lifts = !strcmp(driver, "llvm") || !strcmp(driver, "tiered");
    if (none) {
        expect_reason(handle, plain, "this rewriter changes nothing", false);
    } else {
        check_success(handle);
        check_stack(handle);
        check_untyped(handle);
    }
    if (!strcmp(driver, "llvm"))
        check_limit(handle);
    if (lifts)
        check_lifting(handle);
    else if (!none)
        expect_reason(handle, with_setjmp, "setjmp at 0x", true);
    check_inherited(handle);
    binopt_fini(handle);
    printf("%s: %d wrong\n", driver, failures);
    return failures != 0;
}
