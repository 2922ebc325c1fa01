/* sample.c: samples of riscv64: any row of the table, with random fields.
 *
 * Two registers are kept for the purpose: s0 and sp point into the scratch page and nobody writes them, so that later
 * instructions find memory; tp counts the rounds of loops and nobody uses it.
 */
#include "sample.h"

#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"
#include "oracle.h"
#include "rows.h"
#include "values.h"

#define ATTEMPTS 200
#define MIDDLE 0x800 /* where sp and s0 point to */

enum { X_SP = 2, X_TP = 4, X_S0 = 8 };

/* Rows whose effect cannot be compared, each with the reason. */
static const struct Excluded {
    u32 row;
    const char *reason;
} excluded[] = {
    {RV_ROW_ecall, "would make a system call of the agent"},
    {RV_ROW_ebreak, "is how a run ends"},
    {RV_ROW_c_ebreak, "is how a run ends"},
    {RV_ROW_fence_i, "ends the function"},
    {RV_ROW_far, "is no row of one instruction"},
};

/* ----------------------------------------------------------------------------------------------------------- encoding */

static bool is_csr(u32 row) {
    return rv_row(row)->format == RV_FMT_CSR || rv_row(row)->format == RV_FMT_CSRI;
}

static u32 draw_word(Rng *r, u32 row) {
    const RvEncoding *e = &rv_encodings[row];
    u32 word = ((u32)rng_next(r) & ~e->mask) | e->match;
    if (is_csr(row)) {
        static const u32 numbers[] = {1, 1, 2, 3, 3, 0x300}; /* the last one there is not */
        word = (word & 0xfffff) | numbers[rng_below(r, 6)] << 20;
    }
    return rv_is_short(word) ? word & 0xffff : word;
}

static bool uses(const Insn *in, u8 cls, u8 no) {
    for (u32 i = 0; i < in->operand_count; i++)
        if ((in->op[i].kind == OPERAND_REG && in->op[i].cls == cls && in->op[i].no == no) ||
            (in->op[i].kind == OPERAND_MEM && cls == RV_CLS_X && in->op[i].base == no))
            return true;
    return false;
}

static bool writes(const Insn *in, u8 no) {
    return regset_has(&in->writes, no);
}

static bool decode(u32 word, u64 pc, Insn *in) {
    *in = (Insn){0};
    return isa_find(GUEST_ARCH)->decode((const u8 *)&word, rv_is_short(word) ? 2 : 4, pc, in) == LATHE_OK;
}

/* rd, rs1 and rs2 among x8–x15, as far as the row leaves them free. */
static u32 with_few_registers(u32 word, u32 row) {
    u32 fields = 0x3u << 10 | 0x3u << 18 | 0x3u << 23, ones = 1u << 10 | 1u << 18 | 1u << 23;
    u32 free = fields & ~rv_encodings[row].mask;
    return (word & ~free) | (ones & free);
}

