/* shim.cpp: see shim.h. C++, since it is what LLVM's C API lacks. */
#include "codegen/shim.h"

#include "codegen/counted.h"
#include "codegen/gate.h"
#include "codegen/lanes.h"
#include "codegen/pieces.h"
#include "codegen/rounds.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

static TargetMachine *unwrap(LLVMTargetMachineRef tm) {
    return reinterpret_cast<TargetMachine *>(tm);
}

/* Code generation asks before each pass that it could do without. What it says matters only to those who wait for the thread: see gate.h. */
struct PassGate : OptPassGate {
    bool isEnabled() const override {
        return gate_is_wanted();
    }
    bool shouldRunPass(StringRef, StringRef) override {
        return gate_between_passes();
    }
};

struct ShimEmitter {
    PassGate gate;
    SmallVector<char, 0> object;
    raw_svector_ostream stream{object};
    legacy::PassManager passes;
};

/* Are there loops, and is each one the loop vectoriser's work, or what it left over? */
static bool is_vectorized(Function &fn) {
    DominatorTree dominators(fn);
    LoopInfo loops(dominators);
    return !loops.empty() && all_of(loops.getLoopsInPreorder(), [](const Loop *loop) {
        return !loop->isInnermost() || getBooleanLoopAttribute(loop, "llvm.loop.isvectorized");
    });
}

/* Unrolls what is marked, and nothing else. */
static void add_short_rounds(ModulePassManager &passes, OptimizationLevel level) {
    FunctionPassManager each;
    each.addPass(ShortRounds());
    each.addPass(LoopUnrollPass(LoopUnrollOptions((int)level.getSpeedupLevel(), /*OnlyWhenForced=*/true)));
    each.addPass(InstCombinePass(InstCombineOptions().setVerifyFixpoint(false)));
    each.addPass(SimplifyCFGPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(each)));
}

/* Passes of the new pass manager can be run on one module after another, with one exception: the inliner's wrapper,
 * part of the default<> pipelines, uses up its own pipeline in the first run and crashes in the second. Those are built
 * anew for each module, and not parsed: the parser would overrule the tuning. The analysis managers and the pass builder
 * are always kept. */
struct ShimPasses {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager sccs;
    ModuleAnalysisManager modules;
    Module *running = nullptr;
    PassInstrumentationCallbacks callbacks;
    PassBuilder builder;
    ModulePassManager passes;
    std::string text;
    bool is_default;
    LatheStep *step = nullptr; /* nobody watches */
    void *step_user = nullptr;
    bool was_watched = false;

    ShimPasses(TargetMachine *tm, const PipelineTuningOptions &tuning, const Pipeline &pipeline)
        : builder(tm, tuning, std::nullopt, &callbacks), text(pipeline.passes),
          is_default(StringRef(pipeline.passes).starts_with("default<")) {
        callbacks.registerShouldRunOptionalPassCallback([this](StringRef pass, Any) { return is_worth_running(pass); });
        builder.registerPipelineStartEPCallback([](ModulePassManager &first, OptimizationLevel) {
            first.addPass(createModuleToFunctionPassAdaptor(LowLanes()));
        });
        if (tuning.LoopVectorization)
            builder.registerVectorizerStartEPCallback(
                [](FunctionPassManager &before, OptimizationLevel) { before.addPass(CountedLoops()); });
        if (pipeline.rounds)
            builder.registerOptimizerLastEPCallback(add_short_rounds);
        builder.registerModuleAnalyses(modules);
        builder.registerCGSCCAnalyses(sccs);
        builder.registerFunctionAnalyses(functions);
        builder.registerLoopAnalyses(loops);
        builder.crossRegisterProxies(loops, functions, sccs, modules);
    }

    /* The rounds that are left over after vectorised ones are few, and long if they were unrolled: putting their scalars into
     * vectors takes the SLP vectoriser as long as everything else together, for nothing. Of which function it is about to run
     * cannot be asked across libraries (Any compares addresses that each has its own of). */
    bool is_worth_running(StringRef pass) {
        if (!gate_between_passes())
            return false;
        return pass != "SLPVectorizerPass" ||
               any_of(*running, [](Function &fn) { return !fn.isDeclaration() && !is_vectorized(fn); });
    }

