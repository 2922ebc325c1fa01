/* emit.h: single instructions of quick code. Addresses are those where the code will run. There are two makers of it: copy.c, where the
 * guest's instructions are the host's own, and stencil_emit.c. */
#ifndef RUN_CLIENT_EMIT_H
#define RUN_CLIENT_EMIT_H

#include "guest_cpu.h"
#include "isa/view.h"
#include "lathe/tool.h"

typedef enum ExitKind {
    EXIT_LINK,       /* goes on at pc */
    EXIT_INSIDE,     /* likewise, in the middle of what a tool sees as a block */
    EXIT_CALL,       /* as EXIT_LINK, where a function begins */
    EXIT_CALL_FLAGS, /* the same, and what it returns to reads the flags; not linked before it is used */
    EXIT_LINKAGE, /* to code at pc that jumps by a word in memory, as the dynamic linker's do; the next exit leads to where it jumps to: see emit_linkage */
    EXIT_UNBOUND, /* such a next one, before that is known: it is EXIT_CALL then */
    EXIT_VISIT, /* a tool's functions are called; pc is the number of the visit (visit.c), and the exit's code follows */
    EXIT_ONCE,  /* the same, until they were called: its place is one of emit_switch */
    EXIT_SYSCALL,
    EXIT_SPECIAL,     /* what guest_special does; pc is behind it */
    EXIT_INTERRUPT,   /* pc is the instruction itself here and below */
    EXIT_UNSUPPORTED, /* cannot be copied */
    EXIT_UNDEFINED,   /* no instruction */
    EXIT_UNREADABLE,  /* no memory with code */
} ExitKind;

enum { EMIT_INSNS = 128 }; /* most of a block */

/* A host call does not know the guest's return address: it leads to some code behind the block that puts it on the stack. */
typedef struct EmitCall {
    u8 *site;      /* displacement of the host call */
    u64 pc, next;  /* where the guest calls, and returns to */
    u64 slot;      /* what is called only jumps by the word there; 0: no */
    bool indirect; /* pc is in rcx instead */
} EmitCall;

/* Where a call returns to, and the code for that. */
typedef struct EmitReturn {
    u64 pc;
    const u8 *code;
} EmitReturn;

/* What the guest still needs before each of some instructions that follow one another. */
enum { EMIT_LIVE = 32 };
typedef struct EmitLive {
    u32 count;
    struct {
        u64 pc;
        u32 registers; /* by their numbers, as in an InsnView */
        bool flags;
        u32 used, overwritten; /* registers that it reads or writes; those that it writes without reading them */
    } at[EMIT_LIVE];
} EmitLive;

/* What a function of a tool's is given. */
typedef enum EmitValueKind {
    VALUE_CONSTANT,   /* number */
    VALUE_REGISTER,   /* the guest's register of this number */
    VALUE_ADDRESS,    /* that of an operand in memory, by the values that registers have before the instruction */
    VALUE_LOADED,     /* the word at such an address; something else where there is no memory to read */
    VALUE_THREAD,     /* the address of what is at this offset in the Thread */
    VALUE_THREAD_U32, /* the 32 bits there */
    VALUE_TAKEN,      /* 1 if the branch at e->pc is about to be taken, else 0 */
} EmitValueKind;

typedef struct EmitValue {
    u8 kind; /* EmitValueKind */
    u64 number;
    Operand at;
} EmitValue;

/* Registers that have words of the tool's own in the Thread, from one visit to the next, and the offsets of these. The guest does not need what it has there, or its value is aside. */
enum { EMIT_REGISTERS = 16, EMIT_ASIDE_WORDS = 1 << EMIT_REGISTERS };
typedef struct EmitWords {
    u32 registers;
    u32 off[EMIT_REGISTERS];
} EmitWords;

typedef struct Emitter {
    u8 *at;         /* where the next byte goes */
    u64 pc, next;   /* the guest's instruction, and the one behind it */
    const u8 *text; /* its bytes, as far as they matter */
    EmitCall call[EMIT_INSNS];
    EmitReturn returned[EMIT_INSNS];
    u32 calls, returns;
    u32 colds, rests; /* parts of a tool's functions that are behind the block: copy_visit.c */
    EmitLive live;
    u64 kept_pc; /* what was done before this instruction has changed registers that it overwrites: */
    u32 kept;
    u32 aside; /* registers that visits have put aside, and that nobody has needed since; above them, whether registers have other words (EMIT_ASIDE_WORDS) */
    EmitWords words;
    bool flags_set;             /* for whom it returns to */
    u64 looked_from, looked_to; /* what lies there has been looked at to emit the block's code, if it is not empty */
    bool one_pass;              /* of a repeated instruction only one pass is emitted */
} Emitter;

/* A repeated instruction as a loop of passes. */
typedef struct EmitLoop {
    u8 *begin;
    u8 *site; /* of the jump to its end */
} EmitLoop;

typedef struct EmitExit {
    ExitKind kind;
    u64 pc;
    u8 *site; /* the displacement of a jump, still to be set; NULL: the exit's code follows what was emitted */
} EmitExit;

typedef struct EmitResult {
    bool ends;    /* nothing behind it is reached from it */
    bool returns; /* it is a call: somebody will return behind it */
    bool exits;
    EmitExit exit; /* if it has one */
} EmitResult;

