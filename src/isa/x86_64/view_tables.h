/* view_tables.h: what view.c knows of each instruction: tables that view_generate.c makes from the facts of facts.h when Lathe is built.
 *
 * Which row an instruction has depends on its opcode and on some bits of the rest, its key. For each opcode there is a decision diagram: a node
 * tests one bit of the key and leads to another node or to a row. Equal nodes are there once, so that most opcodes share all theirs with
 * others. The opcode's name is found by a second diagram. */
#ifndef ISA_X86_64_VIEW_TABLES_H
#define ISA_X86_64_VIEW_TABLES_H

#include "isa/view.h"
#include "isa/x86_64/scan.h"

/* The bits of a key. In this order the nodes test them. */
enum {
    KEY_REGISTER,  /* ModRM means a register */
    KEY_PP,        /* two bits, as VEX has them: none, 66, F3 or F2. Of legacy prefixes F2 and F3 count before 66 */
    KEY_PP_HIGH,   /* its higher bit */
    KEY_OPERAND16, /* the prefix 66, also where F2 or F3 counts */
    KEY_W,         /* of REX, VEX, EVEX or XOP */
    KEY_ADDRESS32, /* the prefix 67, of a legacy opcode without ModRM */
    KEY_LENGTH,    /* two bits: L of VEX and XOP, L'L of EVEX */
    KEY_LENGTH_HIGH,
    KEY_B,       /* EVEX's broadcast or rounding */
    KEY_MASKED,  /* EVEX's mask is not k0 */
    KEY_ZEROING, /* EVEX's z */
    KEY_REG,     /* three bits of ModRM */
    KEY_RM = KEY_REG +
             3, /* three bits of ModRM; of memory 4 where there is a SIB byte, 5 where it is relative to rip, else 0 */
    KEY_REX_B = KEY_RM + 3, /* of an opcode without ModRM */
    KEY_BITS,
};

/* A reference below VIEW_NODE is the number of a row or name, one from there on that of a node. */
enum { VIEW_NODE = 0x8000 };

typedef struct ViewNode {
    u8 bit;
    u16 next[2];
} ViewNode;

/* Parts of an instruction that can be the number of a general register, and what becomes of that register. */
enum { FIELD_REG, FIELD_RM, FIELD_VVVV, VIEW_FIELDS }; /* FIELD_RM: of an opcode without ModRM its lowest three bits */
enum {
    ROLE_READ = 1,
    ROLE_WRITE = 2,
    ROLE_KILL = 4,
    ROLE_BYTE = 8
}; /* BYTE: without REX, 4 to 7 are ah, ch, dh and bh */

enum {
    ROW_READS_FLAGS = 1,
    ROW_WRITES_FLAGS = 2,
    ROW_KILLS_FLAGS = 4,
    ROW_SHIFTS = 8,     /* by its immediate: by 0 it keeps the flags */
    ROW_LOCKABLE = 16,  /* with the prefix F0, too, it is an instruction */
    ROW_HAS_VVVV = 32,  /* vvvv is used: elsewhere all its bits are to be set */
    ROW_POPS = 64,      /* an address by rsp goes by what that is afterwards */
    ROW_INDIRECT = 128, /* InsnView.indirect */
    ROW_LAST = 256,     /* the memory operand is accessed after what is implied */
    ROW_WIDE = 512,     /* what is shifted has 64 bits */
    ROW_OPEN = 1024,    /* how many bytes the memory operand has depends on the processor: `bytes` is the least */
};

typedef struct ViewRow {
    u16 classes, flags;
    u16 reads, writes, kills; /* registers that it always has to do with */
    u16 bytes;                /* of the memory operand */
    u8 how;                   /* of it: ACCESS_*; 0: there is none, or it is not accessed */
    u8 disp_shift;            /* a displacement of 8 bits counts so often: EVEX */
    u8 role[VIEW_FIELDS];
    u8 flow;
    u8 implied, implied_count; /* in view_implied */
} ViewRow;

/* The base of an implied access is a register, or what one of the fields says. */
enum { BASE_FIELD = 16 };

typedef struct ViewAccess {
    u8 how;
    u8 base, index;
    i8 disp;
    u16 bytes;
    bool takes_segment, takes_size; /* do the prefixes 64 and 65, and 67, count? */
} ViewAccess;

extern const u16 view_root[SPACE_COUNT][256];      /* leads to a row; row 0: there is no such instruction */
extern const u16 view_name_root[SPACE_COUNT][256]; /* leads to a name; what it says where row 0 is, is of no use */
extern const ViewNode view_node[];
extern const ViewRow view_row[];
extern const ViewAccess view_implied[];
/* Names one after the other, each ended by 0, and where each begins. */
extern const char view_names[];
extern const u16 view_name_at[];
extern const u32 view_name_count;

#endif
