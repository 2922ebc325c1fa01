/* translate.c: translates one guest function to one ELF object: lifts, optimises, emits. */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codegen/pipeline.h"
#include "host/host.h"
#include "isa/isa.h"
#include "lift/func.h"
#include "run/server/order/order.h"
#include "run/server/plugin/plugin.h"
#include "run/server/server.h"

/* How large a translation may be. A function is followed up to CODE_REACH behind its entry; code beyond or before it
 * (cold parts, bodies of other functions reached by tail calls) is translated by itself, if it ever runs. LLVM's time
 * grows faster than a function's size (register coalescing took 0.6 ms per instruction at 4000 instructions), so there
 * is a largest size, and large functions get fewer passes. A function also ends where another one is known to begin,
 * and repeats at most AGAIN_INSNS instructions that other translations contain: enough for the loop that a computed
 * goto leads into. */
enum { MAX_INSNS = 1500, LARGE_INSNS = 1000, AGAIN_INSNS = 128 };

/* Beside quick code only a part of a larger function is translated. That part is chosen among the first LOOK_INSNS
 * instructions that are found, and has about PART_INSNS. */
enum { LOOK_INSNS = 8000, PART_INSNS = 600 };

/* Code whose accesses can leave with the complete state takes LLVM more than twice as long, and so does code with functions of a tool in it: both get smaller parts by
 * this factor. */
enum { LONG_SHARE = 3 };

/* How far the code of a translation may be from its entry, in both directions. */
enum { CODE_REACH = 64 << 10 };

/* The size of a piece of a function at which a server has failed (TranslateMessage.again). LLVM compiles so short a
 * piece in no time, whatever it is. */
enum { PIECE_INSNS = 64 };

/* Types, constants and metadata of an LLVM context are never freed, so the context is replaced after this many uses. */
enum { CONTEXT_USES = 200 };

/* What is known of a guest address. */
typedef enum Seen {
    SEEN_NOT,
    SEEN_INSIDE, /* it is an instruction of some translation */
    SEEN_TARGET, /* some translation calls it or continues there */
    SEEN_REST,   /* it is behind an instruction that the client executes itself */
    SEEN_ENTRY,  /* a translation begins there */
} Seen;

struct Translator {
    CodeConfig config;
    const Host *host;            /* that the code is for */
    ToolCell cells[TOOL_COUNTS]; /* what instructions are counted by */
    u32 cell_count;
    InitMessage init;
    ServerTool *tool;   /* NULL: there is none, or it only counts instructions */
    Watching *watching; /* if there is one */
    Plugin *plugin;     /* NULL: there is none */
    u32 dump;
    Pages *pages;
    LatheJit *jit;
    LLVMContextRef ctx;
    u32 ctx_uses;
    Map64 seen; /* from a guest address to a Seen */
    Map64 hard; /* the addresses of all instructions of functions that took a server too much */
    Map64 part; /* the addresses of the instructions that are translated, if in_part */
    /* for the current request: */
    LLVMModuleRef mod;
    Callees *callees; /* which are translated with it */
    LatheConfig lift;
    LatheTuning tuning; /* what `lift` points to */
    TranslateMessage request;
    bool narrow;
    bool anew; /* the function was translated before */
    /* SEEN_REST: translates only code that is in no other translation; else a function with n such places would be translated
     * n times. */
    bool rest;
    bool in_pieces; /* it belongs to a function that took too much */
    bool in_part;   /* beside quick code: only what is in `part` is translated */
    u32 unfolded;   /* number of instructions that the function's own body adds in the place of its calls of itself */
    u32 again;      /* number of its instructions that are in other translations, too */
    LatheRange refused; /* beside quick code: the place that has no object */
};

/* This machine is meant by no name, and not what all of its kind have. */
LatheJit *translator_jit_new(LatheHost host, const char *cpu, bool low_vectors) {
    bool own = host_find(host) == host_own();
    return lathe_jit_new(
        &(LatheJitConfig){.host = own ? LATHE_HOST_OWN : host, .cpu = cpu, .low_vectors = low_vectors});
}

