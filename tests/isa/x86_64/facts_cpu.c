/* facts_cpu.c: the facts of facts.h against the CPU, on instruction cases (*.txt): what changes must be what the facts say is written,
 * and what they say is not read must not matter.
 *
 * facts-cpu FOLDER...: runs each case of one instruction twice, the second time with other values in all registers and flags that the
 * instruction neither reads nor keeps a part of. */
#include <glob.h>
#include <stdio.h>

#include "assemble.h"
#include "cpu.h"
#include "isa/x86_64/facts.h"

enum { MAX_COMPLAINTS = 40 };

typedef struct Test {
    Arena arena;
    CaseList list;
    size_t compared, skipped, failures;
} Test;

static void complain(Test *t, const Case *c, const char *what, unsigned long long where) {
    if (++t->failures <= MAX_COMPLAINTS)
        printf("%s:%d: %s | %s: %s %#llx\n", c->file, c->line, c->insns, c->initial, what, where);
}

/* ------------------------------------------------------------------------------------------------------- registers, flat */

/* Where a register of a RegSet is in the guest's state, and how many bytes it has. */
static u8 *place_of(LatheX86Cpu *cpu, Reg r, size_t *bytes) {
    static const size_t flags[] = {offsetof(LatheX86Cpu, cf), offsetof(LatheX86Cpu, pf), offsetof(LatheX86Cpu, af),
                                   offsetof(LatheX86Cpu, zf), offsetof(LatheX86Cpu, sf), offsetof(LatheX86Cpu, of),
                                   offsetof(LatheX86Cpu, df)};
    *bytes = r < CF || r >= K0 ? 8 : r < XMM0 ? 1 : r < ZMM0_HIGH ? 16 : 32;
    if (r < CF)
        return (u8 *)&cpu->gp[r];
    if (r < XMM0)
        return (u8 *)cpu + flags[r - CF];
    if (r < YMM0_HIGH)
        return (u8 *)cpu->vec[r - XMM0];
    if (r < ZMM0_HIGH)
        return (u8 *)cpu->vec[r - YMM0_HIGH] + 16;
    return r < K0 ? (u8 *)cpu->vec[r - ZMM0_HIGH] + 32 : (u8 *)&cpu->k[r - K0];
}

static bool is_flag(Reg r) {
    return r >= CF && r < XMM0;
}

/* ------------------------------------------------------------------------------------------------------- what changes */

static u64 address_of(const State *s, const InsnAccess *a) {
    u64 at = (u64)a->at.disp;
    u64 index = a->at.index < CF ? s->cpu.gp[a->at.index] : 0;
    at += a->at.base < CF ? s->cpu.gp[a->at.base] : 0;
    at += (a->how & ACCESS_BYTE_INDEX ? (u8)index : index) * a->at.scale;
    at = a->at.addr_bits == 32 ? (u32)at : at;
    return at + (a->at.seg == SEG_FS ? s->cpu.fsbase : a->at.seg == SEG_GS ? s->cpu.gsbase : 0);
}

/* May the byte at the address be written by one of the accesses? */
static bool is_covered(const State *before, const X86Facts *f, u64 at) {
    for (u32 i = 0; i < f->access_count; i++) {
        const InsnAccess *a = &f->access[i];
        bool open = a->how & (ACCESS_REPEATED | ACCESS_AROUND | ACCESS_ELEMENTS) || !a->bytes;
        if (a->how & ACCESS_WRITE && (open || at - address_of(before, a) < a->bytes))
            return true;
    }
    return false;
}

/* State besides registers. Arithmetic sets the exceptions in mxcsr, of which the facts say nothing. */
static void check_state(Test *t, const Case *c, const X86Facts *f, const LatheX86Cpu *was, const LatheX86Cpu *is) {
    enum { EXCEPTIONS = 0x3f };
    bool x87 = was->fpu_cw != is->fpu_cw || was->fpu_sw != is->fpu_sw || was->fpu_top != is->fpu_top ||
               was->fpu_tag != is->fpu_tag || memcmp(was->st, is->st, sizeof(was->st));
    if (x87 && !(f->state & STATE_X87))
        complain(t, c, "changed, but not written: x87 registers; state", f->state);
    if ((was->fsbase != is->fsbase || was->gsbase != is->gsbase) && !(f->state & STATE_SEGMENT))
        complain(t, c, "changed, but not written: a segment's base; state", f->state);
    if ((was->mxcsr ^ is->mxcsr) & ~(u32)EXCEPTIONS && !(f->state & STATE_MXCSR))
        complain(t, c, "changed, but not written: mxcsr; state", f->state);
}

