/* oracle.h: what each guest of these tests brings along: a machine that knows what instructions do, and what is to be known
 * about comparing with it. */
#ifndef ISA_ORACLE_H
#define ISA_ORACLE_H

#include "cases.h"

/* Runs code at s->cpu.pc in the state s on the guest's oracle, until control leaves the code or something stops it;
 * s->cpu.trap says what. Where the oracle cannot tell traps apart, `expected` counts. */
void oracle_run(State *s, const u8 *code, size_t size, u32 expected_trap);

/* Leaves open in `ignore` what the oracle does not know or does not show. */
void oracle_limits(State *ignore);
/* NULL, or why expected columns cannot be made on this machine. */
const char *oracle_unfit(void);

/* Before lifted code runs on *cpu, and afterwards: the part of the guest's state that the host has then. */
void guest_enter(GuestCpu *cpu);
void guest_leave(GuestCpu *cpu);

/* Makes a store that depends on a reservation of the address succeed, where the guest has such. */
void guest_reserve(GuestCpu *cpu, u64 address);

/* What an address in that segment (Operand.seg) is relative to. */
u64 guest_segment_base(const GuestCpu *cpu, u8 seg);

/* What LLVM's assembler has to be told before a case's instructions; "" for nothing. */
const char *guest_directive(const char *insns);

/* Leaves open in `ignore` what the manual calls undefined after the case's instructions, run in sequence. */
void guest_open(const Case *c, const State *initial, State *ignore);

/* Of guests whose stencils have fast floating point: false if the case's result may be another then; else what may differ in *got becomes what is wanted. */
bool guest_settle_fast(const Case *c, const State *initial, const State *want, State *got);

/* The lower-case names of the case's instructions, by index from 0; NULL after the last. */
const char *guest_mnemonic(const Case *c, size_t index);

/* Prints what is wrong about the support table's row of that instruction; returns how much. */
size_t guest_check_row(const Case *c, size_t index, const LatheSupport *row);

#endif
