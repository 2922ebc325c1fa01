/* values.h: follows, in lifted code, which bits of values were never set.
 *
 * Each value of a lifted function gets a mask of the same shape: a bit is 1 if that bit of the value is undefined. A tool that wants this defines what lathe/tool.h says
 * under "Undefined values": a table with a byte for each byte of the process, and functions that are called where an undefined value decides something. Loads read masks from the
 * table, stores write them there, and the rules for all other instructions are in rules.c. Registers have their masks in the table, too, at the addresses that they
 * have in the guest's state: lifted functions hand masks to each other there, whether the registers themselves are arguments or not.
 *
 * Quick code does not look at masks. A Thread has the number of crossings between the tiers; whoever leaves a lifted function notes it, and whoever goes on in one compares.
 * If they differ, quick code has run meanwhile, and all registers are taken for defined. */
#ifndef RUN_SERVER_VALUES_H
#define RUN_SERVER_VALUES_H

#include "isa/isa.h"
#include "lift/convention.h"
#include "run/protocol/protocol.h"

/* What the program does with a value that is undefined: LatheUndefinedUse of lathe/tool.h. */

/* Does the tool in this module want undefined values to be followed? Then, before each instruction is lifted, its address and the stack pointer are to be marked. */
bool values_wanted(LLVMModuleRef mod);
void values_mark(Lifter *l, Val pc, Val sp);
/* The stack pointer was `to` and is `from` now, or memory between the two is that of a function that is about to be called: nobody has set it. */
void values_mark_frame(Lifter *l, Val from, Val to);
/* Adds all masks to a function that was lifted with marks, before the tool's functions are inlined. */
void values_follow(LLVMValueRef function, const Isa *isa, const ToolOffsets *off);

#endif
