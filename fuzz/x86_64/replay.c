/* replay.c: the program fuzz-replay: runs the samples of fuzz-emit on the CPU it finds itself on, and compares.
 *
 * Run by `lathe run`, that CPU is quick code. It must agree in everything: all registers, memory, the pc and the signal with its
 * code and address. */
#include <signal.h>
#include <stdio.h>

#include "cpu.h"
#include "record.h"
#include "run/client/memory/low.h"

enum { REPORTS_MAX = 20 };

static bool same_result(NativeResult a, NativeResult b) {
    return a.signal == b.signal && a.code == b.code && a.fault == b.fault;
}

static void report(const Record *r, const State *got, NativeResult result) {
    Arena a = {0};
    State nothing = {0}, plain;
    state_default(&plain);
    printf("DIFFERENT seed %llu: %s\n  CPU    %s (signal %d, %d, %#llx)\n  here   %s (signal %d, %d, %#llx)\n  from   "
           "%s\n",
           (unsigned long long)r->seed, r->text, state_changes(&a, got, &r->final, &r->ignore), r->result.signal,
           r->result.code, (unsigned long long)r->result.fault, state_changes(&a, &r->final, got, &r->ignore),
           result.signal, result.code, (unsigned long long)result.fault,
           state_changes(&a, &plain, &r->initial, &nothing));
    arena_free(&a);
}

static bool agrees(Record *r, bool reporting) {
    Arena a = {0};
    State got = r->initial;
    oracle_limits(&r->ignore);
    NativeResult result = cpu_run(&got, r->code, r->size, LATHE_TRAP_NONE);
    bool same = same_result(r->result, result) && !*state_changes(&a, &r->final, &got, &r->ignore);
    if (!same && reporting)
        report(r, &got, result);
    arena_free(&a);
    return same;
}

/* Natively there is nothing at these addresses; here the client's code and tables are, which the guest can read (docs/address-space.md). */
static bool meets_client(const Record *r) {
    u64 at = r->result.fault;
    return r->result.signal == SIGSEGV &&
           ((at >= LOW_TABLES && at < LOW_WINDOW) || (at >= LOW_CODE && at < LOW_MAP_END));
}

int main(void) {
    enum { LEFT_OUT_SHARE = 200 }; /* more than one in so many is no chance */
    static Record record;
    u64 count = 0, different = 0, left_out = 0;
    for (; fread(&record, sizeof(record), 1, stdin) == 1; count++) {
        if (meets_client(&record))
            left_out++;
        else
            different += !agrees(&record, different < REPORTS_MAX);
    }
    printf("%llu samples: %llu differ, %llu left out because they read where the client is\n",
           (unsigned long long)count, (unsigned long long)different, (unsigned long long)left_out);
    return !count || different || left_out * LEFT_OUT_SHARE > count;
}
