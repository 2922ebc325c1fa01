/* emit.h: the code of single instructions, for make.c, which makes blocks of them. There are two makers of such code, which have these functions:
 * host/NAME/copy, where the guest's instructions are the host's own, and code/stencil, where they are not. Addresses of code are those at which it
 * will run (arena.h). */
#ifndef RUN_CLIENT_EMIT_H
#define RUN_CLIENT_EMIT_H

#include "guest_cpu.h"
#include "isa/view.h"
#include "lathe/tool.h"

typedef enum ExitKind {
    EXIT_LINK,       /* a jump: the guest goes on at pc */
    EXIT_INSIDE,     /* likewise, in the middle of what a tool sees as a block */
    EXIT_CALL,       /* a call: a function begins at pc */
    EXIT_CALL_FLAGS, /* a call behind which the guest reads the flags; not linked before it is used */
    EXIT_LINKAGE, /* a call of code at pc that only jumps by a word in memory (a PLT); the next exit leads to where it jumps: see emit_linkage */
    EXIT_UNBOUND, /* that next exit, as long as its target is not known; then it becomes EXIT_CALL */
    EXIT_VISIT, /* a tool's functions are to be called by C; pc is the number of the visit (visit.c), and the exit's code follows */
    EXIT_ONCE,        /* the same, but only once: its place is one of emit_switch */
    EXIT_SYSCALL,     /* a system call; pc is behind it */
    EXIT_SPECIAL,     /* an instruction that C executes (guest_special); pc is behind it */
    EXIT_INTERRUPT,   /* a software interrupt; here and below, pc is the instruction itself */
    EXIT_UNSUPPORTED, /* an instruction that the maker of code cannot do */
    EXIT_UNDEFINED,   /* no instruction */
    EXIT_UNREADABLE,  /* no memory with code */
} ExitKind;

enum { EMIT_INSNS = 128 }; /* most of a block */

/* A call of the guest is a host call, which pushes the host's return address. It leads to some code behind the block that puts the guest's return
 * address in its place. */
typedef struct EmitCall {
    u8 *site;      /* displacement of the host call */
    u64 pc, next;  /* where the guest calls, and returns to */
    u64 slot;      /* the word by which the code at pc jumps if it does nothing else (a PLT); 0: it is other code */
    bool indirect; /* the target is not pc, but in a register */
} EmitCall;

/* Where a call returns to, and the code for that. */
typedef struct EmitReturn {
    u64 pc;
    const u8 *code;
} EmitReturn;

/* Which registers and flags the guest still needs before each of some instructions that follow one another. */
enum { EMIT_LIVE = 32 };
typedef struct EmitLive {
    u32 count;
    struct {
        u64 pc;
        u32 registers; /* by their numbers, as in an InsnView */
        bool flags;
        u32 used,
            overwritten; /* registers that the instruction reads or writes; registers that it writes without reading them */
    } at[EMIT_LIVE];
} EmitLive;

/* An argument of a tool's function. */
typedef enum EmitValueKind {
    VALUE_CONSTANT,   /* number */
    VALUE_REGISTER,   /* the guest's register of this number */
    VALUE_ADDRESS,    /* the address of an operand in memory, computed before the instruction */
    VALUE_LOADED,     /* the word at such an address, or any value if that memory cannot be read */
    VALUE_THREAD,     /* the address of the Thread plus this number */
    VALUE_THREAD_U32, /* the 32 bits at that address */
    VALUE_TAKEN,      /* 1 if the branch at e->pc is about to be taken, else 0 */
} EmitValueKind;

typedef struct EmitValue {
    u8 kind; /* EmitValueKind */
    u64 number;
    Operand at;
} EmitValue;

/* Host registers that hold words of the tool's own (in the Thread, at these offsets) from one visit to the next. The guest's values of these
 * registers are not needed, or put aside. */
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
    u32 colds, rests; /* how many parts of a tool's functions are put behind the block: copy_visit.c */
    EmitLive live;
    u64 kept_pc; /* visits before this instruction have changed these registers, which it overwrites: */
    u32 kept;
    /* Registers that visits have put aside and that no instruction has needed since; above these bits, EMIT_ASIDE_WORDS: registers hold words of the
     * tool. */
    u32 aside;
    EmitWords words;
    bool flags_set;             /* the code before has set the flags for the code that it returns to */
    u64 looked_from, looked_to; /* guest bytes that were looked at to emit the block's code; empty if from > to */
    bool one_pass;              /* only one pass of a repeated instruction is emitted */
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
    bool ends;    /* the guest never goes on behind the instruction */
    bool returns; /* it is a call, which will return to the code behind it */
    bool exits;   /* it has this exit: */
    EmitExit exit;
} EmitResult;

/* Jumps by the map lead to this code, of so many bytes, in front of the code of a guest instruction: it gives the guest the register back that the
 * jump has used. 0 bytes: such jumps use no register of the guest's. */
extern const u32 emit_entry_bytes;
void emit_entry(Emitter *e);
/* True if such code is in front of this code. */
bool emit_is_entered(const u8 *code);

