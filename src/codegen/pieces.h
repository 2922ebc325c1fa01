/* pieces.h: emission of object files in which no basic block is long. C++.
 *
 * LLVM selects and schedules instructions block by block, and compares each memory access of a block with all others: what it
 * takes grows with the square of the block's length. Guest code has blocks of any length (unrolled loops, tables that are
 * filled one entry after the other). Behind the last optimisation of the IR they are cut into pieces, which follow each other without a
 * jump. */
#ifndef CODEGEN_PIECES_H
#define CODEGEN_PIECES_H

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

/* Adds all passes from IR to an object file. False: the machine emits none. */
bool pieces_add_emission(llvm::TargetMachine &machine, llvm::legacy::PassManager &passes, llvm::raw_pwrite_stream &out);

#endif
