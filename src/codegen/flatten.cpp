/* flatten.cpp: see flatten.h. C++, since LLVM's C API has no loops.
 *
 * With `length` rounds of the inner loop in each round of the outer one, and addresses start + length * step * x + step * c, the inner loop
 * can as well go on: its addresses are made anew, from a counter, it ends after all rounds of both, and the outer one
 * after its first. */
#include "codegen/flatten.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/analyses.h"

using namespace llvm;

#define UNROLL_DISABLE "llvm.loop.unroll.disable"

struct Nest {
    Analyses &a;
    Loop *outer, *inner;
    unsigned length; /* rounds of the inner loop */
};

/* ------------------------------------------------------------------------------------------------------------ conditions */

/* Is the latch the only way out? */
static bool is_plain(Loop *loop) {
    BasicBlock *latch = loop->getLoopLatch();
    return latch && loop->getLoopPreheader() && loop->getExitingBlock() == latch &&
           isa<BranchInst>(latch->getTerminator());
}

static bool is_affine(const SCEV *value, Loop *loop) {
    auto *varying = dyn_cast<SCEVAddRecExpr>(value);
    return varying && varying->isAffine() && varying->getLoop() == loop;
}

/* The address with the counter instead of both loops, NULL if it does not go on where it was left. Without a counter: anything
 * but NULL if it does. */
static const SCEV *flat(const Nest &n, const SCEV *address, const SCEV *counter) {
    ScalarEvolution &evolution = n.a.evolution;
    if (evolution.isLoopInvariant(address, n.outer))
        return address;
    auto *varying = dyn_cast<SCEVAddRecExpr>(address);
    if (!varying || !varying->isAffine() || !n.inner->contains(varying->getLoop()))
        return nullptr;
    const SCEV *step = varying->getStepRecurrence(evolution), *start = varying->getStart();
    if (!evolution.isLoopInvariant(step, n.outer))
        return nullptr;
    if (varying->getLoop() != n.inner) {
        start = flat(n, start, counter);
        return start ? evolution.getAddRecExpr(start, step, varying->getLoop(), SCEV::FlagAnyWrap) : nullptr;
    }
    if (!is_affine(start, n.outer))
        return nullptr;
    auto *around = cast<SCEVAddRecExpr>(start);
    const SCEV *whole = evolution.getMulExpr(step, evolution.getConstant(step->getType(), n.length));
    if (around->getStepRecurrence(evolution) != whole || !evolution.isLoopInvariant(around->getStart(), n.outer))
        return nullptr;
    if (!counter)
        return around->getStart();
    return evolution.getAddExpr(around->getStart(), evolution.getMulExpr(step, counter));
}

static bool is_plain_access(Instruction &insn) {
    if (auto *load = dyn_cast<LoadInst>(&insn))
        return load->isSimple();
    auto *store = dyn_cast<StoreInst>(&insn);
    return store && store->isSimple();
}

static bool accesses(Instruction &insn) {
    return insn.mayReadOrWriteMemory() || insn.mayHaveSideEffects();
}

/* Values that depend on how far the two loops are, other than by what was loaded. */
static SmallPtrSet<Value *, 32> positions(const Nest &n) {
    SmallPtrSet<Value *, 32> found;
    SmallVector<Value *, 32> todo;
    for (Loop *loop : {n.outer, n.inner})
        for (PHINode &phi : loop->getHeader()->phis())
            todo.push_back(&phi);
    while (!todo.empty()) {
        Value *value = todo.pop_back_val();
        if (!found.insert(value).second)
            continue;
        for (User *user : value->users())
            if (!isa<LoadInst>(user))
                todo.push_back(user);
    }
    return found;
}

/* Is it of no concern to this instruction in which rounds it is executed, once its address is right? */
static bool is_free(const Nest &n, Instruction &insn, const SmallPtrSet<Value *, 32> &positions) {
    BasicBlock *block = insn.getParent();
    if (auto *store = dyn_cast<StoreInst>(&insn))
        return !positions.contains(store->getValueOperand());
    bool latch = block == n.outer->getLoopLatch() || block == n.inner->getLoopLatch();
    if (insn.isTerminator())
        return latch || none_of(insn.operands(), [&](Value *v) { return positions.contains(v); });
    return all_of(insn.users(), [&](User *user) { return n.outer->contains(cast<Instruction>(user)); });
}

static bool can_flatten(const Nest &n) {
    SmallPtrSet<Value *, 32> where = positions(n);
    for (BasicBlock *block : n.outer->blocks())
        for (Instruction &insn : *block) {
            if (!is_free(n, insn, where))
                return false;
            if (!accesses(insn))
                continue;
            if (!is_plain_access(insn) || !n.inner->contains(block) ||
                !flat(n, n.a.evolution.getSCEV(getLoadStorePointerOperand(&insn)), nullptr))
                return false;
        }
    return true;
}

/* Does it look like one, going by what is written? */
static bool is_candidate(const Nest &n) {
    bool stores = false;
    for (BasicBlock *block : n.inner->blocks())
        for (Instruction &insn : *block)
            if (auto *store = dyn_cast<StoreInst>(&insn)) {
                const SCEV *address = n.a.evolution.getSCEV(store->getPointerOperand());
                if (!is_affine(address, n.inner) || !flat(n, address, nullptr))
                    return false;
                stores = true;
            }
    return stores;
}