Translator *translator_new(const InitMessage *init, Pages *pages, Plugin *plugin) {
    Translator *t = mem_new(sizeof(Translator));
    t->config = init->code;
    memcpy(t->cells, init->cells, sizeof(t->cells));
    t->cell_count = init->cell_count;
    t->init = *init;
    t->dump = init->dump;
    t->pages = pages;
    t->plugin = plugin;
    t->host = host_find((LatheHost)init->code.host);
    t->jit = translator_jit_new(t->host->id, NULL, init->code.low_vectors);
    return t;
}

void translator_use(Translator *t, LatheJit *jit) {
    lathe_jit_free(t->jit);
    t->jit = jit;
}

bool translator_watch(Translator *t, const void *package, size_t size) {
    tool_free(t->tool);
    watching_free(t->watching);
    t->tool = tool_new(package, size);
    t->watching = t->tool ? watching_new(t->tool, &t->init, t->pages) : NULL;
    return t->tool;
}

void translator_free(Translator *t) {
    lathe_jit_free(t->jit);
    tool_free(t->tool);
    watching_free(t->watching);
    map64_free(&t->seen);
    map64_free(&t->hard);
    map64_free(&t->part);
    if (t->ctx)
        LLVMContextDispose(t->ctx);
    mem_free(t);
}

static void renew_context(Translator *t) {
    if (t->ctx && t->ctx_uses++ < CONTEXT_USES)
        return;
    tool_forget_context(t->tool);
    if (t->ctx)
        LLVMContextDispose(t->ctx);
    t->ctx = LLVMContextCreate();
    t->ctx_uses = 0;
    LLVMContextSetDiscardValueNames(t->ctx, true);
}

/* The CPU time of this thread; other processes do not count. */
static u64 now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000;
}

/* ------------------------------------------------------------------------------------------------------- configuration */

static void name_of(const Translator *t, u64 pc, char *name, size_t size) {
    snprintf(name, size, FUNCTION_NAME, (unsigned long long)(pc - t->request.base));
}

static Seen seen_at(const Translator *t, u64 pc) {
    u32 seen = SEEN_NOT;
    map64_get(&t->seen, pc, &seen);
    return (Seen)seen;
}

static void note(Translator *t, u64 pc, Seen seen) {
    if (seen > seen_at(t, pc))
        map64_set(&t->seen, pc, seen);
}

static LLVMValueRef function_at(void *user, uint64_t pc) {
    Translator *t = user;
    char name[32];
    if (t->request.base && (pc < t->request.base || pc >= t->request.end))
        return NULL;
    note(t, pc, SEEN_TARGET);
    name_of(t, pc, name, sizeof(name));
    LLVMValueRef fn = callees_lifted(t->callees, pc);
    if (!fn)
        fn = LLVMGetNamedFunction(t->mod, name);
    if (!fn) {
        fn = lathe_declare(t->mod, &t->lift, name);
        LLVMSetVisibility(fn, LLVMHiddenVisibility);
    }
    return fn;
}

/* True if the code at pc belongs to another translation. If a function is translated anew, because its code was changed
 * or was unmapped for a while, other translations contain only its old code and do not count. */
static bool belongs_elsewhere(void *user, uint64_t pc) {
    Translator *t = user;
    Seen seen = seen_at(t, pc);
    if (seen == SEEN_INSIDE && !t->anew)
        t->again++;
    return seen >= SEEN_TARGET || t->again > AGAIN_INSNS;
}

static bool is_cut_off(void *user, uint64_t pc) {
    u32 unused;
    return !map64_get(&((Translator *)user)->part, pc, &unused);
}

static size_t read_guest(void *user, uint64_t addr, void *buf, size_t size) {
    return pages_read(((Translator *)user)->pages, addr, buf, size);
}

static LLVMValueRef declare_plain(Translator *t, const char *name) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(t->ctx, 0);
    return LLVMAddFunction(t->mod, name, LLVMFunctionType(LLVMVoidTypeInContext(t->ctx), &ptr, 1, false));
}

/* The module's symbol is near the code. It is hidden, so that an address takes one lea. */
static void declare_guest(Translator *t) {
    LLVMValueRef guest = LLVMAddGlobal(t->mod, LLVMInt8TypeInContext(t->ctx), SYMBOL_GUEST);
    LLVMSetVisibility(guest, LLVMHiddenVisibility);
    t->lift.pic_symbol = SYMBOL_GUEST;
    t->lift.pic_base = t->request.base;
}

