/* sample.c: samples of aarch64: any row of the table, with random fields.
 *
 * Three registers are kept for the purpose: sp and x28 point into the scratch page and nobody writes them, so that later instructions
 * find memory; x27 counts the rounds of loops and nobody uses it.
 */
#include "sample.h"

#include "isa/aarch64/encoding.h"
#include "isa/aarch64/field.h"
#include "isa/aarch64/system.h"
#include "oracle.h"
#include "rows.h"
#include "values.h"

#define ATTEMPTS 200
#define MIDDLE 0x800 /* where sp and x28 point to */

enum { X_COUNTER = 27, X_KEPT = 28 };

/* Rows whose effect cannot be compared, by how their names begin, each with the reason. */
static const struct Excluded {
    const char *name, *reason;
} excluded[] = {
    {"svc", "would make a system call of the agent"},
    {"brk", "is how a run ends"},
    {"hlt", "is not told from what is no instruction"},
    {"udf", "is not told from what is no instruction"},
    {"isb", "ends the function"},
    {"hint", "may wait for ever, or sign a pointer"},
    {"dc_zva", "clears other lines than ours"},
    {"pac", "signatures are zero here"},
    {"aut", "signatures are zero here"},
    {"braa", "signatures are zero here"},
    {"brab", "signatures are zero here"},
    {"blraa", "signatures are zero here"},
    {"blrab", "signatures are zero here"},
    {"reta", "signatures are zero here"},
    {"ldraa", "signatures are zero here"},
    {"ldrab", "signatures are zero here"},
    {"cpy", "qemu 7.2 does not have it"},
    {"setp", "qemu 7.2 does not have it"},
    {"setm", "qemu 7.2 does not have it"},
    {"sete", "qemu 7.2 does not have it"},
    {"xpac", "strips other bits where addresses are longer"},
};

/* ----------------------------------------------------------------------------------------------------------- encoding */

static u32 draw_word(Rng *r, u32 row) {
    /* The last one but one is the system's. qemu keeps bits of fpcr that only other machines have. */
    static const u32 numbers[] = {A64_NZCV, A64_FPSR, A64_TPIDR_EL0, A64_SYSREG(0, 1, 0, 0), A64_FPCR};
    const A64Encoding *e = &a64_encodings[row];
    u32 word = ((u32)rng_next(r) & ~e->mask) | e->match;
    if (row == A64_ROW_mrs || row == A64_ROW_msr)
        word = (word & ~(u32)0xfffe0) | numbers[rng_below(r, row == A64_ROW_mrs ? 5 : 4)] << 5;
    return word;
}

static bool uses(const Insn *in, u8 cls, u8 no) {
    for (u32 i = 0; i < in->operand_count; i++)
        if ((in->op[i].kind == OPERAND_REG && in->op[i].cls == cls && in->op[i].no == no) ||
            (in->op[i].kind == OPERAND_MEM && cls == A64_CLS_X && (in->op[i].base == no || in->op[i].index == no)))
            return true;
    return false;
}

static bool writes(const Insn *in, u8 no) {
    return regset_has(&in->writes, no);
}

/* What the manual calls constrained unpredictable: a base that is changed and also transferred, two registers loaded that are one, and a status
 * that goes where something else is. */
static bool is_unpredictable(const Insn *in) {
    const Operand *m = memory_of(in);
    if (!m)
        return false;
    bool pairs = in->operand_count >= 3 && in->op[1].kind == OPERAND_REG && in->op[1].cls == in->op[0].cls;
    if (pairs && in->op[0].no == in->op[1].no)
        return true;
    bool store_exclusive = a64_fields[in->row][0] == WS;
    for (u32 i = 0; i < in->operand_count; i++) {
        const Operand *op = &in->op[i];
        bool general = op->kind == OPERAND_REG && op->cls == A64_CLS_X;
        if (general && op->no == m->base && (in->prefixes & A64_WRITES_BACK || store_exclusive))
            return true;
        if (general && store_exclusive && i && op->no == in->op[0].no)
            return true;
    }
    return false;
}

static bool decode(u32 word, u64 pc, Insn *in) {
    *in = (Insn){0};
    return isa_find(GUEST_ARCH)->decode((const u8 *)&word, 4, pc, in) == LATHE_OK;
}

/* qemu 7.2 extends the sign of a half beyond its 16 bits. */
static bool oracle_errs(const Insn *in) {
    return in->row == A64_ROW_fcvtzs_s_fixed && in->op[0].bits == 16;
}

/* A load or store exclusive? Those of bytes, halves, words, doublewords and pairs are told by the bits of EXCLUSIVE_SIZE. */
enum { EXCLUSIVE = 0x3f800000, EXCLUSIVE_MATCH = 0x08000000, EXCLUSIVE_SIZE = (int)0xc0200000 };

