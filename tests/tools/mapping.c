/* mapping.c: prints which files begin and end to be executable, which functions of theirs are called, and from which sources these are. */
#include <lathe/tool.h>

static const char *is_ours(const char *path) {
    const char *name = strrchr(path, '/');
    return name && (!strcmp(name, "/alpha") || !strcmp(name, "/beta")) ? name + 1 : NULL;
}

static void begins(const char *path, uint64_t address, uint64_t bytes, uint64_t offset) {
    if (is_ours(path))
        lathe_print("%s begins: %lu bytes at %lu, from %lu\n", is_ours(path), bytes, address & 0xffff, offset);
}

static void ends(const char *path, uint64_t address, uint64_t bytes, uint64_t offset) {
    LatheSymbol symbol;
    lathe_symbol(address, &symbol);
    if (is_ours(path))
        lathe_print("%s ends: %lu bytes at %lu, from %lu%s\n", is_ours(path), bytes, address & 0xffff, offset,
                    strcmp(symbol.file, path) ? ", which is not known" : "");
}

static void called(uint64_t pc) {
    LatheSymbol symbol;
    LatheLine line;
    if (lathe_symbol(pc, &symbol) && is_ours(symbol.file) && lathe_line(pc, &line))
        lathe_print("%s of %s is called, from %s\n", symbol.name, is_ours(symbol.file), strrchr(line.file, '/') + 1);
}

LATHE_HOOKS(LATHE_ON(LATHE_MODULE, begins, {LATHE_NAME}, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_OFFSET}),
            LATHE_ON(LATHE_MODULE_END, ends, {LATHE_NAME}, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_OFFSET}),
            LATHE_ON(LATHE_FUNCTION, called, {LATHE_PC}));
