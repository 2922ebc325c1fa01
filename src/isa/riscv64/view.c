/* view.c: what a tool sees of a riscv64 instruction (isa/view.h), by its row and its operands. */
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"

/* How many bytes of memory a row accesses; rows that are not here access none. tests/isa/effects.c compares it with what lifted code does. */
// clang-format off
static const u8 bytes_of[RV_ROW_COUNT] = {
    [RV_ROW_lb] = 1, [RV_ROW_lh] = 2, [RV_ROW_lw] = 4, [RV_ROW_ld] = 8, [RV_ROW_lbu] = 1, [RV_ROW_lhu] = 2, [RV_ROW_lwu] = 4,
    [RV_ROW_sb] = 1, [RV_ROW_sh] = 2, [RV_ROW_sw] = 4, [RV_ROW_sd] = 8,
    [RV_ROW_flh] = 2, [RV_ROW_flw] = 4, [RV_ROW_fld] = 8, [RV_ROW_fsh] = 2, [RV_ROW_fsw] = 4, [RV_ROW_fsd] = 8,
    [RV_ROW_lr_w] = 4, [RV_ROW_sc_w] = 4, [RV_ROW_amoswap_w] = 4, [RV_ROW_amoadd_w] = 4, [RV_ROW_amoxor_w] = 4,
    [RV_ROW_amoand_w] = 4, [RV_ROW_amoor_w] = 4, [RV_ROW_amomin_w] = 4, [RV_ROW_amomax_w] = 4, [RV_ROW_amominu_w] = 4,
    [RV_ROW_amomaxu_w] = 4,
    [RV_ROW_lr_d] = 8, [RV_ROW_sc_d] = 8, [RV_ROW_amoswap_d] = 8, [RV_ROW_amoadd_d] = 8, [RV_ROW_amoxor_d] = 8,
    [RV_ROW_amoand_d] = 8, [RV_ROW_amoor_d] = 8, [RV_ROW_amomin_d] = 8, [RV_ROW_amomax_d] = 8, [RV_ROW_amominu_d] = 8,
    [RV_ROW_amomaxu_d] = 8,
};
// clang-format on
_Static_assert((u32)RV_ROW_COUNT <= INSN_OPCODES, "the number of a row is that of its opcode");

/* A store that finds its reservation lost does not write. */
static u8 how_of(const Insn *in) {
    switch (rv_row(in->row)->format) {
    case RV_FMT_LOAD:
    case RV_FMT_FLOAD:
    case RV_FMT_LR:
        return ACCESS_READ;
    case RV_FMT_STORE:
    case RV_FMT_FSTORE:
        return ACCESS_WRITE;
    case RV_FMT_AMO:
        return in->row == RV_ROW_sc_w || in->row == RV_ROW_sc_d ? ACCESS_WRITE | ACCESS_MAYBE
                                                                : ACCESS_READ | ACCESS_WRITE;
    default:
        return 0;
    }
}

/* Memory is the last operand. x0 as its base is no register but zero. */
static void add_access(const Insn *in, InsnView *view) {
    Operand at = in->op[in->operand_count - 1];
    u8 bytes = bytes_of[in->row];
    CHECK(at.kind == OPERAND_MEM, "an instruction that accesses memory has an operand for it");
    at.base = at.base == RV_X0 ? REG_NONE : at.base;
    at.bits = (u16)(8 * bytes);
    view->access[view->access_count++] = (InsnAccess){how_of(in), bytes, at};
}

enum { GENERAL = 0xfffffffe }; /* x0 is neither read nor written */

/* What is written is written whole. */
static void set_registers(const Insn *in, InsnView *view) {
    view->writes = view->kills = (u32)in->writes.word[0] & GENERAL;
    for (u32 i = 0; i < in->operand_count; i++) {
        const Operand *op = &in->op[i];
        bool written = i == 0 && view->writes && op->kind == OPERAND_REG && op->cls == RV_CLS_X;
        if (op->kind == OPERAND_MEM)
            view->reads |= (u32)1 << op->base;
        else if (op->kind == OPERAND_REG && op->cls == RV_CLS_X && !written)
            view->reads |= (u32)1 << op->no;
    }
    view->reads &= GENERAL;
}

static bool has_float_operand(const Insn *in) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_REG && in->op[i].cls == RV_CLS_F)
            return true;
    return false;
}

static u16 classes_of(const Insn *in, const InsnView *view) {
    u16 classes = classes_of_flow((Flow)in->flow) | classes_of_accesses(view->access, view->access_count);
    switch (rv_row(in->row)->format) {
    case RV_FMT_CSR:
    case RV_FMT_CSRI:
        return classes | CLASS_SYSTEM;
    case RV_FMT_FENCE:
        return classes | CLASS_ATOMIC;
    case RV_FMT_LR:
    case RV_FMT_AMO:
        return classes | CLASS_ATOMIC | CLASS_INTEGER;
    }
    if (in->row == RV_ROW_fence_i)
        return CLASS_ATOMIC;
    if (has_float_operand(in))
        return classes | CLASS_FLOAT;
    return in->flow == FLOW_NEXT && (view->writes || view->access_count) ? classes | CLASS_INTEGER : classes;
}

/* fence.i goes on behind it; that the lifter leaves there is its own affair. */
static Flow flow_of(const Insn *in) {
    return in->row == RV_ROW_fence_i ? FLOW_NEXT : (Flow)in->flow;
}

/* Only the bytes of one instruction are given to the decoder, which makes one of some that follow each other. */
bool rv_view(const u8 *bytes, size_t size, u64 pc, InsnView *view) {
    Insn in = {0};
    if (rv_decode(bytes, size < 4 ? size : 4, pc, &in) != LATHE_OK)
        return false;
    *view = (InsnView){.size = in.size, .flow = flow_of(&in), .target = in.target};
    bool transfers = in.flow == FLOW_CALL || in.flow == FLOW_INDIRECT || in.flow == FLOW_RETURN;
    view->indirect = transfers && in.row == RV_ROW_jalr;
    view->opcode = (u16)rv_find_row(in.word);
    if (bytes_of[in.row])
        add_access(&in, view);
    set_registers(&in, view);
    view->classes = classes_of(&in, view);
    view_add_system(view, GENERAL);
    return true;
}

const char *rv_opcode_name(u32 opcode) {
    return opcode < RV_ROW_COUNT ? rv_names[opcode] : "?";
}
