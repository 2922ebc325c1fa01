/* effects.c: the program isa-effects, one for each guest: the first instruction of each case does, as lifted code, what a tool sees of it in
 * quick code (isa/view.h). It accesses the same memory in the same order, which markers tell; it changes no other general registers than it
 * is said to write, and goes by no others than it is said to read; and it goes on where it is said to.
 *
 * isa-effects FILE-OR-FOLDER... */
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>

#include "assemble.h"
#include "isa/isa.h"
#include "lifted.h"
#include "oracle.h"

typedef struct Test {
    const Isa *isa;
    Arena arena;
    CaseList list;
    size_t compared, accesses, failures;
} Test;

/* ------------------------------------------------------------------------------------------------------------- accesses */

static u64 register_value(const Test *t, const GuestCpu *cpu, Reg r) {
    u64 value = 0;
    if (r < t->isa->reg_count)
        memcpy(&value, (const u8 *)cpu + t->isa->regs[r].off_bytes, sizeof(value));
    return value;
}

static u64 address_of(const Test *t, const GuestCpu *cpu, const InsnAccess *a) {
    u64 index = register_value(t, cpu, a->at.index);
    if (a->how & ACCESS_BYTE_INDEX)
        index = (u8)index;
    if (a->at.index_bits) {
        u32 unused = 64 - a->at.index_bits;
        index = a->at.index_signed ? (u64)((i64)(index << unused) >> unused) : index << unused >> unused;
    }
    u64 offset = register_value(t, cpu, a->at.base) + index * a->at.scale + (u64)a->at.disp;
    return guest_segment_base(cpu, a->at.seg) + (a->at.addr_bits == 32 ? (u32)offset : offset);
}

/* What both loads and stores is a load, then a store: so it comes to the same whether one mark tells of it or two. */
typedef struct Steps {
    InsnAccess access[2 * INSN_ACCESSES];
    LiftedMark mark[2 * LIFTED_MARKS];
    size_t access_count, mark_count;
} Steps;

static void split(const InsnView *v, Steps *s) {
    const LiftedMark *marks;
    size_t mark_count = lifted_marks(&marks);
    s->access_count = s->mark_count = 0;
    for (u32 i = 0; i < v->access_count; i++)
        for (u8 kind = ACCESS_READ; kind <= ACCESS_WRITE; kind++)
            if (v->access[i].how & kind) {
                s->access[s->access_count] = v->access[i];
                s->access[s->access_count++].how &= (u8) ~(ACCESS_READ + ACCESS_WRITE - kind);
            }
    for (size_t i = 0; i < mark_count; i++)
        for (u32 kind = ACCESS_READ; kind <= ACCESS_WRITE; kind++)
            if (marks[i].kind & kind) {
                s->mark[s->mark_count] = marks[i];
                s->mark[s->mark_count++].kind = kind;
            }
}

/* Is the mark of this access? `pass`: of a repeated one, how often it was made before. */
static bool agrees(const Test *t, const GuestCpu *cpu, const InsnAccess *a, u64 pass, const LiftedMark *m) {
    u64 address = address_of(t, cpu, a), step = pass * a->bytes;
    bool there = a->how & ACCESS_AROUND || m->address == address + step ||
                 (a->how & ACCESS_REPEATED && m->address == address - step);
    return there && a->how & m->kind && m->bytes == a->at.bits / 8;
}

/* Goes through the accesses once; *at: the next mark. */
static bool pass_agrees(const Test *t, const GuestCpu *cpu, const Steps *s, u64 pass, bool stopped, size_t *at) {
    for (u32 i = 0; i < s->access_count; i++) {
        const InsnAccess *a = &s->access[i];
        bool repeated = a->how & ACCESS_REPEATED, at_end = *at == s->mark_count;
        if (!at_end && agrees(t, cpu, a, pass, &s->mark[*at]))
            ++*at;
        else if (repeated ? !at_end : !(a->how & ACCESS_MAYBE) && !(at_end && stopped))
            return false;
    }
    return true;
}

static bool repeats_itself(const InsnView *v) {
    return v->flow == FLOW_BRANCH && v->target == STATE_CODE;
}

/* An instruction that stops, by a trap or a fault, may lack the last ones. One that accesses memory around an address makes passes, too, which
 * have to begin somewhere, and so does one that branches to itself until all is done. */
static bool all_agree(const Test *t, const GuestCpu *cpu, const InsnView *v, bool stopped) {
    Steps s;
    split(v, &s);
    size_t at = 0, before = 0;
    bool again = (s.access_count && s.access[0].how & (ACCESS_REPEATED | ACCESS_AROUND)) || repeats_itself(v);
    if (!pass_agrees(t, cpu, &s, 0, stopped, &at))
        return false;
    for (u64 pass = 1; again && at < s.mark_count && at > before; pass++) {
        before = at;
        if (!pass_agrees(t, cpu, &s, pass, true, &at))
            return false;
    }
    return at == s.mark_count;
}
static void print_accesses(const Test *t, const GuestCpu *cpu, const InsnView *v) {
    const LiftedMark *marks;
    size_t count = lifted_marks(&marks);
    for (u32 i = 0; i < v->access_count; i++) {
        const InsnAccess *a = &v->access[i];
        printf("  seen:   how %#x, %u bytes at %#lx\n", a->how, a->bytes, (long)address_of(t, cpu, a));
    }
    for (size_t i = 0; i < count && i < 8; i++)
        printf("  marked: how %#x, %u bytes at %#lx\n", marks[i].kind, marks[i].bytes, (long)marks[i].address);
}

