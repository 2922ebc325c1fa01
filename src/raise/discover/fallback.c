/* fallback.c: what cannot be raised stays as it is, where the host runs the program's instructions itself.
 *
 * A function stays if it has a computed jump that no table was found for and that adds to get where it leads, since that will be a place within it; or an
 * instruction that cannot be lifted. Such a function is called as functions of other files are, on the program's stack, and is left only by its calls
 * and its return: the registers and the frame that it has between are what its own instructions expect.
 *
 * What it calls must be there as well, and as it was: compilers know which registers a function of the same file leaves alone, and its raised form would
 * not. So the old code of all that it calls stays in its place, beside the raised form that others call. A function that native code may enter, by a jump at its beginning, cannot be both: it
 * stays, too. All instructions of such a function count, not only those that were understood, so only functions whose size the file tells can stay.
 *
 * Functions that nobody was found to call are not raised. If a computed call leads to one at run time, it is called where it is (lathe_raise_find), so what
 * these call stays in place, too.
 *
 * In a statically linked program, system calls about threads must be those of raised code, so nothing stays there that calls anything. */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "lift/func.h"
#include "raise/raise.h"

enum { INSN_MAX_BYTES = 16 };

/* Code that stays, as far as one function reaches. */
typedef struct Stay {
    LatheRange range;
    RegSet writes;
    VEC(u32) calls;  /* of other Stays */
    bool is_unknown; /* who else it calls is not known */
    bool is_left;    /* it stays because of what calls it, and not only in case that somebody does */
} Stay;

typedef struct Stays {
    Raise *r;
    VEC(Stay) all;
    Map64 by_start;
    u64 changes; /* how often something was new */
} Stays;

bool raise_is_left(const Raise *r, u64 pc) {
    u32 any;
    return map64_get(&r->left, pc, &any);
}

/* ------------------------------------------------------------------------------------------------------ what cannot be raised */

/* The instruction that `in` follows; NULL: it is not known. */
static const Insn *before(const LatheFunc *fn, const Insn *in) {
    bool follows = in > fn->insns.at && insn_end(in - 1) == in->pc && in[-1].flow == FLOW_NEXT;
    return follows ? in - 1 : NULL;
}

/* The instruction before `in` that writes the register, if each one leads to the next; NULL: there is none. */
static const Insn *writer(const LatheFunc *fn, const Insn *in, Reg reg) {
    if (reg >= REG_MAX)
        return NULL;
    for (in = before(fn, in); in && !regset_has(&in->writes, reg); in = before(fn, in))
        ;
    return in;
}

static Effect effect_of(const Raise *r, const Insn *in) {
    return in && in->row ? r->isa->effect(in) : (Effect){0};
}

/* Is the register set to an address of code somewhere in the function? That may be long before it is used. */
static bool gets_code(const Raise *r, const LatheFunc *fn, Reg reg) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        Effect e = effect_of(r, &fn->insns.at[i]);
        if (e.kind == EFFECT_CONSTANT && e.to == reg && elf_is_code(r->elf, (u64)e.value))
            return true;
    }
    return false;
}

/* Does a computed jump add to get where it leads, as those by a table of distances do? Those that end a function with a call load that. If it adds to an
 * address of code, the distances are differences of labels, and the addresses that the function makes are not all that they lead to. */
static bool is_open(const Raise *r, const LatheFunc *fn, const Insn *jump) {
    Effect to = r->isa->effect(jump);
    const Insn *add = to.kind == EFFECT_ADD ? writer(fn, jump, to.a) : NULL;
    Effect sum = effect_of(r, add);
    if (sum.kind != EFFECT_SUM || sum.to != to.a)
        return false;
    if (!jump->table)
        return true;
    return jump->table->by_address && (gets_code(r, fn, sum.a) || gets_code(r, fn, sum.b));
}

static const char *why_not(Raise *r, const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->status == LATHE_OK && !in->row)
            return "an instruction that cannot be raised";
        if (in->flow == FLOW_INDIRECT && !raise_import_at(r, in->pc) && is_open(r, fn, in))
            return "a computed jump whose table is not known";
    }
    return NULL;
}

/* Decodes the instruction at `pc`, or says where the next one may be. Returns false if there is none. */
static bool decode(const Raise *r, u64 pc, Insn *in, u64 *next) {
    u8 bytes[INSN_MAX_BYTES];
    *in = (Insn){.pc = pc};
    size_t size = elf_read_const(r->elf, pc, bytes, sizeof(bytes));
    bool ok = size && r->isa->decode(bytes, size, pc, in) == LATHE_OK;
    *next = pc + (in->size ? in->size : 1);
    return ok;
}

