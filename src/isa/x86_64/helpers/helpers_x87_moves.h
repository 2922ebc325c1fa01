/* helpers_x87_moves.h: the x87 instructions that move registers, and those of the words of state. The one file of each host that has the
 * arithmetic includes it behind that (helpers_x87_stack.h): what moves are made of is the host's. */
/* An empty source is an underflow even where the push would be an overflow. */
void lathe_x87_load_st(LatheX86Cpu *cpu, u32 src) {
    fpu_wait(cpu);
    if (!fpu_empty(cpu, src)) {
        Extended v = *fpu_slot(cpu, src);
        if (!overflows(cpu))
            load(cpu, v, 0);
        return;
    }
    if (fpu_stack_fault(cpu, 0))
        fpu_push(cpu, fpu_indefinite());
}

void lathe_x87_store_st(LatheX86Cpu *cpu, u32 dst, u32 pops) {
    fpu_wait(cpu);
    bool underflow = fpu_empty(cpu, 0);
    if (underflow && !fpu_stack_fault(cpu, 0))
        return;
    cpu->fpu_sw &= (u16)~FPU_C1;
    fpu_set(cpu, dst, underflow ? fpu_indefinite() : *fpu_slot(cpu, 0));
    if (pops)
        fpu_pop(cpu);
}

/* Only the sign changes, of whatever the register holds. */
static void set_sign(LatheX86Cpu *cpu, u8 keep, u8 flip) {
    if (underflows(cpu, 0, 0, 0))
        return;
    u8 *top = &cpu->st[cpu->fpu_top][9];
    *top = (*top & keep) ^ flip;
    cpu->fpu_sw &= (u16)~FPU_C1;
}

void lathe_x87_chs(LatheX86Cpu *cpu) {
    set_sign(cpu, 0xff, 0x80);
}

void lathe_x87_abs(LatheX86Cpu *cpu) {
    set_sign(cpu, 0x7f, 0);
}

static bool fill_empty(LatheX86Cpu *cpu, u32 src) {
    if (!fpu_empty(cpu, 0) && !fpu_empty(cpu, src))
        return true;
    if (!fpu_stack_fault(cpu, 0))
        return false;
    if (fpu_empty(cpu, 0))
        fpu_set(cpu, 0, fpu_indefinite());
    if (fpu_empty(cpu, src))
        fpu_set(cpu, src, fpu_indefinite());
    return true;
}

void lathe_x87_xch(LatheX86Cpu *cpu, u32 src) {
    fpu_wait(cpu);
    if (!fill_empty(cpu, src))
        return;
    Extended v = *fpu_slot(cpu, 0);
    *fpu_slot(cpu, 0) = *fpu_slot(cpu, src);
    *fpu_slot(cpu, src) = v;
    cpu->fpu_sw &= (u16)~FPU_C1;
}

/* Both registers must be in use whether the move is made or not. */
void lathe_x87_cmov(LatheX86Cpu *cpu, u32 src, u32 moves) {
    if (!underflows(cpu, 0, src, 0) && moves)
        *fpu_slot(cpu, 0) = *fpu_slot(cpu, src);
}

void lathe_x87_free(LatheX86Cpu *cpu, u32 dst, u32 pops) {
    fpu_wait(cpu);
    cpu->fpu_tag &= (u8)~fpu_tag_bit(cpu, dst);
    cpu->fpu_sw &= (u16)~FPU_C1;
    pop_some(cpu, pops);
}

void lathe_x87_step(LatheX86Cpu *cpu, u32 by) {
    fpu_wait(cpu);
    cpu->fpu_top = (cpu->fpu_top + by) & 7;
    cpu->fpu_sw &= (u16)~FPU_C1;
}

void lathe_x87_wait(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
}

void lathe_x87_emms(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    cpu->fpu_top = 0;
    cpu->fpu_tag = 0;
}

void lathe_x87_load_cw(LatheX86Cpu *cpu, u16 cw) {
    fpu_wait(cpu);
    fpu_set_cw(cpu, cw);
}