static void check_writes(Test *t, const Case *c, const X86Facts *f, State *before, State *after) {
    for (Reg r = 0; r < X86_REG_COUNT; r++) {
        size_t bytes;
        u8 *was = place_of(&before->cpu, r, &bytes), *is = place_of(&after->cpu, r, &bytes);
        if (memcmp(was, is, bytes) && !regset_has(&f->writes, r))
            complain(t, c, "changed, but not written: register", r);
    }
    for (u64 i = 0; i < STATE_MEMORY_BYTES; i++)
        if (before->memory[i] != after->memory[i] && !is_covered(before, f, STATE_MEMORY + i))
            complain(t, c, "changed, but not written: memory at", i);
    check_state(t, c, f, &before->cpu, &after->cpu);
}

/* ------------------------------------------------------------------------------------------------------- what is read */

/* Registers whose value should make no difference: not read, and if written, then as a whole. */
static bool is_unread(const X86Facts *f, Reg r) {
    bool kept = regset_has(&f->writes, r) && !regset_has(&f->kills, r);
    return !kept && !regset_has(&f->reads, r) && !regset_has(&f->address, r);
}

static bool same(const u8 *a, const u8 *b, const u8 *ignore, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if ((a[i] ^ b[i]) & ~ignore[i])
            return false;
    return true;
}

/* The same instruction with other values in what is not read: registers that it does not write keep them, everything else comes out as
 * before. The trap flag's neighbours are flags like others. */
static void check_reads(Test *t, const Case *c, const X86Facts *f, const State *before, State *after, State *ignore) {
    State other = *before;
    size_t bytes;
    for (Reg r = 0; r < X86_REG_COUNT; r++)
        for (u8 *at = place_of(&other.cpu, r, &bytes); is_unread(f, r) && bytes > 0; bytes--)
            at[bytes - 1] ^= is_flag(r) ? 1 : 0x5a;
    State changed = other;
    NativeResult result = cpu_run(&other, c->code, c->size, 0);
    if (result.signal) {
        complain(t, c, "with other values in what is not read: signal", (u64)result.signal);
        return;
    }
    for (Reg r = 0; r < X86_REG_COUNT; r++) {
        u8 *want = is_unread(f, r) && !regset_has(&f->writes, r) ? place_of(&changed.cpu, r, &bytes)
                                                                 : place_of(&after->cpu, r, &bytes);
        if (!same(place_of(&other.cpu, r, &bytes), want, place_of(&ignore->cpu, r, &bytes), bytes))
            complain(t, c, "depends on what it does not read: register", r);
    }
    if (memcmp(other.memory, after->memory, sizeof(other.memory)))
        complain(t, c, "depends on what it does not read: memory", 0);
}

/* ------------------------------------------------------------------------------------------------------------------ main */

/* Cases of one instruction that ends as it should on this CPU. */
static void check(Test *t, const Case *c) {
    State before, expected, ignore;
    X86Facts f;
    if (c->by_hand || !x86_facts(c->code, c->size, STATE_CODE, &f) || f.length != c->size)
        return;
    if (!cases_states(c, &before, &expected, &ignore)) {
        t->failures++;
        return;
    }
    State after = before;
    NativeResult result = cpu_run(&after, c->code, c->size, expected.cpu.trap);
    if (result.signal && !expected.cpu.trap) {
        printf("skip %s: this CPU does not have it\n", c->insns);
        t->skipped++;
    }
    if (result.signal)
        return;
    t->compared++;
    check_writes(t, c, &f, &before, &after);
    guest_open(c, &before, &ignore);
    oracle_limits(&ignore);
    check_reads(t, c, &f, &before, &after, &ignore);
}

static void read_folder(Test *t, const char *folder) {
    glob_t found = {0};
    CHECK(!glob(arena_printf(&t->arena, "%s/*.txt", folder), 0, NULL, &found), "there are cases in each folder");
    for (size_t i = 0; i < found.gl_pathc; i++)
        CHECK(cases_read(arena_printf(&t->arena, "%s", found.gl_pathv[i]), &t->list, &t->arena),
              "the cases can be read");
    globfree(&found);
}

int main(int argc, char **argv) {
    static Test t;
    for (int i = 1; i < argc; i++)
        read_folder(&t, argv[i]);
    CHECK(assemble_cases(&t.list, &t.arena), "the cases can be assembled");
    for (size_t i = 0; i < t.list.len; i++)
        check(&t, &t.list.at[i]);
    printf("%zu cases compared, each twice, %zu skipped, %zu failures\n", t.compared, t.skipped, t.failures);
    return t.failures != 0 || !t.compared;
}
