/* recursion.c: a small function that calls itself gets its own body in the place of these calls, some levels deep.
 *
 * So fewer calls are made, and LLVM sees what the function does before and behind the ones that are gone. The rules are those of other functions that are put
 * into their caller (callees.c): the pc that a body returns is still compared with the one behind the call, and the guest's stack has all frames. */
#include "codegen/inline.h"
#include "lift/func.h"
#include "run/server/server.h"

/* Three levels of `fib` are 15 bodies of 17 instructions. More of them gain little, and cost LLVM's time. */
enum { MOST_ADDED = 300, MOST_LEVELS = 3 };

/* How many levels of bodies add at most `most` instructions; *added is how many these are. */
static u32 levels_of(const LatheFunc *fn, u32 most, u32 *added) {
    u32 calls = callees_count(fn, fn->entry_pc), level = 0;
    *added = 0;
    for (u64 insns = fn->insns.len * calls; insns && level < MOST_LEVELS && *added + insns <= most; insns *= calls) {
        *added += (u32)insns;
        level++;
    }
    return level;
}

u32 recursion_unfold(const LatheFunc *fn, LLVMValueRef lifted, LLVMValueRef declared, bool exact_faults) {
    u32 added, levels = levels_of(fn, exact_faults ? MOST_ADDED / 3 : MOST_ADDED, &added);
    if (levels)
        inline_itself(lifted, declared, levels);
    return added;
}
