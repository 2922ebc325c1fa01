/* fault.c: functions of a tool that fault, or do not return. */
#include <linux/signal.h>

#include "run/client/code/arena/arena.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/sites.h"

enum { FAULTED_STATUS = 127, LOOK_WORDS = 1024 };

static bool is_of_client(u64 pc) {
    return pc >= the.memory.image_start && pc < the.memory.image_end;
}

/* The thread may also be in a function of lathe/tool.h that the tool has called, or on the way there (a gate, the vdso); then an address of the tool's code is on the stack, as that to return to, unless the call
 * is the last thing that the function does. */
const char *tool_running(u64 pc, u64 sp) {
    const char *function = tool_function(pc);
    u64 words[LOOK_WORDS];
    const Thread *t = thread_self();
    if (function || !(is_of_client(pc) || tool_stack_holds(t, sp) || t->tool.calling))
        return function;
    size_t count = peek(sp & -(u64)8, words, sizeof(words)) / sizeof(*words);
    for (size_t i = 0; i < count && !function; i++)
        function = tool_function(words[i]);
    return function ? function : tool_function(t->tool.calling);
}

static const char several[] = "at an instruction";

/* The function that is called at the instruction, if it is known, else at instructions; NULL: there is none. */
static const char *instruction_function(const SiteInsn *insn) {
    u64 function = 0;
    for (u32 i = 0; i < tool_hook_count(); i++) {
        bool is_called = site_is_event(tool_hook(i)->event) && tool_plan(i)->kind == TOOL_CALL;
        if (!is_called || (insn && !sites_may_call(insn, i)))
            continue;
        if (function && function != (u64)tool_hook(i)->call)
            return several;
        function = (u64)tool_hook(i)->call;
    }
    return tool_function(function);
}

const char *tool_function_inside(u64 guest_pc) {
    SiteInsn insn = {.pc = guest_pc, .begins_block = true};
    u64 left = page_up(guest_pc + 1) - guest_pc; /* what is in the next page may not be readable */
    if (guest_pc)
        sites_look(&insn, left < GUEST_INSN_BYTES ? left : GUEST_INSN_BYTES);
    const char *function = instruction_function(insn.known ? &insn : NULL);
    return function ? function : several;
}

/* Of bad accesses, the guest's own have exits in code that was made for guests with handlers; and it has nothing to do with memory of the client's. Its divisions and
 * traps look first whether there is a fault. */
const char *tool_inlined(int sig, u64 address, u64 pc, bool handled, bool marked) {
    bool in_code = arena_holds(pc) && !tool_function(pc);
    bool is_access = sig == SIGSEGV || sig == SIGBUS;
    bool is_tools = is_access ? marked || (in_code && handled) || space_is_own(address, 1) : in_code;
    return tool_exists() && is_tools ? instruction_function(NULL) : NULL;
}

/* Is an address in the page below one of the stacks that functions of the tool's run on? */
static bool is_below_stack(u64 address) {
    const ThreadStack *s = &thread_self()->stack;
    return address - s->host < PAGE || (s->tool_top && address - (s->tool_top - TOOL_STACK_BYTES) < PAGE);
}

static const char *name_of(int sig, u64 address) {
    switch (sig) {
    case SIGSEGV:
    case SIGBUS:
        return is_below_stack(address) ? "its stack is used up" : "a bad access to memory";
    case SIGFPE:
        return "a division that has no result";
    case SIGILL:
        return "an instruction that there is not";
    default:
        return "a trap";
    }
}

enum { FUNCTION_TEXT = 512 };

/* What messages say of a function that tool_function has named: with the name of the tool, if there are several. */
static const char *describe(const char *function, char text[FUNCTION_TEXT]) {
    u32 tool = 0;
    const char *name = function;
    while (*name >= '0' && *name <= '9')
        tool = tool * 10 + (u32)(*name++ - '0');
    name += *name == '.';
    if (!tool_name(tool))
        return name;
    format_text(text, FUNCTION_TEXT, "%s of %s", name, tool_name(tool));
    return text;
}

void tool_faulted(const char *function, int sig, u64 address, u64 pc) {
    char text[FUNCTION_TEXT];
    tool_say("the tool's function %s has failed: %s (signal %d), address %p%s", describe(function, text),
             name_of(sig, address), sig, (void *)address,
             is_of_client(pc) && function != several ? ", in a call of lathe/tool.h" : "");
    tool_files_flush_dying();
    sys_exit_group(FAULTED_STATUS);
}

void tool_gives_up(u32 sig, const char *function, u32 seconds) {
    char text[FUNCTION_TEXT];
    if (function)
        tool_say("signal %u came %u seconds ago, and the tool's function %s does not return: the program ends without "
                 "the tool's results",
                 sig, seconds, describe(function, text));
    else
        tool_say("signal %u came %u seconds ago, and the program has not come to a place where it can be delivered: it "
                 "ends without the tool's results",
                 sig, seconds);
    tool_files_flush_dying();
}
