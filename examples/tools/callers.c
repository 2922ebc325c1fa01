/* callers.c: which functions of the program itself, not of its libraries, lead to which system calls, and how often. */
#include <lathe/tool.h>

static LatheTable callers; /* by the number of the system call, and where the program's function returns to */

static void syscall(uint64_t number) {
    uint64_t frames[32];
    unsigned count = lathe_stack(frames, 32), own = 0;
    LatheSymbol s;
    while (own + 1 < count && (lathe_symbol(frames[own] - 1, &s), strcmp(s.file, lathe_program())))
        own++;
    lathe_count_in(&callers, number, frames[own], 0, 1);
}

static void report(void) {
    LatheSymbol s;
    for (LatheRow r = {0}; lathe_table_next(&callers, &r);) {
        lathe_symbol(r.key[1] - 1, &s);
        lathe_print("%8lu %-16s %s\n", r.total, lathe_syscall_name(r.key[0]), s.name);
    }
}

LATHE_HOOKS(LATHE_ON(LATHE_SYSCALL, syscall, {LATHE_NUMBER}), LATHE_ON(LATHE_END, report));
