/* naming.c: says where the program makes its system calls, and what its registers and the arguments of functions are. Option `function`: the name of a function whose arguments are
 * shown, and of which the first is made one larger. */
#include <lathe/tool.h>

static const char *wanted;

static void begin(void) {
    wanted = lathe_option("function");
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void look(uint64_t pc) {
    LatheSymbol s;
    static uint64_t at;
    if (at ? pc != at : !(lathe_symbol(pc, &s) && !s.offset && !strcmp(s.name, wanted)))
        return;
    at = pc;
    lathe_print("%s(", wanted);
    for (unsigned i = 0; i < 9; i++)
        lathe_print(i ? ", %ld" : "%ld", lathe_arg(i));
    LatheLine line;
    lathe_print(") %s:%u %s\n", lathe_line(pc, &line) ? last_part(line.file) : "?", line.line,
                lathe_demangle("_ZN3foo3barEi"));
    lathe_set_arg(0, lathe_arg(0) + 1);
    lathe_set_arg(8, lathe_arg(8) + 1);
}

static void call(uint64_t pc, uint64_t number) {
    LatheSymbol s;
    const char *name = lathe_syscall_name(number);
    if (!name || strcmp(name, "getppid"))
        return;
    bool known = lathe_symbol(pc, &s);
    lathe_print("%s in %s of %s%s\n", name, s.name, last_part(s.file), known && s.offset < s.size ? "" : ", outside");
}

LATHE_HOOKS(LATHE_ON(LATHE_START, begin), LATHE_ON(LATHE_INSN, look, {LATHE_PC}),
            LATHE_ON(LATHE_SYSCALL, call, {LATHE_PC}, {LATHE_NUMBER}));
