/* simd_crypto.c: AES, SHA, carry-less products, Galois fields and CRC-32: the host's own instructions.
 *
 * They are inline assembly where not every x86-64 CPU in use has them: LLVM ends the process at an intrinsic that its
 * target lacks, and programs carry such code for CPUs they do not run on.
 */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/simd.h"

#define BLOCK VECTOR(I64, 2)

static const char *with_imm(Lifter *l, const Insn *in, const char *text, const char *operands) {
    return arena_printf(l->arena, "%s $$%u, %s", text, (u32)(imm_value(in, 2) & 0xff), operands);
}

static void binary(Lifter *l, const Insn *in, const char *text) {
    Val args[] = {operand_as(l, in, 0, BLOCK), simd_read(l, in, 1, BLOCK)};
    set_operand(l, in, 0, ir_asm_pure(l, text, "=x,0,x", BLOCK, args, 2));
}

static void unary(Lifter *l, const Insn *in, const char *text) {
    Val v = simd_read(l, in, 1, BLOCK);
    set_operand(l, in, 0, ir_asm_pure(l, text, "=x,x", BLOCK, &v, 1));
}

void crypto_binary(Lifter *l, const Insn *in, const char *text) {
    binary(l, in, arena_printf(l->arena, "%s $2, $0", text));
}

void crypto_binary_imm(Lifter *l, const Insn *in, const char *text) {
    binary(l, in, with_imm(l, in, text, "$2, $0"));
}

void crypto_unary(Lifter *l, const Insn *in, const char *text) {
    unary(l, in, arena_printf(l->arena, "%s $1, $0", text));
}

void crypto_unary_imm(Lifter *l, const Insn *in, const char *text) {
    unary(l, in, with_imm(l, in, text, "$1, $0"));
}

void crypto_sha256_rounds(Lifter *l, const Insn *in) {
    Val args[] = {operand_as(l, in, 0, BLOCK), simd_read(l, in, 1, BLOCK), reg_read(l, XMM0, BLOCK)};
    set_operand(l, in, 0, ir_asm_pure(l, "sha256rnds2 %xmm0, $2, $0", "=x,0,x,{xmm0}", BLOCK, args, 3));
}

/* The CRC has 32 bits whatever the operands' width. */
void simd_crc32(Lifter *l, const Insn *in) {
    u32 bits = width(in, 1), crc_bits = bits == 64 ? 64 : 32;
    Val args[] = {operand_as(l, in, 0, ty_int(crc_bits)), operand(l, in, 1)};
    const char *name = arena_printf(l->arena, "llvm.x86.sse42.crc32.%u.%u", crc_bits, bits);
    set_operand(l, in, 0, ir_intrinsic(l, name, NULL, 0, args, 2));
}
