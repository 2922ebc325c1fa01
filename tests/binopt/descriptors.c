/* descriptors.c: functions that reach thread-local variables through descriptors do the same when they were specialised. */
#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "tls.h"

static BinoptFunc specialize(BinoptHandle handle, void *function, unsigned count, size_t by) {
    BinoptType l = BINOPT_TY_INT64;
    BinoptCfgRef cfg = binopt_cfg_new(handle, function);
    binopt_cfg_type(cfg, count, l, l, l, l, l, l);
    binopt_cfg_set_parami(cfg, count - 1, by);
    return binopt_spec_create(cfg);
}

int main(void) {
    BinoptHandle handle = binopt_init();
    __typeof__(&tls_count) count = (__typeof__(&tls_count))specialize(handle, (void *)tls_count, 5, 7);
    __typeof__(&tls_calls) calls = (__typeof__(&tls_calls))specialize(handle, (void *)tls_calls, 3, 7);
    bool right = true;
    for (long i = -4; i < 5; i++) {
        tls_counter = i;
        long want = tls_count(i, i + 1, 2 * i, i - 3, 7), left = tls_counter, passed = tls_calls(i, 9, 7);
        long then = tls_calls(0, 0, 1);
        tls_counter = i;
        right &= count(i, i + 1, 2 * i, i - 3, 7) == want && tls_counter == left;
        right &= calls(i, 9, 7) == passed && tls_calls(0, 0, 1) == then;
    }
    binopt_fini(handle);
    printf("%s\n", right ? "right" : "wrong");
    return !right;
}
