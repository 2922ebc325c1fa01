/* watch.h: somebody who watches each instruction of lifted code, and adds code of his own to it: a tool's functions (lathe/tool.h).
 *
 * The lifter tells him the instructions in order, and what only it knows: whether control was transferred to one, where a computed jump leads, whether a branch is taken.
 * What he adds reads registers on the main line, and never writes one. */
#ifndef LIFT_WATCH_H
#define LIFT_WATCH_H

#include "isa/isa.h"

typedef struct LiftWatch {
    void *user; /* handed to all functions */
    /* At most how many of these bytes the instruction at pc is decoded from, so that each that he sees is one. False: it is left to others, as if it had no meaning. */
    bool (*look)(void *user, u64 pc, const u8 *bytes, size_t *size);
    /* A function is about to be lifted that has these instructions. */
    void (*begin)(void *user, const u64 *pcs, size_t count);
    /* Before an instruction. `begins`: an i1 that says whether control was transferred to it; NULL: never; always NULL if he does not watch blocks. */
    void (*before)(void *user, Lifter *l, const Insn *in, Val begins);
    /* It is about to transfer control: to `target`, if `taken`; NULL: always. */
    void (*transfer)(void *user, Lifter *l, const Insn *in, Val target, Val taken);
    /* Behind one that the next one follows. */
    void (*behind)(void *user, Lifter *l, const Insn *in);
    /* Does control go on with the next instruction behind this one always, so that no block begins there? */
    bool (*goes_on)(void *user, const Insn *in);

    bool blocks;    /* he watches blocks: */
    u32 inside_off; /* where in the guest state a byte is 1 if control was not transferred to cpu->pc; whoever goes on there has to set it to 0 */
    bool
        inside_traps; /* such a place is left to quick code, by LATHE_TRAP_INSIDE: functions are entered by transfers only */
} LiftWatch;

#endif
