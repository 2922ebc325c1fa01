/* costs.h: what the tools calls.c and cache.c have in common: which blocks there are, and costs by function, file and line. */
#ifndef TOOLS_COSTS_H
#define TOOLS_COSTS_H

#include <lathe/tool.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- names */

/* A name of a file or a function. There is one for each text, so that names can be compared by their addresses. */
typedef struct Name {
    char *text;
    uint64_t id;      /* from 1 on */
    unsigned written; /* as what it is in the file that is being written, for the tool to say */
    bool has_lines;   /* of a program or library: lines of source are known for some addresses */
    unsigned asked;   /* how often no line was known, before one was */
} Name;

static LatheMap names = LATHE_MAP(Name);
static LatheLock names_lock;

static uint64_t hash_of(const char *text) {
    uint64_t hash = 0xcbf29ce484222325u;
    while (*text)
        hash = (hash ^ (uint8_t)*text++) * 0x100000001b3u;
    return hash;
}

static char *copy_of(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(lathe_alloc(bytes), text, bytes);
}

static Name *name_of(const char *text) {
    uint64_t key = hash_of(text);
    lathe_lock(&names_lock);
    Name *name = lathe_map_at(&names, key);
    while (name->text && strcmp(name->text, text))
        name = lathe_map_at(&names, ++key);
    if (!name->text) {
        name->text = copy_of(text);
        name->id = names.count;
    }
    lathe_unlock(&names_lock);
    return name;
}

/* ---------------------------------------------------------------------------------------------------------- functions */

/* A function by the symbols of the file that it is in. All code of a file that has no symbols is one function. */
typedef struct Function {
    uint64_t id;    /* from 1 on; 0: the entry was just made */
    uint64_t start; /* its address; 0: it has no symbol */
    Name *name, *object, *file;
    uint64_t line;
} Function;

static LatheMap functions = LATHE_MAP(Function);
/* By their ids, in chunks that stay where they are, so that nobody needs a lock to find one. */
enum { CHUNK = 1 << 12, CHUNKS = 1 << 10 };
static Function **function_chunks[CHUNKS];
static uint64_t function_count;
static LatheLock functions_lock;

/* A name for code without symbols: that of its file, as in [libc.so.6]. */
static Name *name_without_symbol(const char *path) {
    char text[256];
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t len = strlen(file) < sizeof(text) - 3 ? strlen(file) : sizeof(text) - 3;
    text[0] = '[';
    memcpy(text + 1, file, len);
    text[len + 1] = ']';
    text[len + 2] = 0;
    return name_of(text);
}

static Function *new_function(Function *f, const LatheSymbol *symbol, uint64_t start) {
    f->name = start ? name_of(symbol->name) : name_without_symbol(symbol->file);
    f->object = name_of(symbol->file);
    f->start = start;
    uint64_t number = function_count++;
    if (number == CHUNK * CHUNKS)
        lathe_fail("the program has more than %d functions", CHUNK * CHUNKS);
    if (number % CHUNK == 0)
        function_chunks[number / CHUNK] = lathe_alloc(CHUNK * sizeof(Function *));
    function_chunks[number / CHUNK][number % CHUNK] = f;
    f->id = number + 1;
    return f;
}

static __attribute__((noinline)) Function *function_of(uint64_t pc) {
    LatheSymbol symbol;
    uint64_t start = lathe_symbol(pc, &symbol) ? pc - symbol.offset : 0;
    uint64_t key = start ? start : name_of(symbol.file)->id; /* no code has such a low address */
    lathe_lock(&functions_lock);
    Function *f = lathe_map_at(&functions, key);
    if (!f->id)
        new_function(f, &symbol, start);
    lathe_unlock(&functions_lock);
    return f;
}

/* Names of C++ become readable ones, when the program has ended: it takes some time. */
static void name_functions(void) {
    for (LatheWalk w = {0}; lathe_map_next(&functions, &w);) {
        Function *f = w.value;
        f->name = name_of(lathe_demangle(f->name->text));
    }
}

