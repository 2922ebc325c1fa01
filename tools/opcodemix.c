/* opcodemix.c: which instructions a program executes: a table of opcodes, and one of what the instructions do.
 *
 *     $ lathe run --tool=opcodemix -- ./program
 *     110150 instructions
 *            times  share  opcode
 *            31202  28.3%  mov
 *            10177   9.2%  cmp
 *     ...
 *            times  share  class
 *            88120  80.0%  integer
 *            28011  25.4%  load
 *     ...
 *
 * An instruction may be of several classes, or of none. Option: out=FILE: where to, %p in it being the number of the process (standard
 * error). */
#include <lathe/tool.h>

typedef struct Row {
    const char *name;
    uint64_t times;
} Row;

static const char *const class_names[] = {"integer", "float", "vector", "branch", "jump",   "call",
                                          "return",  "load",  "store",  "atomic", "string", "system"};
enum { CLASSES = sizeof(class_names) / sizeof(class_names[0]) };

/* By opcode and classes: a mov may load, store or do neither. */
static LatheTable kinds;

static void insn(uint64_t opcode, uint64_t classes) {
    lathe_count_in(&kinds, opcode, classes, 0, 1);
}

static void start(void) {
    lathe_option("out");
}

static int by_times(const void *a, const void *b) {
    const Row *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_rows(LatheFile *out, const char *what, Row *rows, size_t count, uint64_t all) {
    lathe_sort(rows, count, sizeof(Row), by_times);
    lathe_fprint(out, "%15s %6s  %s\n", "times", "share", what);
    for (size_t i = 0; i < count && rows[i].times; i++) {
        uint64_t share = rows[i].times * 1000 / all;
        lathe_fprint(out, "%15lu %3lu.%lu%%  %s\n", rows[i].times, share / 10, share % 10, rows[i].name);
    }
}

static void report(void) {
    static Row opcodes[LATHE_OPCODES];
    Row classes[CLASSES] = {{0}};
    uint64_t all = 0;
    const char *name = lathe_option("out");
    LatheFile *out = lathe_open(name ? name : "-");
    for (size_t i = 0; i < LATHE_OPCODES; i++)
        opcodes[i] = (Row){lathe_opcode_name(i), 0};
    for (size_t i = 0; i < CLASSES; i++)
        classes[i].name = class_names[i];
    for (LatheRow r = {0}; lathe_table_next(&kinds, &r);) {
        all += r.total;
        opcodes[r.key[0]].times += r.total;
        for (size_t c = 0; c < CLASSES; c++)
            classes[c].times += r.key[1] >> c & 1 ? r.total : 0;
    }
    lathe_fprint(out, "%lu instructions\n", all);
    print_rows(out, "opcode", opcodes, LATHE_OPCODES, all);
    print_rows(out, "class", classes, CLASSES, all);
    lathe_close(out);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_INSN, insn, {LATHE_OPCODE}, {LATHE_CLASSES}),
            LATHE_ON(LATHE_END, report));
