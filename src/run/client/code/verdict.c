/* verdict.c: which optimised code is a gain, and which is given up.
 *
 * While the guest is in optimised code it takes less time than in quick code; each crossing between the two takes some. How much, region.h has for each kind of quick
 * code. So there is an account for each piece of optimised code that quick code enters: samples that find the thread behind its entrance are what it has gained, and
 * crossings are what it has lost. What a sample says about one piece is a guess (the last one that was entered stands for all since the last sample), but right in the
 * mean: what is entered or stayed in more often is more often the last.
 *
 * Code that works together comes one by one, and the first pieces lose until the others are there. So an account may be overdrawn for a while. */
#include "run/client/code/verdict.h"

#include "run/client/code/arena/arena.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/region.h"

enum { ACCOUNTS = 256, CODE_ALIGNED = 16, NS_PER_MS = 1000000 };
/* An account's bounds; and what counts when the program ends: the least age, and the least loss in hundredths of that age. */
enum { DEBT_MOST_MS = 20, SAVED_MOST_MS = 20, AGE_LEAST_MS = 100, LOSS_LEAST = 2 };

typedef struct Account {
    u64 code; /* as Thread.quick.crossed; 0: free */
    i64 ns;   /* gained, less what was lost */
    u64 begun_us;
} Account;

static struct {
    Account accounts[ACCOUNTS];
    u64 passed_us; /* of all threads, since the first sample */
} verdicts;

void verdict_note(Thread *t, u64 host) {
    QuickPlace place;
    t->tier.notes++;
    if (!arena_holds(host) || quick_is_in_assembly(host) || quick_locate(host, &place))
        return;
    t->tier.stays++;
    t->tier.stayed = t->quick.crossed;
}

/* One that was at this place before is forgotten. */
static Account *account_of(u64 code) {
    Account *a = &verdicts.accounts[code / CODE_ALIGNED % ACCOUNTS];
    if (a->code != code)
        *a = (Account){code, 0, verdicts.passed_us};
    return a;
}

static void close(Account *a) {
    code_revert(a->code);
    a->code = 0;
}

/* Whoever gives code up may be in a loop of it, and have called quick code: that returns to quick code then. */
static void add(Thread *t, u64 code, i64 ns) {
    if (!code || !ns || the.tier.whole_count)
        return;
    Account *a = account_of(code);
    a->ns = a->ns + ns < SAVED_MOST_MS * NS_PER_MS ? a->ns + ns : SAVED_MOST_MS * NS_PER_MS;
    if (a->ns >= -DEBT_MOST_MS * NS_PER_MS)
        return;
    close(a);
    quick_expect_nobody(t);
}

void verdict_pass(Thread *t, u64 passed_us) {
    ThreadTier *at = &t->tier;
    u64 crossings = t->quick.crossings - at->crossings_seen;
    u64 stay_us = at->notes ? passed_us * at->stays / at->notes : 0;
    at->crossings_seen = t->quick.crossings;
    at->notes = at->stays = 0;
    verdicts.passed_us += passed_us;
    the.stats.crossings += crossings;
    the.stats.optimised_us += stay_us;
    add(t, at->stayed, (i64)(stay_us * 10 * region_gain()));
    add(t, t->quick.crossed, -(i64)(crossings * region_crossing_ns()));
}

void verdict_end(void) {
    for (u32 i = 0; i < ACCOUNTS; i++) {
        Account *a = &verdicts.accounts[i];
        u64 age_us = verdicts.passed_us - a->begun_us;
        if (a->code && age_us >= AGE_LEAST_MS * 1000 && a->ns < -(i64)(age_us * 10 * LOSS_LEAST))
            close(a);
    }
}
