/* view.h: what a tool sees of one instruction, the same for every guest: how control goes on, the general registers and the flags that
 * it reads and writes, its accesses to memory, its classes and its name.
 *
 * It needs no library and no memory, so that the freestanding client has it, and is asked for once for each instruction that is translated.
 *
 * Every fact is about user mode, and is safe in one direction: a register that is not in `writes` is surely not written, one that is not
 * in `reads` has surely no influence, and one that is in `kills` surely has nothing left of its old value. The flags go likewise. What
 * cannot be told is told to be unknown: insn_view says false, or an access says that its address or size is not all. */
#ifndef ISA_VIEW_H
#define ISA_VIEW_H

#include "isa/insn.h"

/* -------------------------------------------------------------------------------------------------------------- memory */

/* How memory is accessed; the first two also say how an operand is used. */
enum {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_MAYBE =
        4, /* all or some of its bytes may be left out: masked moves, rep with a count of 0, cmpxchg's write */
    ACCESS_REPEATED = 8,    /* once for each pass of rep, from the address on, up or down; `bytes` is of one pass */
    ACCESS_AROUND = 16,     /* not only at the address: bt with its bit's number in a register, enter, tiles */
    ACCESS_ELEMENTS = 32,   /* the index is a vector register: `bytes` at each of the addresses it makes */
    ACCESS_BYTE_INDEX = 64, /* of the index register only the lowest 8 bits count: xlat */
    ACCESS_IMPLIED = 128,   /* no operand says so: push, call, string instructions, maskmov */
};

/* One access to memory. `at` is the address by the values that registers have before the instruction: that of a push is below
 * the stack pointer. */
typedef struct InsnAccess {
    u8 how;
    u16 bytes; /* 0: it depends on the processor (xsave); then at.bits is of what is accessed in any case */
    Operand at;
} InsnAccess;

enum { INSN_ACCESSES = 5 };

/* ------------------------------------------------------------------------------------------------------------- classes */

/* What an instruction is; it may be of several classes. One that does nothing (nop, a hint) is of none. */
// clang-format off
enum {
    CLASS_INTEGER = 1,    /* moves or computes integers in general registers, memory or flags; no transfer of control */
    CLASS_FLOAT = 2,      /* has to do with floating-point values, moves and conversions included */
    CLASS_VECTOR = 4,     /* works on vectors: all that uses vector or mask registers, but for a single floating-point value in one */
    CLASS_BRANCH = 8,     /* goes to its target or on */
    CLASS_JUMP = 16,      /* goes elsewhere always, and is neither call nor return */
    CLASS_CALL = 32,
    CLASS_RETURN = 64,
    CLASS_LOAD = 128,     /* reads memory, for a part of what it does at least: pop, return and atomic operations, too */
    CLASS_STORE = 256,    /* writes memory, likewise */
    CLASS_ATOMIC = 512,   /* accesses memory atomically, or orders accesses: fences */
    CLASS_STRING = 1024,  /* goes through memory by itself: rep movs and others, repeated or not */
    CLASS_SYSTEM = 2048,  /* calls the system, traps, or has to do with the state of the processor: cpuid, csrrw, mxcsr */
};
// clang-format on

enum { CLASS_COUNT = 12 };

/* The classes that control and accesses alone tell. */
u16 classes_of_flow(Flow flow);
u16 classes_of_accesses(const InsnAccess *access, u32 count);

/* ------------------------------------------------------------------------------------------------------------ the view */

typedef struct InsnView {
    u8 size;       /* in bytes */
    u8 flow;       /* Flow. A transfer between segments, or the begin of a transaction, is told like a near one */
    bool indirect; /* a jump, call or return to where a register or memory says */
    u64 target;    /* of a direct one */
    u16 opcode;    /* for insn_opcode_name: below INSN_OPCODES */
    u16 classes;   /* CLASS_* */

    /* General registers: bit n is the register with the number n (isa/insn.h: Reg). A register is read also if only a part of it is, or
     * if an address is made of it. One that is always zero is in no set. What leaves for the system, FLOW_SYSCALL and FLOW_STOP, may read
     * and write all of them, and the flags: a signal's handler sees them, and returning from one sets them. */
    u32 reads, writes;
    u32 kills; /* of `writes`, those of which surely nothing is left */

    /* The flags that arithmetic sets (carry, zero, overflow and so on), where a guest has flags. That of direction is not among them. */
    bool reads_flags;  /* may read some */
    bool writes_flags; /* may write some */
    bool kills_flags;  /* surely writes all */

    /* In the order in which they are made: loads come before stores. What is both is a load, then a store. */
    u8 access_count;
    InsnAccess access[INSN_ACCESSES];
} InsnView;

/* For those who make a view: adds all general registers, and the flags, if the instruction leaves for the system. */
void view_add_system(InsnView *view, u32 general);

/* A bound of the numbers of opcodes, for tables that a tool has. Which opcode has which number may change with each version of Lathe. */
enum { INSN_OPCODES = 2048 };

/* Views the instruction at pc; false: the bytes are none that is known, and *view is of no use. Isa.view is the same for a certain guest;
 * these are of the client's one. */
bool insn_view(const u8 *bytes, size_t size, u64 pc, InsnView *view);
/* The short name of an opcode, such as "mov"; "?" if there is none of that number. */
const char *insn_opcode_name(u32 opcode);

#endif
