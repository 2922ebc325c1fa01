/* isa.c: the list of guest architectures, and guest addresses and memory as every ISA sees them. */
#include "isa/isa.h"

extern const Isa isa_x86_64, isa_riscv64;

/* In the order of LatheArch. */
static const Isa *const isas[] = {&isa_x86_64, &isa_riscv64};

const Isa *isa_find(LatheArch arch) {
    return (u32)arch < ARRAY_LEN(isas) ? isas[arch] : NULL;
}

const Isa *isa_named(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(isas); i++)
        if (!strcmp(isas[i]->name, name))
            return isas[i];
    return NULL;
}

const Isa *isa_of_machine(u32 elf_machine) {
    for (size_t i = 0; i < ARRAY_LEN(isas); i++)
        if (isas[i]->elf_machine == elf_machine)
            return isas[i];
    return NULL;
}

const Isa *isa_of_host(void) {
#if defined(__x86_64__)
    return &isa_x86_64;
#elif defined(__riscv) && __riscv_xlen == 64
    return &isa_riscv64;
#else
    return NULL;
#endif
}

Val pc_pointer(Lifter *l, u64 addr) {
    if (!l->pic_base)
        return LLVMConstIntToPtr(ir_int(l, I64, addr), ir_type(l, PTR));
    Val off = ir_int(l, I64, addr - l->cfg->pic_base);
    return LLVMConstGEP2(ir_type(l, I8), l->pic_base, &off, 1);
}

Val pc_value(Lifter *l, u64 addr) {
    return l->pic_base ? LLVMConstPtrToInt(pc_pointer(l, addr), ir_type(l, I64)) : ir_int(l, I64, addr);
}

void guest_access(Lifter *l, const Insn *in, Val ptr, u32 size_bytes, u32 kind) {
    if (!l->cfg->mark_memory)
        return;
    Val args[] = {pc_value(l, in->pc), ptr, ir_int(l, I32, size_bytes), ir_int(l, I32, kind)};
    ir_call(l, l->cfg->mark_memory, args, 4);
}

Val guest_load(Lifter *l, const Insn *in, Ty t, Val ptr, u32 align) {
    guest_access(l, in, ptr, (ty_bits(t) + 7) / 8, 1);
    return ir_load(l, t, ptr, align, SPACE_GUEST);
}

void guest_store(Lifter *l, const Insn *in, Val v, Val ptr, u32 align) {
    guest_access(l, in, ptr, (ty_bits(ir_ty(v)) + 7) / 8, 2);
    ir_store(l, v, ptr, align, SPACE_GUEST);
}