/* Beside quick code every translation is independent and contains all code that it can reach, before its entry as well:
 * the entry may be a loop's head, and leaving optimised code costs more than having code twice. */
static void set_reach(Translator *t) {
    u64 pc = t->request.pc, base = t->request.base, end = base ? t->request.end : pc + CODE_REACH;
    bool alone = t->config.with_quick;
    t->lift.code_start = !alone ? pc : pc - base < CODE_REACH ? base : pc - CODE_REACH;
    t->lift.code_end = end - pc < CODE_REACH ? end : pc + CODE_REACH;
    t->tuning.is_outside = !alone ? belongs_elsewhere : t->in_part ? is_cut_off : NULL;
    t->tuning.plain_only = alone;
    /* If the guest's return addresses are on its stack, quick code that is reached by a jump could not tell where it
     * returns to. */
    t->tuning.jumps_return = alone && isa_find(t->lift.arch)->abi.return_address_bytes;
    t->tuning.poll_off = t->config.polls ? THREAD_PENDING : 0;
}

/* Where undefined values are followed, what is left out is not checked: then it is better to take longer. */
static u32 share_of(const Translator *t) {
    return t->config.exact || (t->watching && !watching_follows(t->watching)) ? LONG_SHARE : 1;
}

static void configure(Translator *t) {
    const LiftWatch *watch = t->watching ? watching_begin(t->watching, t->mod) : NULL;
    bool follows = watching_follows(t->watching); /* masks of values are found by addresses */
    t->tuning = (LatheTuning){
        .convention = LATHE_CONVENTION_REGISTERS,
        .narrow = t->narrow,
        .leave_at_flags = true,
        .native_fs = t->host->native_fs,
        .full_addresses = follows,
        .exact_faults = t->config.exact,
        .own_frame = !t->config.exact && !t->plugin && !t->watching,
        .cells = t->cells,
        .cell_count = t->cell_count,
        .watch = watch,
    };
    t->lift = (LatheConfig){
        .arch = (LatheArch)t->config.arch,
        .host = t->host->id,
        .read_memory = read_guest,
        .user = t,
        .max_insns = t->in_pieces  ? PIECE_INSNS
                     : t->watching ? MAX_INSNS / share_of(t)
                                   : MAX_INSNS,
        .calls = LATHE_CALLS_RETURN,
        .resolve = function_at,
        .strict_fp = t->config.strict_fp,
        .no_jump_tables = !t->request.base, /* memory that may change holds no constants */
        .tuning = &t->tuning,
    };
    set_reach(t);
    plugin_mark(t->plugin, t->mod, &t->lift, t->request.base);
    t->lift.dispatch = lathe_declare(t->mod, &t->lift, SYMBOL_MISS);
    t->lift.lookup = lookup_build(t->mod, &t->lift);
    t->lift.on_syscall = declare_plain(t, SYMBOL_SYSCALL);
    t->lift.on_cpuid = declare_plain(t, SYMBOL_CPUID);
    if (t->request.position_independent)
        declare_guest(t);
}

/* ------------------------------------------------------------------------------------------------------------ lifting */

/* The vdso waits for the kernel in loops of loads, and reads a counter twice to see whether the values that it read in
 * between belong together. */
static MemoryOrder order_of(const Translator *t) {
    return t->request.changing_data ? MEMORY_STRONG : (MemoryOrder)t->config.memory;
}

/* All functions of the module, before anything is done with them. */
static void instrument(Translator *t, LLVMValueRef lifted) {
    LLVMValueRef callee;
    u64 pc;
    for (size_t i = 0; callees_at(t->callees, i, &callee, &pc); i++)
        plugin_instrument(t->plugin, callee, pc);
    plugin_instrument(t->plugin, lifted, t->request.pc);
    plugin_settle(t->plugin);
}

static void follow_values(Translator *t, LLVMValueRef lifted) {
    LLVMValueRef callee;
    u64 pc;
    for (size_t i = 0; callees_at(t->callees, i, &callee, &pc); i++)
        watching_follow(t->watching, callee);
    watching_follow(t->watching, lifted);
}

/* If the function calls itself, the calls are of a declaration with the name that it will have. */
static void unfold(Translator *t, const LatheFunc *fn, LLVMValueRef lifted) {
    char name[32];
    name_of(t, t->request.pc, name, sizeof(name));
    LLVMValueRef declared = LLVMGetNamedFunction(t->mod, name);
    if (declared)
        t->unfolded = recursion_unfold(fn, lifted, declared, t->config.exact);
}

