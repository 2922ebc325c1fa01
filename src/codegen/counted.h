/* counted.h: a pass for loops whose number of rounds is settled before they begin. C++ only.
 *
 * The server puts an empty assembly into loops of lifted code, so that a loop that waits for memory to change sees the change. It also keeps LLVM
 * from vectorising. A loop that ends after a number of rounds that no load in it decides does not wait, so its assembly is removed. Functions with
 * such loops may use vectors where they name none: the server makes them anew with all vectors in their signature if they do. */
#ifndef CODEGEN_COUNTED_H
#define CODEGEN_COUNTED_H

#include <llvm/IR/PassManager.h>

struct CountedLoops : llvm::PassInfoMixin<CountedLoops> {
    llvm::PreservedAnalyses run(llvm::Function &fn, llvm::FunctionAnalysisManager &analyses);
};

#endif