static bool is_exclusive(u32 word) {
    return (word & EXCLUSIVE) == EXCLUSIVE_MATCH && (!a64_bits(word, 21, 21) || a64_bits(word, 31, 31));
}

/* A store exclusive behind a load of another size may or may not store. */
static bool mixes_exclusives(const Sample *s, u32 word) {
    for (u32 at = 0; is_exclusive(word) && at + 4 <= s->size; at += 4) {
        u32 before;
        memcpy(&before, s->code + at, 4);
        if (is_exclusive(before) && ((before ^ word) & (u32)EXCLUSIVE_SIZE))
            return true;
    }
    return false;
}

/* Registers D, N and M among x8–x15, as far as the row leaves them free. */
static u32 with_few_registers(u32 word, u32 row) {
    u32 fields = 0x3u << 3 | 0x3u << 8 | 0x3u << 19, ones = 1u << 3 | 1u << 8 | 1u << 19;
    u32 free = fields & ~a64_encodings[row].mask;
    return (word & ~free) | (ones & free);
}

/* A word of the row that keeps our registers, with few registers where instructions are to act on each other. */
static bool draw_insn(Rng *r, u32 row, u64 pc, bool share, u32 *word, Insn *in) {
    for (u32 i = 0; i < ATTEMPTS; i++) {
        *word = draw_word(r, row);
        if (share && !rng_once_in(r, 4))
            *word = with_few_registers(*word, row);
        if (a64_find_row(*word) != row || !decode(*word, pc, in) || is_unpredictable(in) || oracle_errs(in))
            continue;
        bool keeps = !writes(in, A64_SP) && !writes(in, X_KEPT);
        const Operand *m = memory_of(in);
        if (!uses(in, A64_CLS_X, X_COUNTER) && (keeps || !share) && !jumps_into_sample(in) && !(m && m->base == REG_PC))
            return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- state */

static void draw_vector(Rng *r, u8 out[16]) {
    u64 half[2] = {0};
    switch (rng_below(r, 4)) {
    case 0:
        half[0] = value_float(r, 11, 52);
        break;
    case 1:
        half[0] = value_float(r, 8, 23);
        break;
    case 2:
        half[0] = value_float(r, 5, 10);
        break;
    default:
        value_vector(r, out, 16);
        return;
    }
    half[1] = rng_once_in(r, 2) ? rng_next(r) : 0;
    memcpy(out, half, 16);
}

static u32 draw_fpcr(Rng *r) {
    static const u32 bits[] = {1u << 19, 1u << 24, 1u << 25, 1u << 26, 1u << 22, 1u << 23, 3u << 22};
    u32 v = 0;
    while (rng_once_in(r, 2))
        v |= bits[rng_below(r, 7)];
    return v;
}

static void draw_state(Rng *r, State *s) {
    state_default(s);
    for (u32 i = 0; i < 31; i++)
        s->cpu.x[i] = value_integer(r);
    for (u32 i = 0; i < 32; i++)
        draw_vector(r, s->cpu.vec[i]);
    s->cpu.sp = s->cpu.x[X_KEPT] = STATE_MEMORY + MIDDLE;
    s->cpu.n = rng_once_in(r, 2);
    s->cpu.z = rng_once_in(r, 2);
    s->cpu.c = rng_once_in(r, 2);
    s->cpu.v = rng_once_in(r, 2);
    s->cpu.fpcr = draw_fpcr(r);
    s->cpu.fpsr = rng_once_in(r, 2) ? (u32)rng_next(r) & 0x0800009f : 0;
}

static u64 *general(State *s, u8 no) {
    return no == A64_SP ? &s->cpu.sp : &s->cpu.x[no];
}

static u64 offset_of(const Operand *m, State *s) {
    u64 index = m->index == REG_NONE ? 0 : *general(s, m->index);
    if (m->index_bits)
        index = m->index_signed ? (u64)(i64)(i32)index : (u32)index;
    return index * m->scale + (u64)m->disp;
}

/* Exclusive, atomic and ordered accesses want an address that is a multiple of their size. */
static bool wants_alignment(const Insn *in) {
    u32 kind = a64_bits(in->word, 29, 24);
    return kind == 8 || kind == 0x19 || (kind == 0x38 && a64_bits(in->word, 21, 21) && !a64_bits(in->word, 11, 10));
}

static bool in_page(u64 address) {
    return address >= STATE_MEMORY && address < STATE_MEMORY + STATE_MEMORY_BYTES - 64;
}

/* The base register gets what leads into the page. */
static bool place(Rng *r, const Insn *in, State *s) {
    const Operand *m = memory_of(in);
    if (!m)
        return true;
    if (m->base == REG_NONE || m->base == m->index || m->index == A64_SP)
        return false;
    u64 at = STATE_MEMORY + 16 + rng_below(r, STATE_MEMORY_BYTES - 128);
    if (wants_alignment(in))
        at &= ~(u64)15;
    if (m->base != A64_SP && m->base != X_KEPT)
        *general(s, m->base) = at - offset_of(m, s);
    u64 target = *general(s, m->base) + offset_of(m, s);
    if (!in_page(target) || (wants_alignment(in) && target % 16))
        return false;
    draw_vector(r, s->memory + (target - STATE_MEMORY));
    return true;
}

/* Does the memory operand lie in the page in this state? */
static bool is_placed(const Insn *in, const State *now) {
    const Operand *m = memory_of(in);
    State s = *now;
    if (!m)
        return true;
    if (m->base == REG_NONE)
        return false;
    u64 at = *general(&s, m->base) + offset_of(m, &s);
    return in_page(at) && !(wants_alignment(in) && at % 16);
}

/* Computed jumps go where nothing is but the end of the run. */
static void aim(Rng *r, const Insn *in, State *s) {
    bool computed = in->flow == FLOW_INDIRECT || in->flow == FLOW_RETURN || in->row == A64_ROW_blr;
    if (computed && in->op[0].no < 31)
        s->cpu.x[in->op[0].no] = STATE_CODE + 0x1800 + 4 * rng_below(r, 0x400);
}

static bool is_computed(const Insn *in) {
    return in->flow == FLOW_INDIRECT || in->flow == FLOW_RETURN || (in->flow == FLOW_CALL && !in->target);
}

bool sample_first(Rng *r, u32 row, Sample *out) {
    u32 word;
    Insn in;
    out->size = 0;
    out->misaligned = out->repeats = false;
    if (!draw_insn(r, row_of(row), STATE_CODE, false, &word, &in))
        return false;
    draw_state(r, &out->initial);
    if (!place(r, &in, &out->initial) || (is_computed(&in) && in.op[0].no >= 31))
        return false;
    aim(r, &in, &out->initial);
    out->may_repeat = in.flow == FLOW_NEXT;
    append(out, word, 4);
    return true;
}

/* A branch of a random kind over what follows it. */
static void append_branch(Rng *r, Sample *out) {
    u32 over = 2 << 5, no = 8 + rng_below(r, 8);
    switch (rng_below(r, 3)) {
    case 0:
        append(out, 0x54000000 | over | rng_below(r, 14), 4);
        return;
    case 1:
        append(out, 0x34000000 | rng_below(r, 2) << 31 | rng_below(r, 2) << 24 | over | no, 4);
        return;
    default:
        append(out, 0x36000000 | rng_below(r, 2) << 24 | rng_below(r, 32) << 19 | over | no, 4);
    }
}

bool sample_more(Rng *r, const State *now, Sample *out) {
    u32 word, row = row_any(r);
    u32 jump_bytes = rng_once_in(r, 4) ? 4 : 0;
    Insn in;
    if (out->size + 16 > SAMPLE_BYTES - 8 || !draw_insn(r, row, STATE_CODE + out->size + jump_bytes, true, &word, &in))
        return false;
    if (!is_placed(&in, now) || is_computed(&in) || mixes_exclusives(out, word))
        return false;
    if (jump_bytes)
        append_branch(r, out);
    append(out, word, 4);
    return true;
}

/* sub x27, x27, #1; cbnz x27, start */
void sample_loop(Rng *r, Sample *out) {
    append(out, 0xd1000400 | X_COUNTER << 5 | X_COUNTER, 4);
    u32 back = (u32)(-(i32)out->size / 4) & 0x7ffff;
    append(out, 0xb5000000 | back << 5 | X_COUNTER, 4);
    out->repeats = true;
    out->initial.cpu.x[X_COUNTER] = 2 + rng_below(r, 3);
}

/* ------------------------------------------------------------------------------------------------------------ the rows */

static const char *reason_to_exclude(u32 row) {
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (!strncmp(a64_names[row], excluded[i].name, strlen(excluded[i].name)))
            return excluded[i].reason;
    return NULL;
}

static bool is_left_out(u32 row) {
    return reason_to_exclude(row) || strstr(a64_names[row], "_lit");
}

static bool is_right(u32 row, bool ran) {
    (void)row;
    return ran;
}

const RowTable row_table = {A64_ROW_COUNT, a64_names, is_left_out, NULL, is_right};

void sample_reduce(ReducePart *reduce, void *arg) {
    for (u32 i = 0; i < 31; i++)
        if (i != X_COUNTER) /* else a loop goes on for ages */
            reduce(arg, offsetof(State, cpu.x[0]) + 8 * i, 8);
    for (u32 i = 0; i < 32; i++)
        reduce(arg, offsetof(State, cpu.vec[0]) + 16 * i, 16);
    reduce(arg, offsetof(State, cpu.n), 4);
    reduce(arg, offsetof(State, cpu.fpcr), 4);
    reduce(arg, offsetof(State, cpu.fpsr), 4);
}
