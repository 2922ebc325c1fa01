/* decode.c: x86-64 bytes to Insn, by the facts of facts.h. */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"

/* Far transfers need segments; a 16-bit operand size on near ones means different things to different vendors. */
static u32 row_of(const X86Facts *f) {
    return f->far || f->narrow || !f->has_row ? 0 : x86_row(f->mnemonic);
}

/* Needs more than the general and vector registers and the flags, or may be anything. */
static bool is_special(const X86Facts *f, u32 row) {
    u16 other = STATE_X87 | STATE_MXCSR | STATE_SEGMENT | STATE_FLAGS | STATE_WHOLE | STATE_HOST | STATE_TRAP;
    return !row || f->segment == SEG_GS || f->flow == FLOW_SYSCALL || f->state & other;
}

/* Of the vector registers those that it has to do with, by their lowest part. */
static RegSet vectors_of(const X86Facts *f) {
    RegSet all = {{(((u64)1 << 32) - 1) << XMM0}}, used = f->reads;
    _Static_assert(XMM0 + 32 <= 64, "the vector registers are in the first word");
    regset_join(&used, &f->writes);
    regset_keep(&used, &all);
    return used;
}

static RegSet flags_read(const X86Facts *f) {
    RegSet read = f->reads;
    regset_keep(&read, &isa_x86_64.dead_at_calls);
    return read;
}

LatheStatus x86_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    X86Facts f;
    if (!x86_facts(bytes, size, pc, &f))
        return size < ZYDIS_MAX_INSTRUCTION_LENGTH ? LATHE_ERR_MEMORY : LATHE_ERR_DECODE;
    in->size = f.length;
    in->operand_bits = f.operand_bits;
    in->address_bits = f.address_bits;
    in->segment = f.segment;
    in->prefixes = f.prefixes;
    in->operand_count = f.operand_count;
    memcpy(in->op, f.op, f.operand_count * sizeof(*f.op));
    in->flow = f.flow;
    in->target = f.target;
    in->row = row_of(&f);
    in->special = is_special(&f, in->row);
    if (!in->row)
        return LATHE_OK;
    in->writes = f.writes;
    in->flags = flags_read(&f);
    in->vectors = vectors_of(&f);
    x86_refine(in);
    return LATHE_OK;
}

int x86_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size) {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, size, &z, ops)))
        return LATHE_ERR_DECODE;
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterFormatInstruction(&f, &z, ops, z.operand_count_visible, text, text_size, pc, NULL);
    return z.length;
}
