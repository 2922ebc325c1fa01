/* pieces.cpp: see pieces.h. C++, since it is a pass of LLVM's. */
#include "codegen/pieces.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/StackProtector.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCContext.h>
#include <llvm/Target/TargetMachine.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Instructions of a piece. Code of 1,600 stores took 1.15 ms for each to schedule in one block, and takes 0.05 ms in pieces. */
enum { PIECE = 200 };

/* The rest of the block becomes the next one, which is looked at in its turn. */
static void split_if_long(BasicBlock &block) {
    unsigned count = 0;
    for (Instruction &in : block)
        if (++count > PIECE && !in.isTerminator() && !isa<PHINode>(in)) {
            block.splitBasicBlock(&in);
            return;
        }
}

/* LLVM 19 selects a partial move for `p & -256 | zext(load i8 p)`, and loses the upper bits of p where the address register is p
 * itself. The lifter freezes what it loads for that reason, but optimisation may find out that arithmetic it did not freeze
 * does nothing. */
static void keep_partial_moves_apart(BasicBlock &block) {
    for (Instruction &in : block) {
        Value *kept, *low;
        const APInt *mask;
        if (match(&in, m_c_Or(m_And(m_Value(kept), m_APInt(mask)), m_ZExt(m_Value(low)))) &&
            (isa<LoadInst>(low) || isa<TruncInst>(low))) {
            Instruction *narrow = cast<Instruction>(low);
            Instruction *frozen = new FreezeInst(narrow, "", std::next(narrow->getIterator()));
            low->replaceUsesWithIf(frozen, [&](Use &use) { return use.getUser() != frozen; });
        }
    }
}

namespace {

struct Pieces : FunctionPass {
    static char ID;
    Pieces() : FunctionPass(ID) {
    }

    /* Instruction selection asks for this one, and LLVM cannot run it a second time. */
    void getAnalysisUsage(AnalysisUsage &usage) const override {
        usage.addPreserved<StackProtector>();
    }

    bool runOnFunction(Function &fn) override {
        for (BasicBlock &block : fn) {
            keep_partial_moves_apart(block);
            split_if_long(block);
        }
        return true;
    }
};

char Pieces::ID;

/* Blocks have been joined again by now, and are scheduled once more. No instruction is moved over a label, which costs nothing. */
struct Labels : MachineFunctionPass {
    static char ID;
    Labels() : MachineFunctionPass(ID) {
    }

    static void put(MachineBasicBlock &block, const TargetInstrInfo &info) {
        unsigned count = 0;
        for (auto in = block.begin(), end = block.getFirstTerminator(); in != end; ++in)
            if (++count % PIECE == 0)
                BuildMI(block, in, DebugLoc(), info.get(TargetOpcode::GC_LABEL))
                    .addSym(block.getParent()->getContext().createTempSymbol());
    }

    bool runOnMachineFunction(MachineFunction &fn) override {
        for (MachineBasicBlock &block : fn)
            put(block, *fn.getSubtarget().getInstrInfo());
        return true;
    }
};

char Labels::ID;

} // namespace

/* As TargetMachine::addPassesToEmitFile does, with one pass more: right before instructions are selected, when no other pass would join
 * the pieces again. */
bool pieces_add_emission(TargetMachine &tm, legacy::PassManager &passes, raw_pwrite_stream &out) {
    auto &machine = static_cast<LLVMTargetMachine &>(tm);
    auto *info = new MachineModuleInfoWrapperPass(&machine);
    TargetPassConfig *config = machine.createPassConfig(passes);
    config->setDisableVerify(true);
    config->insertPass(&StackProtector::ID, new Pieces);
    config->insertPass(&ExpandPostRAPseudosID, new Labels);
    passes.add(config);
    passes.add(info);
    if (config->addISelPasses())
        return false;
    config->addMachinePasses();
    config->setInitialized();
    if (machine.addAsmPrinter(passes, out, nullptr, CodeGenFileType::ObjectFile, info->getMMI().getContext()))
        return false;
    passes.add(createFreeMachineFunctionPass());
    return true;
}
