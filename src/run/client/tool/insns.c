/* insns.c: lathe_insn: what an instruction is, without executing it. */
#include "isa/view.h"
#include "run/client/core/guest.h"
#include "run/client/tool/tool.h"

/* How many of the accesses are made in all of these ways. */
static u32 accesses(const InsnView *v, u32 how) {
    u32 count = 0;
    for (u32 i = 0; i < v->access_count; i++)
        count += (v->access[i].how & how) == how;
    return count;
}

u64 tool_read_text(u64 address, u8 text[GUEST_INSN_BYTES]) {
    u64 size = GUEST_INSN_BYTES;
    while (size && !lathe_read_guest(text, address, size))
        size--;
    return size;
}

bool lathe_insn(uint64_t address, LatheInsn *out) {
    u8 text[GUEST_INSN_BYTES];
    InsnView v;
    *out = (LatheInsn){0};
    if (!insn_view(text, tool_read_text(address, text), address, &v))
        return false;
    *out = (LatheInsn){
        .size = v.size,
        .classes = v.classes,
        .opcode = v.opcode,
        .loads = accesses(&v, ACCESS_READ),
        .stores = accesses(&v, ACCESS_WRITE),
        .updates = accesses(&v, ACCESS_READ | ACCESS_WRITE),
        .computed = v.indirect,
        .target = v.indirect ? 0 : v.target,
    };
    return true;
}
