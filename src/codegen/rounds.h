/* rounds.h: a pass that has short loops do several rounds at once. C++ only.
 *
 * Loops whose number of rounds is a constant are marked for LLVM's unrolling, which comes right behind, by the largest number up to eight that the rounds can be divided by: nothing is left over,
 * and nothing has to be tested between the rounds. Loops of other lengths are left alone: programs are full of loops that go around a few times only, and choosing between several rounds and one
 * takes them longer than it saves. */
#ifndef CODEGEN_ROUNDS_H
#define CODEGEN_ROUNDS_H

#include <llvm/IR/PassManager.h>

struct ShortRounds : llvm::PassInfoMixin<ShortRounds> {
    llvm::PreservedAnalyses run(llvm::Function &fn, llvm::FunctionAnalysisManager &analyses);
};

#endif
