/* hot.c: where a program spends its time: a page hot.PID.html with its functions and loops, by the instructions that are executed in them, and
 * their code, with how often each instruction was executed.
 *
 *     $ lathe run --tool=hot -- ./program
 *     $ chromium hot.PID.html
 *
 * With data=FILE there is no page, but a file for `lathe explore --hot=FILE`: "lathe hot 1", and a line for each block, "ADDRESS BYTES INSTRUCTIONS TIMES FILE", with addresses as the file has them.
 *
 * Source is shown of files with debug information (-g) if the sources are where they were compiled. Options: top=N: so many functions and loops are listed (40); code=N: of so
 * many functions the code is shown (15), if they have a thousandth of all instructions; out=FILE: another name, %p in it being the number of the process. */
#include <lathe/tool.h>
#include <string.h>

typedef struct Block {
    uint64_t pc, bytes, insns, times;
} Block;

typedef struct Function {
    uint64_t start; /* 0: those that have no name, of one file */
    const char *name, *file;
    uint64_t cost; /* how many instructions were executed in it */
} Function;

/* An instruction that was executed. */
typedef struct Insn {
    uint64_t pc, times;
    LatheInsn what;
} Insn;

typedef struct Loop {
    uint64_t start, end; /* from its first instruction to behind the jump that leads back there */
    uint64_t times;      /* how often its first instruction was executed */
    uint64_t cost;
    const Function *function;
} Loop;

static LatheTable table;
static LatheVector blocks = LATHE_VECTOR(Block);
static LatheLock lock;

/* ------------------------------------------------------------------------------------------------------------ recording */

static void block(uint64_t pc, uint64_t bytes, uint64_t insns) {
    lathe_count_in(&table, pc, bytes, insns, 1);
}

static void start(void) {
    lathe_option("out");
    lathe_option("data");
    lathe_option_number("top", 0);
    lathe_option_number("code", 0);
}

/* ------------------------------------------------------------------------------------------------------------ functions */

typedef struct Report {
    LatheFile *out;
    uint64_t cost, functions_listed, code_shown;
    LatheVector functions; /* of Function, the most expensive first */
    LatheVector insns;     /* of Insn, by address: those of the functions whose code is shown */
    LatheVector loops;     /* of Loop, the most expensive first */
} Report;

