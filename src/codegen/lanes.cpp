/* lanes.cpp: see lanes.h. C++, since LLVM's C API has no loops.
 *
 * Phis of vectors that go into each other, also by bitcasts, are one web: all are split, or none is. What a web saves are insertions of a scalar on the way into its phis; what it costs is one in
 * front of each use of a whole vector. An instruction counts eight times for each loop around it. */
#include "codegen/lanes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>

using namespace llvm;

enum { VECTOR_BITS = 128, LOOP_SHIFT = 3, LOOPS_COUNTED = 8 };

struct Halves {
    PHINode *low, *rest;
};

struct Web {
    SmallSetVector<PHINode *, 8> phis;
    SmallVector<Use *, 16> uses; /* of the phis and of their bitcasts, but for the bitcasts and the phis themselves */
    DenseMap<PHINode *, Halves> halves;
    Type *scalar = nullptr; /* of the low lanes: float or double; nullptr if there is none */
    bool is_stuck = false;  /* a value comes from the end of a block: there is no room behind it */
};

static bool is_vector(const Value *value) {
    return isa<FixedVectorType>(value->getType()) && value->getType()->getPrimitiveSizeInBits() == VECTOR_BITS;
}

static Value *without_casts(Value *value) {
    while (auto *cast = dyn_cast<BitCastInst>(value)) {
        if (!is_vector(cast->getOperand(0)))
            break;
        value = cast->getOperand(0);
    }
    return value;
}

/* The insertion of a low lane of that type (nullptr: of any scalar), or nullptr. */
static InsertElementInst *low_insertion(Value *value, const Type *scalar) {
    auto *insertion = dyn_cast<InsertElementInst>(value);
    auto *lane = insertion ? dyn_cast<ConstantInt>(insertion->getOperand(2)) : nullptr;
    Type *type = insertion ? insertion->getOperand(1)->getType() : nullptr;
    bool is_float = type && (type->isFloatTy() || type->isDoubleTy());
    return lane && lane->isZero() && is_float && (!scalar || type == scalar) ? insertion : nullptr;
}

/* ----------------------------------------------------------------------------------------------------------------- webs */

static void add_uses(Web &web, Value *value) {
    for (Use &use : value->uses()) {
        User *user = use.getUser();
        if (auto *phi = dyn_cast<PHINode>(user))
            web.phis.insert(phi);
        else if (isa<BitCastInst>(user) && is_vector(user))
            add_uses(web, user);
        else
            web.uses.push_back(&use);
    }
}

static Web web_of(PHINode *first) {
    Web web;
    web.phis.insert(first);
    for (size_t i = 0; i < web.phis.size(); i++) {
        PHINode *phi = web.phis[i];
        for (Value *value : phi->incoming_values()) {
            Value *from = without_casts(value);
            auto *insn = dyn_cast<Instruction>(from);
            web.is_stuck |= insn && insn->isTerminator();
            if (auto *other = dyn_cast<PHINode>(from))
                web.phis.insert(other);
            else if (auto *insertion = low_insertion(from, nullptr); insertion && !web.scalar)
                web.scalar = insertion->getOperand(1)->getType();
        }
        add_uses(web, phi);
    }
    return web;
}

static int64_t weight(const LoopInfo &loops, const BasicBlock *block) {
    return (int64_t)1 << LOOP_SHIFT * std::min<unsigned>(loops.getLoopDepth(block), LOOPS_COUNTED);
}

/* Uses that are as well off with one half. */
static bool takes_half(const Web &web, const Use &use) {
    Value *user = use.getUser();
    if (use.getOperandNo())
        return false;
    if (auto *extraction = dyn_cast<ExtractElementInst>(user)) {
        auto *lane = dyn_cast<ConstantInt>(extraction->getIndexOperand());
        return lane && lane->isZero() && extraction->getType() == web.scalar;
    }
    return low_insertion(user, web.scalar);
}

/* Is the whole vector with the scalar in it needed nowhere but in phis, or less often than it is made? */
static bool is_saved(const Value &vector, int64_t made, const LoopInfo &loops) {
    return all_of(vector.users(), [&](const User *user) {
        if (isa<BitCastInst>(user) && is_vector(user))
            return is_saved(*user, made, loops);
        return isa<PHINode>(user) || weight(loops, cast<Instruction>(user)->getParent()) < made;
    });
}

/* What it gains that one of a phi's values is two. */
static int64_t gain_of(const Web &web, Value *value, const BasicBlock *from, const LoopInfo &loops) {
    Value *vector = without_casts(value);
    if (auto *insertion = low_insertion(vector, web.scalar)) {
        int64_t made = weight(loops, insertion->getParent());
        return is_saved(*insertion, made, loops) ? made : 0;
    }
    return isa<Constant>(vector) || isa<PHINode>(vector) ? 0 : -weight(loops, from);
}