    /* Managers and adaptors are passes, too, which change what those in them have changed. That all analyses are preserved does not say that nothing was changed. */
    void tell(StringRef pass) {
        if (!step || pass.contains("PassManager") || pass.contains("PassAdaptor"))
            return;
        step(step_user, callbacks.getPassNameForClassName(pass).str().c_str(), wrap(running));
    }

    void watch(LatheStep *watcher, void *user) {
        step = watcher;
        step_user = user;
        if (!watcher || was_watched)
            return;
        was_watched = true;
        callbacks.registerAfterPassCallback([this](StringRef pass, Any, const PreservedAnalyses &) { tell(pass); });
        callbacks.registerAfterPassInvalidatedCallback(
            [this](StringRef pass, const PreservedAnalyses &) { tell(pass); });
    }

    OptimizationLevel level() const {
        if (text == "default<O3>")
            return OptimizationLevel::O3;
        return text == "default<Os>" ? OptimizationLevel::Os : OptimizationLevel::O2;
    }

    bool parse() {
        passes = ModulePassManager();
        if (is_default) {
            passes = builder.buildPerModuleDefaultPipeline(level());
            return true;
        }
        Error error = builder.parsePassPipeline(passes, text);
        bool ok = !error;
        consumeError(std::move(error));
        return ok;
    }
};

bool shim_target_knows(LLVMTargetMachineRef tm, const char *cpu, const char *features) {
    const MCSubtargetInfo *info = unwrap(tm)->getMCSubtargetInfo();
    if (*cpu && !info->isCPUStringValid(cpu))
        return false;
    SmallVector<StringRef, 64> names;
    StringRef(features).split(names, ',', -1, false);
    return all_of(names, [&](StringRef name) {
        bool sign = name.consume_front("+") || name.consume_front("-");
        return sign && any_of(info->getAllProcessorFeatures(), [&](auto &known) { return name == known.Key; });
    });
}

ShimEmitter *shim_emitter_new(LLVMTargetMachineRef tm) {
    TargetMachine *machine = unwrap(tm);
    ShimEmitter *e = new ShimEmitter;
    /* Without these two, loop strength reduction and its kin would work with the costs of no machine in particular. */
    e->passes.add(createTargetTransformInfoWrapperPass(machine->getTargetIRAnalysis()));
    e->passes.add(new TargetLibraryInfoWrapperPass(machine->getTargetTriple()));
    if (!pieces_add_emission(*machine, e->passes, e->stream)) {
        delete e;
        return nullptr;
    }
    return e;
}

void shim_emitter_free(ShimEmitter *e) {
    delete e;
}

const void *shim_emitter_run(ShimEmitter *e, LLVMModuleRef mod, size_t *size) {
    LLVMContext &context = unwrap(mod)->getContext();
    OptPassGate &before = context.getOptPassGate();
    e->object.clear();
    context.setOptPassGate(e->gate);
    e->passes.run(*unwrap(mod));
    context.setOptPassGate(before);
    *size = e->object.size();
    return e->object.data();
}

ShimPasses *shim_passes_new(LLVMTargetMachineRef tm, const Pipeline *pipeline) {
    PipelineTuningOptions tuning;
    tuning.LoopVectorization = pipeline->vectorize;
    tuning.SLPVectorization = pipeline->pack;
    tuning.LoopUnrolling = pipeline->unroll; /* guest code comes unrolled where its compiler thought it worth it */
    ShimPasses *p = new ShimPasses(unwrap(tm), tuning, *pipeline);
    if (!p->parse()) {
        delete p;
        return nullptr;
    }
    return p;
}

void shim_passes_free(ShimPasses *p) {
    delete p;
}

void shim_passes_run(ShimPasses *p, LLVMModuleRef mod) {
    if (p->is_default)
        p->parse();
    p->running = unwrap(mod);
    p->passes.run(*p->running, p->modules);
    p->loops.clear();
    p->functions.clear();
    p->sccs.clear();
    p->modules.clear();
}

void shim_passes_watch(ShimPasses *p, LatheStep *step, void *user) {
    p->watch(step, user);
}