static bool calls_nothing(const Raise *r, ElfFunction f) {
    Insn in;
    for (u64 pc = f.addr, next; pc < f.addr + f.size; pc = next) {
        bool ok = decode(r, pc, &in, &next), leaves = in.flow == FLOW_CALL || in.flow == FLOW_SYSCALL || in.calls_out;
        if (!ok || leaves || (in.target && in.target - f.addr >= f.size))
            return false;
    }
    return true;
}

/* A size that leads out of the image is wrong. */
static bool is_inside(const Raise *r, ElfFunction f) {
    return f.size && f.addr >= r->extent.start && f.addr < r->extent.end && f.size <= r->extent.end - f.addr;
}

static bool may_stay(const Raise *r, ElfFunction f) {
    return is_inside(r, f) && elf_is_code(r->elf, f.addr) && (!r->is_static || calls_nothing(r, f));
}

void raise_leave(Raise *r, const LatheFunc *fn, u64 pc) {
    for (size_t i = 0; r->fallback && i < fn->insns.len; i++)
        map64_set(&r->decoded, fn->insns.at[i].pc, 1);
    if (r->fallback && why_not(r, fn) && may_stay(r, elf_function_at(r->elf, pc)))
        map64_set(&r->left, pc, 1);
}

/* ---------------------------------------------------------------------------------------------------------------- what stays */

static bool range_of(const Raise *r, u64 pc, LatheRange *range) {
    ElfFunction begins = elf_function_at(r->elf, pc);
    const ElfFunction *f = begins.size ? &begins : elf_function_around(r->elf, pc);
    if (!f || !is_inside(r, *f))
        return false;
    *range = (LatheRange){f->addr, f->addr + f->size};
    return true;
}

/* The code around `pc` stays. Returns its index, or -1 if its extent is not known. */
static i64 stay(Stays *s, u64 pc, bool is_left) {
    LatheRange range;
    u32 index;
    if (!range_of(s->r, pc, &range))
        return -1;
    if (!map64_get(&s->by_start, range.start, &index)) {
        index = (u32)s->all.len;
        map64_set(&s->by_start, range.start, index);
        VEC_PUSH(&s->all, ((Stay){.range = range}));
        s->changes++;
    }
    s->changes += is_left && !s->all.at[index].is_left;
    s->all.at[index].is_left |= is_left;
    return index;
}

/* A function that is entered by a jump has no old code to be called. */
static bool is_entered(Raise *r, u64 pc) {
    const RaiseFunction *f = raise_function_at(r, pc);
    return f && f->native && !raise_is_left(r, pc);
}

static void leave_entered(Stays *s, u64 pc) {
    if (raise_import_at(s->r, pc))
        return;
    map64_set(&s->r->left, pc, 1);
    s->changes++;
}

/* Code at `index` calls or jumps to `pc`. */
static void note_call(Stays *s, u32 index, u64 pc) {
    bool is_left = s->all.at[index].is_left;
    if (!elf_is_code(s->r->elf, pc))
        return;
    if (is_entered(s->r, pc) && is_left)
        leave_entered(s, pc);
    i64 callee = is_entered(s->r, pc) ? -1 : stay(s, pc, is_left);
    if (callee >= 0)
        VEC_PUSH(&s->all.at[index].calls, (u32)callee);
    s->all.at[index].is_unknown |= callee < 0 || raise_import_at(s->r, pc);
}

/* What has its address taken is called by convention, so a jump may be there. */
static void note_address(Stays *s, u32 index, const Insn *in) {
    Effect e = in->row ? s->r->isa->effect(in) : (Effect){0};
    u64 pc = (u64)e.value;
    if (e.kind == EFFECT_CONSTANT && elf_is_code(s->r->elf, pc) && !is_entered(s->r, pc))
        stay(s, pc, s->all.at[index].is_left);
}

static void note_insn(Stays *s, u32 index, const Insn *in) {
    Stay *at = &s->all.at[index];
    bool outside = in->target < at->range.start || in->target >= at->range.end;
    regset_join(&at->writes, &in->writes);
    at->is_unknown |= in->calls_out || (in->flow == FLOW_CALL && !in->target) || in->flow == FLOW_SYSCALL;
    if (in->flow == FLOW_NEXT)
        note_address(s, index, in);
    else if (in->target && outside)
        note_call(s, index, in->target);
}

/* All instructions one after the other, reached or not. */
static void look_at(Stays *s, u32 index) {
    LatheRange range = s->all.at[index].range;
    Insn in;
    for (u64 pc = range.start, next; pc < range.end; pc = next) {
        bool ok = decode(s->r, pc, &in, &next);
        if (ok)
            note_insn(s, index, &in);
        s->all.at[index].is_unknown |= !ok || !in.row;
    }
}

static void stay_left(Stays *s) {
    for (size_t i = 0; i < s->r->functions.len; i++)
        if (raise_is_left(s->r, s->r->functions.at[i].pc))
            stay(s, s->r->functions.at[i].pc, true);
}

