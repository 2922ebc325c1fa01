/* cpu.c: see cpu.h and oracle.h. */
#include "cpu.h"

static u32 host_mxcsr;

NativeResult cpu_run(State *s, const u8 *code, size_t size, u32 expected_trap) {
    u8 *memory = state_memory();
    memcpy(memory, s->memory, STATE_MEMORY_BYTES);
    NativeResult result = native_run(&s->cpu, code, size);
    memcpy(s->memory, memory, STATE_MEMORY_BYTES);
    s->cpu.trap = native_trap_of(result, expected_trap);
    return result;
}

void oracle_run(State *s, const u8 *code, size_t size, u32 expected_trap) {
    cpu_run(s, code, size, expected_trap);
}

void oracle_limits(State *ignore) {
    unsigned have = native_vector_bytes();
    if (have == 64)
        return;
    for (int i = 0; i < 32; i++)
        memset(ignore->cpu.vec[i] + (i < 16 ? have : 0), 0xff, i < 16 ? 64 - have : 64);
    memset(ignore->cpu.k, 0xff, sizeof(ignore->cpu.k));
}

const char *oracle_unfit(void) {
    return native_vector_bytes() < 64
               ? "it needs a CPU with AVX-512, else the expected vector state would be incomplete"
               : NULL;
}

void guest_enter(GuestCpu *cpu) {
    host_mxcsr = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(cpu->mxcsr);
}

void guest_leave(GuestCpu *cpu) {
    cpu->mxcsr = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(host_mxcsr);
}
