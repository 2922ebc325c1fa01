/* x86_helpers_x87.c: x87 loads, stores, arithmetic and compares for lifted code, by the host's own instructions.
 *
 * Names are lathe_x87_ and the operation, then the kind of memory operand, if it has one: f32, f64, f80, i16, i32, i64,
 * passed by its bits. dst and src are numbers of stack registers; pops is how often the stack is popped.
 */
#include "host/x86_64/x86_helpers_x87.h"
#include "isa/x86_64/helpers/helpers.h"

/* ------------------------------------------------------------------------------------------------------------ loads */

/* Zero and normal numbers, integers, 0 and 1 are loaded as they are. */
#define LOAD_EXACT(kind, T, value)                                                                                     \
    void lathe_x87_load_##kind(LatheX86Cpu *cpu, T bits) {                                                             \
        if (!overflows(cpu))                                                                                           \
            load(cpu, value, 0);                                                                                       \
    }

#define LOAD_FLOAT(kind, T, Float, insn, exponent)                                                                     \
    void lathe_x87_load_##kind(LatheX86Cpu *cpu, T bits) {                                                             \
        if (overflows(cpu))                                                                                            \
            return;                                                                                                    \
        union {                                                                                                        \
            T bits;                                                                                                    \
            Float value;                                                                                               \
        } plain = {bits};                                                                                              \
        bool is_normal = (bits & exponent) && (~bits & exponent);                                                      \
        if (is_normal || !(T)(bits << 1)) {                                                                            \
            load(cpu, plain.value, 0);                                                                                 \
            return;                                                                                                    \
        }                                                                                                              \
        long double v;                                                                                                 \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn " %[bits]" FPU_STATUS : "=t"(v), [sw] "=a"(sw) : [bits] "m"(bits));                      \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        load(cpu, v, sw);                                                                                              \
    }

#define CONSTANT(kind, insn)                                                                                           \
    void lathe_x87_load_##kind(LatheX86Cpu *cpu) {                                                                     \
        if (overflows(cpu))                                                                                            \
            return;                                                                                                    \
        long double v;                                                                                                 \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn FPU_STATUS : "=t"(v), [sw] "=a"(sw));                                                    \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        load(cpu, v, sw);                                                                                              \
    }

LOAD_FLOAT(f32, u32, float, "flds", 0x7f800000u)
LOAD_FLOAT(f64, u64, double, "fldl", 0x7ff0000000000000u)
LOAD_EXACT(f80, long double, bits)
LOAD_EXACT(i16, u16, (i16)bits)
LOAD_EXACT(i32, u32, (i32)bits)
LOAD_EXACT(i64, u64, (i64)bits)
CONSTANT(pi, "fldpi")
CONSTANT(l2e, "fldl2e")
CONSTANT(l2t, "fldl2t")
CONSTANT(lg2, "fldlg2")
CONSTANT(ln2, "fldln2")

void lathe_x87_load_one(LatheX86Cpu *cpu) {
    lathe_x87_load_f80(cpu, 1);
}

void lathe_x87_load_zero(LatheX86Cpu *cpu) {
    lathe_x87_load_f80(cpu, 0);
}

/* ----------------------------------------------------------------------------------------------------------- stores */

/* Stores give the value and do not pop: that comes after the guest's memory has taken it. */
#define STORE(kind, T, insn, indefinite)                                                                               \
    T lathe_x87_store_##kind(LatheX86Cpu *cpu) {                                                                       \
        fpu_wait(cpu);                                                                                                 \
        if (fpu_empty(cpu, 0)) {                                                                                       \
            fpu_stack_fault(cpu, 0);                                                                                   \
            return (T)(indefinite);                                                                                    \
        }                                                                                                              \
        T bits;                                                                                                        \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn " %0" FPU_STATUS : "=m"(bits), [sw] "=a"(sw) : "t"(*fpu_slot(cpu, 0)) : "st");           \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        fpu_commit(cpu, sw, FPU_C1, 0);                                                                                \
        return bits;                                                                                                   \
    }