/* Functions are put into others only in files: other code is guarded, and what is compared at each entry should be short. */
static LLVMValueRef lift_with_callees(Translator *t, LatheFunc *fn) {
    bool inlines = t->request.base && !t->in_pieces && t->config.opt;
    if (inlines)
        t->callees = callees_choose(fn, &t->lift, t->request.base, t->request.end);
    callees_lift(t->callees);
    LLVMValueRef lifted = lathe_func_lift(fn, "lifted");
    callees_note_source(t->callees, fn);
    if (lifted && t->plugin)
        instrument(t, lifted);
    if (lifted)
        follow_values(t, lifted);
    if (lifted && callees_insns(t->callees) && lathe_jit_optimize(t->jit, t->mod, (LatheOpt)OPT_INLINE) != LATHE_OK)
        return NULL;
    if (lifted && inlines)
        unfold(t, fn, lifted);
    return lifted;
}

/* Code that is not in a file may change, so it gets a guard. */
static LLVMValueRef lift_guarded(Translator *t, LatheFunc *fn) {
    const LatheRange *ranges;
    LLVMValueRef lifted = lift_with_callees(t, fn);
    if (lifted && t->tool) {
        tool_inline(t->mod, lifted, t->init.tool.counters);
        tool_tell_sites(t->tool, t->mod);
    }
    if (lifted)
        memory_order_keep(lifted, t->ctx, order_of(t), t->host);
    if (!lifted || t->request.base)
        return lifted;
    size_t count = lathe_func_ranges(fn, &ranges);
    return guard_build(lifted, &t->lift, t->request.pc, ranges, count, t->pages);
}

/* LLVM must use vector registers only where the guest does, not to copy or clear memory. */
static void avoid_vectors(Translator *t, LLVMValueRef lifted) {
    static const char name[] = "noimplicitfloat";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof(name) - 1);
    LLVMAddAttributeAtIndex(lifted, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(t->ctx, kind, 0));
}

/* Lets the client replace the function's first instruction by a jump while other threads run it: that instruction has
 * at least two bytes, and there is room for a long jump in front of it. */
static void make_patchable(LLVMValueRef fn, LLVMContextRef ctx, const Host *host) {
    static const char name[] = "patchable-function";
    LLVMTypeRef word = LLVMInt64TypeInContext(ctx);
    LLVMValueRef nops[PATCH_BYTES / 8];
    for (size_t i = 0; i < ARRAY_LEN(nops); i++)
        nops[i] = LLVMConstInt(word, host->nops, false);
    if (host->patchable)
        LLVMAddAttributeAtIndex(
            fn, LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(ctx, name, sizeof(name) - 1, host->patchable, (unsigned)strlen(host->patchable)));
    LLVMSetAlignment(fn, PATCH_BYTES); /* the jump is written at once */
    LLVMSetPrefixData(fn, LLVMConstArray2(word, nops, ARRAY_LEN(nops)));
}

/* A C function preserves no vector register. */
static bool is_helper(LLVMValueRef f, unsigned lifted) {
    unsigned convention = LLVMGetFunctionCallConv(f);
    bool elsewhere = LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage;
    return elsewhere && !LLVMGetIntrinsicID(f) && convention != lifted && convention != LLVMPreserveAllCallConv;
}

static bool function_calls_helpers(LLVMValueRef f, unsigned lifted) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (called && LLVMIsAFunction(called) && is_helper(called, lifted))
                return true;
        }
    return false;
}

/* True if the code calls C functions. */
static bool calls_helpers(Translator *t) {
    unsigned lifted = LLVMGetFunctionCallConv(t->lift.dispatch);
    for (LLVMValueRef f = LLVMGetFirstFunction(t->mod); f; f = LLVMGetNextFunction(f))
        if (LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage && function_calls_helpers(f, lifted))
            return true;
    return false;
}

/* Will other vector registers surely be used than those that the guest's code has? Masks of vectors are in such. */
static bool needs_vectors(Translator *t, LatheFunc *fn) {
    return calls_helpers(t) || (watching_follows(t->watching) && func_vectors(fn));
}