static int compare(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int by_pc(const void *a, const void *b) {
    return compare(((const Block *)a)->pc, ((const Block *)b)->pc);
}

static int by_cost(const void *a, const void *b) {
    const Function *x = a, *y = b;
    return x->cost != y->cost ? compare(y->cost, x->cost) : compare(x->start, y->start);
}

/* Makes the list of blocks. Returns how many instructions were executed. */
static uint64_t find_blocks(void) {
    uint64_t cost = 0;
    for (LatheRow r = {0}; lathe_table_next(&table, &r); cost += r.total * r.key[2])
        *(Block *)lathe_vector_add(&blocks) = (Block){r.key[0], r.key[1], r.key[2], r.total};
    lathe_sort(blocks.at, blocks.count, blocks.bytes, by_pc);
    return cost;
}

static uint64_t function_key(const LatheSymbol *s, uint64_t pc) {
    return *s->name == '?' ? (uint64_t)s->file : pc - s->offset;
}

/* Code of functions that hardly matter is not shown. */
static void limit_code(Report *r) {
    enum { MATTERS = 1000 }; /* the part of all instructions: one of so many */
    size_t count = 0;
    while (count < r->functions.count && ((const Function *)r->functions.at)[count].cost * MATTERS >= r->cost)
        count++;
    r->code_shown = count < r->code_shown ? count : r->code_shown;
}

static void find_functions(Report *r) {
    LatheMap by_start = LATHE_MAP(Function);
    for (size_t i = 0; i < blocks.count; i++) {
        const Block *b = (const Block *)blocks.at + i;
        LatheSymbol s;
        if (!b->times)
            continue;
        bool known = lathe_symbol(b->pc, &s);
        Function *f = lathe_map_at(&by_start, function_key(&s, b->pc));
        f->start = known ? b->pc - s.offset : 0;
        f->name = lathe_demangle(s.name), f->file = s.file;
        f->cost += b->times * b->insns;
    }
    for (LatheWalk w = {0}; lathe_map_next(&by_start, &w);)
        *(Function *)lathe_vector_add(&r->functions) = *(Function *)w.value;
    lathe_map_clear(&by_start);
    lathe_sort(r->functions.at, r->functions.count, r->functions.bytes, by_cost);
    limit_code(r);
}

/* --------------------------------------------------------------------------------------------------------- instructions */

/* A program may jump into the middle of a block, so that blocks overlap: an instruction was executed as often as all blocks together that have it. */
static void add_insn(LatheMap *seen, LatheVector *insns, uint64_t pc, uint64_t times, const LatheInsn *what) {
    size_t *index = lathe_map_at(seen, pc);
    if (!*index) {
        Insn *in = lathe_vector_add(insns);
        *in = (Insn){pc, 0, *what};
        *index = insns->count;
    }
    ((Insn *)insns->at)[*index - 1].times += times;
}

static bool is_shown(const Report *r, uint64_t pc) {
    LatheSymbol s;
    if (!lathe_symbol(pc, &s))
        return false;
    const Function *f = r->functions.at;
    for (size_t i = 0; i < r->functions.count && i < r->code_shown; i++)
        if (f[i].start == pc - s.offset)
            return true;
    return false;
}

static int insns_by_pc(const void *a, const void *b) {
    return compare(((const Insn *)a)->pc, ((const Insn *)b)->pc);
}

static void find_insns(Report *r) {
    LatheMap seen = LATHE_MAP(size_t);
    for (size_t i = 0; i < blocks.count; i++) {
        const Block *b = (const Block *)blocks.at + i;
        LatheInsn what;
        if (!b->times || !is_shown(r, b->pc))
            continue;
        for (uint64_t pc = b->pc; pc < b->pc + b->bytes && lathe_insn(pc, &what); pc += what.size)
            add_insn(&seen, &r->insns, pc, b->times, &what);
    }
    lathe_map_clear(&seen);
    lathe_sort(r->insns.at, r->insns.count, r->insns.bytes, insns_by_pc);
}

/* The index of the first instruction from `pc` on. */
static size_t insn_from(const Report *r, uint64_t pc) {
    size_t low = 0, high = r->insns.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (((const Insn *)r->insns.at)[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---------------------------------------------------------------------------------------------------------------- loops */

/* A jump to an earlier instruction of the same function makes a loop. Of those that begin with the same instruction the longest counts. */
static void add_loop(LatheMap *loops, const Insn *in, uint64_t function) {
    uint64_t target = in->what.target;
    if (!(in->what.classes & (LATHE_CLASS_BRANCH | LATHE_CLASS_JUMP)) || target > in->pc || target < function)
        return;
    Loop *l = lathe_map_at(loops, target);
    l->start = target;
    if (in->pc + in->what.size > l->end)
        l->end = in->pc + in->what.size;
}

static void measure_loop(const Report *r, Loop *l) {
    const Insn *in = r->insns.at;
    for (size_t i = insn_from(r, l->start); i < r->insns.count && in[i].pc < l->end; i++) {
        l->cost += in[i].times;
        l->times = in[i].pc == l->start ? in[i].times : l->times;
    }
}

static int loops_by_cost(const void *a, const void *b) {
    const Loop *x = a, *y = b;
    return x->cost != y->cost ? compare(y->cost, x->cost) : compare(x->start, y->start);
}

static const Function *function_at(const Report *r, uint64_t start) {
    const Function *f = r->functions.at;
    for (size_t i = 0; i < r->functions.count; i++)
        if (f[i].start == start)
            return &f[i];
    return NULL;
}

static void find_loops(Report *r) {
    LatheMap loops = LATHE_MAP(Loop);
    LatheSymbol s;
    for (size_t i = 0; i < r->insns.count; i++) {
        const Insn *in = (const Insn *)r->insns.at + i;
        if (in->what.target && lathe_symbol(in->pc, &s))
            add_loop(&loops, in, in->pc - s.offset);
    }
    for (LatheWalk w = {0}; lathe_map_next(&loops, &w);) {
        Loop *l = w.value;
        measure_loop(r, l);
        lathe_symbol(l->start, &s);
        l->function = function_at(r, l->start - s.offset);
        if (l->times) /* a jump that was never made may lead to code that was never executed */
            *(Loop *)lathe_vector_add(&r->loops) = *l;
    }
    lathe_map_clear(&loops);
    lathe_sort(r->loops.at, r->loops.count, r->loops.bytes, loops_by_cost);
}

/* ----------------------------------------------------------------------------------------------------------------- page */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><style>\n"
    "body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:78em;padding:0 1em;color:#222}\n"
    "h1{font-size:1.5em;margin-bottom:0}h2{font-size:1.15em;margin:1.8em 0 .4em}p{color:#555;margin:.3em 0}\n"
    "table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:600;border-bottom:1px solid #bbb}\n"
    "td,th{padding:.15em .6em;white-space:nowrap}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "table.list tr:hover{background:#f3f6fa}.bar{width:10em}.bar i{display:block;height:.8em;background:#e4572e}\n"
    ".file{color:#777;max-width:30em;overflow:hidden;text-overflow:ellipsis}a{color:#0b57a4;text-decoration:none}\n"
    "table.code{font:12.5px/1.4 ui-monospace,monospace}table.code td{padding:0 .7em;border:0}\n"
    "table.code td:last-child{width:100%;white-space:pre-wrap}.src td{background:#f2f2ee;color:#333}\n"
    ".src i{color:#888}.asm td{color:#444}.n b{font-weight:400;color:#777}summary{cursor:pointer;padding:.25em "
    "0;font-weight:600}\n"
    "</style><title>";

/* Text as HTML has it. */
static void put_text(LatheFile *out, const char *text) {
    for (size_t len; *text; text += len) {
        for (len = 0; text[len] && !strchr("<>&", text[len]); len++)
            ;
        lathe_write(out, text, len);
        if (!text[len])
            return;
        lathe_fprint(out, "&%s;", text[len] == '<' ? "lt" : text[len] == '>' ? "gt" : "amp");
        len++;
    }
}

/* A number with spaces between thousands. */
static void put_number(LatheFile *out, uint64_t number) {
    if (number >= 1000) {
        put_number(out, number / 1000);
        lathe_fprint(out, "&#8239;%03lu", number % 1000);
    } else {
        lathe_fprint(out, "%lu", number);
    }
}

/* Cells with a share of all instructions, as a number and a bar, and the number of instructions. */
static void put_cost(const Report *r, uint64_t cost) {
    uint64_t share = r->cost ? cost * 1000 / r->cost : 0;
    lathe_fprint(r->out, "<td class=n>%lu.%lu%%</td><td class=bar><i style=\"width:%lu%%\"></i></td><td class=n>",
                 share / 10, share % 10, share / 10);
    put_number(r->out, cost);
    lathe_fprint(r->out, "</td>");
}

/* The name, which leads to the code if that is shown. */
static void put_name(const Report *r, const Function *f) {
    size_t index = (size_t)(f - (const Function *)r->functions.at);
    if (f->start && index < r->code_shown)
        lathe_fprint(r->out, "<a href=\"#f%lu\">", index);
    put_text(r->out, f->start ? f->name : "(no name)");
    if (f->start && index < r->code_shown)
        lathe_fprint(r->out, "</a>");
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_functions(const Report *r) {
    const Function *f = r->functions.at;
    lathe_fprint(r->out, "<h2>Functions</h2>\n<table class=list><tr><th class=n>share<th class=bar><th "
                         "class=n>instructions<th>function<th>file</tr>\n");
    for (size_t i = 0; i < r->functions.count && i < r->functions_listed; i++) {
        lathe_fprint(r->out, "<tr>");
        put_cost(r, f[i].cost);
        lathe_fprint(r->out, "<td>");
        put_name(r, &f[i]);
        lathe_fprint(r->out, "</td><td class=file>");
        put_text(r->out, last_part(f[i].file));
        lathe_fprint(r->out, "</td></tr>\n");
    }
    lathe_fprint(r->out, "</table>\n");
}

static void put_place(LatheFile *out, uint64_t pc) {
    LatheLine line;
    if (lathe_line(pc, &line)) {
        put_text(out, last_part(line.file));
        lathe_fprint(out, ":%u", line.line);
    } else {
        lathe_fprint(out, "0x%lx", pc);
    }
}

static void put_loops(const Report *r) {
    const Loop *l = r->loops.at;
    lathe_fprint(r->out, "<h2>Loops of the functions whose code is shown</h2>\n<table class=list><tr><th "
                         "class=n>share<th class=bar><th class=n>instructions<th "
                         "class=n>passes<th>function<th>begins at</tr>\n");
    for (size_t i = 0; i < r->loops.count && i < r->functions_listed; i++) {
        lathe_fprint(r->out, "<tr>");
        put_cost(r, l[i].cost);
        lathe_fprint(r->out, "<td class=n>");
        put_number(r->out, l[i].times);
        lathe_fprint(r->out, "</td><td>");
        put_name(r, l[i].function);
        lathe_fprint(r->out, "</td><td class=file><a href=\"#i%lx\">", l[i].start);
        put_place(r->out, l[i].start);
        lathe_fprint(r->out, "</a></td></tr>\n");
    }
    lathe_fprint(r->out, "</table>\n");
}

/* The file's name stands for a text that cannot be read. */
static void put_source(const Report *r, const LatheLine *line) {
    char text[512];
    bool readable = lathe_source(line->file, line->line, text, sizeof(text));
    lathe_fprint(r->out, "<tr class=src><td></td><td></td><td>%u</td><td>%s", line->line, readable ? "" : "<i>");
    put_text(r->out, readable ? text : last_part(line->file));
    lathe_fprint(r->out, "%s</td></tr>\n", readable ? "" : "</i>");
}

/* The redder, the larger the instruction's part of all is. */
static void put_insn(const Report *r, const Insn *in) {
    uint64_t share = in->times * 1000 / r->cost, red = share * 3 > 45 ? 45 : share * 3;
    lathe_fprint(r->out, "<tr class=asm id=i%lx style=\"background:rgba(228,87,46,.%02lu)\"><td class=n>", in->pc, red);
    put_number(r->out, in->times);
    lathe_fprint(r->out, "</td><td class=n><b>%lu.%lu%%</b></td><td>%lx</td><td>", share / 10, share % 10, in->pc);
    char text[96];
    put_text(r->out, lathe_insn_text(in->pc, text, sizeof(text)) ? text : "?");
    lathe_fprint(r->out, "</td></tr>\n");
}

static void put_code(const Report *r, size_t index) {
    const Function *f = (const Function *)r->functions.at + index;
    LatheLine last = {0}, line;
    LatheSymbol s;
    lathe_fprint(r->out, "<details id=f%lu open><summary>", index);
    put_text(r->out, f->name);
    lathe_fprint(r->out, "</summary><p>");
    put_text(r->out, f->file);
    lathe_fprint(r->out, "</p><table class=code>\n");
    for (size_t i = insn_from(r, f->start); i < r->insns.count; i++) {
        const Insn *in = (const Insn *)r->insns.at + i;
        if (!lathe_symbol(in->pc, &s) || in->pc - s.offset != f->start)
            break;
        if (lathe_line(in->pc, &line) && (line.line != last.line || line.file != last.file))
            put_source(r, &line);
        last = line;
        put_insn(r, in);
    }
    lathe_fprint(r->out, "</table></details>\n");
}

static void put_head(const Report *r) {
    lathe_write(r->out, page_head, sizeof(page_head) - 1);
    put_text(r->out, last_part(lathe_program()));
    lathe_fprint(r->out, "</title></head><body>\n<h1>");
    put_text(r->out, last_part(lathe_program()));
    lathe_fprint(r->out, "</h1>\n<p>");
    for (const char *const *word = lathe_arguments(); *word; word++) {
        put_text(r->out, *word);
        lathe_fprint(r->out, " ");
    }
    lathe_fprint(r->out, "</p>\n<p>");
    put_number(r->out, r->cost);
    lathe_fprint(r->out, " instructions in ");
    put_number(r->out, r->functions.count);
    lathe_fprint(r->out, " functions</p>\n");
}

static void put_page(const Report *r) {
    put_head(r);
    put_functions(r);
    put_loops(r);
    lathe_fprint(r->out, "<h2>Code</h2>\n<p>How often, which part of all instructions that is, and where.</p>\n");
    for (size_t i = 0; i < r->functions.count && i < r->code_shown; i++)
        if (((const Function *)r->functions.at)[i].start)
            put_code(r, i);
    lathe_fprint(r->out, "</body></html>\n");
}

/* ----------------------------------------------------------------------------------------------------------------- data */

static void put_data(LatheFile *out) {
    lathe_fprint(out, "lathe hot 1\n");
    for (size_t i = 0; i < blocks.count; i++) {
        const Block *b = (const Block *)blocks.at + i;
        LatheSymbol s;
        lathe_symbol(b->pc, &s);
        if (b->times && *s.file != '?')
            lathe_fprint(out, "%lx %lu %lu %lu %s\n", s.address, b->bytes, b->insns, b->times, s.file);
    }
    lathe_close(out);
}

static void report_page(void) {
    const char *name = lathe_option("out");
    Report r = {
        .out = lathe_open(name ? name : "hot.%p.html"),
        .functions_listed = lathe_option_number("top", 40),
        .code_shown = lathe_option_number("code", 15),
        .functions = LATHE_VECTOR(Function),
        .insns = LATHE_VECTOR(Insn),
        .loops = LATHE_VECTOR(Loop),
    };
    r.cost = find_blocks();
    find_functions(&r);
    find_insns(&r);
    find_loops(&r);
    put_page(&r);
    lathe_close(r.out);
}

static void report(void) {
    const char *data = lathe_option("data");
    lathe_lock(&lock);
    if (data) {
        find_blocks();
        put_data(lathe_open(data));
    } else {
        report_page();
    }
    lathe_vector_clear(&blocks);
    lathe_unlock(&lock);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_BLOCK, block, {LATHE_PC}, {LATHE_BYTES}, {LATHE_COUNT}),
            LATHE_ON(LATHE_END, report));
