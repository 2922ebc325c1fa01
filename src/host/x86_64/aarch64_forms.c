/* aarch64_forms.c: what an x86-64 host has for vectors of aarch64 guests. */
#include "host/x86_64/parts.h"
#include "isa/aarch64/forms.h"

/* SDM 2B, PSHUFB: bits 6–4 do not count. */
static Val look_up(Lifter *l, Val table, Val index) {
    Val args[] = {table, index};
    return ir_intrinsic(l, "llvm.x86.ssse3.pshuf.b.128", NULL, 0, args, 2);
}

const A64Forms x86_64_forms_aarch64 = {
    .look_up = look_up,
};
