/* view.c: see isa/view.h. The client's guest is this one. */
#include "isa/aarch64/aarch64.h"

bool insn_view(const u8 *bytes, size_t size, u64 pc, InsnView *view) {
    return a64_view(bytes, size, pc, view);
}

const char *insn_opcode_name(u32 opcode) {
    return a64_opcode_name(opcode);
}