/* A call to itself may have declared the function's own name; the declaration is replaced. */
static bool lift(Translator *t, LatheFunc *fn) {
    char name[32];
    if (lathe_func_decode_cfg(fn, t->request.pc) != LATHE_OK)
        return false;
    LLVMValueRef lifted = lift_guarded(t, fn);
    if (!lifted)
        return false;
    name_of(t, t->request.pc, name, sizeof(name));
    LLVMValueRef declared = LLVMGetNamedFunction(t->mod, name);
    if (declared) {
        LLVMReplaceAllUsesWith(declared, lifted);
        LLVMDeleteFunction(declared);
    }
    LLVMSetValueName2(lifted, name, strlen(name));
    LLVMSetVisibility(lifted, LLVMHiddenVisibility);
    make_patchable(lifted, t->ctx, t->host);
    if (t->narrow)
        avoid_vectors(t, lifted);
    if (t->dump & DUMP_LIFT)
        dump_module(t->mod, name, "lift.ll");
    return true;
}

static u32 count_insns(const LatheFunc *fn) {
    size_t n = 0;
    for (size_t i = 0; i < lathe_func_block_count(fn); i++)
        n += lathe_func_block(fn, i).insn_count;
    return (u32)n;
}

/* Notes the places where the client continues behind an instruction, or several in a row, that it executes itself. */
static void note_rest(Translator *t, u64 pc) {
    u8 bytes[16];
    Insn in = {0};
    size_t size;
    while (!in.row && (size = pages_read(t->pages, pc, bytes, sizeof(bytes)))) {
        note(t, pc, SEEN_REST);
        in = (Insn){.pc = pc};
        if (isa_find(t->lift.arch)->decode(bytes, size, pc, &in) != LATHE_OK)
            return;
        pc = insn_end(&in);
    }
}

/* Notes which instructions are translated. If the client executes some instructions of a function itself, the function
 * is a sequence of translations, each from one such place to the next. */
static void note_insns(Translator *t, const LatheFunc *fn) {
    note(t, t->request.pc, SEEN_ENTRY);
    for (size_t i = 0; i < lathe_func_block_count(fn); i++) {
        LatheBlock b = lathe_func_block(fn, i);
        for (size_t k = 0; k < b.insn_count; k++)
            note(t, b.insns[k], SEEN_INSIDE);
        if (b.unsupported)
            note_rest(t, b.end);
    }
}

static LatheOpt level_of(const Translator *t, const Translation *out) {
    bool fewer_passes = (out->facts.insns > LARGE_INSNS || t->in_pieces) && t->config.opt;
    if (fewer_passes)
        return LATHE_OPT_QUICK;
    return t->config.opt == LATHE_OPT_FULL ? (LatheOpt)OPT_LOOPS : (LatheOpt)t->config.opt;
}

static bool compile(Translator *t, Translation *out) {
    u64 start = now_us();
    size_t size = 0;
    if (lathe_jit_optimize(t->jit, t->mod, level_of(t, out)) != LATHE_OK)
        return false;
    u64 optimized = now_us();
    char name[32];
    name_of(t, t->request.pc, name, sizeof(name));
    if (t->dump & DUMP_OPT)
        dump_module(t->mod, name, "opt.ll");
    if (lathe_jit_emit(t->jit, t->mod, LATHE_OPT_NONE, false, &out->object, &size) != LATHE_OK)
        return false;
    out->facts.opt_us += (u32)(optimized - start);
    out->facts.emit_us += (u32)(now_us() - optimized);
    out->facts.object_size = (u32)size;
    if (t->dump & DUMP_OBJ)
        dump_object(out->object, size, name);
    return true;
}

void translation_free(Translation *t) {
    free(t->object);
    lathe_func_free(t->fn);
    t->object = NULL;
    t->fn = NULL;
}