/* Most bytes for one guest instruction, and for an exit. */
enum { EMIT_INSN_BYTES = GUEST_CODE_BYTES, EMIT_LEAVE_BYTES = 20 };

/* Called once, before there are blocks: makes code that all of them use. */
void emit_prepare(void);
/* Emits the instruction at e->pc; `bytes` of guest code can be read there. Sets *next to the address behind it; if it is no instruction, to the
 * address behind the bytes that decide that. */
EmitResult emit_next(Emitter *e, u64 bytes, u64 *next);
/* A call of code that only jumps by a word in memory (an entry of a PLT) compares the word with the function to which it led before, and goes there
 * directly. emit_linkage finds out where the word leads; it returns false as long as the dynamic linker has not written it, or if there is other code
 * at pc now. */
bool emit_linkage(u64 pc, u8 *site, u64 *target);
/* Sets the function that the word is compared with; 0: none. */
void emit_set_linkage(u8 *site, u64 target);
/* Code around one pass of the repeated instruction at e->pc. emit_loop_begin: leaves the loop if no pass is left. emit_loop_count: counts a pass.
 * emit_loop_end: goes back to the begin if another pass follows. What is emitted between the last two finds the registers as they are behind the
 * pass. */
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

/* Emits code in front of the instruction at visit->pc that calls a tool's function, or does what the function does. */
typedef enum EmitVisited {
    VISIT_REFUSED, /* impossible because of the function, the values or the instruction; there may be some code at e->at that the caller has to drop */
    VISIT_COPIED,  /* the whole function was copied */
    VISIT_SPLIT,   /* the part that usually runs was copied; it calls the rest */
    VISIT_CALLED,  /* there is a call of the function */
} EmitVisited;
EmitVisited emit_visit(Emitter *e, const EmitVisit *visit);
enum { EMIT_VISIT_BYTES = 640 }; /* most of its bytes, and again so many behind the block */

/* Guest registers that visits have put aside stay there as long as no instruction needs them. emit_give_back emits code that restores those that the
 * next instruction needs; NULL: all. */
void emit_give_back(Emitter *e, const InsnView *next);
/* Notes which registers are aside where this code begins, so that emit_note_spills finds them if a thread is interrupted there. Called in the order
 * of the code's addresses. */
void emit_note_aside(const u8 *code, u32 registers);
/* True if no register is aside where this code of an instruction, or of a visit before it, begins. */
bool emit_has_all(const u8 *code);

/* Where a computed jump, call or return leads. Returns false if this maker cannot compute that. */
bool emit_target(const InsnView *view, EmitValue *value);

/* Emits what belongs behind a block: the second half of its calls, and parts of a tool's functions. */
void emit_rest(Emitter *e);
/* Code that adds an amount to a word of the Thread. The amount is set later (emit_set_amount); if it is zero, the code is replaced by instructions
 * that do nothing. A small amount is at most EMIT_SMALL, with either sign. */
typedef struct EmitCount {
    u8 *at;
    u8 bytes, amount_at; /* of the code; where in it the amount is */
    bool small;
    u8 off_at[2]; /* where in it the offset of the word is; 0: nowhere */
} EmitCount;
enum { EMIT_SMALL = 127 };
EmitCount emit_count(Emitter *e, u32 off, bool small);
void emit_set_amount(const EmitCount *count, i32 amount);
/* Makes the code add to another word. */
void emit_set_off(const EmitCount *count, u32 off);
/* A jump; returns the site of its displacement. */
u8 *emit_jump(Emitter *e);
/* A place whose code can be turned into a jump and back, each time by one store, so that other threads see the one or the other. emit_switch returns
 * the place: the code that is emitted next if `over`, else an instruction that does nothing. emit_begin_switch makes it a jump and returns the bytes
 * that were there, which emit_end_switch puts back. */
u8 *emit_switch(Emitter *e, bool over);
u64 emit_begin_switch(u8 *place, const u8 *target);
void emit_end_switch(u8 *place, u64 bytes);
/* True if the code of the next instructions from pc on is long enough for such a jump, and nothing else changes it. `bytes` of guest code can be
 * read; at most EMIT_SWITCH_INSNS instructions are looked at. */
enum { EMIT_SWITCH_INSNS = 5 };
bool emit_can_switch(u64 pc, u64 bytes);
/* Makes code that crosses to the other tier and goes on at the target there. */
u8 *emit_cross(const u8 *target, bool to_quick);
/* Emits code that leaves for C with an exit's number. */
void emit_leave(Emitter *e, u32 exit);
/* The same, but the code leaves only if a signal is noted or another thread wants all to leave. Only in repeated instructions. */
void emit_leave_if_asked(Emitter *e, u32 exit);
/* Sets in *place which guest registers are in the Thread when a thread is at `host` in the code of an instruction. */
struct QuickPlace;
void emit_note_spills(struct QuickPlace *place, const u8 *code, u64 host);
/* All code is forgotten: so is what the maker has noted of it. */
void emit_forget_all(void);

#endif