/* A function that begins within code that is left has no room for a jump. */
static void leave_inner(Stays *s) {
    for (size_t i = 0; i < s->r->functions.len; i++) {
        u64 pc = s->r->functions.at[i].pc;
        LatheRange range;
        u32 index;
        if (is_entered(s->r, pc) && range_of(s->r, pc, &range) && map64_get(&s->by_start, range.start, &index) &&
            s->all.at[index].is_left)
            leave_entered(s, pc);
    }
}

/* Until there is nothing new: what turns out to be called by a function that is left has its calls looked at once more. */
static void look_at_all(Stays *s) {
    u64 before;
    do {
        before = s->changes;
        stay_left(s);
        for (u32 i = 0; i < s->all.len; i++) {
            s->all.at[i].calls.len = 0;
            look_at(s, i);
        }
        leave_inner(s);
    } while (before != s->changes);
}

/* What the file tells of as a function, and nobody was found to call. */
static void stay_unfound(Stays *s) {
    const ElfFunction *functions;
    size_t count = elf_functions(s->r->elf, &functions);
    u32 any;
    for (size_t i = 0; i < count; i++)
        if (!map64_get(&s->r->decoded, functions[i].addr, &any) && may_stay(s->r, functions[i]) &&
            stay(s, functions[i].addr, false) >= 0)
            VEC_PUSH(&s->r->callable, functions[i].addr);
}

/* ------------------------------------------------------------------------------------------------------------------ registers */

/* All that code which stays writes, with what it calls; everything if that is not known. */
static RegSet written_by(const Stays *s, u32 first) {
    VEC(u32) waiting = {0};
    Map64 seen = {0};
    RegSet writes = {0};
    bool is_unknown = false;
    u32 any;
    VEC_PUSH(&waiting, first);
    while (waiting.len) {
        u32 index = waiting.at[--waiting.len];
        if (map64_get(&seen, index, &any))
            continue;
        map64_set(&seen, index, 1);
        const Stay *at = &s->all.at[index];
        regset_join(&writes, &at->writes);
        is_unknown |= at->is_unknown;
        for (size_t i = 0; i < at->calls.len; i++)
            VEC_PUSH(&waiting, at->calls.at[i]);
    }
    for (Reg reg = 0; is_unknown && reg < s->r->isa->reg_count; reg++)
        regset_add(&writes, reg);
    VEC_FREE(&waiting);
    map64_free(&seen);
    return writes;
}

static void note_registers(Stays *s) {
    for (size_t i = 0; i < s->r->functions.len; i++) {
        RaiseFunction *f = &s->r->functions.at[i];
        LatheRange range;
        u32 index;
        f->left = raise_is_left(s->r, f->pc);
        if (f->left)
            VEC_PUSH(&s->r->callable, f->pc);
        if (!f->left || !range_of(s->r, f->pc, &range) || !map64_get(&s->by_start, range.start, &index))
            continue;
        RegSet writes = written_by(s, index);
        for (Reg reg = 0; reg < s->r->isa->reg_count; reg++)
            if (!regset_has(&writes, reg))
                regset_add(&f->untouched, reg);
    }
}

void raise_settle(Raise *r) {
    Stays s = {.r = r};
    if (!r->fallback)
        return;
    stay_unfound(&s);
    look_at_all(&s);
    note_registers(&s);
    for (size_t i = 0; i < s.all.len; i++) {
        VEC_PUSH(&r->stays, s.all.at[i].range);
        VEC_FREE(&s.all.at[i].calls);
    }
    VEC_FREE(&s.all);
    map64_free(&s.by_start);
}

static int by_address(const void *x, const void *y) {
    u64 a = *(const u64 *)x, b = *(const u64 *)y;
    return a < b ? -1 : a > b;
}

/* In the file they are a number, and as many distances from the image's beginning in rising order. */
void raise_add_callable(Raise *r) {
    enum { LINE = 64 };
    size_t count = r->callable.len, room = (count + 4) * LINE, len;
    char *text = mem_new(room);
    if (count)
        qsort(r->callable.at, count, sizeof(*r->callable.at), by_address);
    len = (size_t)snprintf(text, room, ".set FALLBACK, %d\n\t.data\n\t.p2align 2\n" RAISE_CALLABLE ":\t.long %zu\n",
                           r->fallback, count);
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, room - len, "\t.long 0x%lx\n", r->callable.at[i] - r->extent.start);
    len += (size_t)snprintf(text + len, room - len, "\t.text\n");
    LLVMAppendModuleInlineAsm(r->mod, text, len);
    mem_free(text);
}

void raise_note_left(Raise *r, const LatheFunc *fn, u64 pc) {
    const char *why = fn ? why_not(r, fn) : NULL;
    r->counts.left++;
    if (why)
        raise_note(r, pc, "the function stays as it was: %s", why);
    else
        raise_note(r, pc, "the function stays as it was: another one calls it that does");
}