/* ------------------------------------------------------------------------------------------------------------ registers */

enum { GENERAL = 32 }; /* bits of a set of general registers */

/* Is r a general register whose value before the instruction should make no difference? */
static bool is_unread(const Test *t, const InsnView *v, Reg r) {
    bool kept = (v->writes & ~v->kills) >> r & 1;
    return r < t->isa->reg_count && t->isa->regs[r].kind == REG_INT && !kept && !(v->reads >> r & 1);
}

/* The first register that has changed and is not in `writes`; REG_NONE: there is none. */
static Reg changed_register(const Test *t, const InsnView *v, const GuestCpu *before, const GuestCpu *after) {
    for (Reg r = 0; r < GENERAL; r++)
        if (t->isa->regs[r].kind == REG_INT && !(v->writes >> r & 1) &&
            register_value(t, before, r) != register_value(t, after, r))
            return r;
    return REG_NONE;
}

/* The same with other values in all registers that are not read: what it writes must come out as before. */
static bool reads_no_more(const Test *t, Lifted *l, size_t index, const InsnView *v, const State *before,
                          const State *after) {
    State other = *before;
    for (Reg r = 0; r < GENERAL; r++)
        if (is_unread(t, v, r))
            ((u8 *)&other.cpu)[t->isa->regs[r].off_bytes] ^= 0x5a;
    if (!lifted_run(l, index, &other) || other.cpu.trap)
        return false;
    for (Reg r = 0; r < GENERAL; r++)
        if (v->writes >> r & 1 && register_value(t, &other.cpu, r) != register_value(t, &after->cpu, r))
            return false;
    return other.cpu.pc == after->cpu.pc && !memcmp(other.memory, after->memory, sizeof(other.memory));
}

/* -------------------------------------------------------------------------------------------------------------- control */

static bool goes_there(const InsnView *v, u64 pc) {
    u64 next = STATE_CODE + v->size;
    switch ((Flow)v->flow) {
    case FLOW_NEXT:
        return pc == next;
    case FLOW_BRANCH:
        return pc == next || pc == v->target;
    case FLOW_JUMP:
    case FLOW_CALL:
        return v->indirect || pc == v->target;
    case FLOW_INDIRECT:
    case FLOW_RETURN:
        return v->indirect;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        break;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ comparing */

static void fail(Test *t, const Case *c, const char *what, u64 value) {
    printf("FAIL %s:%d %s | %s\n  %s: %#lx\n", c->file, c->line, c->insns, c->initial, what, (long)value);
    t->failures++;
}

/* What it does where it is executed to its end. */
static void compare_results(Test *t, Lifted *l, size_t index, const InsnView *v, const State *before,
                            const State *after) {
    const Case *c = &t->list.at[index];
    Reg changed = changed_register(t, v, &before->cpu, &after->cpu);
    if (changed != REG_NONE)
        fail(t, c, "changed, but not written: register", changed);
    if (!goes_there(v, after->cpu.pc))
        fail(t, c, "goes on elsewhere", after->cpu.pc);
    bool by_chance = v->classes & CLASS_SYSTEM; /* clocks, random numbers */
    if (!by_chance && !reads_no_more(t, l, index, v, before, after))
        fail(t, c, "depends on registers that it does not read; it reads", v->reads);
}

static void compare(Test *t, Lifted *l, size_t index) {
    const Case *c = &t->list.at[index];
    State before, after, ignore;
    InsnView v;
    const LiftedMark *marks;
    if (!t->isa->view(c->code, c->size, STATE_CODE, &v)) {
        fail(t, c, "is not known", 0);
        return;
    }
    if (lifted_problem(l, index) || !cases_states(c, &before, &after, &ignore)) {
        fail(t, c, "cannot be run", 0);
        return;
    }
    if (v.classes & CLASS_ATOMIC && v.access_count)
        guest_reserve(&before.cpu, address_of(t, &before.cpu, &v.access[0]));
    after = before;
    bool stopped = !lifted_run(l, index, &after) || after.cpu.trap;
    t->compared++;
    t->accesses += lifted_marks(&marks);
    if (!all_agree(t, &before.cpu, &v, stopped)) {
        fail(t, c, "accesses memory otherwise", v.access_count);
        print_accesses(t, &before.cpu, &v);
    }
    if (!stopped)
        compare_results(t, l, index, &v, &before, &after);
}

/* --------------------------------------------------------------------------------------------------------------- set-up */

static bool read_cases(Test *t, const char *path) {
    struct stat st;
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return cases_read(path, &t->list, &t->arena);
    glob_t found = {0};
    bool ok = glob(arena_printf(&t->arena, "%s/*.txt", path), 0, NULL, &found) == 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        ok &= cases_read(arena_printf(&t->arena, "%s", found.gl_pathv[i]), &t->list, &t->arena);
    globfree(&found);
    return ok;
}

int main(int argc, char **argv) {
    Test t = {.isa = isa_find(GUEST_ARCH)};
    for (int i = 1; i < argc; i++)
        if (!read_cases(&t, argv[i]))
            return 2;
    if (!t.list.len || !assemble_cases(&t.list, &t.arena))
        return 2;
    Lifted *l = lifted_new(&t.list, LIFTED_MARKED);
    for (size_t i = 0; i < t.list.len; i++)
        compare(&t, l, i);
    lifted_free(l);
    printf("%zu instructions compared, with %zu accesses: %zu failures\n", t.compared, t.accesses, t.failures);
    mem_free(t.list.at);
    arena_free(&t.arena);
    return t.failures != 0;
}
