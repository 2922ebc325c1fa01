/* loops.cpp: see loops.h. C++, since LLVM's C API has no loops. */
#include "codegen/loops.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "codegen/analyses.h"

using namespace llvm;

#define UNROLL_FULL "llvm.loop.unroll.full"

/* MAX_FACTORS: the instructions that may come of a loop over a table of factors. MIN_VECTORIZED: rounds of a loop below which LLVM
 * does not vectorise it if some are left over. */
enum { MAX_FACTORS = 1500, MAX_FOLLOWED = 32, MIN_VECTORIZED = 16 };

struct Start {
    Value *base; /* NULL: not known */
    int64_t offset;
};

/* The least of those that are known; 0: none is. */
static unsigned trip_count(ScalarEvolution &evolution, Loop *loop) {
    SmallVector<BasicBlock *, 8> exits;
    unsigned least = 0;
    loop->getExitingBlocks(exits);
    for (BasicBlock *exit : exits) {
        unsigned count = evolution.getSmallConstantTripCount(loop, exit);
        least = count && (!least || count < least) ? count : least;
    }
    return least;
}

static bool changes_in(Loop *loop, const SCEV *address) {
    return SCEVExprContains(address, [&](const SCEV *part) {
        auto *varying = dyn_cast<SCEVAddRecExpr>(part);
        return varying && varying->getLoop() == loop;
    });
}

/* In the first round of all loops around it, as far as that is known. */
static Start start_of(ScalarEvolution &evolution, const SCEV *start) {
    while (auto *varying = dyn_cast<SCEVAddRecExpr>(start))
        start = varying->getStart();
    const SCEV *base = evolution.getPointerBase(start), *distance = evolution.getMinusSCEV(start, base);
    if (auto *sum = dyn_cast<SCEVAddExpr>(distance))
        distance = sum->getOperand(0); /* constants come first */
    auto *object = dyn_cast<SCEVUnknown>(base);
    auto *offset = dyn_cast<SCEVConstant>(distance);
    return {object ? object->getValue() : nullptr, offset ? offset->getAPInt().getSExtValue() : 0};
}

/* Does it put vectors together from scalars? One that only spreads scalars over vectors can be vectorised as it is, if it is
 * long enough for LLVM. */
static bool gathers(Loop *loop, size_t trips) {
    if (!loop->isInnermost())
        return false;
    for (BasicBlock *block : loop->blocks())
        for (Instruction &insn : *block)
            if (auto *insert = dyn_cast<InsertElementInst>(&insn))
                if (trips < MIN_VECTORIZED || !match(insert->getOperand(2), PatternMatch::m_ZeroInt()))
                    return true;
    return false;
}

static bool decides(User *user, Value *value) {
    if (auto *access = dyn_cast<StoreInst>(user))
        return access->getPointerOperand() == value;
    return isa<LoadInst, GetElementPtrInst, IntToPtrInst, CmpInst, SwitchInst, CallBase>(user);
}

/* Do addresses, conditions or lengths come of it? */
static bool shapes_code(LoadInst *load) {
    SmallVector<Value *, MAX_FOLLOWED> values{load};
    if (load->getType()->isFPOrFPVectorTy())
        return false;
    for (size_t i = 0; i < values.size(); i++)
        for (User *user : values[i]->users()) {
            if (decides(user, values[i]))
                return true;
            if (values.size() < MAX_FOLLOWED && !user->getType()->isVoidTy() && !is_contained(values, user))
                values.push_back(user);
        }
    return false;
}

/* With what shapes it known, the code becomes another one. Of a table of factors unrolling makes operands in memory at best. But
 * where scalars are collected for vectors, as compilers do for lack of knowledge, what comes of it is scalar again, and
 * the loop around it can be vectorised. */
static bool pays(LoadInst *load, Loop *loop, size_t trips, size_t growth) {
    return (growth <= MAX_FACTORS && gathers(loop, trips)) || shapes_code(load);
}

static bool has_folding_load(Analyses &a, Loop *loop, size_t trips, size_t growth, LoopsFolding *folding, void *user) {
    for (BasicBlock *block : loop->blocks())
        for (Instruction &insn : *block) {
            auto *load = dyn_cast<LoadInst>(&insn);
            if (!load || !pays(load, loop, trips, growth))
                continue;
            const SCEV *address = a.evolution.getSCEV(load->getPointerOperand());
            Start start = start_of(a.evolution, address);
            if (changes_in(loop, address) && start.base && folding(user, wrap(start.base), start.offset))
                return true;
        }
    return false;
}

static size_t size_of(Loop *loop) {
    size_t size = 0;
    for (BasicBlock *block : loop->blocks())
        size += block->size();
    return size;
}

static void mark(Loop *loop) {
    LLVMContext &context = loop->getHeader()->getContext();
    Metadata *full = MDNode::get(context, MDString::get(context, UNROLL_FULL)), *parts[] = {nullptr, full};
    MDNode *id = MDNode::getDistinct(context, parts);
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
}

LoopsFound loops_mark(LLVMValueRef function, size_t *budget, LoopsFolding *folding, void *user) {
    Function &fn = *cast<Function>(unwrap(function));
    Analyses a(fn);
    auto loops = a.loops.getLoopsInPreorder();
    DenseMap<Loop *, size_t> copies; /* of each loop, once those around it are unrolled */
    LoopsFound found = {unsigned(loops.size()), 0};
    for (Loop *loop : loops) {
        size_t trips = trip_count(a.evolution, loop),
               around = loop->getParentLoop() ? copies[loop->getParentLoop()] : 1;
        size_t growth = size_of(loop) * around * trips;
        copies[loop] = around;
        if (trips < 2 || growth > *budget || findOptionMDForLoop(loop, UNROLL_FULL) ||
            !has_folding_load(a, loop, trips, growth, folding, user))
            continue;
        copies[loop] = around * trips;
        *budget -= growth;
        mark(loop);
        found.marked++;
    }
    return found;
}
