/* choose.c: see choose.h.
 *
 * LLVM makes new code for all of a function, also for the parts where nothing was known, and what a compiler has made of these with the source at
 * hand may have been better. *trace* leaves them as they are. So its code stands for the original with the calls inlined and with all loops
 * gone that are seen to end, and both are estimated alike (estimate.h). */
#include "binopt/llvm/choose.h"

#include "binopt/config/rewriter.h"
#include "binopt/llvm/estimate.h"
#include "binopt/trace/trace.h"

/* How much cheaper *trace*'s code has to be: less is beneath what an estimate can see, and LLVM's instructions are the better ones. */
enum { CLEARLY = 2 };

static bool is_wide_mark(Val part) {
    enum { MOST_MARKS = 16 };
    Val inner[MOST_MARKS];
    unsigned length = 0, count = LLVMIsAMDNode(part) ? LLVMGetMDNodeNumOperands(part) : 0;
    if (!count || count > MOST_MARKS)
        return false;
    LLVMGetMDNodeOperands(part, inner);
    const char *text = inner[0] && LLVMIsAMDString(inner[0]) ? LLVMGetMDString(inner[0], &length) : NULL;
    return text &&
           (!strncmp(text, "llvm.loop.isvectorized", length) || !strncmp(text, "llvm.loop.unroll.disable", length));
}

/* The first part of a loop's marks is the list itself. */
static bool is_wide_loop(Val marks) {
    enum { MOST_MARKS = 16 };
    Val parts[MOST_MARKS];
    unsigned count = LLVMGetMDNodeNumOperands(marks);
    if (count > MOST_MARKS)
        return true;
    LLVMGetMDNodeOperands(marks, parts);
    for (unsigned i = 1; i < count; i++)
        if (is_wide_mark(parts[i]))
            return true;
    return false;
}

bool choose_is_widened(const Unit *u) {
    unsigned kind = LLVMGetMDKindIDInContext(u->ctx, "llvm.loop", 9);
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b)) {
        Val marks = LLVMGetMetadata(LLVMGetBasicBlockTerminator(b), kind);
        if (marks && is_wide_loop(marks))
            return true;
    }
    return false;
}

bool choose_llvm(void *trace, const BinoptCfg *cfg, BinoptFunc made) {
    bool gains = false;
    BinoptFunc other = trace_anyway(trace, cfg, &gains);
    if (!other)
        return true;
    Estimate new = estimate_code((u64)made), old = estimate_code((u64)other);
    config_log(cfg, 2, "estimates: llvm %llu with %u loops, trace %llu with %u", (unsigned long long)new.cost,
               new.loops, (unsigned long long)old.cost, old.loops);
    rewriter_trace.release(trace, other);
    if (new.unread || old.unread)
        return gains;
    if (new.incomplete || old.incomplete)
        return gains && !(new.incomplete && !old.incomplete);
    if (new.loops < old.loops)
        return true;
    return gains ? new.cost < CLEARLY *old.cost : new.cost < old.cost;
}

BinoptFunc choose_other(void *trace, const BinoptCfg *cfg, const char *why) {
    bool gains = false;
    BinoptFunc other = cfg->always ? NULL : trace_anyway(trace, cfg, &gains);
    if (other && gains) {
        config_log(cfg, 2, "made by trace: %s", why);
        return other;
    }
    if (other)
        rewriter_trace.release(trace, other);
    config_refuse(cfg, "%s", why);
    return NULL;
}
