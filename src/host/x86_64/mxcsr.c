/* mxcsr.c: see mxcsr.h. */
#include "host/x86_64/mxcsr.h"

Val x86_64_get_mxcsr(Lifter *l, u32 scratch_off) {
    Val at = ir_state(l, scratch_off);
    ir_intrinsic(l, "llvm.x86.sse.stmxcsr", NULL, 0, &at, 1);
    return ir_load(l, I32, at, 4, SPACE_STATE);
}

void x86_64_set_mxcsr(Lifter *l, u32 scratch_off, Val v) {
    Val at = ir_state(l, scratch_off);
    ir_store(l, v, at, 4, SPACE_STATE);
    ir_intrinsic(l, "llvm.x86.sse.ldmxcsr", NULL, 0, &at, 1);
}
