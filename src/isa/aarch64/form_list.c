/* form_list.c: instructions of every aarch64 form; see isa/form.h. */
#include "isa/form.h"

#include "isa/aarch64/encoding.h"
#include "isa/aarch64/form.h"
#include "isa/aarch64/system.h"

/* Some values for a field of the word, at the place of their bits. */
typedef struct Choice {
    u32 count;
    const u32 *values;
} Choice;

enum { CHOICES = 12 };

typedef struct Listing {
    FormVisit *visit;
    void *user;
    Choice choice[CHOICES];
    u32 count;
} Listing;

#define CHOOSE(list, ...)                                                                                              \
    do {                                                                                                               \
        static const u32 values[] = {__VA_ARGS__};                                                                     \
        (list)->choice[(list)->count++] = (Choice){ARRAY_LEN(values), values};                                         \
    } while (0)

/* ------------------------------------------------------------------------------------------------------------ registers */

/* Numbers that are even, so that they do for pairs; one that several fields may have, and the one that may be none. A call may be by the link register; a bit of a
 * number may be an index. Lists of up to four from one on do not meet the others of their kind. */
enum { FIRST = 4, SECOND = 6, THIRD = 12, FOURTH = 16, NONE = 31, UPPER = 16 };

static void choose_registers(Listing *list, u32 open) {
    if (open & 31)
        CHOOSE(list, FIRST, NONE);
    if (open & 31 << 5)
        CHOOSE(list, SECOND << 5, FIRST << 5, NONE << 5, A64_LR << 5);
    if (open & 31 << 16)
        CHOOSE(list, THIRD << 16, FIRST << 16, NONE << 16, (THIRD | UPPER) << 16);
    if (open & 31 << 10)
        CHOOSE(list, FOURTH << 10, FIRST << 10, NONE << 10);
}

/* ----------------------------------------------------------------------------------------------------------- immediates */

/* Targets and addresses are none of those that an instruction has anyway: its own and the next one's. */
static void choose_field(Listing *list, A64Field field) {
    switch (field) {
    case IMM12:
        CHOOSE(list, 0, 0x123 << 10);
        return;
    case IMM_LOGICAL: /* a byte of ones, below or at the top, and in each half */
        CHOOSE(list, 1 << 22 | 7 << 10, 1 << 22 | 8 << 16 | 7 << 10, 7 << 10);
        return;
    case IMM16:
        CHOOSE(list, 0, 0x1234 << 5);
        return;
    case IMM16_SHIFTED:
    case IMM16_NOT:
        CHOOSE(list, 0, 0x1234 << 5, 2 << 21 | 0x1234 << 5);
        return;
    case SHIFT:
        CHOOSE(list, 0, 3 << 10);
        return;
    case EXTEND:
        CHOOSE(list, 0, 2 << 10);
        return;
    case IMM5:
        CHOOSE(list, 0, 9 << 16);
        return;
    case HINT:
        CHOOSE(list, 0, 1 << 8);
        return;
    case ADR:
    case ADRP:
    case TARGET19:
    case MEM_LITERAL:
        CHOOSE(list, 0x1000 << 5);
        return;
    case TARGET26:
        CHOOSE(list, 0x1000);
        return;
    case TARGET14:
        CHOOSE(list, 0x800 << 5);
        return;
    case MEM_12:
        CHOOSE(list, 0, 0x10 << 10);
        return;
    case MEM_9:
    case MEM_PRE:
    case BY_9:
    case MEM_PAC:
    case MEM_PAC_PRE:
        CHOOSE(list, 0, 0x10 << 12);
        return;
    case MEM_7:
    case MEM_7_PRE:
    case BY_7:
        CHOOSE(list, 0, 2 << 15);
        return;
    case IMM_I:
        CHOOSE(list, 0, 1 << 5);
        return;
    default:
        return;
    }
}

#define FIELD_OF(r, s) ((r) << 16 | (s) << 10)
/* Of 64 bits and of 32: all; a shift to the right, and to the left; a field; what the host extends; what begins at the bottom. */
static void choose_bit_fields(Listing *list) {
    CHOOSE(list, FIELD_OF(0, 63), FIELD_OF(4, 63), FIELD_OF(60, 59), FIELD_OF(4, 11), FIELD_OF(0, 7), FIELD_OF(0, 15),
           FIELD_OF(0, 31), FIELD_OF(4, 31), FIELD_OF(28, 27), FIELD_OF(0, 11));
}

static bool is_bit_field(u32 row) {
    return row == A64_ROW_sbfm || row == A64_ROW_ubfm || row == A64_ROW_bfm;
}

static void choose_immediates(Listing *list, u32 row) {
    if (is_bit_field(row)) {
        choose_bit_fields(list);
        return;
    }
    if (row == A64_ROW_extr)
        CHOOSE(list, 0, 5 << 10);
    for (const u8 *field = a64_fields[row]; *field; field++)
        choose_field(list, (A64Field)*field);
}

/* ---------------------------------------------------------------------------------------------------------------- words */

