/* contest_turn.c: what happens between two turns; see contest.h. Nothing here may use vector registers. */
#include "binopt/choice/contest.h"
#include "binopt/x86_64/door/clock.h"

/* A turn has so many calls that it takes at least TURN_CYCLES, some ten microseconds: little of that is spent on
 * switching versions, and most turns are not interrupted. Functions that take long get fewer turns, and disturbed
 * versions get more. The time includes the application's own work between the calls: if that is most of it, no
 * difference will be clear, but then none matters much. */
enum { TURN_CYCLES = 60000, LONG_CYCLES = 4000000, MOST_CALLS = 1 << 15, ROUNDS = 12, FEW_ROUNDS = 4, TIMES_MORE = 6 };

/* In parts of 64: by how much a turn must be longer for a version to be clearly slower; by how much for it to be out at
 * once; and how far two undisturbed turns of one version may be apart. */
enum { CLEARLY = 1, HOPELESSLY = 16, DISTURBED = 4, PARTS = 64 };

static void note(Contest *c, u64 took) {
    u32 i = c->playing;
    if (took < c->best[i]) {
        c->second[i] = c->best[i];
        c->best[i] = took;
    } else if (took < c->second[i]) {
        c->second[i] = took;
    }
}

static u32 fastest(const Contest *c) {
    u32 found = 0;
    for (u32 i = 1; i < c->count; i++)
        if (c->best[i] < c->best[found])
            found = i;
    return found;
}

/* The fastest version, unless the first one is as fast, or turns of the same version differ by as much. */
static u32 decide(const Contest *c) {
    u32 found = fastest(c);
    if (c->out[0])
        return found;
    u64 gain = c->best[0] - c->best[found], spread = c->second[found] - c->best[found];
    return gain > c->best[found] / PARTS * CLEARLY && gain > spread ? found : 0;
}

/* True if all turns of the version but one were disturbed, or it has had only one. */
static bool is_doubtful(const Contest *c, u32 i) {
    return c->second[i] == UINT64_MAX || c->second[i] - c->best[i] > c->best[i] / PARTS * DISTURBED;
}

static void drop_hopeless(Contest *c) {
    u64 least = c->best[fastest(c)];
    for (u32 i = 0; i < c->count; i++)
        c->out[i] |= c->best[i] - least > least / PARTS * HOPELESSLY && !is_doubtful(c, i);
}

static bool is_over(const Contest *c) {
    u32 left = 0, rounds = c->best[fastest(c)] > LONG_CYCLES ? FEW_ROUNDS : ROUNDS;
    bool doubtful = false;
    for (u32 i = 0; i < c->count; i++) {
        left += !c->out[i];
        doubtful |= is_doubtful(c, i);
    }
    return left < 2 || c->rounds >= (doubtful ? TIMES_MORE * rounds : rounds);
}

static void play(Contest *c, u32 version) {
    c->playing = version;
    c->bell.behind = c->versions[version];
    door_lead_counted(&c->door, c->bell.behind);
}

static void settle(Contest *c) {
    u32 winner = decide(c);
    play(c, winner);
    door_lead(&c->door, c->bell.behind);
    __atomic_store_n(&c->winner, (int)winner, __ATOMIC_RELAXED);
}

/* Gives the next version that is not out its turn. After a round, decides whether there is another one. */
static void go_on(Contest *c) {
    u32 next = c->playing;
    do {
        next++;
        if (next < c->count)
            continue;
        next = 0;
        c->rounds++;
        drop_hopeless(c);
        if (is_over(c)) {
            settle(c);
            return;
        }
    } while (c->out[next]);
    play(c, next);
}

/* Begins the contest anew, with this many calls in each turn. */
static void begin_anew(Contest *c, u32 calls) {
    c->calls = calls;
    c->rounds = 0;
    play(c, 0);
    for (u32 i = 0; i < c->count; i++) {
        c->best[i] = c->second[i] = UINT64_MAX;
        c->out[i] = false;
    }
}

/* A turn that is too short may be noticed late: earlier turns may have been long only because of the application's work
 * between the calls. */
static void end_turn(Contest *c, u64 took) {
    if (took < TURN_CYCLES && c->calls < MOST_CALLS) {
        begin_anew(c, 2 * c->calls);
        return;
    }
    note(c, took);
    go_on(c);
}

/* The number of calls before a turn that are not timed. They let caches and predictors get used to the version. The
 * number is random, so that turns do not coincide with something that the application does every so many calls. */
static i32 calls_before(Contest *c) {
    c->random = c->random * 1103515245 + 12345;
    return (i32)(1 + (c->calls > 1 ? (c->random >> 8) % c->calls : 0));
}

void contest_turn(DoorBell *bell) {
    Contest *c = (Contest *)bell;
    if (__atomic_exchange_n(&c->busy, 1, __ATOMIC_ACQUIRE))
        return;
    if (c->winner == CONTEST_OPEN) {
        if (c->start)
            end_turn(c, clock_cycles() - c->start);
        c->start = c->start ? 0 : clock_cycles();
        *c->left = c->start ? (i32)c->calls : calls_before(c);
    }
    __atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
}

void contest_begin_again(Contest *c, const BinoptFunc *versions, u32 count) {
    while (__atomic_exchange_n(&c->busy, 1, __ATOMIC_ACQUIRE)) {
    }
    c->count = count;
    for (u32 i = 0; i < count; i++)
        c->versions[i] = versions[i];
    begin_anew(c, 1);
    c->start = 0;
    __atomic_store_n(&c->winner, CONTEST_OPEN, __ATOMIC_RELAXED);
    *c->left = 1;
    door_begin_to_count(&c->door);
    __atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
}
