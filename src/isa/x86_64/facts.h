/* facts.h: what one x86-64 instruction is and does: the only model of it in the tree.
 *
 * The decoder of the lifter (decode.c), libbinopt's rewriters of machine code (src/binopt/x86_64/machine) and the tables by which the
 * client knows instructions (shape.h, view.h) all read these facts. They come from Zydis, from the flags in rows.def, and from
 * the lists in facts_memory.c, facts_kind.c and facts_class.c, where the manual says more than Zydis does. docs/facts.md has them as a
 * table. How accesses to memory are told, ACCESS_*, and classes are the same for every guest: isa/view.h.
 * No LLVM is in here.
 *
 * Every fact is about user mode in 64-bit mode, and is safe in one direction, which its comment gives: a register that is not in
 * `writes` is surely not written, one that is in `kills` surely is. */
#ifndef ISA_X86_64_FACTS_H
#define ISA_X86_64_FACTS_H

#include "isa/view.h"

/* ----------------------------------------------------------------------------------------------------------- registers */

/* The numbers of registers, of which RegSets are made. Those up to the last XMM register are in the first word of a RegSet. */
// clang-format off
enum {
    RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15,
    CF, PF, AF, ZF, SF, OF, DF,
    XMM0,                       /* bits 0–127 of the 32 vector registers */
    YMM0_HIGH = XMM0 + 32,      /* bits 128–255 */
    ZMM0_HIGH = YMM0_HIGH + 32, /* bits 256–511 */
    K0 = ZMM0_HIGH + 32,
    X86_REG_COUNT = K0 + 8,
};
// clang-format on

/* Classes of register operands. ST and MMX registers live in the guest state, not in SSA values: see helpers_x87.h. */
enum { CLS_GP = 1, CLS_VEC, CLS_MMX, CLS_ST, CLS_MASK, CLS_SEG, CLS_OTHER };

enum { SEG_NONE, SEG_FS, SEG_GS };

enum { PREFIX_LOCK = 1, PREFIX_REP = 2, PREFIX_REPNE = 4, PREFIX_VEX = 8, PREFIX_EVEX = 16, PREFIX_XOP = 32 };

/* --------------------------------------------------------------------------------------------------------- other state */

/* What an instruction has to do with besides memory and the registers of a RegSet. */
// clang-format off
enum {
    STATE_X87 = 1,          /* x87 and MMX registers, and their control, status and tag words */
    STATE_MXCSR = 2,        /* mxcsr as a value. Arithmetic goes by its rounding mode and sets its exceptions, and does not count */
    STATE_SEGMENT = 4,      /* segment registers or their bases, but for addressing memory */
    STATE_FLAGS = 8,        /* the register of flags as a whole, or the direction flag set for others: pushf, popf, std, cld */
    STATE_WHOLE = 16,       /* many registers at once, of which RegSets may lack some: fxsave, xsave, vzeroall, tiles */
    STATE_SYSTEM = 32,      /* the kernel's or a hypervisor's: syscall, int, sgdt, in */
    STATE_SHADOW = 64,      /* the shadow stack */
    STATE_HOST = 128,       /* tells what the processor is: cpuid, xgetbv */
    STATE_CHANCE = 256,     /* tells something else each time: rdtsc, rdrand, rdpid */
    STATE_TRAP = 512,       /* always faults in user mode: privileged ones, int, ud2, hlt */
    STATE_REGISTERS = 1024, /* registers that no RegSet has: x87, segment, control, bound and tile registers */
};
// clang-format on

/* ----------------------------------------------------------------------------------------------------------- the facts */

/* Which processors have it. */
typedef enum X86Level {
    X86_LEVEL_BASE,  /* all with x86-64 */
    X86_LEVEL_3,     /* those of its third level: AVX2, FMA, BMI */
    X86_LEVEL_OTHER, /* perhaps not even those */
} X86Level;

enum { COND_NONE = 0xff };

typedef struct X86Facts {
    u16 mnemonic; /* Zydis's; rows have the same numbers */
    u8 length;
    u16 prefixes;     /* PREFIX_* */
    u8 segment;       /* the override in force: SEG_*; those without an effect in 64-bit mode count as none */
    u16 operand_bits; /* effective sizes */
    u8 address_bits;
    bool vector;     /* in VEX, EVEX or XOP form, but for BMI's, whose operands are general registers */
    u16 vector_bits; /* of such a form; 0: of another */
    u8 level;        /* X86Level */
    bool has_row;    /* is its name that of its row? Zydis gives some names of rows to what is something else */

    /* Control. */
    u8 flow;       /* Flow */
    bool indirect; /* a jump, call or return to where a register or memory says */
    bool far;      /* a transfer with segments, iret, a transaction's begin or abort: no near jump, call or return */
    bool narrow;   /* a near one with a 16-bit operand size, which is another thing on each vendor's processors */
    u8 cond;       /* of a conditional jump, cmov or setcc: its code, 0 to 15; else COND_NONE */
    u64 target;    /* of a direct jump or call */

    /* Registers and flags. A value is in `reads` also if only a part of it is read. */
    RegSet reads;     /* all it may read but for addresses; addresses, too, where no operand says them (push, movs) */
    RegSet address;   /* those that the memory operand's address is made of, or that lea adds */
    RegSet writes;    /* all of which it may write some part */
    RegSet kills;     /* of these, those of which surely nothing is left */
    RegSet undefined; /* flags whose value afterwards the manual leaves open, for some operands at least */

    u16 state;     /* STATE_* */
    u16 classes;   /* CLASS_* of view.h */
    bool computes; /* does nothing but set its operands from its operands; may fault, as division does */

    /* Where parts are in its bytes; 0: there is none. */
    u8 modrm_at;
    u8 disp_at, disp_bytes;
    u8 tail_at; /* what is behind ModRM, SIB and displacement: where an immediate would be */

    u8 operand_count, access_count;
    bool more_operands;      /* there are more operands than INSN_OPERANDS */
    bool has_memory_operand; /* one of them is memory, accessed or not (lea, nop) */

    /* Operands, as they are written, and how each is used: ACCESS_READ, ACCESS_WRITE, ACCESS_MAYBE. */
    Operand op[INSN_OPERANDS];
    u8 how[INSN_OPERANDS];
    /* Accesses to memory: that of the memory operand, then what is implied. */
    InsnAccess access[INSN_ACCESSES];
} X86Facts;

/* The facts of the instruction at pc; false if the bytes are none. */
bool x86_facts(const u8 *bytes, size_t size, u64 pc, X86Facts *f);

/* Is the register of an operand in RegSets? Its number, or REG_NONE. Of a vector register it is the lowest part. */
Reg x86_operand_register(const Operand *op);

#endif
