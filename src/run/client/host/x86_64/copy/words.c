/* words.c: see visiting.h: registers that still have a word of the tool's own (LATHE_THREAD_OWN) when the next function is copied.
 *
 * A function that loads such a word again gets it from the register. So a word that is changed at each visit, such as how far a buffer is full, is not loaded behind the store
 * of the last visit, for which the load would have to wait. The words are in the Thread all the same: nothing but loads is left out.
 *
 * It ends where the guest uses the register, where control is transferred, where a function is called that may change words, and at a store to an address that is not
 * known. Code that begins with something known here is reached by nobody who jumps (EMIT_ASIDE_WORDS). */
#include "run/client/host/x86_64/copy/visiting.h"

static void set_registers(Emitter *e, u32 registers) {
    e->words.registers = registers;
    e->aside = registers ? e->aside | EMIT_ASIDE_WORDS : e->aside & ~(u32)EMIT_ASIDE_WORDS;
}

void words_forget(Emitter *e, u32 registers) {
    set_registers(e, e->words.registers & ~registers);
}

/* Only words of the tool's own: others change without a visit. */
static bool can_be_known(u32 off) {
    return off >= THREAD_TOOL_OWN && off - THREAD_TOOL_OWN <= sizeof(((Thread *)0)->tool.own) - sizeof(u64);
}

static void know(Emitter *e, u32 reg, u32 off) {
    if (!can_be_known(off))
        return;
    e->words.off[reg] = off;
    set_registers(e, e->words.registers | bit(reg));
}

u32 words_find(const Emitter *e, u32 off) {
    u32 left = e->words.registers;
    while (left && e->words.off[__builtin_ctz(left)] != off)
        left &= left - 1;
    return left ? (u32)__builtin_ctz(left) : REGISTERS;
}

/* Also words that it is a part of. */
static void store(Emitter *e, u32 off) {
    enum { BYTES = sizeof(u64) };
    for (u32 left = e->words.registers; left; left &= left - 1) {
        u32 reg = (u32)__builtin_ctz(left), known = e->words.off[reg];
        if (known + BYTES > off && off + BYTES > known)
            words_forget(e, bit(reg));
    }
}

bool words_is_one(const Visiting *g, const u8 *text, const Shape *s, Word *word) {
    RenameWord w;
    if (!g->in->renames || !rename_is_word(text, s, &w) || !(g->names.folded & g->names.in_thread & bit(w.base)))
        return false;
    *word = (Word){.stores = w.stores, .reg = w.reg, .off = (u32)(g->names.at[w.base] + w.disp)};
    return true;
}

void words_note(const Visiting *g, u64 at, const Word *word) {
    Emitter *e = g->e;
    u64 behind = at - g->in->function;
    u32 changed = 0;
    if (word && word->stores) {
        store(e, word->off);
        if (!((g->names.folded | g->present) &
              bit(word->reg))) /* a register of the guest's is not to be loaded again */
            know(e, g->names.to[word->reg], word->off);
        return;
    }
    for (u32 r = 0; behind < INNER_SPAN && r < REGISTERS; r++)
        changed |= g->in->effect[behind].writes >> r & 1 ? bit(g->names.to[r]) : 0;
    words_forget(e, behind >= INNER_SPAN || g->in->effect[behind].stores ? LIVE_ALL : changed);
    if (word)
        know(e, g->names.to[word->reg], word->off);
}

EmitWords words_both(const EmitWords *a, const EmitWords *b) {
    EmitWords both = *a;
    for (u32 r = 0; r < REGISTERS; r++)
        if (!(b->registers >> r & 1) || a->off[r] != b->off[r])
            both.registers &= ~bit(r);
    return both;
}

void words_set(Emitter *e, const EmitWords *words) {
    e->words = *words;
    set_registers(e, words->registers);
}
