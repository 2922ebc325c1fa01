/* spec_odd.c: specialised functions that fault, input that makes no sense, and bugs that random functions have shown. */
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spec.h"

static int signal_of(void (*run)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        signal(SIGFPE, SIG_DFL); /* a sanitizer may have its own idea */
        signal(SIGABRT, SIG_DFL);
        run();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static __typeof__(&divide) division;
static __typeof__(&checked) checking;
static void divide_by_zero(void) {
    exit(division(5, 0));
}
static void fail_check(void) {
    exit(checking(101, 100));
}

void test_faults(void) {
    BinoptCfgRef cfg = configure(divide, "iii");
    division = MAKE(cfg, divide, NEW);
    CHECK_THAT(signal_of(divide_by_zero) == SIGFPE && division(-7, 2) == -3);
    cfg = configure(checked, "iii");
    binopt_cfg_set_parami(cfg, 1, 100);
    checking = MAKE(cfg, checked, NEW);
    CHECK_THAT(signal_of(fail_check) == SIGABRT);
}

void test_nonsense(void) {
    static unsigned char junk[64];
    CHECK_THAT(MAKE(configure(junk, "ii"), junk, SAME) == &junk);
    void *nowhere = (void *)16;
    CHECK_THAT(MAKE_ANY(configure(nowhere, "ii"), nowhere, SAME) == nowhere);
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 7, 1);
    binopt_cfg_set(cfg, (BinoptOptFlags)9999, 1);
    binopt_cfg_mem(cfg, NULL, 0, BINOPT_MEM_CONST);
    __typeof__(&subtract) f = MAKE(cfg, subtract, NEW);
    CHECK_THAT(f(3, 4) == -1);
    binopt_spec_delete(handle, (BinoptFunc)f);
    binopt_spec_delete(handle, (BinoptFunc)subtract);
    /* A specialised function is a function. */
    cfg = configure(helper_chain, "llll");
    binopt_cfg_set_parami(cfg, 1, 3);
    __typeof__(&helper_chain) once = MAKE(cfg, helper_chain, NEW);
    cfg = configure((void *)once, "llll");
    binopt_cfg_set_parami(cfg, 0, 5);
    __typeof__(&helper_chain) twice = (__typeof__(&helper_chain))binopt_spec_create(cfg);
    CHECK_THAT(twice(5, 3, 8) == helper_chain(5, 3, 8));
}

/* What random functions have shown (fuzz/binopt). */
void test_found(void) {
    long v[] = {7, 0, 0, 0, 5};
    BinoptCfgRef cfg = configure(first_and_fifth, "lpl");
    binopt_cfg_set_paramp(cfg, 0, v, sizeof(long), BINOPT_MEM_NESTED_CONST); /* of what is behind nothing was said */
    __typeof__(&first_and_fifth) ff = MAKE(cfg, first_and_fifth, NEW);
    v[4] = 6;
    CHECK_THAT(ff(v, 10) == 76);

    cfg = configure(with_high_byte, "lll");
    binopt_cfg_set_parami(cfg, 1, 0x1234);
    __typeof__(&with_high_byte) high = MAKE(cfg, with_high_byte, NEW);
    CHECK_THAT(high(0x5678, 0x1234) == with_high_byte(0x5678, 0x1234));

    cfg = configure(with_carry, "llL");
    binopt_cfg_set_parami(cfg, 0, 0x1234567890);
    __typeof__(&with_carry) carry = MAKE(cfg, with_carry, NEW);
    CHECK_THAT(carry(0x1234567890, 999) == with_carry(0x1234567890, 999));
    CHECK_THAT(carry(0x1234567890, 1000) == with_carry(0x1234567890, 1000));

    double from[] = {1, 2, 3, 4}, to[4] = {0}, expected[4];
    cfg = configure(mixed_vectors, "vppl");
    binopt_cfg_set_parami(cfg, 2, 99);
    __typeof__(&mixed_vectors) mixed = MAKE(cfg, mixed_vectors, NOT_LIFTED);
    if (__builtin_cpu_supports("avx")) {
        mixed_vectors(from, expected, 99);
        mixed(from, to, 99);
        CHECK_THAT(!memcmp(to, expected, sizeof(to)));
    }

    /* A comparison that is as far from equal as can be. */
    cfg = configure(count_up, "llll");
    binopt_cfg_set_parami(cfg, 0, (size_t)LONG_MAX - 2);
    binopt_cfg_set_parami(cfg, 1, 0);
    __typeof__(&count_up) up = MAKE(cfg, count_up, NEW);
    CHECK_THAT(up(LONG_MAX - 2, 0, 9) == count_up(LONG_MAX - 2, 0, 9));

    cfg = configure(aligned_store, "lll");
    binopt_cfg_set_parami(cfg, 1, 7);
    __typeof__(&aligned_store) aligned = (__typeof__(&aligned_store))binopt_spec_create(cfg);
    CHECK_THAT(aligned(1000, 7) == aligned_store(1000, 7));

    cfg = configure(same_arguments, "lpll");
    binopt_cfg_set_parami(cfg, 2, 9);
    binopt_cfg_set_parami(cfg, 1, 5);
    __typeof__(&same_arguments) same = MAKE(cfg, same_arguments, NEW);
    CHECK_THAT(same(eats_arguments, 5, 9) == same_arguments(eats_arguments, 5, 9));

    cfg = configure(calls_upon_calls, "lll");
    binopt_cfg_set_parami(cfg, 1, 3);
    __typeof__(&calls_upon_calls) calls = (__typeof__(&calls_upon_calls))binopt_spec_create(cfg);
    CHECK_THAT(calls(5, 3) == calls_upon_calls(5, 3));

    /* To find out what comes out of a division is not to divide. */
    double none[] = {0, 1};
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
    cfg = configure(divide_numbers, "dpd");
    binopt_cfg_set_paramp(cfg, 0, none, sizeof(none), BINOPT_MEM_CONST);
    __typeof__(&divide_numbers) dn = MAKE(cfg, divide_numbers, NEW);
    fedisableexcept(FE_DIVBYZERO | FE_INVALID);
    CHECK_THAT(isinf(dn(none, 1)) && dn(none, -1) == 1);
}

/* What is in the frame may be read through an address of it that is not followed any more. */
void test_lost_addresses(void) {
    __typeof__(&address_behind_much) functions[] = {address_behind_much, address_across_slots, address_in_parts,
                                                    address_while_writing};
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        char written[4];
        BinoptCfgRef cfg = configure(functions[i], "lllp");
        binopt_cfg_set_parami(cfg, 1, 7);
        __typeof__(&address_behind_much) f = (__typeof__(&address_behind_much))binopt_spec_create(cfg);
        CHECK_THAT(f(1000, 7, written) == 1007);
    }
}