static bool is_worth_it(const Web &web, const LoopInfo &loops) {
    int64_t gain = 0;
    SmallPtrSet<Value *, 8> seen;
    for (PHINode *phi : web.phis)
        for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
            if (seen.insert(without_casts(phi->getIncomingValue(i))).second)
                gain += gain_of(web, phi->getIncomingValue(i), phi->getIncomingBlock(i), loops);
    for (const Use *use : web.uses)
        if (!takes_half(web, *use))
            gain -= weight(loops, cast<Instruction>(use->getUser())->getParent());
    return gain > 0;
}

/* ---------------------------------------------------------------------------------------------------------------- halves */

static Type *lanes_of(const Web &web) {
    return FixedVectorType::get(web.scalar, VECTOR_BITS / (unsigned)web.scalar->getPrimitiveSizeInBits());
}

static void make_phis(Web &web) {
    for (PHINode *phi : web.phis) {
        IRBuilder<> b(phi);
        unsigned count = phi->getNumIncomingValues();
        PHINode *low = b.CreatePHI(web.scalar, count), *rest = b.CreatePHI(lanes_of(web), count);
        web.halves[phi] = {low, rest};
    }
}

static Value *low_of(Web &web, Value *value, IRBuilder<> &b) {
    Value *from = without_casts(value);
    if (auto *insertion = low_insertion(from, web.scalar))
        return insertion->getOperand(1);
    if (auto *phi = dyn_cast<PHINode>(from); phi && web.halves.count(phi))
        return web.halves[phi].low;
    return b.CreateExtractElement(b.CreateBitCast(from, lanes_of(web)), (uint64_t)0);
}

static Value *rest_of(Web &web, Value *value, IRBuilder<> &b) {
    Value *from = without_casts(value);
    while (auto *insertion = low_insertion(from, web.scalar))
        from = without_casts(insertion->getOperand(0));
    if (auto *phi = dyn_cast<PHINode>(from); phi && web.halves.count(phi))
        return web.halves[phi].rest;
    return b.CreateBitCast(from, lanes_of(web));
}

/* A block that goes to the phi's in several ways has one value for all of them. */
static void add_incoming(Web &web, PHINode *phi, Value *value, BasicBlock *block) {
    const Halves &to = web.halves[phi];
    int same = to.low->getBasicBlockIndex(block);
    IRBuilder<> b(block->getTerminator());
    Value *low = same < 0 ? low_of(web, value, b) : to.low->getIncomingValue((unsigned)same);
    Value *rest = same < 0 ? rest_of(web, value, b) : to.rest->getIncomingValue((unsigned)same);
    to.low->addIncoming(low, block);
    to.rest->addIncoming(rest, block);
}

static void fill_phis(Web &web) {
    for (PHINode *phi : web.phis)
        for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
            add_incoming(web, phi, phi->getIncomingValue(i), phi->getIncomingBlock(i));
}

/* Each use gets a vector that is put together right before it, so that none is in a loop for the sake of one behind it. */
static void replace_use(Web &web, Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    const Halves &of = web.halves[cast<PHINode>(without_casts(use.get()))];
    IRBuilder<> b(user);
    if (takes_half(web, use) && isa<ExtractElementInst>(user))
        user->replaceAllUsesWith(of.low);
    else if (takes_half(web, use))
        use.set(b.CreateBitCast(of.rest, use->getType()));
    else
        use.set(b.CreateBitCast(b.CreateInsertElement(of.rest, of.low, (uint64_t)0), use->getType()));
}

/* The phis use each other, by bitcasts that nobody else has now. */
static void remove_phis(const Web &web) {
    SmallSetVector<Instruction *, 16> dead;
    dead.insert(web.phis.begin(), web.phis.end());
    for (size_t i = 0; i < dead.size(); i++)
        for (User *user : dead[i]->users())
            dead.insert(cast<Instruction>(user));
    for (Instruction *insn : dead)
        insn->replaceAllUsesWith(PoisonValue::get(insn->getType()));
    for (Instruction *insn : dead)
        insn->eraseFromParent();
}

static void split(Web &web) {
    make_phis(web);
    fill_phis(web);
    for (Use *use : web.uses)
        replace_use(web, *use);
    remove_phis(web);
}

static void find_phis(Function &fn, SmallVectorImpl<PHINode *> &phis) {
    for (BasicBlock &block : fn)
        for (PHINode &phi : block.phis())
            if (is_vector(&phi))
                phis.push_back(&phi);
}

PreservedAnalyses LowLanes::run(Function &fn, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(fn);
    SmallVector<PHINode *, 32> phis;
    SmallPtrSet<PHINode *, 32> seen;
    bool changed = false;
    find_phis(fn, phis);
    for (PHINode *phi : phis) {
        if (seen.count(phi))
            continue;
        Web web = web_of(phi);
        seen.insert(web.phis.begin(), web.phis.end());
        if (!web.scalar || web.is_stuck || !is_worth_it(web, loops))
            continue;
        changed = true;
        split(web);
    }
    PreservedAnalyses kept;
    kept.preserveSet<CFGAnalyses>();
    return changed ? kept : PreservedAnalyses::all();
}
