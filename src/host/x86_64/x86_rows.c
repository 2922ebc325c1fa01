/* x86_rows.c: which rows of the x86-64 guest have a form on a host of its kind, and what it is.
 *
 * Forms are LLVM's intrinsics, or inline assembly where not every x86-64 CPU in use has the instruction: LLVM ends the process at
 * an intrinsic that its target lacks, and programs carry such code for CPUs they do not run on. */
#include <Zydis/Zydis.h>

#include "host/x86_64/x86_parts.h"
#include "isa/x86_64/simd/simd.h"

typedef enum Kind {
    NO_FORM,
    INTRINSIC,     /* on vectors of 128 bits; those of 64 bits take part as the low half */
    LOW_INTRINSIC, /* on the low lane of a vector */
    CHECKSUM,      /* an intrinsic by the widths of its operands */
    VECTOR_ASM,    /* on vector registers; with an immediate if the instruction has one */
    GENERAL_ASM,   /* on three general registers */
    ROUNDS_ASM,    /* the third operand is xmm0 */
} Kind;

typedef struct Form {
    u8 kind;
    const char *text;
} Form;

#define FORM(name, kind, text) [ZYDIS_MNEMONIC_##name] = {kind, text}
#define SELF(name) FORM(name, VECTOR_ASM, NULL)

// clang-format off
static const Form forms[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    FORM(PSLLW,      INTRINSIC, "llvm.x86.sse2.psll.w"),
    FORM(PSLLD,      INTRINSIC, "llvm.x86.sse2.psll.d"),
    FORM(PSLLQ,      INTRINSIC, "llvm.x86.sse2.psll.q"),
    FORM(PSRLW,      INTRINSIC, "llvm.x86.sse2.psrl.w"),
    FORM(PSRLD,      INTRINSIC, "llvm.x86.sse2.psrl.d"),
    FORM(PSRLQ,      INTRINSIC, "llvm.x86.sse2.psrl.q"),
    FORM(PSRAW,      INTRINSIC, "llvm.x86.sse2.psra.w"),
    FORM(PSRAD,      INTRINSIC, "llvm.x86.sse2.psra.d"),
    FORM(PSIGNB,     INTRINSIC, "llvm.x86.ssse3.psign.b.128"),
    FORM(PSIGNW,     INTRINSIC, "llvm.x86.ssse3.psign.w.128"),
    FORM(PSIGND,     INTRINSIC, "llvm.x86.ssse3.psign.d.128"),
    FORM(PMULHRSW,   INTRINSIC, "llvm.x86.ssse3.pmul.hr.sw.128"),
    FORM(PMADDWD,    INTRINSIC, "llvm.x86.sse2.pmadd.wd"),
    FORM(PMADDUBSW,  INTRINSIC, "llvm.x86.ssse3.pmadd.ub.sw.128"),
    FORM(PSADBW,     INTRINSIC, "llvm.x86.sse2.psad.bw"),
    FORM(MPSADBW,    INTRINSIC, "llvm.x86.sse41.mpsadbw"),
    FORM(PHMINPOSUW, INTRINSIC, "llvm.x86.sse41.phminposuw"),
    FORM(PSHUFB,     INTRINSIC, "llvm.x86.ssse3.pshuf.b.128"),
    FORM(MOVMSKPS,   INTRINSIC, "llvm.x86.sse.movmsk.ps"),
    FORM(MOVMSKPD,   INTRINSIC, "llvm.x86.sse2.movmsk.pd"),
    FORM(RCPPS,      INTRINSIC, "llvm.x86.sse.rcp.ps"), /* these four raise no exceptions */
    FORM(RSQRTPS,    INTRINSIC, "llvm.x86.sse.rsqrt.ps"),
    FORM(RCPSS,      LOW_INTRINSIC, "llvm.x86.sse.rcp.ss"),
    FORM(RSQRTSS,    LOW_INTRINSIC, "llvm.x86.sse.rsqrt.ss"),
    FORM(CRC32,      CHECKSUM, "llvm.x86.sse42.crc32.%u.%u"),
    FORM(PDEP,       GENERAL_ASM, NULL),
    FORM(PEXT,       GENERAL_ASM, NULL),
    FORM(SHA256RNDS2, ROUNDS_ASM, NULL),
    SELF(AESENC), SELF(AESENCLAST), SELF(AESDEC), SELF(AESDECLAST), SELF(AESIMC), SELF(AESKEYGENASSIST),
    SELF(PCLMULQDQ),
    SELF(SHA1MSG1), SELF(SHA1MSG2), SELF(SHA1NEXTE), SELF(SHA1RNDS4), SELF(SHA256MSG1), SELF(SHA256MSG2),
    SELF(GF2P8MULB), SELF(GF2P8AFFINEQB), SELF(GF2P8AFFINEINVQB),
};
// clang-format on

