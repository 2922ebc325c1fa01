/* inline.cpp: see inline.h. */
#include "codegen/inline.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

static bool is_marked(const Function &fn) {
    return fn.hasFnAttribute(Attribute::AlwaysInline) && fn.hasLocalLinkage() && !fn.isDeclaration();
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

void inline_marked(LLVMModuleRef module) {
    for (Function &fn : make_early_inc_range(*unwrap(module))) {
        if (!is_marked(fn))
            continue;
        for (CallBase *call : calls_of(fn)) {
            InlineFunctionInfo info;
            InlineFunction(*call, info, /*MergeAttributes=*/true, nullptr, /*InsertLifetime=*/false);
        }
        if (fn.use_empty())
            fn.eraseFromParent();
    }
}
