/* nothing.c: a tool without a hook at instructions: what is left is what any tool costs, and changes. */
#include <lathe/tool.h>

static void nothing(void) {
}

LATHE_HOOKS(LATHE_ON(LATHE_END, nothing));