static Val intrinsic(Lifter *l, const char *name, Val *args, u32 arg_count) {
    bool narrow = false;
    for (u32 i = 0; i < arg_count; i++) {
        Ty t = ir_ty(args[i]);
        if (!ty_is_vector(t) || ty_bits(t) == 128)
            continue;
        args[i] = simd_widen(l, args[i]);
        narrow = true;
    }
    Val r = ir_intrinsic(l, name, NULL, 0, args, arg_count);
    return narrow ? simd_narrow(l, r) : r;
}

static Val low_intrinsic(Lifter *l, const char *name, Val v) {
    Val wide = ir_low_lane(l, v, 4);
    return ir_extract(l, ir_intrinsic(l, name, NULL, 0, &wide, 1), 0);
}

static Val checksum(Lifter *l, const char *format, Val *args) {
    const char *name = arena_printf(l->arena, format, ty_bits(ir_ty(args[0])), ty_bits(ir_ty(args[1])));
    return ir_intrinsic(l, name, NULL, 0, args, 2);
}

static Val vector_asm(Lifter *l, const Insn *in, Val *args, u32 arg_count) {
    int last = in->operand_count - 1;
    const char *operands = arg_count == 2 ? "$2, $0" : "$1, $0", *name = isa_x86_64.row_name(in->row), *text;
    if (is_imm(in, last))
        text = arena_printf(l->arena, "%s $$%u, %s", name, (u32)(imm_value(in, last) & 0xff), operands);
    else
        text = arena_printf(l->arena, "%s %s", name, operands);
    return ir_asm_pure(l, text, arg_count == 2 ? "=x,0,x" : "=x,x", ir_ty(args[0]), args, arg_count);
}

/* LLVM's intrinsics would need a target with BMI2, and fold no more than constants. */
static Val general_asm(Lifter *l, const Insn *in, Val *args) {
    const char *text = arena_printf(l->arena, "%s $2, $1, $0", isa_x86_64.row_name(in->row));
    return ir_asm_pure(l, text, "=r,r,r", ir_ty(args[0]), args, 2);
}

Val x86_run_row(Lifter *l, const Insn *in, Val *args, u32 arg_count) {
    const Form *f = &forms[in->row];
    switch ((Kind)f->kind) {
    case INTRINSIC:
        return intrinsic(l, f->text, args, arg_count);
    case LOW_INTRINSIC:
        return low_intrinsic(l, f->text, args[0]);
    case CHECKSUM:
        return checksum(l, f->text, args);
    case VECTOR_ASM:
        return vector_asm(l, in, args, arg_count);
    case GENERAL_ASM:
        return general_asm(l, in, args);
    case ROUNDS_ASM:
        return ir_asm_pure(l, "sha256rnds2 %xmm0, $2, $0", "=x,0,x,{xmm0}", ir_ty(args[0]), args, arg_count);
    case NO_FORM:
        break;
    }
    CHECK(false, "a form is asked for of a row that has none");
}
