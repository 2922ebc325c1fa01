/* hook.h: a LatheHook as LLVM has it: the members of its constants, by their numbers. */
#ifndef TOOL_HOOK_H
#define TOOL_HOOK_H

enum { HOOK_EVENT, HOOK_CALL, HOOK_VALUES, HOOK_WHERE, HOOK_MEMBERS };
enum { VALUE_WHAT, VALUE_NUMBER, VALUE_MEMBERS };

#endif