STORE(f32, u32, "fstps", 0xffc00000)
STORE(f64, u64, "fstpl", 0xfff8000000000000)
STORE(i16, u16, "fistps", 0x8000)
STORE(i32, u32, "fistpl", 0x80000000)
STORE(i64, u64, "fistpll", 0x8000000000000000)
STORE(t16, u16, "fisttps", 0x8000) /* rounds toward zero */
STORE(t32, u32, "fisttpl", 0x80000000)
STORE(t64, u64, "fisttpll", 0x8000000000000000)

long double lathe_x87_store_f80(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    if (fpu_empty(cpu, 0)) {
        fpu_stack_fault(cpu, 0);
        return fpu_indefinite();
    }
    cpu->fpu_sw &= (u16)~FPU_C1;
    return *fpu_slot(cpu, 0);
}

/* ------------------------------------------------------------------------------------------------------- arithmetic */

#define ARITH_REG(name, insn)                                                                                          \
    void lathe_x87_##name(LatheX86Cpu *cpu, u32 dst, u32 src, u32 pops) {                                              \
        if (underflows(cpu, dst, src, pops))                                                                           \
            return;                                                                                                    \
        long double r;                                                                                                 \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn " %%st(1), %%st" FPU_STATUS                                                              \
                         : "=t"(r), [sw] "=a"(sw)                                                                      \
                         : "0"(*fpu_slot(cpu, dst)), "u"(*fpu_slot(cpu, src)));                                        \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        put_result(cpu, dst, r, sw, pops);                                                                             \
    }

#define ARITH_MEM(name, T, insn)                                                                                       \
    void lathe_x87_##name(LatheX86Cpu *cpu, T bits) {                                                                  \
        if (underflows(cpu, 0, 0, 0))                                                                                  \
            return;                                                                                                    \
        long double r;                                                                                                 \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn " %[bits]" FPU_STATUS                                                                    \
                         : "=t"(r), [sw] "=a"(sw)                                                                      \
                         : "0"(*fpu_slot(cpu, 0)), [bits] "m"(bits));                                                  \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        put_result(cpu, 0, r, sw, 0);                                                                                  \
    }

