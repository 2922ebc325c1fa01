/* choice.c: see choice.h. */
#include "binopt/choice/choice.h"

#include <stdio.h>

#include "isa/x86_64/facts.h"

static Choice *find(const Choices *c, BinoptFunc given) {
    for (size_t i = 0; i < c->list.len; i++)
        if (door_address(&c->list.at[i].door) == given)
            return &c->list.at[i];
    return NULL;
}

/* The choice that offers the same versions, or NULL. */
static Choice *find_same(const Choices *c, const BinoptFunc *versions, u32 count) {
    for (size_t i = 0; i < c->list.len; i++) {
        Choice *one = &c->list.at[i];
        if (one->count == count && !memcmp(one->versions, versions, count * sizeof(*versions)))
            return one;
    }
    return NULL;
}

/* True if the instruction is a call or an indirect jump, or jumps back. */
static bool goes_elsewhere(const X86Facts *f, u64 pc) {
    bool jumps = f->flow == FLOW_JUMP || f->flow == FLOW_BRANCH;
    return f->flow == FLOW_CALL || f->flow == FLOW_INDIRECT || (jumps && f->target <= pc);
}

bool choice_is_trifle(BinoptFunc code, size_t bytes) {
    enum { MOST_BYTES = 128 };
    X86Facts f;
    if (!bytes || bytes > MOST_BYTES)
        return false;
    for (size_t at = 0; at < bytes; at += f.length) {
        const u8 *next = (const u8 *)code + at;
        if (!x86_facts(next, bytes - at, (u64)next, &f) || goes_elsewhere(&f, (u64)next))
            return false;
    }
    return true;
}

bool choice_compete(Contest **c, const Door *door, const BinoptFunc *versions, u32 count, u64 original) {
    BinoptFunc all[CONTEST_MOST];
    memcpy(all, versions, count * sizeof(*all));
    all[count] = (BinoptFunc)original;
    for (u32 i = 0; i <= count; i++)
        if (!door_reaches(door, all[i]))
            return false;
    if (*c)
        contest_begin_again(*c, all, count + 1);
    else
        *c = contest_begin(door, all, count + 1);
    return *c != NULL;
}

static bool begin(Choice *one, Places *places, u64 function) {
    if (!door_make(&one->door, places, function))
        return false;
    bool begun = choice_compete(&one->contest, &one->door, one->versions, one->count, function);
    if (!begun)
        door_free(&one->door);
    return begun;
}

static void release_versions(Choices *c, const BinoptFunc *versions, u32 first, u32 count) {
    for (u32 i = first; i < count; i++)
        c->release(c->self, versions[i]);
}

BinoptFunc choice_offer(Choices *c, Places *places, const BinoptCfg *cfg, const BinoptFunc *versions, u32 count,
                        size_t bytes_of_first) {
    Choice *same = find_same(c, versions, count);
    if (same) {
        release_versions(c, versions, 0, count);
        same->users++;
        return door_address(&same->door);
    }
    Choice one = {.count = count, .users = 1};
    memcpy(one.versions, versions, count * sizeof(*versions));
    if (cfg->always || choice_is_trifle(versions[0], bytes_of_first) || !begin(&one, places, cfg->function)) {
        release_versions(c, versions, 1, count);
        return versions[0];
    }
    config_log(cfg, 2, "%u versions of it compete with the original", count);
    VEC_PUSH(&c->list, one);
    return door_address(&one.door);
}

u64 choice_base(Choices *c, u64 function) {
    Choice *one = find(c, (BinoptFunc)function);
    if (!one)
        return function;
    one->users++;
    return (u64)one->versions[0];
}

static void free_choice(Choices *c, Choice *one) {
    release_versions(c, one->versions, 0, one->count);
    door_free(&one->door);
    contest_free(one->contest);
}

void choice_release(Choices *c, BinoptFunc given) {
    Choice *one = find(c, given);
    if (!one) {
        c->release(c->self, given);
        return;
    }
    if (--one->users)
        return;
    Choice gone = *one;
    *one = c->list.at[--c->list.len];
    free_choice(c, &gone);
}

BinoptFunc choice_version(const Choices *c, BinoptFunc given) {
    const Choice *one = find(c, given);
    if (!one)
        return given;
    int winner = contest_winner(one->contest);
    return one->versions[winner > 0 && (u32)winner < one->count ? (u32)winner : 0];
}

void choice_reason(const Choices *c, BinoptFunc given, char *text, size_t size) {
    const Choice *one = find(c, given);
    snprintf(text, size, "%s", one && contest_lost(one->contest) ? CHOICE_LOST : "");
}

void choice_free_all(Choices *c) {
    for (size_t i = 0; i < c->list.len; i++)
        free_choice(c, &c->list.at[i]);
    VEC_FREE(&c->list);
}
