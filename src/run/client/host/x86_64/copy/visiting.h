/* visiting.h: a visit (emit_visit) while its code is made: between copy_visit.c, visit_values.c and visit_registers.c. */
#ifndef RUN_CLIENT_COPY_VISITING_H
#define RUN_CLIENT_COPY_VISITING_H

#include "run/client/host/x86_64/copy/encode.h"

enum { REGISTERS = 16, STORE = 0x89, LOAD = 0x8b };

typedef struct Visiting {
    Emitter *e;
    const EmitVisit *v;
    const Inner *in;
    bool copied;  /* the function is, else it is called as a whole */
    u32 late;     /* arguments that only rare parts of it need: they are made there */
    u32 not_made; /* arguments that nobody needs, or that are in a register of the guest's already */
    Names names;  /* of the function's registers */
    u32 used;     /* the function's registers that have a name of their own */
    u32 present;  /* those whose name is a register that has the guest's value */
    u32 live; /* registers that the guest needs, and that are not put aside by an earlier visit before the same instruction */
    u32 back; /* registers that are put aside since an earlier instruction, and that arguments are made of: they are given back first */
    u32 saved;         /* of the live ones: put aside, and given back when they are needed; */
    u32 kept;          /* not given back, since the instruction overwrites them */
    bool flags;        /* the guest needs them: they are saved, in rax first, */
    bool flags_in_rax; /* and stay there */
} Visiting;

static inline u32 bit(u32 reg) {
    return reg < REGISTERS ? (u32)1 << reg : 0;
}

void put_move(Emitter *e, u32 to, u32 from);
/* mov between a register and a place in the Thread. */
void put_word(Emitter *e, u8 opcode, u32 reg, u32 off);

/* visit_values.c: can it be made at all? Is it the same whatever registers and flags are? */
bool value_can_be_made(const Emitter *e, const EmitValue *v);
bool value_is_fixed(const EmitValue *v);
bool value_is_constant(const EmitValue *v);
/* The registers that it is made of, and those that are changed meanwhile. */
u32 value_sources(const EmitValue *v);
u32 value_temporaries(const EmitValue *v);
void put_value(Emitter *e, u32 reg, const EmitValue *v);
/* All that are to be made before the function. False: there is no order in which each register is still there when it is needed. */
bool put_values(Visiting *g);

/* words.c: what registers have of the words of a thread's own. An instruction of the function's that moves one: */
typedef struct Word {
    bool stores;
    u32 reg, off; /* the function's register, and the offset in the Thread */
} Word;
bool words_is_one(const Visiting *g, const u8 *text, const Shape *s, Word *word);
/* Which register has the word; REGISTERS: none. */
u32 words_find(const Emitter *e, u32 off);
/* The function's instruction at `at` was copied; `word`: NULL, or what it moves. */
void words_note(const Visiting *g, u64 at, const Word *word);
/* These registers have other values now. */
void words_forget(Emitter *e, u32 registers);
/* What is known on both of two ways. */
EmitWords words_both(const EmitWords *a, const EmitWords *b);
void words_set(Emitter *e, const EmitWords *words);

/* visit_registers.c: which registers the function and its arguments get, and what is put aside for them. */
void choose_registers(Visiting *g);

#endif