/* With each condition, to a target that is not the next instruction; with flags and without. */
static void visit_joined(const Listing *list, u32 word) {
    for (u32 cond = A64_EQ; cond < A64_AL; cond++) {
        u32 words[] = {word, a64_encodings[A64_ROW_b_cond].match | 0x1000 << 5 | cond};
        Insn in = {0};
        if (form_decode((const u8 *)words, sizeof(words), 0, &in) != LATHE_OK)
            continue;
        list->visit(list->user, &in);
        form_leave_flags(&in);
        list->visit(list->user, &in);
    }
}

static void visit(const Listing *list, u32 word) {
    Insn in = {0};
    if (form_decode((const u8 *)&word, sizeof(word), 0, &in) != LATHE_OK)
        return;
    list->visit(list->user, &in);
    if (a64_form_compares(&in))
        visit_joined(list, word);
}

static void visit_choices(const Listing *list, u32 from, u32 word) {
    if (from == list->count) {
        visit(list, word);
        return;
    }
    const Choice *c = &list->choice[from];
    for (u32 i = 0; i < c->count; i++)
        visit_choices(list, from + 1, word | c->values[i]);
}

static bool has(u32 row, A64Field wanted) {
    for (const u8 *field = a64_fields[row]; *field; field++)
        if (*field == wanted)
            return true;
    return false;
}

/* Of conditions that always hold, and of flags that are seldom set where nothing is compared (form.c), one does for all. */
static bool is_wanted(u32 row, u32 word) {
    u32 flags = word & 15, c = has(row, COND) ? a64_bits(word, 15, 12) : 0;
    return c <= A64_AL && (!has(row, FLAGS4) || flags <= 2 || flags == 4 || flags == 15);
}

/* The order of atomic operations is not part of the form: the strongest does for all. */
static u32 strongest(u32 row) {
    u32 atomic = 0xff200c00, swap = 0x3fa07c00; /* the manual, C4.1.88 */
    if ((a64_encodings[row].match & atomic & ~(3u << 30)) == 0x38200000)
        return 3 << 22;
    return (a64_encodings[row].match & swap) == 0x08a07c00 || (a64_encodings[row].match & swap) == 0x08207c00
               ? 1 << 22 | 1 << 15
               : 0;
}

/* With every value of the other bits that the row leaves open. */
static void visit_literals(const Listing *list, u32 row) {
    u32 literal = a64_form_meant_bits(row), bits = 0;
    do {
        if (is_wanted(row, bits))
            visit_choices(list, 0, (strongest(row) & ~a64_encodings[row].mask) | a64_encodings[row].match | bits);
        bits = (bits - literal) & literal;
    } while (bits);
}

static void visit_system_registers(const Listing *list, u32 row) {
    for (u32 no = 0; no < 1u << 15; no++)
        if (a64_system_name(no) || !no)
            visit_choices(list, 0, a64_encodings[row].match | no << 5);
}

static void list_row(Listing *list, u32 row) {
    list->count = 0;
    choose_registers(list, a64_form_register_bits(row));
    choose_immediates(list, row);
    if (row == A64_ROW_mrs || row == A64_ROW_msr)
        visit_system_registers(list, row);
    else
        visit_literals(list, row);
}

const Isa *const form_isa = &isa_aarch64;
/* Exact floating point would be that of a C function. So stencils deviate where optimised code does, and have modes and flags where that has them. */
const bool form_strict_fp = false;
const bool form_is_complete = true;

static void settle_flags(Lifter *l) {
    for (Reg f = A64_N; f <= A64_V; f++)
        a64_set_flag(l, f, a64_flag(l, f));
}

/* A comparison that is made if a condition holds, as a branch around it: to choose each flag takes more registers than stencils have. */
static void compare_apart(Lifter *l, const Insn *in) {
    enum { NZCV = 2, IF = 3 };
    Label yes = ir_label(l, "compared"), no = ir_label(l, "not"), next = ir_label(l, "");
    Insn always = *in;
    always.op[IF].disp = A64_AL;
    ir_branch(l, a64_condition(l, (A64Cond)a64_imm(in, IF)), yes, no);
    ir_here(l, yes);
    isa_aarch64.lift(l, &always);
    settle_flags(l);
    ir_goto(l, next);
    ir_here(l, no);
    a64_flags_bits(l, immediate(l, in, NZCV, I32));
    ir_goto(l, next);
    ir_here(l, next);
}

void form_lift(Lifter *l, const Insn *in) {
    if (has(in->row, FLAGS4))
        compare_apart(l, in);
    else
        isa_aarch64.lift(l, in);
    if (in->joined)
        branch(l, in, a64_condition(l, (A64Cond)(in->prefixes >> A64_JOINED_SHIFT)));
}

void form_each(FormVisit *visit_form, void *user) {
    Listing list = {.visit = visit_form, .user = user};
    for (u32 row = 1; row < A64_ROW_COUNT; row++)
        list_row(&list, row);
}
