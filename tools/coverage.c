/* coverage.c: which code a program executes, as a file for the programs that show such things.
 *
 *     $ lathe run --tool=coverage -- ./program              drcov.out.PID, in the drcov format of DynamoRIO, version 2: blocks of code
 *     $ lathe run --tool=coverage,lcov -- ./program         lcov.out.PID, a tracefile of LCOV: lines and functions, with how often each was executed
 *     $ genhtml -o pages lcov.out.PID
 *
 * Lines are known of files with debug information (-g), whose sources can be read. How often a line was executed is how often its instruction that was executed most often was. A line that stands for
 * code in several functions, because they have it inlined, has the sum of these. Code that is of no file, such as that of JIT compilers, is left out.
 *
 * Options: lcov; out=FILE: another name, %p in it being the number of the process. */
#include <lathe/tool.h>
#include <string.h>

/* A part of a file that was mapped so that it can be executed. */
typedef struct Module {
    char *name;
    uint64_t base; /* where the file's first byte is: addresses in the file are relative to it */
    uint64_t start, end;
} Module;

typedef struct Block {
    uint64_t pc, bytes, times;
} Block;

static LatheVector modules = LATHE_VECTOR(Module), blocks = LATHE_VECTOR(Block);
static LatheTable table; /* how often each block was executed; without the option lcov, only which were */
static LatheLock lock;
static bool counting;

/* ------------------------------------------------------------------------------------------------------------ recording */

static void block(uint64_t pc, uint64_t bytes) {
    lathe_count_in(&table, pc, bytes, 0, 1);
}

static const char lcov[] = "lcov";
#define COUNTED ((LatheWhere){.option = lcov})
#define SEEN ((LatheWhere){.once = true, .unless = lcov})

static bool begins_file(uint64_t address) {
    char magic[4];
    return lathe_read_guest(magic, address, sizeof(magic)) && !memcmp(magic, "\177ELF", sizeof(magic));
}

/* Where the first byte of the file is that has the part `offset` at `address`: there, or further down, since linkers may leave gaps between parts. */
static uint64_t find_base(uint64_t address, uint64_t offset) {
    enum { PAGE = 4096, GAPS = 8 << 20 };
    uint64_t likely = address - offset;
    for (uint64_t gap = 0; gap <= GAPS && gap <= likely; gap += PAGE)
        if (begins_file(likely - gap))
            return likely - gap;
    return likely;
}

static char *copy_of(const char *text) {
    char *copy = lathe_alloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    return copy;
}

/* A library may be loaded, unloaded and loaded again at the same place. */
static bool is_known(uint64_t address, uint64_t bytes, const char *name) {
    const Module *m = modules.at;
    for (size_t i = 0; i < modules.count; i++)
        if (m[i].start == address && m[i].end == address + bytes && !strcmp(m[i].name, name))
            return true;
    return false;
}

static void module(uint64_t address, uint64_t bytes, const char *name, uint64_t offset) {
    lathe_lock(&lock);
    if (!is_known(address, bytes, name))
        *(Module *)lathe_vector_add(&modules) =
            (Module){copy_of(name), find_base(address, offset), address, address + bytes};
    lathe_unlock(&lock);
}

