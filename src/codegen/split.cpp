/* split.cpp: see split.h. */
#include "codegen/split.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

static void make_visible(GlobalValue &value) {
    if (!value.hasLocalLinkage())
        return;
    value.setLinkage(GlobalValue::ExternalLinkage);
    value.setVisibility(GlobalValue::HiddenVisibility);
    if (!value.hasName())
        value.setName("lathe_part");
}

/* The number of the module that each function goes to. */
static DenseMap<const GlobalValue *, unsigned> deal_out(const Module &mod, unsigned count) {
    DenseMap<const GlobalValue *, unsigned> parts;
    size_t all = 1, seen = 0;
    for (const Function &fn : mod)
        all += fn.getInstructionCount();
    for (const Function &fn : mod) {
        parts[&fn] = (unsigned)(seen * count / all);
        seen += fn.getInstructionCount();
    }
    return parts;
}

static LLVMMemoryBufferRef write(const Module &mod) {
    SmallVector<char, 0> bytes;
    raw_svector_ostream stream(bytes);
    WriteBitcodeToFile(mod, stream);
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(), "part");
}

void split_module(LLVMModuleRef whole, unsigned count, LLVMMemoryBufferRef *parts) {
    Module &mod = *unwrap(whole);
    for (GlobalValue &value : mod.global_values())
        make_visible(value);
    auto part_of = deal_out(mod, count);
    for (unsigned i = 0; i < count; i++) {
        ValueToValueMapTy values;
        auto part = CloneModule(mod, values, [&](const GlobalValue *value) { return part_of.lookup(value) == i; });
        if (i)
            part->setModuleInlineAsm("");
        parts[i] = write(*part);
    }
}
