/* stencil.c: which registers of aarch64 hold guest registers in stencils, and the fields of instructions that name them.
 *
 * LLVM's preserve_none passes up to 24 integers in registers and has all of them for the callee's. Of these the state is in x20, and sixteen hold guest registers: x21 to x28 and x0
 * to x7. To stencils are left x8 to x17 and what LLVM has otherwise for itself: loops of exclusive accesses, sums of 128 bits and arguments of helpers need
 * no held register. GHC's convention passes ten. Nothing is held for floating point, which helpers compute.
 *
 * The number of a register is in five bits that are at one of four places of each instruction. Each place is tried: where another number there makes the same
 * instruction of another register, it is a field. Instructions are decoded as a guest's are. */
#include "host/stencil.h"

#include <elf.h>

#include "host/aarch64/fields.h"
#include "host/aarch64/parts.h"
#include "isa/aarch64/aarch64.h"

enum { CC_PRESERVE_NONE = 21, STATE = 20, FIRST_HELD = 21, LAST_HELD = 28, ARGUMENTS = 8, FIRST_FLOAT = 32 };
#define HELD (((u64)2 << LAST_HELD) - ((u64)1 << FIRST_HELD) + ((1 << ARGUMENTS) - 1))

enum { WORD = 4, WORDS_MAX = 512 };

static u32 word_at(const u8 *code) {
    u32 word;
    memcpy(&word, code, sizeof(word));
    return word;
}

static bool see(u32 word, InsnView *v) {
    *v = (InsnView){.size = 0};
    return isa_aarch64.view((const u8 *)&word, sizeof(word), 0, v);
}

static u32 named_by(const InsnView *v) {
    return v->reads | v->writes;
}