/* What comes from the map finds this code, of so many bytes, in front of the guest instruction that it goes to: it gives the guest a register back. Where
 * quick code has registers to itself there is none. */
extern const u32 emit_entry_bytes;
void emit_entry(Emitter *e);
/* Is it there, in front of this code? */
bool emit_is_entered(const u8 *code);

/* Most bytes for one guest instruction, and for an exit. */
enum { EMIT_INSN_BYTES = GUEST_CODE_BYTES, EMIT_LEAVE_BYTES = 20 };

/* What blocks need beside them, before there are any. */
void emit_prepare(void);
/* The instruction at e->pc, of which so many bytes are there: *next is behind it, or behind what it would take to be one. */
EmitResult emit_next(Emitter *e, u64 bytes, u64 *next);
/* Calls of code that only jumps by a word in memory (an entry of a PLT) compare the word with where it has led, and go there directly. The word is known
 * once the dynamic linker has written it: false before, or if the code is not that any more. */
bool emit_linkage(u64 pc, u8 *site, u64 *target);
/* From now on that is what it is compared with; 0: nothing. */
void emit_set_linkage(u8 *site, u64 target);
/* The code around one pass of the repeated instruction at e->pc: leaves the loop if no pass is left; counts a pass; goes to the begin if another one follows. What is
 * emitted between the last two has the registers as they are behind the pass. */
EmitLoop emit_loop_begin(Emitter *e, u64 bytes);
void emit_loop_count(Emitter *e, u64 bytes);
void emit_loop_end(Emitter *e, u64 bytes, const EmitLoop *loop);
typedef struct EmitVisit {
    u64 pc; /* the instruction that follows */
    u64 function;
    u32 watched; /* registers that are values of this visit, or of others at the instruction */
    u32 count;
    EmitValue value[LATHE_VALUES];
} EmitVisit;

/* Code in front of the instruction at visit->pc that calls a function of a tool's, or does what the function does. VISIT_REFUSED, and perhaps with some code at e->at:
 * this maker cannot, because of the function, the values or the instruction. */
typedef enum EmitVisited {
    VISIT_REFUSED,
    VISIT_COPIED, /* the whole function */
    VISIT_SPLIT,  /* what is not rare in it */
    VISIT_CALLED,
} EmitVisited;
EmitVisited emit_visit(Emitter *e, const EmitVisit *visit);
enum { EMIT_VISIT_BYTES = 640 }; /* most of its bytes, and again so many behind the block */

/* Registers that visits have put aside stay there while instructions do without them. This gives back those that the next instruction needs; NULL: all. */
void emit_give_back(Emitter *e, const InsnView *next);
/* Some are aside where this code begins: it is found when the state is taken there (emit_note_spills). Code is noted in the order of addresses. */
void emit_note_aside(const u8 *code, u32 registers);
/* Is each register where it belongs at this beginning of an instruction, or of what a tool does before it? */
bool emit_has_all(const u8 *code);

/* Where a computed jump, call or return leads to; false: this maker cannot tell. */
bool emit_target(const InsnView *view, EmitValue *value);

/* What is left to do behind a block. */
void emit_rest(Emitter *e);
/* Code that adds to a word of the Thread an amount that is known later; a small one is at most EMIT_SMALL, with either sign. If it is zero, the code becomes one that
 * does nothing. */
typedef struct EmitCount {
    u8 *at;
    u8 bytes, amount_at; /* of the code; where in it the amount is */
    bool small;
    u8 off_at[2]; /* where in it the offset of the word is; 0: nowhere */
} EmitCount;
enum { EMIT_SMALL = 127 };
EmitCount emit_count(Emitter *e, u32 off, bool small);
void emit_set_amount(const EmitCount *count, i32 amount);
/* It adds to another word. */
void emit_set_off(const EmitCount *count, u32 off);
/* A jump; returns the site of its displacement. */
u8 *emit_jump(Emitter *e);
/* A place whose code can become a jump, and be what it was again: other threads see each change as a whole. It is what is emitted next if `over`, else an instruction that does
 * nothing. Whoever makes it a jump keeps the bytes that were there, which emit_end_switch puts back. */
u8 *emit_switch(Emitter *e, bool over);
u64 emit_begin_switch(u8 *place, const u8 *target);
void emit_end_switch(u8 *place, u64 bytes);
/* Are the instructions from pc on, of which so many bytes are there, code that is long enough for that, and that nothing else changes? It takes at most EMIT_SWITCH_INSNS of them. */
enum { EMIT_SWITCH_INSNS = 5 };
bool emit_can_switch(u64 pc, u64 bytes);
/* New code that goes on in code of the other tier. */
u8 *emit_cross(const u8 *target, bool to_quick);
/* Leave for C with an exit's number. */
void emit_leave(Emitter *e, u32 exit);
/* The same if a signal waits, or another thread wants all to leave. Only of repeated instructions. */
void emit_leave_if_asked(Emitter *e, u32 exit);
/* Registers that are the guest's only in the Thread at this host address in an instruction's code. */
struct QuickPlace;
void emit_note_spills(struct QuickPlace *place, const u8 *code, u64 host);
/* All code is forgotten. */
void emit_forget_all(void);

#endif