/* Also returns false if a narrow signature was asked for but does not hold. */
static bool attempt(Translator *t, Translation *out, bool narrow) {
    u64 start = now_us();
    t->narrow = narrow;
    t->again = t->rest ? AGAIN_INSNS : 0;
    t->unfolded = 0;
    t->mod = LLVMModuleCreateWithNameInContext("lathe", t->ctx);
    configure(t);
    out->fn = lathe_func_new(t->mod, &t->lift);
    bool watched = !watching_failed(t->watching); /* the tool's bitcode may be damaged */
    bool ok = watched && lift(t, out->fn) && !watching_failed(t->watching) && !pages_lost(t->pages) &&
              !(narrow && needs_vectors(t, out->fn));
    out->facts.lift_us += (u32)(now_us() - start);
    out->facts.insns = ok ? count_insns(out->fn) + callees_insns(t->callees) + t->unfolded : 0;
    out->facts.undecodable = !ok && lathe_func_problem(out->fn).status == LATHE_ERR_DECODE &&
                             lathe_func_problem(out->fn).pc == t->request.pc;
    bool lifted = ok;
    ok = ok && compile(t, out);
    if (lifted && !ok)
        plugin_failed_at(t->plugin, t->request.pc);
    ok = ok && (!narrow || narrow_holds(out->object, func_vectors(out->fn)));
    callees_free(t->callees);
    t->callees = NULL;
    LLVMDisposeModule(t->mod);
    return ok;
}

/* Marks all instructions of a function that took too much: each request for a part of it is translated in small pieces. */
static void note_hard(Translator *t) {
    t->mod = LLVMModuleCreateWithNameInContext("lathe", t->ctx);
    configure(t);
    LatheFunc *fn = lathe_func_new(t->mod, &t->lift);
    lathe_func_decode_cfg(fn, t->request.pc);
    for (size_t i = 0; i < lathe_func_block_count(fn); i++) {
        LatheBlock b = lathe_func_block(fn, i);
        for (size_t k = 0; k < b.insn_count; k++)
            map64_set(&t->hard, b.insns[k], 1);
    }
    lathe_func_free(fn);
    LLVMDisposeModule(t->mod);
}

static bool is_hard(Translator *t) {
    u32 unused;
    t->in_pieces = t->narrow = false;
    t->again = 0;
    if (t->request.again)
        note_hard(t);
    return map64_get(&t->hard, t->request.pc, &unused);
}

/* Records where code without an object begins (beside quick code), so that it can be requested again when its bytes
 * change. */
static void note_refusal(Translator *t, Translation *out) {
    enum { FIRST_BYTES = 16 };
    u64 pc = t->request.pc, end = t->request.end;
    t->refused = (LatheRange){pc, end - pc < FIRST_BYTES ? end : pc + FIRST_BYTES};
    out->ranges = &t->refused;
    out->range_count = t->request.base && !pages_lost(t->pages);
}

/* Beside quick code: what is too large is translated in part. */
static void choose_part(Translator *t) {
    t->narrow = false;
    map64_free(&t->part);
    t->part = (Map64){0};
    t->mod = LLVMModuleCreateWithNameInContext("lathe", t->ctx);
    configure(t);
    t->lift.max_insns = LOOK_INSNS;
    LatheFunc *fn = lathe_func_new(t->mod, &t->lift);
    lathe_func_decode_cfg(fn, t->request.pc);
    t->in_part = count_insns(fn) > MAX_INSNS / share_of(t);
    if (t->in_part)
        cut_choose(fn, t->request.pc, PART_INSNS / share_of(t), &t->part);
    lathe_func_free(fn);
    LLVMDisposeModule(t->mod);
}

static bool find_object(Translator *t, Translation *out) {
    if (t->in_pieces && t->config.with_quick)
        return false;
    if (t->config.with_quick)
        choose_part(t);
    bool ok = t->request.base && !t->in_pieces && t->host->keeps_vectors && attempt(t, out, true);
    if (ok || pages_lost(t->pages))
        return ok;
    translation_free(out);
    return attempt(t, out, false);
}

bool translator_run(Translator *t, const TranslateMessage *request, Translation *out) {
    *out = (Translation){.facts.pc = request->pc};
    t->request = *request;
    pages_begin(t->pages, request);
    if (t->watching)
        watching_begin_request(t->watching, request);
    renew_context(t);
    t->anew = seen_at(t, request->pc) == SEEN_ENTRY;
    t->rest = seen_at(t, request->pc) == SEEN_REST;
    t->in_part = false;
    t->in_pieces = is_hard(t);
    bool ok = find_object(t, out);
    if (ok) {
        note_insns(t, out->fn);
        out->range_count = lathe_func_ranges(out->fn, &out->ranges);
    } else if (t->config.with_quick) {
        note_refusal(t, out);
    }
    return ok;
}