/* A word of the row that keeps our registers, with few registers where instructions are to act on each other. */
static bool draw_insn(Rng *r, u32 row, u64 pc, bool share, u32 *word, Insn *in) {
    for (u32 i = 0; i < ATTEMPTS; i++) {
        *word = draw_word(r, row);
        if (share && !rv_is_short(*word) && !rng_once_in(r, 4))
            *word = with_few_registers(*word, row);
        if (rv_find_row(*word) != row || !decode(*word, pc, in))
            continue;
        bool keeps = !writes(in, X_SP) && !writes(in, X_S0);
        if (!uses(in, RV_CLS_X, X_TP) && (keeps || !share) && !jumps_into_sample(in))
            return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- state */

static u64 draw_float(Rng *r) {
    switch (rng_below(r, 8)) {
    case 0:
        return rng_next(r);
    case 1:
        return value_float(r, 5, 10) | ~(u64)0 << 16;
    case 2:
    case 3:
    case 4:
        return value_float(r, 8, 23) | ~(u64)0 << 32;
    default:
        return value_float(r, 11, 52);
    }
}

static void draw_state(Rng *r, State *s) {
    state_default(s);
    for (u32 i = 1; i < 32; i++)
        s->cpu.x[i] = value_integer(r);
    for (u32 i = 0; i < 32; i++)
        s->cpu.f[i] = draw_float(r);
    s->cpu.x[X_SP] = s->cpu.x[X_S0] = STATE_MEMORY + MIDDLE;
    s->cpu.frm = (u8)(rng_once_in(r, 30) ? 5 + rng_below(r, 3) : rng_once_in(r, 2) ? rng_below(r, 5) : 0);
    s->cpu.fflags = (u8)(rng_once_in(r, 2) ? rng_next(r) & 31 : 0);
}

/* Of lr, sc and amo; 0: of anything else. */
static u32 wanted_alignment(const Insn *in) {
    u8 format = rv_row(in->row)->format;
    if (format != RV_FMT_AMO && format != RV_FMT_LR)
        return 0;
    return (in->word >> 12 & 7) == 3 ? 8 : 4;
}

static bool is_sc(const Insn *in) {
    return in->row == RV_ROW_sc_w || in->row == RV_ROW_sc_d;
}

static bool in_page(u64 address) {
    return address >= STATE_MEMORY && address < STATE_MEMORY + STATE_MEMORY_BYTES - 8;
}

/* The base register gets what leads into the page. */
static bool place(Rng *r, const Insn *in, State *s) {
    const Operand *m = memory_of(in);
    u32 align = wanted_alignment(in);
    if (!m)
        return true;
    if (m->base == 0)
        return false;
    u64 at = STATE_MEMORY + 16 + rng_below(r, STATE_MEMORY_BYTES - 64);
    if (align && (is_sc(in) || !rng_once_in(r, 8)))
        at &= ~(u64)(align - 1);
    if (m->base != X_SP && m->base != X_S0)
        s->cpu.x[m->base] = at - (u64)m->disp;
    u64 value = draw_float(r), target = s->cpu.x[m->base] + (u64)m->disp;
    if (!in_page(target))
        return false;
    memcpy(s->memory + (target - STATE_MEMORY), &value, 8);
    return true;
}

/* Does the memory operand lie in the page in this state? */
static bool is_placed(const Insn *in, const State *s) {
    const Operand *m = memory_of(in);
    if (!m)
        return true;
    u64 at = (m->base ? s->cpu.x[m->base] : 0) + (u64)m->disp;
    return in_page(at) && !(is_sc(in) && at % wanted_alignment(in));
}

/* Computed jumps go where nothing is but the end of the run. */
static void aim(Rng *r, const Insn *in, State *s) {
    if (in->row == RV_ROW_jalr && in->op[1].no)
        s->cpu.x[in->op[1].no] = STATE_CODE + 0x1800 + rng_below(r, 0x1000);
}

bool sample_first(Rng *r, u32 row, Sample *out) {
    u32 word;
    Insn in;
    out->size = 0;
    out->misaligned = out->repeats = false;
    if (!draw_insn(r, row_of(row), STATE_CODE, false, &word, &in))
        return false;
    draw_state(r, &out->initial);
    if (!place(r, &in, &out->initial))
        return false;
    aim(r, &in, &out->initial);
    out->may_repeat = in.flow == FLOW_NEXT;
    append(out, word, in.size);
    return true;
}

/* A branch of a random kind over what follows it. */
static void append_branch(Rng *r, Sample *out, u32 over) {
    static const u8 kinds[] = {0, 1, 4, 5, 6, 7};
    u32 offset = 4 + over, imm = (offset >> 1 & 15) << 8 | (offset >> 5 & 63) << 25;
    append(out,
           0x63 | imm | (u32)kinds[rng_below(r, 6)] << 12 | (8 + rng_below(r, 8)) << 15 | (8 + rng_below(r, 8)) << 20,
           4);
}

bool sample_more(Rng *r, const State *now, Sample *out) {
    u32 word, row = row_any(r);
    u32 jump_bytes = rng_once_in(r, 4) ? 4 : 0;
    Insn in;
    if (out->size + 16 > SAMPLE_BYTES - 8 || !draw_insn(r, row, STATE_CODE + out->size + jump_bytes, true, &word, &in))
        return false;
    if (!is_placed(&in, now) || in.row == RV_ROW_jalr || (in.row == RV_ROW_auipc && !out->size))
        return false;
    if (jump_bytes)
        append_branch(r, out, in.size);
    append(out, word, in.size);
    return true;
}

/* addi tp, tp, -1; bnez tp, start */
void sample_loop(Rng *r, Sample *out) {
    append(out, 0xfff20213, 4);
    u32 back = (u32) - (i32)out->size;
    u32 imm = (back >> 12 & 1) << 31 | (back >> 5 & 63) << 25 | (back >> 1 & 15) << 8 | (back >> 11 & 1) << 7;
    append(out, 0x00021063 | imm, 4);
    out->repeats = true;
    out->initial.cpu.x[X_TP] = 2 + rng_below(r, 3);
}

/* ------------------------------------------------------------------------------------------------------------ the rows */

static const char *reason_to_exclude(u32 row) {
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (excluded[i].row == row)
            return excluded[i].reason;
    return NULL;
}

/* qemu 7.2 counts the zeros of all 64 bits. */
static bool oracle_errs(u32 row) {
    if (row != RV_ROW_ctzw)
        return false;
    State s;
    u32 word = 0x6015951b; /* ctzw a0, a1 */
    state_default(&s);
    s.cpu.x[11] = (u64)1 << 63;
    oracle_run(&s, (const u8 *)&word, 4, LATHE_TRAP_NONE);
    return s.cpu.x[10] != 32;
}

static bool is_left_out(u32 row) {
    return !rv_encodings[row].mask || reason_to_exclude(row);
}

static void make_plain(State *s) {
    s->cpu.frm = 0;
}

static bool is_right(u32 row, bool ran) {
    return (ran || row == RV_ROW_c_unimp) && !oracle_errs(row);
}

const RowTable row_table = {RV_ROW_COUNT, rv_names, is_left_out, make_plain, is_right};

void sample_reduce(ReducePart *reduce, void *arg) {
    for (u32 i = 1; i < 32; i++)
        if (i != X_TP) /* else a loop goes on for ages */
            reduce(arg, offsetof(State, cpu.x[0]) + 8 * i, 8);
    for (u32 i = 0; i < 32; i++)
        reduce(arg, offsetof(State, cpu.f[0]) + 8 * i, 8);
    reduce(arg, offsetof(State, cpu.frm), 1);
    reduce(arg, offsetof(State, cpu.fflags), 1);
}
