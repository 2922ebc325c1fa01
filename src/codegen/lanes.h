/* lanes.h: a pass that gives the low lane of a vector a phi of its own. C++ only.
 *
 * Some guests' scalar floating point writes the low lane of a vector register and keeps the rest. Where paths meet, the lifter has a phi of the whole register if that was asked for
 * before the low lane, and a loop that only computes with the low lane then puts it into the vector again in each round. This pass makes two phis of such a one: one of the low lane, and
 * one of a vector whose low lane nobody looks at. */
#ifndef CODEGEN_LANES_H
#define CODEGEN_LANES_H

#include <llvm/IR/PassManager.h>

struct LowLanes : llvm::PassInfoMixin<LowLanes> {
    llvm::PreservedAnalyses run(llvm::Function &fn, llvm::FunctionAnalysisManager &analyses);
};

#endif
