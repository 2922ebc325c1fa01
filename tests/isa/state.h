/* state.h: the state of a test guest (registers and a scratch page), its text form, and comparing two of them.
 *
 * The text form is that of the case files: `rax=0x1 cf=1 xmm2=f32:1.0,2.0 [0x40]=0011 pc=+5 trap=divide`;
 * docs/testing.md describes it.
 */
#ifndef ISA_STATE_H
#define ISA_STATE_H

#include "base/base.h"
#include "guest.h"
#include "native.h"

#define STATE_CODE NATIVE_CODE   /* address of a case's first instruction: `+0` in the text form */
#define STATE_MEMORY 0x2f000000u /* address of the scratch page: `@0` in the text form */
#define STATE_MEMORY_BYTES 4096u

/* What stops lifted code only by a signal of the host; the values continue LatheTrap. */
enum { TRAP_MEMORY = 100, TRAP_FLOAT, TRAP_TIMEOUT, TRAP_SIGNAL };

/* cpu.trap holds a LatheTrap or a value above. */
typedef struct State {
    GuestCpu cpu;
    u8 memory[STATE_MEMORY_BYTES];
} State;

/* The state every case starts from: deterministic, distinct register values; see docs/testing.md. */
void state_default(State *s);

/* Applies assignments. `name=?` sets the bits in `ignore` (NULL: not allowed). False: `error` has a message. */
bool state_parse(const char *text, State *s, State *ignore, char *error, size_t error_size);

/* The assignments that lead from one state to the other, except for the bits in `ignore`; "" if there are none. */
char *state_changes(Arena *a, const State *from, const State *to, const State *ignore);

const char *state_trap_name(u32 trap);

/* The scratch page, mapped at STATE_MEMORY on first use, with nothing readable beside it. */
u8 *state_memory(void);

#endif