#define ARITH(name)                                                                                                    \
    ARITH_REG(name, "f" #name)                                                                                         \
    ARITH_MEM(name##_f32, u32, "f" #name "s")                                                                          \
    ARITH_MEM(name##_f64, u64, "f" #name "l")                                                                          \
    ARITH_MEM(name##_i16, u16, "fi" #name "s")                                                                         \
    ARITH_MEM(name##_i32, u32, "fi" #name "l")

ARITH(add)
ARITH(sub)
ARITH(subr)
ARITH(mul)
ARITH(div)
ARITH(divr)

#define UNARY(name)                                                                                                    \
    void lathe_x87_##name(LatheX86Cpu *cpu) {                                                                          \
        if (underflows(cpu, 0, 0, 0))                                                                                  \
            return;                                                                                                    \
        long double r;                                                                                                 \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile("f" #name FPU_STATUS : "=t"(r), [sw] "=a"(sw) : "0"(*fpu_slot(cpu, 0)));                      \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        put_result(cpu, 0, r, sw, 0);                                                                                  \
    }

UNARY(sqrt)
UNARY(rndint)

/* --------------------------------------------------------------------------------------------------------- compares */

/* C0 and C3, of values that cannot be unordered. */
static inline u16 order(long double a, long double b) {
    return a < b ? FPU_C0 : a == b ? FPU_C3 : 0;
}

static bool compares_plainly(LatheX86Cpu *cpu, u32 src, u32 pops) {
    if (!fpu_is_plain(cpu, 0) || !fpu_is_plain(cpu, src))
        return false;
    compared(cpu, order(*fpu_slot(cpu, 0), *fpu_slot(cpu, src)), pops);
    return true;
}

#define COMPARE_REG(name)                                                                                              \
    void lathe_x87_##name(LatheX86Cpu *cpu, u32 src, u32 pops) {                                                       \
        if (is_any_empty(cpu, src, pops) || compares_plainly(cpu, src, pops))                                          \
            return;                                                                                                    \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile("f" #name " %%st(1)" FPU_STATUS                                                               \
                         : [sw] "=a"(sw)                                                                               \
                         : "t"(*fpu_slot(cpu, 0)), "u"(*fpu_slot(cpu, src)));                                          \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        compared(cpu, sw, pops);                                                                                       \
    }

#define COMPARE_MEM(name, T, insn)                                                                                     \
    void lathe_x87_##name(LatheX86Cpu *cpu, T bits, u32 pops) {                                                        \
        if (is_any_empty(cpu, 0, pops))                                                                                \
            return;                                                                                                    \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile(insn " %[bits]" FPU_STATUS : [sw] "=a"(sw) : "t"(*fpu_slot(cpu, 0)), [bits] "m"(bits));       \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        compared(cpu, sw, pops);                                                                                       \
    }

COMPARE_REG(com)
COMPARE_REG(ucom)
COMPARE_MEM(com_f32, u32, "fcoms")
COMPARE_MEM(com_f64, u64, "fcoml")
COMPARE_MEM(com_i16, u16, "ficoms")
COMPARE_MEM(com_i32, u32, "ficoml")

void lathe_x87_tst(LatheX86Cpu *cpu) {
    if (is_any_empty(cpu, 0, 0))
        return;
    u16 sw;
    HostFpu host = fpu_enter(cpu);
    do
        asm volatile("ftst" FPU_STATUS : [sw] "=a"(sw) : "t"(*fpu_slot(cpu, 0)));
    while (fpu_again(cpu, &host, sw));
    fpu_leave(cpu, &host);
    compared(cpu, sw, 0);
}

/* C1 is the sign of the register's bits even where it is empty. */
void lathe_x87_xam(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    u16 sw = FPU_C3 | FPU_C0 | (cpu->st[cpu->fpu_top][9] >> 7 ? FPU_C1 : 0);
    if (!fpu_empty(cpu, 0))
        asm volatile("fxam" FPU_STATUS : [sw] "=a"(sw) : "t"(*fpu_slot(cpu, 0)));
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~FPU_CODES) | (sw & FPU_CODES));
}

/* C0 and C3 are 8 bits above CF and ZF. */
static u32 plain_flags(LatheX86Cpu *cpu, u32 src, u32 pops) {
    u32 flags = order(*fpu_slot(cpu, 0), *fpu_slot(cpu, src)) >> 8;
    pop_some(cpu, pops);
    return flags;
}

#define COMPARE_FLAGS(name)                                                                                            \
    u32 lathe_x87_##name(LatheX86Cpu *cpu, u32 src, u32 pops) {                                                        \
        if (is_flag_compare_empty(cpu, src, pops))                                                                     \
            return UNORDERED;                                                                                          \
        if (fpu_is_plain(cpu, 0) && fpu_is_plain(cpu, src))                                                            \
            return plain_flags(cpu, src, pops);                                                                        \
        bool z, p, c;                                                                                                  \
        u16 sw;                                                                                                        \
        HostFpu host = fpu_enter(cpu);                                                                                 \
        do                                                                                                             \
            asm volatile("f" #name " %%st(1), %%st" FPU_STATUS                                                         \
                         : "=@ccz"(z), "=@ccp"(p), "=@ccc"(c), [sw] "=a"(sw)                                           \
                         : "t"(*fpu_slot(cpu, 0)), "u"(*fpu_slot(cpu, src)));                                          \
        while (fpu_again(cpu, &host, sw));                                                                             \
        fpu_leave(cpu, &host);                                                                                         \
        if (fpu_commit(cpu, sw, 0, FPU_BEFORE))                                                                        \
            pop_some(cpu, pops);                                                                                       \
        return (u32)(z << 6 | p << 2 | c);                                                                             \
    }

COMPARE_FLAGS(comi)
COMPARE_FLAGS(ucomi)

#include "isa/x86_64/helpers/helpers_x87_moves.h"