static void start(void) {
    lathe_option("out");
    counting = lathe_option("lcov") != NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- drcov */

/* What the table of blocks has in the file. */
typedef struct Entry {
    uint32_t offset; /* from the module's base */
    uint16_t bytes, module;
} Entry;

enum { NO_MODULE = 0xffff };

/* A file that was loaded twice at the same address is mapped anew: the last one counts. */
static size_t module_of(uint64_t pc) {
    const Module *m = modules.at;
    for (size_t i = modules.count; i-- > 0;)
        if (pc >= m[i].start && pc < m[i].end)
            return i;
    return NO_MODULE;
}

/* Entries have 16 bits for a size: what is longer becomes several. */
static void add_entries(LatheVector *entries, const Block *b) {
    enum { MOST = 0xffff };
    size_t m = module_of(b->pc);
    if (m >= NO_MODULE)
        return;
    uint64_t offset = b->pc - ((const Module *)modules.at)[m].base;
    for (uint64_t done = 0; done < b->bytes; done += MOST) {
        uint64_t bytes = b->bytes - done < MOST ? b->bytes - done : MOST;
        *(Entry *)lathe_vector_add(entries) = (Entry){(uint32_t)(offset + done), (uint16_t)bytes, (uint16_t)m};
    }
}

static void write_drcov(LatheFile *out) {
    LatheVector entries = LATHE_VECTOR(Entry);
    const Module *m = modules.at;
    lathe_fprint(out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count %lu\n", modules.count);
    lathe_fprint(out, "Columns: id, base, end, entry, path\n");
    for (size_t i = 0; i < modules.count; i++)
        lathe_fprint(out, "%3lu, 0x%016lx, 0x%016lx, 0x%016lx, %s\n", i, m[i].base, m[i].end, 0ul, m[i].name);
    for (size_t i = 0; i < blocks.count; i++)
        add_entries(&entries, (const Block *)blocks.at + i);
    lathe_fprint(out, "BB Table: %lu bbs\n", entries.count);
    lathe_write(out, entries.at, entries.count * sizeof(Entry));
    lathe_vector_clear(&entries);
}

/* ----------------------------------------------------------------------------------------------------------------- lcov */

/* From an address on, instructions were executed so often. */
typedef struct Step {
    uint64_t address;
    int64_t times;
} Step;

typedef struct SourceFunction {
    const char *name;
    uint64_t line, times;
} SourceFunction;

typedef struct Source {
    const char *name;
    bool readable;         /* others, such as those of the system's libraries, are left out */
    LatheMap lines;        /* of uint64_t, by their numbers: how often each was executed */
    LatheVector functions; /* of SourceFunction */
} Source;

typedef struct Lines {
    LatheVector steps;   /* of Step, by their addresses */
    LatheVector sources; /* of Source */
} Lines;

static int by_address(const void *a, const void *b) {
    const Step *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Blocks may overlap: what was executed is the sum of all that an address is in. */
static void find_steps(LatheVector *steps) {
    int64_t times = 0;
    for (size_t i = 0; i < blocks.count; i++) {
        const Block *b = (const Block *)blocks.at + i;
        int64_t executed = (int64_t)b->times;
        *(Step *)lathe_vector_add(steps) = (Step){b->pc, executed};
        *(Step *)lathe_vector_add(steps) = (Step){b->pc + b->bytes, -executed};
    }
    lathe_sort(steps->at, steps->count, steps->bytes, by_address);
    for (size_t i = 0; i < steps->count; i++)
        ((Step *)steps->at)[i].times = times += ((Step *)steps->at)[i].times;
}

/* How often the instruction of [start, end) was executed that was executed most often. */
static uint64_t times_in(const LatheVector *steps, uint64_t start, uint64_t end) {
    const Step *s = steps->at;
    size_t low = 0, high = steps->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s[middle].address <= start)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t most = low ? s[low - 1].times : 0;
    for (; low < steps->count && s[low].address < end; low++)
        if ((low + 1 == steps->count || s[low + 1].address != s[low].address) && s[low].times > most)
            most = s[low].times;
    return (uint64_t)most;
}

static Source *source_of(LatheVector *sources, const char *name) {
    for (size_t i = sources->count; i-- > 0;) {
        Source *s = (Source *)sources->at + i;
        if (s->name == name || !strcmp(s->name, name))
            return s;
    }
    char text[8];
    Source *s = lathe_vector_add(sources);
    *s = (Source){name, lathe_source(name, 1, text, sizeof(text)), LATHE_MAP(uint64_t), LATHE_VECTOR(SourceFunction)};
    return s;
}

/* The lines of one function, which are inlined ones of other sources, too. */
typedef struct FunctionLine {
    LatheLine line;
    uint64_t times;
} FunctionLine;

static void add_lines(Lines *all, uint64_t start, uint64_t end) {
    LatheMap own = LATHE_MAP(FunctionLine);
    LatheLine line;
    for (uint64_t at = start; at < end; at = line.end) {
        bool known = lathe_line(at, &line);
        if (line.end <= at)
            break;
        if (!known) /* code that is of no line */
            continue;
        uint64_t times = times_in(&all->steps, at, line.end < end ? line.end : end);
        FunctionLine *f = lathe_map_at(&own, (uint64_t)line.file << 20 ^ line.line);
        f->line = line;
        f->times = times > f->times ? times : f->times;
    }
    for (LatheWalk w = {0}; lathe_map_next(&own, &w);) {
        const FunctionLine *f = w.value;
        *(uint64_t *)lathe_map_at(&source_of(&all->sources, f->line.file)->lines, f->line.line) += f->times;
    }
    lathe_map_clear(&own);
}

static void add_function(Lines *all, uint64_t start, const LatheSymbol *symbol) {
    LatheLine line;
    Source *source = lathe_line(start, &line) ? source_of(&all->sources, line.file) : NULL;
    if (!source || !source->readable)
        return;
    SourceFunction *f = lathe_vector_add(&source->functions);
    *f = (SourceFunction){symbol->name, line.line, times_in(&all->steps, start, start + 1)};
    add_lines(all, start, start + symbol->size);
}

/* All functions of a module, also those that were not executed. */
static void add_module(Lines *all, const Module *m) {
    LatheSymbol s;
    for (uint64_t at = m->start; at < m->end; at++)
        if (lathe_symbol(at, &s) && s.offset == 0 && s.size) {
            add_function(all, at, &s);
            at += s.size - 1;
        }
}

static int by_line(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void write_functions(LatheFile *out, const Source *s) {
    const SourceFunction *f = s->functions.at;
    size_t hit = 0;
    for (size_t i = 0; i < s->functions.count; i++)
        lathe_fprint(out, "FN:%lu,%s\n", f[i].line, f[i].name);
    for (size_t i = 0; i < s->functions.count; i++) {
        lathe_fprint(out, "FNDA:%lu,%s\n", f[i].times, f[i].name);
        hit += f[i].times != 0;
    }
    lathe_fprint(out, "FNF:%lu\nFNH:%lu\n", s->functions.count, hit);
}

static void write_source(LatheFile *out, const Source *s) {
    LatheVector lines = LATHE_VECTOR(uint64_t);
    size_t hit = 0;
    for (LatheWalk w = {0}; lathe_map_next(&s->lines, &w);)
        *(uint64_t *)lathe_vector_add(&lines) = w.key;
    lathe_sort(lines.at, lines.count, lines.bytes, by_line);
    lathe_fprint(out, "SF:%s\n", s->name);
    write_functions(out, s);
    for (size_t i = 0; i < lines.count; i++) {
        uint64_t line = ((const uint64_t *)lines.at)[i], times = *(uint64_t *)lathe_map_find(&s->lines, line);
        lathe_fprint(out, "DA:%lu,%lu\n", line, times);
        hit += times != 0;
    }
    lathe_fprint(out, "LF:%lu\nLH:%lu\nend_of_record\n", lines.count, hit);
    lathe_vector_clear(&lines);
}

static void write_lcov(LatheFile *out) {
    Lines all = {LATHE_VECTOR(Step), LATHE_VECTOR(Source)};
    find_steps(&all.steps);
    for (size_t i = 0; i < modules.count; i++)
        add_module(&all, (const Module *)modules.at + i);
    lathe_fprint(out, "TN:\n");
    for (size_t i = 0; i < all.sources.count; i++)
        if (((const Source *)all.sources.at)[i].readable)
            write_source(out, (const Source *)all.sources.at + i);
}

static void report(void) {
    const char *name = lathe_option("out");
    LatheFile *out = lathe_open(name ? name : counting ? "lcov.out.%p" : "drcov.out.%p");
    lathe_lock(&lock);
    for (LatheRow r = {0}; lathe_table_next(&table, &r);)
        *(Block *)lathe_vector_add(&blocks) = (Block){r.key[0], r.key[1], r.total};
    if (counting)
        write_lcov(out);
    else
        write_drcov(out);
    lathe_vector_clear(&blocks);
    lathe_unlock(&lock);
    lathe_close(out);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start),
            LATHE_ON(LATHE_MODULE, module, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_NAME}, {LATHE_OFFSET}),
            LATHE_WHERE(LATHE_BLOCK, block, COUNTED, {LATHE_PC}, {LATHE_BYTES}),
            LATHE_WHERE(LATHE_BLOCK, block, SEEN, {LATHE_PC}, {LATHE_BYTES}), LATHE_ON(LATHE_END, report));
