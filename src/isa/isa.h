/* isa.h: what a guest architecture is, and what it may ask of the lifter.
 *
 * An ISA is one constant `Isa`: its registers, a decoder that turns bytes into `Insn`, and the meaning of each instruction
 * written against `Insn` operands in the vocabulary of ir/ir.h and of the functions at the end of this header. Shared code
 * knows nothing else of an ISA. Who holds the registers is behind `LiftOps`: in SSA values when a whole function is lifted
 * (src/lift), and the same meanings can be run by another holder, whose operands are known only later.
 *
 * The contract of a meaning: read all operands, compute, write results, write flags. Registers are read and written only on
 * the instruction's main line, not inside blocks that it opens itself.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "ir/ir.h"
#include "isa/helper.h"
#include "isa/insn.h"
#include "isa/view.h"

/* ------------------------------------------------------------------------------------------------------------- effects */

/* What an instruction does, told to those who look back from a computed jump for its table. OTHER is always right. */
typedef enum EffectKind {
    EFFECT_OTHER,
    EFFECT_CONSTANT, /* to = value */
    EFFECT_ADD,      /* to = a + value: copies, too; of a computed jump: where it goes */
    EFFECT_SUM, /* to = a + (b << shift) + value; a may be REG_NONE; of b the low from_bits count, sign-extended if is_signed */
    EFFECT_SHIFT_LEFT,  /* to = a << shift */
    EFFECT_SHIFT_RIGHT, /* to = a >> shift, unsigned */
    EFFECT_AND,         /* to = a & value */
    EFFECT_EXTEND,      /* to = the low from_bits of a */
    EFFECT_LOAD,        /* to = from_bits at mem; of a computed jump: where it goes */
    EFFECT_STORE,       /* the low bits of a are stored at mem */
    EFFECT_COMPARE,     /* only compares */
} EffectKind;

typedef struct Effect {
    u8 kind;
    u8 bits;        /* of the result, or of what is compared; a narrower one than 32 bits keeps the rest of `to` */
    u8 from_bits;   /* EXTEND, LOAD, SUM */
    bool is_signed; /* is what is narrower than the register sign-extended? */
    Reg to, a, b;
    u8 shift;
    i64 value;
    const Operand *mem;
    const Operand *left, *right; /* registers, memory or an immediate that are compared besides; NULL: none are */
} Effect;

/* ---------------------------------------------------------------------------------------------------------- the ISA */

/* The C calling convention, for wrappers. */
typedef struct CallAbi {
    const Reg *int_args, *float_args;
    u32 int_arg_count, float_arg_count;
    Reg int_result, float_result, stack;
    const Reg *memory_result; /* has the address of a result in memory; NULL: the first integer argument is that */
    u32 return_address_bytes; /* what a call pushes on the stack */
    bool signed_ints;         /* are 32-bit arguments, of whatever kind, sign-extended? */
    RegSet kept;              /* registers that a callee leaves as they were */
    RegSet results;           /* those that results may be in */
    RegSet passed;            /* those that a callee may find something in: arguments, and what goes with them */
    bool extended_in_memory;  /* is a long double passed in memory, in 16 bytes, and returned on the x87 stack? */
    /* What the C library has behind the thread pointer that programs look at; 0: the program's own variables are there, and else before it. */
    u32 thread_bytes;
    u32 red_zone_bytes;     /* below the stack pointer, that a function may use as it likes */
    bool choosers_are_told; /* are functions that choose one (STT_GNU_IFUNC) handed what the processor can do? */
    u32 thread_gap; /* what the C library has between the thread pointer and the program's own variables, if these are behind it */
} CallAbi;

/* What a dynamic relocation writes. */
typedef enum RelocationKind {
    RELOCATION_OTHER,
    RELOCATION_RELATIVE, /* an address in the image */
    RELOCATION_ADDRESS,  /* that of a symbol */
    RELOCATION_COPY,     /* another file's variable, which is to be here */
    RELOCATION_THREAD,   /* a thread-local variable's distance from the thread pointer */
    RELOCATION_MODULE,   /* the number of the file that a thread-local variable is in */
    RELOCATION_CHOSEN,   /* what the function at this address returns */
    RELOCATION_OFFSET,   /* a thread-local variable's place among those of its file */
} RelocationKind;

/* How code may use a word of memory that has a function's address. */
typedef enum SlotUse {
    SLOT_UNUSED,
    SLOT_CALLED, /* it calls or jumps to what the word has */
    SLOT_USED,   /* in another way */
} SlotUse;

/* What a field of the guest state that is no Reg has where a program begins. */
typedef struct StateField {
    u32 off_bytes, bits;
    u64 value;
} StateField;

