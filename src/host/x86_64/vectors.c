/* vectors.c: which vector registers x86-64 code touches. */
#include "host/x86_64/parts.h"
#include "isa/x86_64/facts.h"

enum { VECTORS = YMM0_HIGH - XMM0 };

/* The lowest 128 bits of a register stand for it: what touches more of it touches these, too. Only vzeroupper does not, and code of whoever needs
 * the upper parts is made without it (Host.low_features). */
static bool touches(const X86Facts *f, Reg lowest) {
    return regset_has(&f->reads, lowest) || regset_has(&f->writes, lowest) || regset_has(&f->address, lowest);
}

bool x86_64_keeps_vectors(const u8 *code, size_t size, unsigned vectors) {
    X86Facts f;
    for (size_t at = 0; at < size; at += f.length) {
        if (!x86_facts(code + at, size - at, 0, &f))
            return false;
        for (unsigned i = vectors; i < VECTORS; i++)
            if (touches(&f, (Reg)(XMM0 + i)))
                return false;
    }
    return true;
}
