/* profile.c: the format of profiles: what is written is read, places are added up and stay bounded, and no damage is taken for a profile. */
#include <stdio.h>
#include <stdlib.h>

#include "cache/profile.h"

static const Key key = {{0x0123456789abcdef, 0xfedcba9876543210}}, other = {{1, 2}};
static int passed, failed;
static Profile a, b;
static u8 file[sizeof(Profile)];

static void expect(bool ok, const char *what, long detail) {
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("FAIL: %s (%ld)\n", what, detail);
}

static Key module_no(u64 n) {
    return (Key){{n * 77 + 1, n}};
}

static const ProfilePlace *find(const Profile *p, Key module, u64 off) {
    for (u32 i = 0; i < p->place_count; i++)
        if (p->places[i].off == off && !memcmp(&p->modules[p->places[i].module], &module, sizeof(module)))
            return &p->places[i];
    return NULL;
}

static void test_adding(void) {
    profile_init(&a);
    profile_add(&a, module_no(0), 0x10, 5, PLACE_OPEN);
    profile_add(&a, module_no(1), 0x10, 7, PLACE_OPEN);
    profile_add(&a, module_no(0), 0x10, 6, PLACE_GIVEN_UP);
    profile_add(&a, module_no(0), 0x10, 1, PLACE_OPEN);
    expect(a.place_count == 2 && a.module_count == 2, "two places", a.place_count);
    expect(find(&a, module_no(0), 0x10)->heat == 12, "heat is added up", 0);
    expect(find(&a, module_no(0), 0x10)->state == PLACE_GIVEN_UP, "what is settled stays so", 0);
    expect(profile_count(&a, PLACE_GIVEN_UP) == 1 && profile_count(&a, PLACE_OPEN) == 1, "counted by state", 0);
    profile_add(&a, module_no(1), 0x10, UINT32_MAX, PLACE_OPEN);
    expect(find(&a, module_no(1), 0x10)->heat == UINT32_MAX, "heat has a most", 0);
    profile_sort(&a);
    expect(a.places[0].heat == UINT32_MAX, "the hottest first", 0);
}

static void test_bounds(void) {
    profile_init(&a);
    for (u64 i = 0; i < 3 * PROFILE_PLACES; i++)
        profile_add(&a, module_no(i % 3), i * 16, (u32)(i + 1), PLACE_OPEN);
    expect(a.place_count == PROFILE_PLACES, "places are bounded", a.place_count);
    expect(find(&a, module_no(2), (3 * PROFILE_PLACES - 1) * 16) != NULL, "the hottest stays", 0);
    expect(find(&a, module_no(0), 0) == NULL, "the coldest goes", 0);
    profile_add(&a, module_no(0), 1, 1, PLACE_OPEN);
    expect(find(&a, module_no(0), 1) == NULL, "a colder one is not taken", 0);
    for (u64 i = 0; i < 2 * PROFILE_MODULES; i++)
        profile_add(&a, module_no(i), 3, UINT32_MAX, PLACE_OPEN);
    expect(a.module_count == PROFILE_MODULES, "modules are bounded", a.module_count);
}

static void test_runs(void) {
    profile_init(&a);
    profile_add(&a, module_no(0), 0x10, 1 << 20, PLACE_OPEN);
    for (int i = 0; i < 10000; i++)
        profile_add_run(&a, 10, 5, 1);
    expect(a.runs < 256, "runs are bounded", a.runs);
    expect(a.run_ms == 10 * (u64)a.runs && a.requests == a.runs, "all counts are halved together", (long)a.run_ms);
    expect(a.places[0].heat < 1 << 10, "heat fades", a.places[0].heat);
    for (int i = 0; i < 300; i++, profile_add_run(&a, 10, 5, 1))
        expect(profile_is_settled(&a), "halved counts leave it settled", i);
}

static void test_credit(void) {
    profile_init(&a);
    for (int i = 0; i < 3; i++) {
        expect(!profile_is_settled(&a) && !a.credit_us, "no credit before it is settled", i);
        profile_add_run(&a, 1000, 500, 10);
    }
    expect(profile_is_settled(&a) && !a.credit_us, "it is settled after some runs", 0);
    profile_add_run(&a, 1000, 0, 0);
    expect(a.credit_us == profile_credit_of(1000) && a.credit_us == 20000, "credit", (long)a.credit_us);
    profile_add_requests(&a, 15, 1);
    expect(a.credit_us == 5000, "that is spent", (long)a.credit_us);
    profile_add_requests(&a, ~(u64)0, 1);
    expect(!a.credit_us, "there are no debts", (long)a.credit_us);
    for (int i = 0; i < 300; i++)
        profile_add_run(&a, ~(u64)0 >> 32, 0, 0);
    expect(a.credit_us <= 2000000, "and it is bounded", (long)a.credit_us);
    profile_init(&a);
    for (int i = 0; i < 5; i++)
        profile_add_run(&a, 10, 0, 0);
    expect(!profile_is_settled(&a), "short runs", 0);
}

static void test_files(void) {
    profile_init(&a);
    for (u64 i = 0; i < 10; i++)
        profile_add(&a, module_no(i % 4), i * 16, (u32)i, i % PLACE_STATES);
    profile_add_run(&a, 3, 2, 1);
    size_t size = profile_format(&a, key, file);
    expect(profile_parse(&b, key, file, size), "a profile", 0);
    expect(b.place_count == 10 && b.module_count == 4 && b.runs == 1, "all of it", b.place_count);
    expect(!memcmp(a.places, b.places, sizeof(a.places)), "its places", 0);
    expect(!profile_parse(&b, other, file, size) && !b.place_count, "one of another program", 0);
    for (size_t i = 0; i < size; i++) {
        expect(!profile_parse(&b, key, file, i) && !b.place_count, "a profile that is cut", (long)i);
        file[i] ^= 0x41;
        bool is_sum = i >= offsetof(Profile, checksum) && i < offsetof(Profile, version);
        expect(!profile_parse(&b, key, file, size) && !b.place_count, is_sum ? "its checksum" : "damage", (long)i);
        file[i] ^= 0x41;
    }
    expect(!profile_parse(&b, key, file, size + 1), "one that is longer", 0);
    expect(profile_parse(&b, key, file, size), "the profile again", 0);
}

/* Sealed, but with places that lead nowhere. */
static void test_nonsense(void) {
    profile_init(&a);
    profile_add(&a, module_no(0), 0x10, 5, PLACE_OPEN);
    a.places[0].module = 1;
    expect(!profile_parse(&b, key, file, profile_format(&a, key, file)), "a module that is not there", 0);
    a.places[0].module = 0;
    a.places[0].state = PLACE_STATES;
    expect(!profile_parse(&b, key, file, profile_format(&a, key, file)), "a state that does not exist", 0);
    a.places[0].state = PLACE_OPEN;
    expect(profile_parse(&b, key, file, profile_format(&a, key, file)), "both right", 0);
}

int main(void) {
    test_adding();
    test_bounds();
    test_runs();
    test_credit();
    test_files();
    test_nonsense();
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
