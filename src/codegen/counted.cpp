/* counted.cpp: see counted.h. C++, since LLVM's C API has no loops. */
#include "codegen/counted.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

/* A comparison for equality that ends a loop: what is compared begins with `first` and grows by `step` each round, until it is `last`. */
struct Counter {
    ICmpInst *compare;
    const SCEV *first, *last;
    APInt step;
};

static bool is_fence(const Instruction &insn) {
    auto *call = dyn_cast<CallInst>(&insn);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && text->getAsmString().empty() && text->getConstraintString() == "~{memory}";
}

/* What the ways within a loop depend on. */
static void add_conditions(const Loop &loop, SmallVectorImpl<Value *> &values) {
    for (BasicBlock *block : loop.blocks()) {
        if (auto *branch = dyn_cast<BranchInst>(block->getTerminator()); branch && branch->isConditional())
            values.push_back(branch->getCondition());
        else if (!branch)
            values.push_back(block->getTerminator());
    }
}

/* Not if a load in the loop, or a call, has a part in it: as an operand, or by deciding on which way a value comes. */
static bool is_settled(const Loop &loop, Value *condition) {
    SmallVector<Value *, 16> values{condition};
    SmallPtrSet<Value *, 16> seen;
    while (!values.empty()) {
        auto *insn = dyn_cast<Instruction>(values.pop_back_val());
        if (!insn || !loop.contains(insn) || !seen.insert(insn).second)
            continue;
        if (insn->mayReadFromMemory() || isa<CallBase>(insn))
            return false;
        values.append(insn->op_begin(), insn->op_end());
        if (isa<PHINode>(insn) && insn->getParent() != loop.getHeader())
            add_conditions(loop, values);
    }
    return true;
}

static bool ends_by_itself(const Loop &loop) {
    SmallVector<BasicBlock *, 4> exits;
    loop.getExitingBlocks(exits);
    return !exits.empty() && all_of(exits, [&](BasicBlock *exit) {
        auto *branch = dyn_cast<BranchInst>(exit->getTerminator());
        return branch && is_settled(loop, branch->getCondition());
    });
}

/* A store to one place could be put off to the end of the loop, and others may look at that place meanwhile. */
static bool goes_on(ScalarEvolution &evolution, const Loop &loop, StoreInst &store) {
    auto *address = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(store.getPointerOperand()));
    return store.isSimple() && address && address->getLoop() == &loop && address->isAffine();
}

static bool only_computes(ScalarEvolution &evolution, const Loop &loop) {
    for (BasicBlock *block : loop.blocks())
        for (Instruction &insn : *block) {
            auto *load = dyn_cast<LoadInst>(&insn);
            auto *store = dyn_cast<StoreInst>(&insn);
            bool simple = store  ? goes_on(evolution, loop, *store)
                          : load ? load->isSimple()
                                 : !insn.mayReadOrWriteMemory() || is_fence(insn);
            if (!simple)
                return false;
        }
    return true;
}

/* The fence may be that of a loop around this one, too, so one stays in front. */
static bool remove_fences(const Loop &loop) {
    SmallVector<Instruction *, 4> fences;
    for (BasicBlock *block : loop.blocks())
        for (Instruction &insn : *block)
            if (is_fence(insn))
                fences.push_back(&insn);
    bool found = !fences.empty();
    if (found && loop.getParentLoop())
        fences.pop_back_val()->moveBefore(loop.getLoopPreheader()->getTerminator());
    for (Instruction *fence : fences)
        fence->eraseFromParent();
    return found;
}

/* ------------------------------------------------------------------------------------------------------------- counting */

static bool find_counter(ScalarEvolution &evolution, Loop &loop, Counter *counter) {
    BasicBlock *latch = loop.getLoopLatch();
    auto *branch = latch && loop.getExitingBlock() == latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
    counter->compare = branch ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!counter->compare || !counter->compare->isEquality() ||
        !counter->compare->getOperand(0)->getType()->isIntegerTy())
        return false;
    const SCEV *a = evolution.getSCEV(counter->compare->getOperand(0));
    const SCEV *b = evolution.getSCEV(counter->compare->getOperand(1));
    if (evolution.isLoopInvariant(a, &loop))
        std::swap(a, b);
    auto *varying = dyn_cast<SCEVAddRecExpr>(a);
    if (!varying || varying->getLoop() != &loop || !varying->isAffine() || !evolution.isLoopInvariant(b, &loop))
        return false;
    auto *step = dyn_cast<SCEVConstant>(varying->getStepRecurrence(evolution));
    counter->first = varying->getStart();
    counter->last = b;
    counter->step = step ? step->getAPInt() : APInt();
    return step && step->getAPInt().getBitWidth() <= 64;
}

