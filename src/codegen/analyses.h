/* analyses.h: what LLVM knows of the loops of one function, for our own transformations. C++. */
#ifndef CODEGEN_ANALYSES_H
#define CODEGEN_ANALYSES_H

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

struct Analyses {
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::AssumptionCache assumptions;
    llvm::TargetLibraryInfoImpl names;
    llvm::TargetLibraryInfo library;
    llvm::ScalarEvolution evolution;

    Analyses(llvm::Function &fn)
        : dominators(fn), loops(dominators), assumptions(fn), names(llvm::Triple(fn.getParent()->getTargetTriple())),
          library(names), evolution(fn, library, assumptions, dominators, loops) {
    }
};

#endif
