/* forms.h: every encoding form of every supported x86-64 instruction.
 *
 * Forms are found, not listed: all opcodes are tried with all prefixes and ModRM bytes that matter, and what the
 * lifter's own decoder gives a row is kept, once per kind of operands. A new row is fuzzed without a line here.
 */
#ifndef FUZZ_FORMS_H
#define FUZZ_FORMS_H

#include "isa/isa.h"

enum { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { REX_B = 1, REX_X = 2, REX_R = 4 };

/* The fields of an instruction. What the opcode does not use is not encoded, or ignored by the decoder. */
typedef struct Encoding {
    u8 prefix[5], prefix_count; /* legacy prefixes */
    bool vex, rex, w;           /* rex: a REX prefix even if it says nothing */
    u8 rxb, vvvv, pp;
    u8 map, opcode;
    bool has_modrm;
    u8 modrm, sib;
    i32 disp;
    u8 imm[8];
} Encoding;

enum { ENCODING_BYTES = 40 };

/* The bytes, followed by all of imm: the decoder takes as many as the instruction has. */
size_t encoding_put(const Encoding *e, u8 bytes[ENCODING_BYTES]);

typedef struct Form {
    u32 row;
    u64 key; /* equal for instructions of the same form */
    Encoding e;
} Form;

/* The forms of row i are at[first[i]] … at[first[i + 1] - 1]. */
typedef struct Forms {
    VEC(Form) found;
    VEC(u32) first;
    VEC(u32) flag_rows; /* rows that read or write flags */
    size_t row_count;
} Forms;

/* The form that a decoded instruction has. */
u64 forms_key(const Encoding *e, const Insn *in);

/* All forms of the rows that can be compared with the CPU; only of the row `name` if that is not NULL. */
void forms_find(Forms *f, const char *name);

#endif
