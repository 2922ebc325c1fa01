/* copy.h: what the files of this folder use of each other. */
#ifndef RUN_CLIENT_COPY_H
#define RUN_CLIENT_COPY_H

#include "isa/x86_64/shape.h"
#include "run/client/code/quick/emit.h"

EmitResult emit_insn(Emitter *e, const Shape *shape);

/* gs.c: emits an instruction that cannot be copied as it is (SHAPE_OTHER) because it uses the guest's gs. */
typedef enum EmitGs {
    EMIT_GS_NOT,  /* it does not use gs, or this cannot be done; nothing was emitted */
    EMIT_GS_DONE, /* it was emitted */
    EMIT_GS_WITHOUT, /* it has to be emitted as the instruction *plain, whose bytes are in `text`; e->text is set to these */
    EMIT_GS_TARGET, /* it is a jump or call; code was emitted that loads its target into rcx, whose own value is spilled */
} EmitGs;
EmitGs emit_gs(Emitter *e, const Shape *shape, u8 text[SHAPE_BYTES], Shape *plain);
/* True if the kernel lets programs read and set the bases of segments by instructions. */
bool gs_has_instructions(void);
/* Emits the second half of a call, behind the block. jump: the site of its jump, if it is a direct call; other: the site of a jump in front of that,
 * for the case that the word of a PLT leads elsewhere. */
typedef struct EmitSites {
    u8 *jump, *other;
} EmitSites;
EmitSites emit_call_rest(Emitter *e, const EmitCall *call);

/* loop.c: returns the same instruction without the prefix that repeats it, and changes *shape accordingly. */
const u8 *loop_one_pass(const u8 *text, Shape *shape, u8 single[SHAPE_BYTES]);

/* copy_flags.c: true if the flags are written before they are read, from pc on. handed: a return hands the flags over to the code that it returns to. */
bool flags_are_dead(u64 pc, bool handed);

/* live.c: what the guest still needs of its registers before the instruction at pc. */
enum { LIVE_ALL = 0xffff };
typedef struct Live {
    u32 registers; /* a bit for each general register whose value is needed */
    bool flags;    /* the flags are needed */
    u32 overwritten; /* registers that the instruction overwrites without reading them: only a handler of its fault could see them */
    u8 distance[16]; /* after how many instructions each register is used */
} Live;
void live_look(Emitter *e, u64 pc, Live *live);
/* True if the instruction is copied as it is, and nothing but the handler of a fault looks at the registers there. */
bool live_is_copied(const InsnView *v);

/* copy_emit.c: copies the instruction at e->text. If it addresses memory relative to itself, it addresses what it would in the guest's code, where it
 * ends at e->next. */
void put_copy(Emitter *e, const Shape *s);

/* inner.c: what the machine code of a tool's function does, and which parts of it can be copied among the guest's instructions. */
enum { INNER_BLOCKS = 12, INNER_SPAN = 256 };
typedef enum InnerEnd { INNER_RETURNS, INNER_JUMPS, INNER_BRANCHES } InnerEnd;
typedef struct InnerBlock {
    u64 start, end;  /* of the instructions that only compute */
    u8 ends;         /* InnerEnd */
    u8 condition;    /* of a branch, as instructions encode it */
    bool cold;       /* it uses the stack, so it is not copied, but called */
    u8 target, next; /* the numbers of the blocks that follow it; next only behind a branch */
} InnerBlock;
typedef struct Inner {
    u64 function;
    bool direct; /* quick code may call it: it does not depend on the flag of direction, and uses no vector registers */
    u32 clobbers; /* the general registers that have other values afterwards */
    u32 needed;   /* the argument registers that it, or what it calls, reads before they are overwritten */
    u32 count;    /* of blocks; 0: it cannot be copied, only called as a whole */
    u32 copied_clobbers, copied_reads; /* the registers that copied blocks change, and read */
    bool has_cold;                     /* not all blocks are copied */
    bool renames;                      /* copies may use other registers than the original, except for `pinned` */
    u32 pinned;
    u32 bases;     /* registers that copies use as the base of an address only, */
    u32 constants; /* or where a constant could stand as well */
    u32 indexes;   /* registers that copies use as an index, which the stack pointer cannot be */
    bool straight; /* only one way through the function is copied: all others return at once, or are cold */
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
/* Returns NULL if there are too many functions. */
const Inner *inner_of(u64 function);

/* rename.c: instructions with other registers. */
typedef struct Names {
    u8 to[16];     /* the register that each one becomes */
    u32 folded;    /* registers whose value is known, so that instructions have it as a constant or displacement: */
    u32 in_thread; /* of these, the ones that are the address of a Thread's member */
    i32 at[16];    /* the value, or the member's offset */
} Names;
enum { RENAME_BYTES = 24 };
/* Writes the instruction with other names, and returns its length. */
u32 rename_insn(const u8 *text, const Shape *s, const Names *names, u8 out[RENAME_BYTES]);
/* How instructions use registers: a bit for each. */
typedef struct RenameUses {
    u32 pinned;  /* used without being named in the instruction, so it cannot be renamed */
    u32 sources; /* named where a constant could stand as well */
    u32 named;   /* named otherwise, but not as the base of an address */
    u32 indexes; /* named as an index; these are in `named`, too */
} RenameUses;
/* A mov between a register and a word in memory at [base + disp]. */
typedef struct RenameWord {
    bool stores;
    u32 reg, base;
    i32 disp;
} RenameWord;
/* Returns false if it is another instruction. */
bool rename_is_word(const u8 *text, const Shape *s, RenameWord *word);
/* Adds the uses of an instruction. Returns false if it cannot be renamed. */
bool rename_look(const u8 *text, const Shape *s, const InsnView *view, RenameUses *uses);
/* copy_flags.c: true if registers at pc have to be right even where the guest will write them before it reads them, because a handler of faults or a
 * tracer may look at them. */
bool quick_keeps_registers(u64 pc);
/* kept.c: lists registers that a visit has put aside and does not give back, because the instruction at `code` overwrites them. Their values are in
 * the Thread. */
void kept_add(const u8 *code, u32 registers);
u32 kept_at(const u8 *code);
void kept_forget_all(void);
/* visit_values.c: if the access to memory at `host` is one that a visit makes, where to go on after its fault; otherwise 0. */
u64 visit_detour(u64 host);
/* copy_visit.c: the offset in a Thread at which the guest's value of a register is while it is put aside. */
u32 visit_slot(u32 reg);
/* copy_visit.c: emits the parts of a tool's functions that are put behind the block. */
void put_cold(Emitter *e);

/* linkage.c: the address of the word by which code at pc jumps, if it does nothing else, as an entry of a PLT does; otherwise 0. */
u64 linkage_slot(u64 pc);
/* Emits: cmpq $0, slot; jne. Returns the jump's site. */
u8 *put_linkage(Emitter *e, u64 slot);

/* If quick code at `host` looks into the map, or writes a host address to the place of a return address, where to go on after its fault; otherwise 0.
 * If the target that is looked for can never be in the map, changes the code there so that it does not look for it again. */
u64 emit_detour(u64 host, u64 target);

#endif
