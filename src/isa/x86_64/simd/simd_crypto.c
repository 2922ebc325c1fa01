/* simd_crypto.c: AES, SHA, carry-less products, Galois fields and CRC-32: the host's own instructions, or C functions. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

#define BLOCK VECTOR(I64, 2)

static u32 imm_of(const Insn *in) {
    int last = in->operand_count - 1;
    return is_imm(in, last) ? (u32)(imm_value(in, last) & 0xff) : 0;
}

static Val by_function(Lifter *l, const Insn *in, BlockOp op, const Val *blocks, u32 count) {
    Val args[7], r = ir_zero(l, BLOCK);
    for (u32 i = 0; i < 6; i++)
        args[i] = i / 2 < count ? ir_extract(l, blocks[i / 2], i % 2) : ir_int(l, I64, 0);
    for (u32 half = 0; half < 2; half++) {
        args[6] = ir_int(l, I32, BLOCK_WHAT(op, imm_of(in), half));
        r = ir_insert(l, r, ir_helper(l, BLOCK_HELPER, I64, args, 7), half);
    }
    return r;
}

static void set_block(Lifter *l, const Insn *in, BlockOp op, Val *blocks, u32 count) {
    Val r = x86_form(l, in, blocks, count);
    set_operand(l, in, 0, r ? r : by_function(l, in, op, blocks, count));
}

void crypto_binary(Lifter *l, const Insn *in, BlockOp op) {
    Val args[] = {operand_as(l, in, 0, BLOCK), simd_read(l, in, 1, BLOCK)};
    set_block(l, in, op, args, 2);
}

void crypto_unary(Lifter *l, const Insn *in, BlockOp op) {
    Val v = simd_read(l, in, 1, BLOCK);
    set_block(l, in, op, &v, 1);
}

void crypto_sha256_rounds(Lifter *l, const Insn *in) {
    Val args[] = {operand_as(l, in, 0, BLOCK), simd_read(l, in, 1, BLOCK), reg_read(l, XMM0, BLOCK)};
    set_block(l, in, BLOCK_SHA256RNDS2, args, 3);
}

/* The CRC has 32 bits whatever the operands' width. */
void simd_crc32(Lifter *l, const Insn *in) {
    u32 bits = width(in, 1);
    Ty t = ty_int(bits == 64 ? 64 : 32);
    Val args[] = {operand_as(l, in, 0, t), operand(l, in, 1)};
    Val r = x86_form(l, in, args, 2);
    if (!r) {
        Val wide[] = {ir_zext(l, args[0], I64), ir_zext(l, args[1], I64), ir_int(l, I32, bits)};
        r = ir_trunc(l, ir_helper(l, "lathe_x86_crc32", I64, wide, 3), t);
    }
    set_operand(l, in, 0, r);
}
