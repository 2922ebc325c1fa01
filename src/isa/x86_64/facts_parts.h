/* facts_parts.h: between the files that make the facts (facts.h) from what Zydis decodes. */
#ifndef ISA_X86_64_FACTS_PARTS_H
#define ISA_X86_64_FACTS_PARTS_H

#include <Zydis/Zydis.h>

#include "isa/x86_64/facts.h"

typedef struct Decoded {
    u64 pc;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
} Decoded;

/* A memory operand's address. */
void facts_address(const Decoded *d, const ZydisDecodedOperand *o, Operand *op);
/* The register of a memory operand's base or index. */
Reg facts_address_register(ZydisRegister r);

/* facts_memory.c: what is accessed, and the registers that addresses are made of. */
void facts_memory(const Decoded *d, X86Facts *f);

/* facts_kind.c: flow, state and the rest that goes by the instruction's name and category. */
void facts_kind(const Decoded *d, X86Facts *f);
/* Is it a string instruction, with or without rep? */
bool facts_is_string(const Decoded *d);

/* facts_class.c: its classes, by what the others have found. */
void facts_class(const Decoded *d, X86Facts *f);

#endif
