/* isa.c: the list of guest architectures, and guest addresses and memory as every ISA sees them. */
#include "isa/isa.h"

#include <elf.h>
#include <stdio.h>

#define ISA(folder, name, machine, ...) extern const Isa isa_##folder;
#include "isa/isas.def"
#undef ISA

static const struct {
    const Isa *isa;
    const char *name;
    u32 machine;
} isas[] = {
#define ISA(folder, name, machine, ...) {&isa_##folder, name, machine},
#include "isa/isas.def"
#undef ISA
};

const Isa *isa_find(LatheArch arch) {
    return (u32)arch < ARRAY_LEN(isas) ? isas[arch].isa : NULL;
}

const char *isa_name(LatheArch arch) {
    return (u32)arch < ARRAY_LEN(isas) ? isas[arch].name : NULL;
}

const Isa *isa_of_machine(u32 elf_machine) {
    for (size_t i = 0; i < ARRAY_LEN(isas); i++)
        if (isas[i].machine == elf_machine)
            return isas[i].isa;
    return NULL;
}

const Isa *isa_of_host(void) {
    Elf64_Ehdr self;
    FILE *file = fopen("/proc/self/exe", "rb");
    bool ok = file && fread(&self, sizeof(self), 1, file) == 1;
    if (file)
        fclose(file);
    return ok ? isa_of_machine(self.e_machine) : NULL;
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

static void mark(Lifter *l, const Insn *in, Val ptr, u32 size_bytes, u32 kind) {
    if (!l->cfg->mark_memory)
        return;
    Val args[] = {pc_value(l, in->pc), ptr, ir_int(l, I32, size_bytes), ir_int(l, I32, kind)};
    ir_call(l, l->cfg->mark_memory, args, 4);
}

void guest_access(Lifter *l, const Insn *in, Val ptr, u32 size_bytes, u32 kind) {
    mark(l, in, ptr, size_bytes, kind);
    if (tuning_of(l->cfg)->exact_faults)
        ir_touch_or(l, ptr, size_bytes, kind & STORES, l->ops->fault_exit(l, in));
}

Val guest_load(Lifter *l, const Insn *in, Ty t, Val ptr, u32 align) {
    mark(l, in, ptr, (ty_bits(t) + 7) / 8, LOADS);
    return tuning_of(l->cfg)->exact_faults ? ir_load_or(l, t, ptr, l->ops->fault_exit(l, in))
                                           : ir_load(l, t, ptr, align, SPACE_GUEST);
}

void guest_store(Lifter *l, const Insn *in, Val v, Val ptr, u32 align) {
    mark(l, in, ptr, (ty_bits(ir_ty(v)) + 7) / 8, STORES);
    if (tuning_of(l->cfg)->exact_faults)
        ir_store_or(l, v, ptr, l->ops->fault_exit(l, in));
    else
        ir_store(l, v, ptr, align, SPACE_GUEST);
}

void guest_want_aligned(Lifter *l, const Insn *in, Val ptr, u32 bytes) {
    if (bytes < 2)
        return;
    Val low = ir_and_with(l, ir_bitcast(l, ptr, I64), bytes - 1);
    trap_if(l, in, ir_icmp(l, NE, low, ir_int(l, I64, 0)), LATHE_TRAP_MISALIGNED);
}

Val guest_store_if_reserved(Lifter *l, const Insn *in, Reg reserved, Val ptr, Val expected, Val v, Order order) {
    Val mine = ir_icmp(l, EQ, ir_bitcast(l, ptr, I64), reg_read(l, reserved, I64));
    Label before = ir_where(l), exchange = ir_label(l, "reserved"), done = ir_label(l, "");
    ir_branch(l, mine, exchange, done);
    ir_here(l, exchange);
    guest_access(l, in, ptr, ty_bits(ir_ty(v)) / 8, STORES); /* the comparison is ours: the guest only stores */
    Val seen = ir_cmpxchg(l, ptr, expected, v, order);
    Val failed = ir_icmp(l, NE, seen, expected);
    Label after = ir_where(l);
    ir_goto(l, done);
    ir_here(l, done);
    Val result = ir_phi(l, I1);
    ir_phi_add(result, ir_int(l, I1, 1), before);
    ir_phi_add(result, failed, after);
    reg_write(l, reserved, ir_ones(l, I64));
    return result;
}

const void *reg_common_deferred(Lifter *l, Reg first, u32 set, MakeLazy *make) {
    const void *arg = NULL;
    for (Reg r = first; set; r++, set >>= 1) {
        const void *here = set & 1 ? reg_deferred(l, r, make) : arg;
        if (set & 1 && (!here || (arg && arg != here)))
            return NULL;
        arg = here;
    }
    return arg;
}