typedef struct Isa {
    LatheArch arch;
    u32 elf_relative; /* the type of relocations that add the load bias */
    u32 elf_chosen;   /* and of those that have it written what a function returns */
    u32 elf_symbolic; /* and of those that are a symbol's address of 64 bits */
    RelocationKind (*relocation_kind)(u32 type);
    /* Does what is at `pc` refer to a word of memory? For linking calls through such words; NULL: that is not done. */
    SlotUse (*slot_use)(const u8 *bytes, size_t size, u64 pc, u64 *slot);
    /* Makes a SLOT_CALLED direct, to `to`, in place. False: that is too far. */
    bool (*link_call)(u8 *bytes, u64 pc, u64 to);
    const RegInfo *regs;
    u32 reg_count;
    u32 state_bytes, pc_off, trap_off, trap_info_off;
    const StateField *initial; /* ended by one of no bits */
    bool ordered_memory;       /* do others see loads before all accesses behind them, and stores in their order? */
    RegSet dead_at_calls;      /* registers that no calling convention keeps: the flags */
    CallAbi abi;
    const Reg *hot_ints, *hot_vectors; /* the registers most worth a host register, best first */
    u32 hot_int_count, hot_vector_count;

    /* Decode the bytes at pc; fills everything but discovery's fields. A negative LatheStatus if there is no instruction:
     * LATHE_ERR_MEMORY if it may be one that the bytes end inside of. */
    LatheStatus (*decode)(const u8 *bytes, size_t size, u64 pc, Insn *in);
    void (*lift)(Lifter *l, const Insn *in); /* its meaning; called only if row is not 0 */
    bool (*sets_rounding)(const Insn *in);   /* does it change the floating-point environment? */
    Effect (*effect)(const Insn *in);
    /* What a tool sees of the instruction: insn_view and insn_opcode_name of view.h. */
    bool (*view)(const u8 *bytes, size_t size, u64 pc, InsnView *view);
    const char *(*opcode_name)(u32 opcode);
    /* The address of an access of such a view, as an i64, by the registers as they are. None of ACCESS_BYTE_INDEX and ACCESS_ELEMENTS. */
    Val (*address)(Lifter *l, const Operand *at);
    /* Of a branch: the register by which it knows of the comparison, REG_NONE if it compares itself; and what holds between
     * the operands compared if it is taken. False: it is of another kind. */
    bool (*condition)(const Insn *branch, Reg *flags, Pred *taken);
    int (*format)(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size);
    bool (*support)(const Host *host, size_t index, LatheSupport *row);
    /* What `support` says of deviations, as far as it holds for this one instruction, which has a row; NULL: nothing. */
    const char *(*deviation)(const Host *host, const Insn *in);
    const char *(*row_name)(u32 row);
    const Helper *const *helpers; /* tables of helpers, ended by NULL */
    const u8 *
        sample; /* code of a function with a loop over memory, arithmetic and a call: what lifting it uses is in memory then */
} Isa;

/* The ISA of an architecture, and its name for people; of an ELF file's machine; NULL if there is none. */
const Isa *isa_find(LatheArch arch);
const char *isa_name(LatheArch arch);
const Isa *isa_of_machine(u32 elf_machine);
/* The host's own, or NULL. */
const Isa *isa_of_host(void);

/* ----------------------------------------------------------------------------- what the holder of the registers offers */

/* A value made only when somebody reads it. `arg` outlives the lifting. */
typedef Val MakeLazy(Lifter *l, const void *arg, Reg r);

typedef struct LiftOps {
    Val (*immediate)(Lifter *l, const Insn *in, int i, Ty t);
    Val (*read)(Lifter *l, Reg r, Ty t);
    void (*write)(Lifter *l, Reg r, Val v);
    void (*write_low)(Lifter *l, Reg r, Val v);
    void (*also)(Lifter *l, Reg r, Val v);
    void (*copy)(Lifter *l, Reg to, Reg from);
    bool (*has)(Lifter *l, Reg r, Ty t);
    void (*defer)(Lifter *l, Reg r, MakeLazy *make, const void *arg);
    const void *(*deferred)(Lifter *l, Reg r, MakeLazy *make);
    Val (*place)(Lifter *l, Reg r); /* NULL: registers have none */
    void (*trap_if)(Lifter *l, const Insn *in, Val cond, LatheTrap trap);
    Label (*fault_exit)(Lifter *l, const Insn *in); /* where an access goes that faults */
    void (*trap)(Lifter *l, const Insn *in, u64 pc, LatheTrap trap, u32 info);
    void (*jump)(Lifter *l, const Insn *in);
    void (*branch)(Lifter *l, const Insn *in, Val cond);
    void (*jump_to)(Lifter *l, const Insn *in, Val pc);
    void (*call)(Lifter *l, const Insn *in, Val pc);
    void (*ret)(Lifter *l, const Insn *in, Val pc);
    void (*call_out)(Lifter *l, const Insn *in, Val fn, bool may_move);
} LiftOps;

