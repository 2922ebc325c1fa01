/* stack.c: lathe_stack: the functions of the program that have been called and have not returned.
 *
 * The way from one to its caller is what .eh_frame of its file says; in code that has none, it is what the code says, or the frame pointer. Whatever is on the stack, or in the files: nothing is read but
 * what can be read, and there are no more steps than the caller has room for. */
#include "run/client/core/caller.h"
#include "run/client/core/client.h"
#include "run/client/memory/space.h"
#include "run/client/tool/unwind/above.h"
#include "run/client/tool/unwind/unwind.h"

static LatheLock tables; /* of the tables of files */

static const FrameTable *table_of(const ToolFile *file) {
    lathe_lock(&tables);
    if (!*file->frames)
        *file->frames = frames_read(file->bytes, file->size);
    const FrameTable *table = *file->frames;
    lathe_unlock(&tables);
    return table;
}

static bool is_code(u64 pc) {
    u64 start, end;
    u32 prot;
    return space_next(pc, &start, &end, &prot) && start <= pc && prot & PROT_EXEC;
}

/* Where the way from one function to the next is. */
typedef struct Walk {
    Caller at;
    bool
        behind_call; /* pc is behind a call, which may be the last instruction of its function: what counts is the byte in front of it */
} Walk;

static bool step_by_rules(Walk *w, const FrameRules *rules, u64 address) {
    u64 sp = w->at.reg[caller_sp_number()];
    w->behind_call = !rules->is_signal;
    return unwind_step(rules, address, &w->at) && (rules->is_signal || w->at.reg[caller_sp_number()] >= sp);
}

/* By the code from the beginning of the function on, if that is known and says it; else by the frame pointer. */
static bool step_without(Walk *w) {
    LatheSymbol symbol;
    u64 sp = w->at.reg[caller_sp_number()], pc = w->at.pc - w->behind_call;
    bool behind_call = w->behind_call, known = lathe_symbol(pc, &symbol);
    w->behind_call = true;
    if (known && !behind_call && !symbol.offset)
        return caller_at_entry(&w->at);
    return ((known && caller_by_code(&w->at, pc - symbol.offset, behind_call)) || caller_by_pointer(&w->at)) &&
           w->at.reg[caller_sp_number()] >= sp;
}

static bool step(Walk *w) {
    ToolFile file;
    FrameRules rules;
    if (caller_is_signal(&w->at)) {
        w->behind_call = false;
        return true;
    }
    if (tool_file_at(w->at.pc - w->behind_call, &file) && frames_find(table_of(&file), file.address, &rules))
        return step_by_rules(w, &rules, file.address);
    return step_without(w);
}

/* What handlers of signals return to is no function of the program's: what they have interrupted follows. */
static bool step_to_function(Walk *w) {
    if (!step(w))
        return false;
    if (w->behind_call && caller_is_signal(&w->at))
        w->behind_call = false;
    return is_code(w->at.pc);
}

/* What a signal has interrupted is at its pc itself. That is told as the byte behind it, so that one less is in an instruction everywhere. */
unsigned lathe_stack(uint64_t *frames, unsigned most) {
    Walk w = {.at = caller_first(&thread_self()->cpu)};
    u32 count = 0;
    if (most)
        frames[count++] = w.at.pc;
    while (count < most && step_to_function(&w))
        frames[count++] = w.at.pc + !w.behind_call;
    return count;
}
