/* form_list.c: instructions of every riscv64 form; see isa/form.h. */
#include "isa/form.h"

#include "isa/riscv64/csr.h"
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"

/* Some values for a field of the word. */
typedef struct Choice {
    u32 shift, count;
    const u32 *values;
} Choice;

enum { CHOICES = 8, OFFSET = 0x123, UPPER = 1 };

typedef struct Listing {
    FormVisit *visit;
    void *user;
    Choice choice[CHOICES];
    u32 count;
} Listing;

/* Two of them are link registers. */
static const u32 registers[] = {0, 1, 5, 6, 7}, offsets[] = {0, OFFSET}, uppers[] = {0, UPPER},
                 counts[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                               22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                               44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
static const u32 csrs[] = {RV_FFLAGS, RV_FRM, RV_FCSR, RV_CYCLE, RV_TIME, RV_INSTRET, 0xfff};
static const u32 modes[] = {RV_RNE, RV_RTZ, RV_RDN, RV_RUP, RV_RMM, RV_DYN}, fence_modes[] = {0, 8};

static void choose(Listing *list, u32 shift, const u32 *values, size_t count) {
    list->choice[list->count++] = (Choice){shift, (u32)count, values};
}

#define CHOOSE(list, shift, values) choose(list, shift, values, ARRAY_LEN(values))

static void choose_field(Listing *list, RvField field) {
    static const u32 to[] = {5}, one[] = {6}, two[] = {7, 6}, three[] = {28};
    static const u32 store_offsets[] = {0, 0x4 << 18 | 0x3}, branch[] = {0x8 << 20 /* by 256 */},
                     jump[] = {0x100 << 20 /* by 512 */};
    switch (field) {
    case RD:
        CHOOSE(list, 7, registers);
        return;
    case RS1:
        CHOOSE(list, 15, registers);
        return;
    case RS2:
        CHOOSE(list, 20, registers);
        return;
    case FD:
        CHOOSE(list, 7, to);
        return;
    case FS1:
        CHOOSE(list, 15, one);
        return;
    case FS2:
        CHOOSE(list, 20, two);
        return;
    case FS3:
        CHOOSE(list, 27, three);
        return;
    case IMM_I:
        CHOOSE(list, 20, offsets);
        return;
    case IMM_U:
        CHOOSE(list, 12, uppers);
        return;
    case SHAMT5:
        choose(list, 20, counts, 32);
        return;
    case SHAMT6:
        CHOOSE(list, 20, counts);
        return;
    case ZIMM:
        choose(list, 15, counts, 32);
        return;
    case CSR_NO:
        CHOOSE(list, 20, csrs);
        return;
    case MEM_I:
        CHOOSE(list, 15, registers);
        CHOOSE(list, 20, offsets);
        return;
    case MEM_S:
        CHOOSE(list, 15, registers);
        CHOOSE(list, 7, store_offsets);
        return;
    case MEM_0:
        CHOOSE(list, 15, registers);
        return;
    case TARGET_B:
        CHOOSE(list, 7, branch);
        return;
    case TARGET_J:
        CHOOSE(list, 0, jump);
        return;
    case ROUNDING:
        CHOOSE(list, 12, modes);
        return;
    default:
        return; /* of compressed instructions, which have the forms of what they stand for */
    }
}

static void choose_modifiers(Listing *list, u32 format) {
    if (format == RV_FMT_AMO || format == RV_FMT_LR)
        choose(list, 25, counts, 4);
    if (format == RV_FMT_FENCE) {
        choose(list, 20, counts, 4);
        choose(list, 24, counts, 4);
        CHOOSE(list, 28, fence_modes);
    }
}

static void visit(const Listing *list, const u32 *words, u32 count) {
    Insn in = {0};
    if (rv_decode((const u8 *)words, count * sizeof(*words), 0, &in) == LATHE_OK && in.row)
        list->visit(list->user, &in);
}

static void visit_choices(const Listing *list, u32 from, u32 word) {
    if (from == list->count) {
        visit(list, &word, 1);
        return;
    }
    const Choice *c = &list->choice[from];
    for (u32 i = 0; i < c->count; i++)
        visit_choices(list, from + 1, word | c->values[i] << c->shift);
}

static void list_row(Listing *list, u32 row) {
    u32 format = rv_row(row)->format;
    list->count = 0;
    for (const u8 *field = rv_formats[format]; *field; field++)
        choose_field(list, (RvField)*field);
    choose_modifiers(list, format);
    visit_choices(list, 0, rv_encodings[row].match);
}

/* auipc and jalr. */
static void list_far(const Listing *list) {
    for (size_t upper = 0; upper < ARRAY_LEN(uppers); upper++)
        for (size_t a = 0; a < ARRAY_LEN(registers); a++)
            for (size_t link = 0; link < ARRAY_LEN(registers); link++) {
                u32 by = registers[a] << 7, on = registers[a] << 15 | registers[link] << 7 | OFFSET << 20;
                visit(list,
                      (u32[]){rv_encodings[RV_ROW_auipc].match | by | uppers[upper] << 12,
                              rv_encodings[RV_ROW_jalr].match | on},
                      2);
            }
}

/* frflags; flt or fle; fsflags. */
static void list_quiet(const Listing *list, u32 row) {
    for (size_t d = 0; d < ARRAY_LEN(registers); d++)
        for (size_t x = 0; x < ARRAY_LEN(registers); x++) {
            u32 get = rv_encodings[RV_ROW_csrrs].match | registers[x] << 7 | RV_FFLAGS << 20;
            u32 compare = rv_encodings[row].match | registers[d] << 7 | 6 << 15 | 7 << 20;
            u32 set = rv_encodings[RV_ROW_csrrw].match | registers[x] << 15 | RV_FFLAGS << 20;
            visit(list, (u32[]){get, compare, set}, 3);
        }
}

const Isa *const form_isa = &isa_riscv64;
const bool form_strict_fp = true;
const bool form_is_complete = true;

void form_lift(Lifter *l, const Insn *in) {
    isa_riscv64.lift(l, in);
}

void form_each(FormVisit *visit_form, void *user) {
    static const u32 compares[] = {RV_ROW_flt_s, RV_ROW_fle_s, RV_ROW_flt_d, RV_ROW_fle_d};
    Listing list = {.visit = visit_form, .user = user};
    for (u32 row = 1; row < RV_ROW_COUNT; row++)
        if (rv_encodings[row].mask && rv_row(row)->base == row)
            list_row(&list, row);
    list_far(&list);
    for (size_t i = 0; i < ARRAY_LEN(compares); i++)
        list_quiet(&list, compares[i]);
}