/* Does it access memory that is not the state, the host's stack or beside the code? */
static bool may_fault(const InsnView *v) {
    for (u32 i = 0; i < v->access_count; i++) {
        u8 base = v->access[i].at.base;
        if (base != STATE && base != A64_SP && base != REG_NONE)
            return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- fields */

static const HostField field_at[] = {
    {.at = 0, .shift = 0, .high_at = 0, .high_shift = 3}, /* bits 4 to 0, */
    {.at = 0, .shift = 5, .high_at = 1, .high_shift = 0}, /* 9 to 5, */
    {.at = 1, .shift = 2, .high_at = 1, .high_shift = 5}, /* 14 to 10, */
    {.at = 2, .shift = 0, .high_at = 2, .high_shift = 3}, /* 20 to 16 */
};
enum { PLACES = ARRAY_LEN(field_at), NUMBER_MASK = 31 };

static const u8 place_shift[PLACES] = {0, 5, 10, 16};

/* With another number in these places, a bit for each. */
static u32 with_number(u32 word, u32 places, u32 number) {
    for (u32 i = 0; i < PLACES; i++)
        if (places >> i & 1)
            word = (word & ~((u32)NUMBER_MASK << place_shift[i])) | number << place_shift[i];
    return word;
}

static u32 renamed_set(u32 set, u32 from, u32 to) {
    return set >> from & 1 ? (set & ~(1u << from)) | 1u << to : set;
}

static u8 renamed(u8 reg, u32 from, u32 to) {
    return reg == from ? (u8)to : reg;
}

static bool same_but_renamed(const InsnView *a, const InsnView *b, u32 from, u32 to) {
    bool same = a->opcode == b->opcode && a->access_count == b->access_count &&
                b->reads == renamed_set(a->reads, from, to) && b->writes == renamed_set(a->writes, from, to);
    for (u32 i = 0; same && i < a->access_count; i++) {
        const Operand *x = &a->access[i].at, *y = &b->access[i].at;
        same = y->base == renamed(x->base, from, to) && y->index == renamed(x->index, from, to) && x->disp == y->disp &&
               x->scale == y->scale;
    }
    return same;
}

/* The places in which the instruction names that general register. */
static u32 places_of(u32 word, const InsnView *v, u32 number) {
    u32 places = 0, other = 0;
    while (named_by(v) >> other & 1 || other == number)
        other++;
    for (u32 i = 0; i < PLACES; i++) {
        InsnView changed;
        if ((word >> place_shift[i] & NUMBER_MASK) == number && see(with_number(word, 1u << i, other), &changed) &&
            changed.opcode == v->opcode && named_by(&changed) >> other & 1)
            places |= 1u << i;
    }
    return places;
}

static u32 allowed(u32 word, const InsnView *v, u32 places, u32 from) {
    u32 result = 0;
    for (u32 to = 0; to < FIRST_FLOAT; to++) {
        InsnView other;
        if (HELD >> to & 1 && see(with_number(word, places, to), &other) && same_but_renamed(v, &other, from, to))
            result |= 1u << to;
    }
    return result;
}

/* The fields of the instruction at `at` that name operand i. False: it cannot be renamed. */
static bool add_fields(u32 word, u32 at, const InsnView *v, u32 i, u32 number, HostFields *f) {
    u32 places = places_of(word, v, number);
    if (!(named_by(v) >> number & 1))
        return true;
    for (u32 k = 0; k < PLACES; k++)
        if (places >> k & 1) {
            HostField field = field_at[k];
            field.at += (u8)at, field.high_at += (u8)at;
            field.operand = (u8)i;
            field.allowed = allowed(word, v, places, number);
            VEC_PUSH(&f->list, field);
        }
    return places;
}

/* -------------------------------------------------------------------------------------------------------------- order */

/* What is known of a stencil's code. */
typedef struct Code {
    u32 words, changed[WORDS_MAX]; /* by each */
    bool faults[WORDS_MAX];
} Code;

/* Registers that may have been changed before an access faults: by what is in front of it, or in a loop with it. */
static u32 changed_before(const Code *c) {
    u32 before = 0, result = 0;
    for (u32 i = 0; i < c->words; i++) {
        if (c->faults[i])
            result |= before;
        before |= c->changed[i];
    }
    return result;
}

static u32 changed_in_loop(const Code *c, u32 first, u32 last) {
    u32 changed = 0;
    bool faults = false;
    for (u32 i = first; i <= last; i++) {
        changed |= c->changed[i];
        faults |= c->faults[i];
    }
    return faults ? changed : 0;
}

static bool has_target(const InsnView *v) {
    return (v->flow == FLOW_BRANCH || v->flow == FLOW_JUMP) && !v->indirect;
}

static void find_fields(const u8 *code, u32 size, const u8 *numbers, u32 count, HostFields *f) {
    static Code c;
    u32 ours = 0, loops = 0;
    CHECK(size % WORD == 0 && size / WORD <= WORDS_MAX, "stencils are whole instructions");
    c.words = size / WORD;
    f->renamable = f->reads_first = true;
    for (u32 i = 0; i < count; i++)
        ours |= 1u << numbers[i];
    for (u32 i = 0; i < c.words; i++) {
        u32 word = word_at(code + i * WORD);
        InsnView v;
        bool good = see(word, &v);
        CHECK(good, "LLVM's instructions can be decoded");
        c.changed[i] = v.writes;
        c.faults[i] = may_fault(&v);
        CHECK(!(named_by(&v) >> A64_LR & 1) || v.flow == FLOW_CALL, "stencils need no link register");
        f->named |= v.flow == FLOW_CALL ? 0 : named_by(&v);
        f->renamable &= !(named_by(&v) & HELD & ~ours);
        for (u32 k = 0; k < count; k++)
            f->renamable &= add_fields(word, i * WORD, &v, k, numbers[k], f);
        i64 target = i + (i64)v.target / WORD;
        if (has_target(&v) && target <= i)
            loops |= changed_in_loop(&c, (u32)target, i);
    }
    u32 changed = changed_before(&c) | loops;
    f->renamable &= !(changed & ours);
    f->exact = !(changed & HELD & ~ours);
}

/* -------------------------------------------------------------------------------------------------------------- places */

/* Behind everything that states have, and within what instructions can add. */
enum { PLACE_STEP = 64, PLACE_MARK = 4096 - INSN_OPERANDS * PLACE_STEP };

enum { BASE_SHIFT = 5, OFFSET_SHIFT = 10, OFFSET_MASK = 0xfff };

/* How much the offset of a load or store is shifted; without such an offset -1. */
static int scale_of(u32 word) {
    static const u32 mask = 0x3b000000, value = 0x39000000, vector = 1 << 26, whole = 1 << 23;
    if ((word & mask) != value)
        return -1;
    return word & vector && word & whole ? 4 : (int)(word >> 30);
}

static bool adds(u32 word) {
    return word >> 22 == 0x91000000 >> 22;
}

/* Does it move the state's address? */
static bool moves(u32 word) {
    return (word & 0xffffffe0) == (0xaa0003e0 | STATE << 16);
}

static void check_unmarked(u32 word) {
    InsnView v;
    bool good = see(word, &v);
    for (u32 i = 0; i < v.access_count; i++)
        good &= v.access[i].at.base != STATE || (v.access[i].at.index == REG_NONE && v.access[i].at.disp < PLACE_MARK);
    CHECK(good && (v.access_count || !(v.reads >> STATE & 1) || v.flow != FLOW_NEXT || moves(word)),
          "places are where they can be patched");
}

static bool find_place(const u8 *code, HostPlace *p) {
    static const u16 types[] = {R_AARCH64_LDST8_ABS_LO12_NC, R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST32_ABS_LO12_NC,
                                R_AARCH64_LDST64_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC};
    u32 word = word_at(code);
    int scale = scale_of(word);
    bool is_offset = (scale >= 0 || adds(word)) && (word >> BASE_SHIFT & NUMBER_MASK) == STATE;
    u32 offset = (word >> OFFSET_SHIFT & OFFSET_MASK) << (scale < 0 ? 0 : scale);
    if (!is_offset)
        check_unmarked(word);
    if (!is_offset || offset < PLACE_MARK)
        return false;
    p->operand = (offset - PLACE_MARK) / PLACE_STEP;
    p->addend = (i32)((offset - PLACE_MARK) % PLACE_STEP);
    p->how = (u8)((scale < 0 ? R_AARCH64_ADD_ABS_LO12_NC : types[scale]) - AARCH64_PATCH_FIRST);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- objects */

static bool patch(u32 type, HostPatch *p) {
    switch (type) {
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
        *p = (HostPatch){(u8)(type - AARCH64_PATCH_FIRST), true, false};
        return true;
    case R_AARCH64_MOVW_SABS_G1:
        *p = (HostPatch){(u8)(type - AARCH64_PATCH_FIRST), false, false};
        return true;
    case R_AARCH64_MOVW_UABS_G0_NC:
    case R_AARCH64_MOVW_UABS_G1_NC:
    case R_AARCH64_MOVW_UABS_G2_NC:
    case R_AARCH64_MOVW_UABS_G3:
        *p = (HostPatch){(u8)(type - AARCH64_PATCH_FIRST), false, true};
        return true;
    default:
        return false;
    }
}

static void write_patch(u8 *w, u64 at, u32 how, bool is_near, u64 value) {
    bool good = aarch64_patch(w, at, how, value);
    CHECK(good, "what a stencil refers to is where it can be reached");
    (void)is_near; /* how says so */
}

enum { JUMP = 0x14000000 /* b */, JUMP_SHIFT = 26 };

static void put_jump(u8 *w, u64 at, u64 to) {
    u32 word = JUMP;
    memcpy(w, &word, sizeof(word));
    write_patch(w, at, R_AARCH64_JUMP26 - AARCH64_PATCH_FIRST, true, to);
}

static bool ends_with_jump(const u8 *code, u32 size) {
    return size >= WORD && word_at(code + size - WORD) >> JUMP_SHIFT == JUMP >> JUMP_SHIFT;
}

/* The jump on a condition leads over the jump behind it. b.cond has its condition in the lowest bits; cbz and tbz have it in bit 24. */
static bool invert_branch(u8 *code, u32 size) {
    if (size < 2 * WORD)
        return false;
    u8 *at = code + size - 2 * WORD;
    u32 word = word_at(at);
    InsnView v;
    bool good = see(word, &v) && v.flow == FLOW_BRANCH && v.target == 2 * WORD;
    bool by_flags = (word & 0xff000010) == 0x54000000, by_register = (word & 0x7c000000) == 0x34000000;
    word ^= by_flags ? 1 : 1 << 24;
    if (!good || !(by_flags || by_register))
        return false;
    memcpy(at, &word, sizeof(word));
    return true;
}

/* Pairs of loads and stores have no room for places. */
static const char *const options[] = {"-aarch64-enable-ldst-opt=false", NULL};
static const char *const none[] = {NULL};
static const char *const arguments[] = {"x10", "x11", "x12", "x13", "x14", "x15", NULL};

const HostStencil aarch64_stencil = {
    .cc = CC_PRESERVE_NONE,
    .passed = LAST_HELD - FIRST_HELD + 1 + ARGUMENTS,
    .taken = none,
    .floats = none,
    .state = "x20",
    .address = "x9",
    /* The link register is nobody's: calls of the guest put it aside. LLVM, which has it for its caller's, is not told that it changes. */
    .call = "bl $1",
    .arguments = arguments,
    .result = "x10",
    .call_clobbers = "~{x16},~{x17},~{memory}",
    .copy = "mov $0, $1",
    .fence = "dmb ish",
    .fence_clobbers = "~{memory}",
    .held = HELD,
    .first_float = FIRST_FLOAT,
    .general = {FIRST_HELD, FIRST_HELD + 1, FIRST_HELD + 2},
    .passed_as = {0, 1, 2},
    .general_name = {"x21", "x22", "x23"},
    .stack_align = 16,
    .options = options,
    .loads_constants = true,
    .place_mark = PLACE_MARK,
    .place_step = PLACE_STEP,
    .place = find_place,
    .patch = patch,
    .write = write_patch,
    .jump_bytes = WORD,
    .put_jump = put_jump,
    .ends_with_jump = ends_with_jump,
    .invert_branch = invert_branch,
    .fields = find_fields,
};
