/* spec.c: specialised functions do what the originals do, and what should be refused is. The tests are in spec_*.c. */
#include "spec.h"

static void test_base_elsewhere(void) {
    if (!getenv("BINOPT_CACHE")) /* such memory is not at the same place in other runs, which are counted there */
        test_base();
}

static void (*const tests[])(void) = {
    test_integers,    test_quotients,   test_indices,        test_wrapping_numbers,
    test_lanes,       test_distances,   test_loops,          test_nested_loops,
    test_conversions, test_vectors,     test_memory,         test_pointers_to_functions,
    test_calls,       test_arguments,   test_frames,         test_faults,
    test_nonsense,    test_tables,      test_found,          test_lost_addresses,
    test_again,       test_permissions, test_base_elsewhere, test_stack_sizes,
    test_deletion,    test_gain,
};
enum { TESTS = sizeof(tests) / sizeof(*tests) };

/* With an argument: only without guards, and only so many of the tests. */
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : TESTS;
    for (int i = 0; i < (argc > 1 ? 1 : 2); i++) {
        guarded = i;
        handle = binopt_init();
        for (int t = 0; t < count && t < TESTS; t++)
            tests[t]();
        binopt_fini(handle);
    }
    return report();
}
