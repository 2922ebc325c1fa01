/* view.c: see isa/view.h. The client's guest is this one. */
#include "isa/x86_64/view.h"

bool insn_view(const u8 *bytes, size_t size, u64 pc, InsnView *view) {
    return x86_view(bytes, size, pc, view);
}

const char *insn_opcode_name(u32 opcode) {
    return x86_opcode_name(opcode);
}
