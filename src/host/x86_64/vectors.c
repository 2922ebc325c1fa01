/* vectors.c: which vector registers x86-64 code touches. */
#include <Zydis/Zydis.h>

#include "host/x86_64/parts.h"

/* The number of a vector register; -1 for others. */
static int vector_number(ZydisRegister r) {
    switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return ZydisRegisterGetId(r);
    default:
        return -1;
    }
}

bool x86_64_keeps_vectors(const u8 *code, size_t size, unsigned vectors) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    for (size_t at = 0; at < size; at += in.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &in, ops)))
            return false;
        for (u32 i = 0; i < in.operand_count; i++)
            if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER && vector_number(ops[i].reg.value) >= (int)vectors)
                return false;
    }
    return true;
}
