/* copy.h: between the files that copy instructions of the host's own kind. */
#ifndef RUN_CLIENT_COPY_H
#define RUN_CLIENT_COPY_H

#include "isa/x86_64/shape.h"
#include "run/client/code/quick/emit.h"

EmitResult emit_insn(Emitter *e, const Shape *shape);

/* gs.c: an instruction that is SHAPE_OTHER, if it is so by the guest's gs. */
typedef enum EmitGs {
    EMIT_GS_NOT, /* no, or it cannot be done */
    EMIT_GS_DONE,
    EMIT_GS_WITHOUT, /* as if it were *plain, with the bytes in `text`, which e->text is then */
    EMIT_GS_TARGET,  /* the same, and its target is in rcx, whose own value is spilled */
} EmitGs;
EmitGs emit_gs(Emitter *e, const Shape *shape, u8 text[SHAPE_BYTES], Shape *plain);
/* Does the kernel let programs read and set the bases of segments by instructions? */
bool gs_has_instructions(void);
/* The rest of a call, behind the block: the site of its jump if it is direct, and of one before it if it may lead elsewhere. */
typedef struct EmitSites {
    u8 *jump, *other;
} EmitSites;
EmitSites emit_call_rest(Emitter *e, const EmitCall *call);

/* loop.c: the same instruction without the prefix that repeats it, and its shape. */
const u8 *loop_one_pass(const u8 *text, Shape *shape, u8 single[SHAPE_BYTES]);

/* copy_flags.c: are the flags surely written before they are read, from pc on? `handed`: a return hands them over. */
bool flags_are_dead(u64 pc, bool handed);

/* live.c: the general registers, by their numbers, and the flags that the guest needs before the instruction at pc. */
enum { LIVE_ALL = 0xffff };
typedef struct Live {
    u32 registers;
    bool flags;
    u32 overwritten; /* by that instruction, which does not read them; nothing but a fault of its shows what they were */
    u8 distance[16]; /* after how many instructions each one is used */
} Live;
void live_look(Emitter *e, u64 pc, Live *live);
/* Is an instruction surely one of the host's, too, at which nobody but the handler of a fault looks? */
bool live_is_copied(const InsnView *v);

/* copy_emit.c: an instruction as it is, at e->text; what it addresses relative to itself is where it was before e->next. */
void put_copy(Emitter *e, const Shape *s);

/* inner.c: a function of a tool's as machine code. */
enum { INNER_BLOCKS = 12, INNER_SPAN = 256 };
typedef enum InnerEnd { INNER_RETURNS, INNER_JUMPS, INNER_BRANCHES } InnerEnd;
typedef struct InnerBlock {
    u64 start, end;  /* of the instructions that only compute */
    u8 ends;         /* InnerEnd */
    u8 condition;    /* of a branch, as instructions encode it */
    bool cold;       /* uses the stack: is not copied, but called */
    u8 target, next; /* numbers of blocks; next is of a branch only */
} InnerBlock;
typedef struct Inner {
    u64 function;
    bool direct;  /* may be called with the guest's flags of direction, and uses no vector registers */
    u32 clobbers; /* the general registers that have other values afterwards */
    u32 needed; /* of those in which it is given its arguments: the ones that it, or what it calls, reads before they have other values */
    u32 count;  /* of blocks; 0: it is not to be copied, but to be called as a whole */
    u32 copied_clobbers, copied_reads; /* the registers that blocks change and read which are copied */
    bool has_cold;                     /* not all blocks are copied */
    bool renames;                      /* copies may have other registers, but for */
    u32 pinned;                        /* these */
    u32 bases;                         /* registers that copies use for nothing but as the base of an address, */
    u32 constants;                     /* or as what could be a constant */
    u32 indexes;                       /* those that they use as an index, which the stack pointer cannot be */
    bool straight; /* nothing is copied but one way through the function: what is beside it returns, or is cold */
    struct {
        u16 writes;       /* the registers that the instruction changes */
        bool stores;      /* and perhaps memory */
    } effect[INNER_SPAN]; /* of copied instructions, by how many bytes behind the function's beginning they are */
    struct {
        u8 base; /* the register's first value that is copied is a word behind this register; REG_NONE: another one */
        i32 disp;
    } loads[16];
    InnerBlock block[INNER_BLOCKS];
} Inner;
/* NULL: there are too many functions. */
const Inner *inner_of(u64 function);

/* rename.c: other names for registers. The value of one of `folded` is known: it is this number, or the address of this offset in the Thread. An operand in memory, or the
 * instruction, has it in itself. */
typedef struct Names {
    u8 to[16];
    u32 folded, in_thread;
    i32 at[16];
} Names;
enum { RENAME_BYTES = 24 };
/* The instruction with other names; returns its length. */
u32 rename_insn(const u8 *text, const Shape *s, const Names *names, u8 out[RENAME_BYTES]);
/* Registers that instructions use without naming them; those that they name as what could be a constant; those that they name in another way, but as the base of an
 * address; and, of these, those that are an index. */
typedef struct RenameUses {
    u32 pinned, sources, named, indexes;
} RenameUses;
/* mov between a register and a word in memory behind another register. */
typedef struct RenameWord {
    bool stores;
    u32 reg, base;
    i32 disp;
} RenameWord;
/* False: it is another instruction. */
bool rename_is_word(const u8 *text, const Shape *s, RenameWord *word);
/* Adds those of an instruction; false: it cannot be renamed. */
bool rename_look(const u8 *text, const Shape *s, const InsnView *view, RenameUses *uses);
/* copy_flags.c: may somebody look at registers in the middle of the code at pc which the guest will write before it reads them? */
bool quick_keeps_registers(u64 pc);
/* kept.c: registers that a visit has put aside and does not give back, because the instruction at `code` overwrites them: their values are in the Thread. */
void kept_add(const u8 *code, u32 registers);
u32 kept_at(const u8 *code);
void kept_forget_all(void);
/* visit_values.c: where to go on if an access at `host` faults that a visit makes; 0: it is none. */
u64 visit_detour(u64 host);
/* copy_visit.c: where the guest's value of such a register is in the Thread. */
u32 visit_slot(u32 reg);
/* copy_visit.c: the parts of a tool's functions that are behind the block. */
void put_cold(Emitter *e);

/* linkage.c: the word by which code at pc jumps, if it does nothing else, as an entry of a PLT does; 0: it is no such code. */
u64 linkage_slot(u64 pc);
/* cmpq $0, slot; jne. Returns the jump's site. */
u8 *put_linkage(Emitter *e, u64 slot);

/* Where to go on if the access of quick code at `host` to the map, or to the place of a return address, faults; 0: it is none. If the target that is looked
 * for is never in the map, the code there does not look for it again. */
u64 emit_detour(u64 host, u64 target);

#endif
