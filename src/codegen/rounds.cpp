/* rounds.cpp: see rounds.h. C++, since LLVM's C API has no loops. */
#include "codegen/rounds.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

/* The most instructions of all rounds together, and the most rounds. */
enum { INSNS_MOST = 128, ROUNDS_MOST = 8 };

#define UNROLL_COUNT "llvm.loop.unroll.count"

/* 0: there is a call, or an assembly. */
static unsigned insns_of(const Loop &loop) {
    unsigned count = 0;
    for (const BasicBlock *block : loop.blocks())
        for (const Instruction &insn : *block) {
            if (isa<CallBase>(insn) && !isa<IntrinsicInst>(insn))
                return 0;
            count += !isa<PHINode>(insn);
        }
    return count;
}

/* How many rounds at once; 1 if the loop is to stay as it is. */
static unsigned rounds_of(ScalarEvolution &evolution, Loop &loop) {
    bool is_plain = loop.isInnermost() && loop.getLoopPreheader() && loop.getLoopLatch() &&
                    loop.getExitingBlock() == loop.getLoopLatch();
    unsigned insns = is_plain ? insns_of(loop) : 0, all = insns ? evolution.getSmallConstantTripCount(&loop) : 0;
    unsigned rounds = ROUNDS_MOST;
    while (rounds > 1 && (!all || all % rounds || insns * rounds > INSNS_MOST))
        rounds--;
    return rounds;
}

PreservedAnalyses ShortRounds::run(Function &fn, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(fn);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(fn);
    for (Loop *loop : loops.getLoopsInPreorder())
        if (unsigned rounds = rounds_of(evolution, *loop); rounds > 1)
            addStringMetadataToLoop(loop, UNROLL_COUNT, rounds);
    return PreservedAnalyses::all();
}
