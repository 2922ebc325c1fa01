/* stencil.h: how stencils have guest registers in the host's, and where their instructions name these.
 *
 * Some host registers hold a guest register each, always the same one, while code of stencils runs: they are *held*. A stencil is compiled with
 * its operands in the first few of them; when it is copied, the fields of its instructions that name these get the numbers of the registers that
 * hold the operands really. */
#ifndef HOST_STENCIL_H
#define HOST_STENCIL_H

#include "base/base.h"

/* Most guest registers of an instruction that can be in host registers, and how many of them are of each kind. Host registers are numbered as instructions name
 * them, those for floating point from HostStencil.first_float on. */
enum { STENCIL_OPERANDS = 4, STENCIL_GENERALS = 3, STENCIL_FLOATS = 4 };

/* Where an instruction names a register: the lower three bits of its number are at bit `shift` of byte `at`, those above them at bit high_shift of byte
 * high_at. They are changed by exclusive or with the difference of two numbers, which also does for fields that are stored inverted. */
typedef struct HostField {
    u8 at, shift, high_at, high_shift;
    u8 operand;  /* which of the registers that were asked for */
    u32 allowed; /* a bit for each held register that can be named here, by its number modulo 32; with others the encoding means something else */
} HostField;

typedef struct HostFields {
    VEC(HostField) list;
    /* False: the code names a held register that is no operand, or changes an operand before it accesses memory that may fault. */
    bool renamable;
    /* False: it changes a held register that is no operand before it accesses memory that may fault. */
    bool exact;
    /* All registers that it has to do with. */
    u64 named;
    /* False: it changes an operand, and reads another one behind that: these must not be in the same register. */
    bool reads_first;
} HostFields;

/* What a relocation of the host's objects is in a stencil. */
typedef struct HostPatch {
    u8 how;       /* StencilPatch.how: the host's */
    bool is_near; /* it is reached by a distance */
    bool is_wide; /* it has room for (a part of) 64 bits */
} HostPatch;

/* Where an instruction has the place of a register in the state: HostStencil.place. */
typedef struct HostPlace {
    u32 operand;
    i32 addend;
    u8 how;
} HostPlace;

typedef struct HostStencil {
    /* LLVM's number of a convention that passes the state, then so many held registers, and treats all others as the callee's. */
    unsigned cc;
    u32 passed;
    /* Names of registers: of held ones that the convention does not pass (ended by NULL), general ones and all those for floating point; of the one that the
     * state is in, and the one where computed jumps have the guest's address. */
    const char *const *taken, *const *floats, *state, *address;
    /* As clobbers of assembly: the registers for floating point that are not held. */
    const char *free_floats;
    /* Assembly that calls the C function $1, the registers of its arguments (but the state, ended by NULL), that of its result $0, and what else it changes. No other register changes, since
     * the function is reached by way of code that keeps them (put_helper of the client). */
    const char *call, *const *arguments, *result, *call_clobbers;
    /* Assembly: register $1 into $0; and what orders all accesses, faster than LLVM's instruction for it. */
    const char *copy, *fence, *fence_clobbers;
    /* All held registers by their numbers; the numbers of those that operands are compiled to be in, which of the passed ones, or of `floats`, these
     * are, and the names of the general ones. */
    u64 held;
    u32 first_float;
    u8 general[STENCIL_GENERALS], passed_as[STENCIL_GENERALS];
    const char *general_name[STENCIL_GENERALS];
    u32 float_count; /* of these: */
    u8 flt[STENCIL_FLOATS], float_as[STENCIL_FLOATS];
    u32 stack_align;
    const char *const *options; /* of LLVM, ended by NULL */

    /* Do all constants go into registers, by Host.load_low and load_wide? Else instructions have them as symbols that are numbers. */
    bool loads_constants;
    /* Not 0: places of registers are no symbols either. LLVM is given this many bytes for the first operand's, place_step more for the next one's, and so
     * on, which is more than any other place in the state; `place` finds these numbers in instructions. */
    u32 place_mark, place_step;
    bool (*place)(const u8 *code, HostPlace *place);
    /* A relocation of this type; false: stencils are not made for it. */
    bool (*patch)(u32 type, HostPatch *patch);
    /* Distances are from where the patch is; objects have them from so many bytes behind it. */
    u32 distance_bias;
    /* Writes a value to a patch at `w`, which runs at `at`: a distance from there, if the patch is near. */
    void (*write)(u8 *w, u64 at, u32 how, bool is_near, u64 value);
    /* Direct jumps, whose last four bytes have the distance. */
    u32 jump_bytes;
    void (*put_jump)(u8 *w, u64 at, u64 to);
    bool (*ends_with_jump)(const u8 *code, u32 size);
    /* If the code ends with a jump on a condition to what follows, or, behind that, to where LLVM has it jump to, makes it one on the opposite condition. */
    bool (*invert_branch)(u8 *code, u32 size);
    /* What there is to know of code that has its operands in registers of these numbers. */
    void (*fields)(const u8 *code, u32 size, const u8 *operands, u32 count, HostFields *f);
} HostStencil;

#endif
