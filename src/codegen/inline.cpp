/* inline.cpp: see inline.h. */
#include "codegen/inline.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

static bool is_marked(const Function &fn) {
    return fn.hasFnAttribute(Attribute::AlwaysInline) && fn.hasLocalLinkage() && !fn.isDeclaration();
}

static SmallVector<CallBase *, 0> calls_in(Function &fn, const Function &callee) {
    SmallVector<CallBase *, 0> calls;
    for (Instruction &in : instructions(fn))
        if (auto *call = dyn_cast<CallBase>(&in); call && call->getCalledOperand() == &callee)
            calls.push_back(call);
    return calls;
}

static SmallVector<CallBase *, 0> calls_of(Function &fn) {
    SmallVector<CallBase *, 0> calls;
    for (User *user : fn.users()) {
        auto *call = dyn_cast<CallBase>(user);
        if (call && call->getCalledFunction() == &fn && call->getFunction() != &fn)
            calls.push_back(call);
    }
    return calls;
}

static void put_in_place(CallBase &call) {
    InlineFunctionInfo info;
    InlineFunction(call, info, /*MergeAttributes=*/true, nullptr, /*InsertLifetime=*/false);
}

void inline_itself(LLVMValueRef function, LLVMValueRef declared, unsigned levels) {
    Function &fn = *unwrap<Function>(function);
    ValueToValueMapTy values;
    Function *copy = CloneFunction(&fn, values);
    copy->setLinkage(GlobalValue::InternalLinkage);
    for (; levels; levels--)
        for (CallBase *call : calls_in(fn, *unwrap<Function>(declared))) {
            call->setCalledFunction(copy);
            put_in_place(*call);
        }
    copy->eraseFromParent();
}

void inline_marked(LLVMModuleRef module) {
    for (Function &fn : make_early_inc_range(*unwrap(module))) {
        if (!is_marked(fn))
            continue;
        for (CallBase *call : calls_of(fn))
            put_in_place(*call);
        if (fn.use_empty())
            fn.eraseFromParent();
    }
}