/* How often the loop goes around, as 64 bits; 0 stands for 2 to the power of 64. With step = odd * 2**zeros, that is (last - first) / step, which has a
 * solution if the difference is a multiple of 2**zeros. If it is not, the loop does not end before an access faults. */
static Value *count_rounds(IRBuilder<> &b, const Counter &c, Value *first, Value *last) {
    unsigned width = c.step.getBitWidth(), zeros = c.step.countr_zero();
    APInt inverse = c.step.lshr(zeros).multiplicativeInverse();
    Value *distance = b.CreateSub(last, first);
    Value *rest = b.CreateAnd(distance, APInt::getLowBitsSet(width, zeros));
    Value *turns = b.CreateMul(b.CreateLShr(distance, zeros), ConstantInt::get(distance->getType(), inverse));
    turns = b.CreateZExt(b.CreateAnd(turns, APInt::getLowBitsSet(width, width - zeros)), b.getInt64Ty());
    return b.CreateSelect(b.CreateIsNull(rest), b.CreateAdd(turns, b.getInt64(1)), b.getInt64(0));
}

/* NULL: an end of the counter cannot be computed before the loop. */
static Value *rounds_before(ScalarEvolution &evolution, const Counter &c, Instruction *at) {
    SCEVExpander expander(evolution, at->getDataLayout(), "count");
    if (!expander.isSafeToExpandAt(c.first, at) || !expander.isSafeToExpandAt(c.last, at))
        return nullptr;
    Type *type = c.compare->getOperand(0)->getType();
    Value *first = expander.expandCodeFor(c.first, type, at), *last = expander.expandCodeFor(c.last, type, at);
    IRBuilder<> b(at);
    return count_rounds(b, c, first, last);
}

/* The loop ends when it has gone around so often, and not by its comparison any more. LLVM is not to delete one that does nothing: it may have no end. */
static void end_after(Loop &loop, ICmpInst *compare, Value *rounds) {
    auto *branch = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
    IRBuilder<> b(loop.getHeader(), loop.getHeader()->begin());
    PHINode *round = b.CreatePHI(b.getInt64Ty(), 2);
    b.SetInsertPoint(branch);
    b.CreateIntrinsic(Intrinsic::sideeffect, {}, {});
    Value *next = b.CreateAdd(round, b.getInt64(1));
    round->addIncoming(b.getInt64(0), loop.getLoopPreheader());
    round->addIncoming(next, loop.getLoopLatch());
    branch->setCondition(b.CreateICmp(compare->getPredicate(), next, rounds));
    RecursivelyDeleteTriviallyDeadInstructions(compare);
}

/* LLVM computes a number of rounds only where it knows that the last value is met, which it does for steps of one. */
static bool count(ScalarEvolution &evolution, Loop &loop) {
    Counter c;
    if (!find_counter(evolution, loop, &c) || c.step.isOne() || c.step.isAllOnes())
        return false;
    Value *rounds = rounds_before(evolution, c, loop.getLoopPreheader()->getTerminator());
    if (!rounds)
        return false;
    end_after(loop, c.compare, rounds);
    evolution.forgetLoop(&loop);
    return true;
}

PreservedAnalyses CountedLoops::run(Function &fn, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(fn);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(fn);
    bool found = false, changed = false;
    for (Loop *loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost() || !loop->getLoopPreheader() || !ends_by_itself(*loop) ||
            !only_computes(evolution, *loop))
            continue;
        found = true;
        changed |= remove_fences(*loop);
        if (isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop)))
            changed |= count(evolution, *loop);
    }
    if (found)
        fn.removeFnAttr(Attribute::NoImplicitFloat);
    PreservedAnalyses kept;
    kept.preserveSet<CFGAnalyses>();
    return changed ? kept : PreservedAnalyses::all();
}