/* -------------------------------------------------------------------------------------------------------------- the work */

static PHINode *add_counter(const Nest &n) {
    BasicBlock *header = n.inner->getHeader(), *latch = n.inner->getLoopLatch();
    Type *type = Type::getInt64Ty(header->getContext());
    PHINode *counter = PHINode::Create(type, 2, "", header->begin());
    IRBuilder<> builder(latch->getTerminator());
    counter->addIncoming(ConstantInt::get(type, 0), n.inner->getLoopPreheader());
    counter->addIncoming(builder.CreateAdd(counter, ConstantInt::get(type, 1)), latch);
    return counter;
}

static void renew_addresses(const Nest &n, PHINode *counter, SCEVExpander &expander) {
    const SCEV *count = n.a.evolution.getSCEV(counter);
    SmallVector<Instruction *, 32> accesses;
    for (BasicBlock *block : n.inner->blocks())
        for (Instruction &insn : *block)
            if (is_plain_access(insn))
                accesses.push_back(&insn);
    for (Instruction *insn : accesses) {
        Use &pointer = insn->getOperandUse(isa<StoreInst>(insn) ? 1 : 0);
        const SCEV *address = flat(n, n.a.evolution.getSCEV(pointer), count);
        pointer = expander.expandCodeFor(address, pointer->getType(), insn);
    }
}

/* The loop goes round until this is so. */
static void leave_if(Loop *loop, Value *condition) {
    auto *branch = cast<BranchInst>(loop->getLoopLatch()->getTerminator());
    if (loop->contains(branch->getSuccessor(0)))
        branch->swapSuccessors();
    branch->setCondition(condition);
}

static void flatten(const Nest &n) {
    ScalarEvolution &evolution = n.a.evolution;
    Instruction *before = n.outer->getLoopPreheader()->getTerminator();
    Type *type = Type::getInt64Ty(before->getContext());
    SCEVExpander expander(evolution, before->getModule()->getDataLayout(), "flat");
    const SCEV *rounds = evolution.getTripCountFromExitCount(evolution.getBackedgeTakenCount(n.outer), type, n.outer);
    Value *end =
        expander.expandCodeFor(evolution.getMulExpr(rounds, evolution.getConstant(type, n.length)), type, before);
    PHINode *counter = add_counter(n);
    renew_addresses(n, counter, expander);
    IRBuilder<> builder(n.inner->getLoopLatch()->getTerminator());
    leave_if(n.inner, builder.CreateICmpEQ(counter->getIncomingValueForBlock(n.inner->getLoopLatch()), end));
    leave_if(n.outer, builder.getTrue());
}

static void set_waiting(Loop *loop, bool wait) {
    LLVMContext &context = loop->getHeader()->getContext();
    if (!wait) {
        loop->setLoopID(nullptr);
        return;
    }
    Metadata *disable = MDNode::get(context, MDString::get(context, UNROLL_DISABLE)), *parts[] = {nullptr, disable};
    MDNode *id = MDNode::getDistinct(context, parts);
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
}

static bool is_waiting(Loop *loop) {
    return findOptionMDForLoop(loop, UNROLL_DISABLE) != nullptr;
}

/* The loop with the one in it; of length 0 if that is not all of it. */
static Nest nest_of(Analyses &a, Loop *outer) {
    Nest n = {a, outer, outer->getSubLoops().size() == 1 ? outer->getSubLoops()[0] : nullptr, 0};
    if (!n.inner || !is_plain(outer) || !is_plain(n.inner))
        return n;
    n.length = a.evolution.getSmallConstantTripCount(n.inner);
    return n;
}

/* One nest; what LLVM knows of the others has to be found out anew. */
static bool flatten_one(Analyses &a) {
    for (Loop *outer : a.loops.getLoopsInPreorder()) {
        Nest n = nest_of(a, outer);
        if (n.length < 2 || isa<SCEVCouldNotCompute>(a.evolution.getBackedgeTakenCount(outer)) || !is_candidate(n) ||
            !can_flatten(n))
            continue;
        set_waiting(n.inner, false);
        flatten(n);
        return true;
    }
    return false;
}

/* True if a loop begins to wait, or does not have to any more. */
static bool update_waiting(Analyses &a, bool may_wait) {
    bool changed = false;
    for (Loop *outer : a.loops.getLoopsInPreorder()) {
        Nest n = nest_of(a, outer);
        if (!n.inner || is_waiting(n.inner) == may_wait || (may_wait && (n.length < 2 || !is_candidate(n))))
            continue;
        set_waiting(n.inner, may_wait);
        changed = true;
    }
    return changed;
}

bool flatten_loops(LLVMValueRef function, bool may_wait) {
    for (bool changed = false;; changed = true) {
        Analyses a(*cast<Function>(unwrap(function)));
        if (!flatten_one(a))
            return update_waiting(a, may_wait) || changed;
    }
}