/* ------------------------------------------------------------------------------------------------------------- blocks */

typedef struct Block {
    uint64_t number; /* from 1 on; 0: the entry was just made */
    uint64_t count;  /* how many instructions it has */
    LatheInsn *insn;
} Block;

static LatheMap blocks = LATHE_MAP(Block);
static LatheLock blocks_lock;

static void read_insns(Block *b, uint64_t pc, uint64_t count) {
    b->insn = lathe_alloc(count * sizeof(*b->insn));
    for (b->count = 0; b->count < count && lathe_insn(pc, &b->insn[b->count]); b->count++)
        pc += b->insn[b->count].size;
}

/* The block at pc. Whatever it is later, if code changes, its instructions are those that it has now. */
static Block *block_at(uint64_t pc, uint64_t count) {
    lathe_lock(&blocks_lock);
    Block *b = lathe_map_at(&blocks, pc);
    if (!b->number) {
        read_insns(b, pc, count);
        b->number = blocks.count;
    }
    lathe_unlock(&blocks_lock);
    return b;
}

/* ------------------------------------------------------------------------------------------------------- costs by line */

/* A cost and where it belongs. */
typedef struct Item {
    const Function *function;
    Name *file;
    uint64_t line;
    const void *what; /* for the tool to say */
} Item;

static LatheVector items = LATHE_VECTOR(Item);

/* The last line that was asked for, from an address on. */
static LatheLine last_line;
static uint64_t last_line_from;

/* Each question takes time: a program or library is asked for some lines, and if it has none of them, for no more; and what is of the same line as the instruction before it needs none. */
static bool find_line(Name *object, uint64_t pc, LatheLine *line) {
    enum { QUESTIONS = 100 };
    if (!pc || (!object->has_lines && object->asked == QUESTIONS))
        return false;
    if (pc >= last_line_from && pc < last_line.end) {
        *line = last_line;
        return true;
    }
    bool known = lathe_line(pc, line);
    last_line = known ? *line : (LatheLine){0};
    last_line_from = pc;
    object->has_lines |= known;
    object->asked += !object->has_lines;
    return known;
}

static Name *place_of(const Function *f, uint64_t pc, uint64_t *line) {
    LatheLine found;
    bool known = find_line(f->object, pc, &found);
    *line = known ? found.line : 0;
    return name_of(known ? found.file : "???");
}

static void item_add(uint64_t pc, const void *what) {
    Item item = {.function = function_of(pc), .what = what};
    item.file = place_of(item.function, pc, &item.line);
    *(Item *)lathe_vector_add(&items) = item;
}

static int compare(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

/* By function; in one, its own file comes first. */
static int item_order(const void *left, const void *right) {
    const Item *a = left, *b = right;
    int order = compare(a->function->id, b->function->id);
    if (!order)
        order = compare(a->file != a->function->file, b->file != b->function->file);
    if (!order)
        order = compare(a->file->id, b->file->id);
    return order ? order : compare(a->line, b->line);
}

static void items_begin(void) {
    lathe_vector_clear(&items);
    name_functions();
    for (LatheWalk w = {0}; lathe_map_next(&names, &w);)
        ((Name *)w.value)->written = 0;
}

static void items_sort(void) {
    for (LatheWalk w = {0}; lathe_map_next(&functions, &w);) {
        Function *f = w.value;
        f->file = place_of(f, f->start, &f->line);
    }
    lathe_sort(items.at, items.count, sizeof(Item), item_order);
}

static bool same_line(const Item *a, const Item *b) {
    return !item_order(a, b);
}

/* ------------------------------------------------------------------------------------------------------------- the file */

/* The program and its arguments on one line. */
static void write_command(LatheFile *out) {
    lathe_fprint(out, "cmd:");
    for (const char *const *argument = lathe_arguments(); *argument; argument++) {
        lathe_fprint(out, " ");
        for (const char *at = *argument; *at; at++)
            lathe_fprint(out, "%c", *at == '\n' ? ' ' : *at);
    }
    lathe_fprint(out, "\n");
}

#endif
