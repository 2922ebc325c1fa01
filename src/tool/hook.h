/* hook.h: a LatheHook as LLVM has it: the members of its constants, by their numbers. */
#ifndef TOOL_HOOK_H
#define TOOL_HOOK_H

enum { HOOK_EVENT, HOOK_CALL, HOOK_VALUES, HOOK_WHERE, HOOK_MEMBERS };
enum {
    WHERE_MODULE,
    WHERE_SYMBOL,
    WHERE_FROM,
    WHERE_TO,
    WHERE_CLASSES,
    WHERE_OPCODE,
    WHERE_LEAVES,
    WHERE_NOT_STACK,
    WHERE_ONCE,
    WHERE_OPTION,
    WHERE_UNLESS,
    WHERE_MEMBERS
};
enum { VALUE_WHAT, VALUE_NUMBER, VALUE_MEMBERS };

#endif