/* The immediate or displacement of operand i, of which the holder may know only whether it is zero. */
static inline Val immediate(Lifter *l, const Insn *in, int i, Ty t) {
    return l->ops->immediate(l, in, i, t);
}
/* Register r in the type t: its low bits, or all of them under another view. */
static inline Val reg_read(Lifter *l, Reg r, Ty t) {
    return l->ops->read(l, r, t);
}
/* Set all of r; a narrower value is zero-extended. */
static inline void reg_write(Lifter *l, Reg r, Val v) {
    l->ops->write(l, r, v);
}
/* Set the low lane of a vector register to a floating-point scalar and keep the rest. */
static inline void reg_write_low(Lifter *l, Reg r, Val v) {
    l->ops->write_low(l, r, v);
}
/* What r was just set to is, in its low bits, also v: saves later reads a conversion. */
static inline void reg_also(Lifter *l, Reg r, Val v) {
    l->ops->also(l, r, v);
}
static inline void reg_copy(Lifter *l, Reg to, Reg from) {
    l->ops->copy(l, to, from);
}
/* Is r at hand in the type t without a conversion? */
static inline bool reg_has(Lifter *l, Reg r, Ty t) {
    return l->ops->has(l, r, t);
}
static inline void reg_defer(Lifter *l, Reg r, MakeLazy *make, const void *arg) {
    l->ops->defer(l, r, make, arg);
}
/* The argument r was deferred with, if its value is still of that kind; else NULL. */
static inline const void *reg_deferred(Lifter *l, Reg r, MakeLazy *make) {
    return l->ops->deferred(l, r, make);
}

/* Where in memory r is while the instruction runs, for C functions that read and write it there; NULL: it is a value. */
static inline Val reg_place(Lifter *l, Reg r) {
    return l->ops->place ? l->ops->place(l, r) : NULL;
}

/* The argument that all of some registers were deferred with: bit n of the set stands for register first + n. NULL: there is none, or not one for all. */
const void *reg_common_deferred(Lifter *l, Reg first, u32 set, MakeLazy *make);

/* Leave the function before `in` has any effect, if cond holds. */
static inline void trap_if(Lifter *l, const Insn *in, Val cond, LatheTrap t) {
    l->ops->trap_if(l, in, cond, t);
}
/* Leave the function with cpu->pc = pc. Ends the block. */
static inline void trap(Lifter *l, const Insn *in, u64 pc, LatheTrap t, u32 info) {
    l->ops->trap(l, in, pc, t, info);
}
/* These end the block: to in->target; to it or the next instruction; to a computed address; call; return. */
static inline void jump(Lifter *l, const Insn *in) {
    l->ops->jump(l, in);
}
static inline void branch(Lifter *l, const Insn *in, Val cond) {
    l->ops->branch(l, in, cond);
}
static inline void jump_to(Lifter *l, const Insn *in, Val pc) {
    l->ops->jump_to(l, in, pc);
}
static inline void call_to(Lifter *l, const Insn *in, Val pc) {
    l->ops->call(l, in, pc);
}
static inline void return_to(Lifter *l, const Insn *in, Val pc) {
    l->ops->ret(l, in, pc);
}
/* Call a function of the module, void(ptr cpu), with the whole guest state in memory and pc after `in`. If it may move the pc,
 * the lifted function returns where it did. */
static inline void call_out(Lifter *l, const Insn *in, Val fn, bool may_move) {
    l->ops->call_out(l, in, fn, may_move);
}

/* Guest addresses as constants; with position independence relative to the module's symbol. */
Val pc_value(Lifter *l, u64 addr);
Val pc_pointer(Lifter *l, u64 addr);

/* Guest memory; tells the memory marker, if there is one. */
Val guest_load(Lifter *l, const Insn *in, Ty t, Val ptr, u32 align);
void guest_store(Lifter *l, const Insn *in, Val v, Val ptr, u32 align);
enum { LOADS = 1, STORES = 2 };
void guest_access(Lifter *l, const Insn *in, Val ptr, u32 size_bytes, u32 kind); /* only the marker */
/* Leave with LATHE_TRAP_MISALIGNED if the address is no multiple of `bytes`. */
void guest_want_aligned(Lifter *l, const Insn *in, Val ptr, u32 bytes);
/* Stores v if ptr is the address in register `reserved` and memory still has the value that was expected; nothing is reserved from then on. Returns whether
 * that failed, as I1. Another thread can have changed the value and back meanwhile, where a CPU would fail: reservations are used as compare-and-exchange is, and
 * code that could tell is not known. */
Val guest_store_if_reserved(Lifter *l, const Insn *in, Reg reserved, Val ptr, Val expected, Val v, Order order);

#endif
