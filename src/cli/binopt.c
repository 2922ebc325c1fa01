/* binopt.c: `lathe binopt`: specialises a function of a file by libbinopt, and shows the code before, in between and
 * after, and how fast it is. */
#include <errno.h>
#include <llvm-c/Core.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "binopt/config/rewriter.h"
#include "binopt/config/signature.h"
#include "cli/binopt/trial.h"
#include "cli/commands.h"
#include "cli/lift/show.h"
#include "cli/options.h"
#include "isa/isa.h"

enum { IR_FINAL, IR_LIFTED, IR_NONE };

typedef struct BinoptSettings {
    const char *file; /* the operand */
    const char *function, *type, *driver, *output;
    OptionList fixes, constants, nested, dynamic, args;
    u64 stack;
    int ir;
    bool fast_math, nowrap, guard, libraries, call;
} BinoptSettings;

#define AT(field) offsetof(BinoptSettings, field)

// clang-format off
static const Option table[] = {
    {NULL, NULL, "What is known:", OPTION_HEADING, 0},
    {"function",  "NAME|ADDR",   "the function of FILE",                                  OPTION_TEXT,   AT(function)},
    {"type",      "TYPE",        "such as \"int(int, double *)\"; else debug information", OPTION_TEXT,  AT(type)},
    {"fix",       "N=VALUE",     "parameter N, from 0, has this value: see the manual",   OPTION_LIST,   AT(fixes)},
    {"const",     "WHERE+SIZE",  "memory that does not change: a symbol or address of FILE", OPTION_LIST, AT(constants)},
    {"nested",    "WHERE+SIZE",  "nor does what pointers in it lead to; or N, of --fix N", OPTION_LIST,  AT(nested)},
    {"dynamic",   "WHERE+SIZE",  "memory that may change; or N, of --fix N",              OPTION_LIST,   AT(dynamic)},
    {NULL, NULL, "How:", OPTION_HEADING, 0},
    {"driver",    "NAME",        "by this rewriter (llvm)",                               OPTION_TEXT,   AT(driver)},
    {"fast-math", NULL,          "floating point as if numbers were real",                OPTION_FLAG,   AT(fast_math)},
    {"nowrap",    NULL,          "32-bit indices do not overflow",                        OPTION_FLAG,   AT(nowrap)},
    {"guard",     NULL,          "other values than the fixed ones go to the original",   OPTION_FLAG,   AT(guard)},
    {"libraries", NULL,          "functions of the C library are rewritten, too",         OPTION_FLAG,   AT(libraries)},
    {"stack",     "BYTES",       "at most so much stack (65536)",                         OPTION_NUMBER, AT(stack)},
    {NULL, NULL, "What to do with it:", OPTION_HEADING, 0},
    {"arg",       "VALUE",       "call both with these, one for each parameter not fixed", OPTION_LIST,  AT(args)},
    {"call",      NULL,          "call both; where no arguments are needed",              OPTION_FLAG,   AT(call)},
    {"ir",        "final|lifted|none", "which IR to show (final)",                        OPTION_CHOICE, AT(ir)},
    {"o",         "FILE",        "write to FILE",                                         OPTION_TEXT,   AT(output)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe binopt",
    .usage = "[OPTION]... FILE --function=NAME|ADDR [--fix=N=VALUE]... [--arg=VALUE]...",
    .about = "Specialises a function of a library, program or object file for values that are known, and shows both.",
    .table = table,
};

/* Everything about the function that is specialised. */
typedef struct BinoptJob {
    const BinoptSettings *s;
    FILE *out;
    Loaded file;
    u64 addr, file_addr; /* the function's address in this process, and in the file */
    Prototype type;
    bool is_fixed[PROTOTYPE_MAX_PARAMS];
    TypedValue values[PROTOTYPE_MAX_PARAMS];
    BinoptHandle handle;
    BinoptCfgRef cfg;
    BinoptFunc made;
    double ms;
    char *ir;
} BinoptJob;

static bool fail(const BinoptJob *j, const char *about, const char *text, const char *why) {
    return guest_fail(&j->file.guest, "%s%s%s%s%s", about, *text ? " '" : "", text, *text ? "' " : "", why);
}

/* ------------------------------------------------------------------------------------------------- declarations */

static bool find_type(BinoptJob *j) {
    Prototype *p = &j->type;
    if (j->s->type && !prototype_parse(j->s->type, p))
        return false;
    if (!j->s->type && (!j->file.has_file || !signature_find_in(j->cfg, j->file.path, j->file_addr)))
        return fail(j, "no debug information has the type of", j->s->function, "(give --type)");
    if (!j->s->type) {
        p->ret = j->cfg->ret;
        p->count = j->cfg->params.len < PROTOTYPE_MAX_PARAMS ? (u32)j->cfg->params.len : PROTOTYPE_MAX_PARAMS;
        for (u32 i = 0; i < p->count; i++)
            p->params[i] = j->cfg->params.at[i].type;
        return true;
    }
    config_set_type(j->cfg, p->count, p->ret);
    for (u32 i = 0; i < p->count; i++)
        j->cfg->params.at[i].type = p->params[i];
    return true;
}

static bool fix(BinoptJob *j, const char *text) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end != '=')
        return fail(j, "--fix:", text, "is not of the form N=VALUE");
    if (n >= j->type.count)
        return fail(j, "--fix:", text, "is beyond the parameters of the function");
    TypedValue *v = &j->values[n];
    if (!value_parse(end + 1, j->type.params[n], &j->file, v))
        return false;
    j->is_fixed[n] = true;
    binopt_cfg_set_param(j->cfg, (unsigned)n, &v->bits);
    if (v->size)
        binopt_cfg_mem(j->cfg, v->memory, v->size, BINOPT_MEM_CONST);
    return true;
}

/* text: "WHERE+SIZE", or the number of a fixed parameter that has memory of its own. */
static bool declare(BinoptJob *j, const char *text, BinoptMemFlags flags) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end != text && !*end && n < j->type.count && j->values[n].size) {
        binopt_cfg_mem(j->cfg, j->values[n].memory, j->values[n].size, flags);
        return true;
    }
    const char *plus = strrchr(text, '+');
    char where[256];
    u64 addr, size = plus ? strtoull(plus + 1, &end, 0) : 0;
    if (!size || *end)
        return fail(j, "memory:", text, "is neither WHERE+SIZE nor a fixed parameter with memory");
    snprintf(where, sizeof(where), "%.*s", (int)(plus - text), text);
    if (!loaded_address(&j->file, where, &addr))
        return false;
    binopt_cfg_mem(j->cfg, (void *)addr, size, flags);
    return true;
}

static bool declare_all(BinoptJob *j) {
    const struct {
        const OptionList *list;
        BinoptMemFlags flags;
    } kinds[] = {{&j->s->constants, BINOPT_MEM_CONST},
                 {&j->s->nested, BINOPT_MEM_NESTED_CONST},
                 {&j->s->dynamic, BINOPT_MEM_DYNAMIC}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < kinds[k].list->len; i++)
            if (!declare(j, kinds[k].list->at[i], kinds[k].flags))
                return false;
    return true;
}

/* Takes the arguments of the parameters that are not fixed, in order. */
static bool take_arguments(BinoptJob *j) {
    size_t next = 0, missing = 0;
    if (!j->s->args.len && !j->s->call)
        return true;
    for (u32 i = 0; i < j->type.count; i++)
        missing += !j->is_fixed[i];
    if (missing != j->s->args.len)
        return guest_fail(&j->file.guest, "--arg: %zu parameters are not fixed, but there are %zu arguments", missing,
                          j->s->args.len);
    if (!trial_possible(&j->type))
        return fail(j, "--arg: it has more parameters than registers, and cannot be called from here", "", "");
    for (u32 i = 0; i < j->type.count; i++)
        if (!j->is_fixed[i] && !value_parse(j->s->args.at[next++], j->type.params[i], &j->file, &j->values[i]))
            return false;
    return true;
}

static void set_flags(BinoptJob *j) {
    binopt_cfg_set(j->cfg, BINOPT_F_FASTMATH, j->s->fast_math);
    binopt_cfg_set(j->cfg, BINOPT_F_NOWRAP, j->s->nowrap);
    binopt_cfg_set(j->cfg, BINOPT_F_GUARD, j->s->guard);
    binopt_cfg_set(j->cfg, BINOPT_F_LIBRARIES, j->s->libraries);
    if (j->s->stack)
        binopt_cfg_set(j->cfg, BINOPT_F_STACKSZ, j->s->stack);
}

static bool configure(BinoptJob *j) {
    if (!find_type(j))
        return false;
    for (size_t i = 0; i < j->s->fixes.len; i++)
        if (!fix(j, j->s->fixes.at[i]))
            return false;
    set_flags(j);
    return declare_all(j) && take_arguments(j);
}

/* -------------------------------------------------------------------------------------------------------- specialising */

/* Keeps the first text, which is what was lifted, and the last, which is the final code. */
static void keep_code(void *user, const char *stage, const char *text) {
    BinoptJob *j = user;
    (void)stage;
    if (j->s->ir == IR_LIFTED && j->ir)
        return;
    free(j->ir);
    j->ir = strdup(text);
}

/* Messages are not shown; in the end binopt_spec_reason tells the reason. */
static void ignore(void *user, size_t level, const char *text) {
    (void)user;
    (void)level;
    (void)text;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool specialise(BinoptJob *j) {
    Watcher watcher = {keep_code, ignore, j};
    j->cfg->watcher = &watcher;
    j->cfg->always = true; /* shows the new code even if it is not faster */
    double start = now_ms();
    j->made = binopt_spec_create(j->cfg);
    j->ms = now_ms() - start;
    j->cfg->watcher = NULL;
    if (j->made != (BinoptFunc)j->addr)
        return true;
    return guest_fail(&j->file.guest, "'%s' was left alone: %s", j->s->function, binopt_spec_reason(j->cfg));
}

/* ------------------------------------------------------------------------------------------------------------- showing */

static void print_guest(FILE *out, const BinoptJob *j) {
    LLVMContextRef ctx = LLVMContextCreate();
    UnitPlan plan = {.guest = &j->file.guest, .cfg.calls = LATHE_CALLS_RETURN};
    Unit u;
    unit_init(&u, &plan, ctx, j->file_addr);
    unit_discover(&u);
    fprintf(out, "original (%lu instructions, %lu bytes)\n\n", u.measures.insns, u.measures.bytes);
    show_listing(out, &u, "");
    unit_free(&u);
    LLVMContextDispose(ctx);
}

static void print_made(FILE *out, const BinoptJob *j) {
    size_t size = rewriter_code_bytes(j->handle, j->made);
    if (!size) {
        fprintf(out, "specialised (its rewriter does not know how long it is)\n");
        return;
    }
    fprintf(out, "specialised (%zu bytes)\n\n0:\n", size);
    show_code(out, j->made, size, isa_of_host()->arch);
}

static void print_both(BinoptJob *j) {
    char *left, *right;
    size_t left_size, right_size;
    FILE *original = open_memstream(&left, &left_size), *made = open_memstream(&right, &right_size);
    CHECK(original && made, "out of memory");
    print_guest(original, j);
    print_made(made, j);
    fclose(original);
    fclose(made);
    show_columns(j->out, left, right);
    free(left);
    free(right);
    if (j->s->ir != IR_NONE && j->ir)
        fprintf(j->out, "\n%s", j->ir);
}

static void print_summary(BinoptJob *j) {
    fprintf(j->out, "\n%s: ", j->s->function);
    prototype_print(j->out, &j->type);
    for (u32 i = 0; i < j->type.count; i++)
        if (j->is_fixed[i])
            fprintf(j->out, ", parameter %u fixed", i);
    fprintf(j->out, "\nspecialised by %s in %.2f ms of CPU time, the first of the process\n", binopt_driver(), j->ms);
    const char *reason = binopt_spec_reason(j->cfg);
    if (reason)
        fprintf(j->out, "not all of it: %s\n", reason);
}

static void print_trial(BinoptJob *j, const char *which, const Trial *t) {
    if (t->signal) {
        const char *way = t->signal == SIGALRM ? "did not return in time" : strsignal(t->signal);
        fprintf(j->out, "%s: ended by a signal: %s\n", which, way);
        return;
    }
    fprintf(j->out, "%s: returned ", which);
    value_print(j->out, j->type.ret, t->result);
    fprintf(j->out, ", %.2f ns\n", t->ns);
}

static bool compare(BinoptJob *j) {
    if (!j->s->args.len && !j->s->call)
        return true;
    Trial before = trial_run(&j->type, (void *)j->addr, j->values), after = trial_run(&j->type, j->made, j->values);
    print_trial(j, "original   ", &before);
    print_trial(j, "specialised", &after);
    if (!before.signal && !after.signal)
        fprintf(j->out, "time: %.3f of the original's\n", after.ns / before.ns);
    bool equal = trial_equal(&before, &after);
    if (!equal)
        fprintf(j->out, "THE RESULTS DIFFER\n");
    trial_free(&before);
    trial_free(&after);
    return equal;
}

/* -------------------------------------------------------------------------------------------------------------- command */

static bool with_handle(BinoptJob *j) {
    j->handle = binopt_init();
    j->cfg = binopt_cfg_new(j->handle, (BinoptFunc)j->addr);
    bool ok = configure(j) && specialise(j);
    if (ok) {
        print_both(j);
        print_summary(j);
        ok = compare(j);
    }
    free(j->ir);
    binopt_fini(j->handle);
    return ok;
}

static bool run(FILE *out, const BinoptSettings *s) {
    BinoptJob j = {.s = s, .out = out};
    bool ok = loaded_open(&j.file, s->file) && loaded_function(&j.file, s->function, &j.addr, &j.file_addr) &&
              with_handle(&j);
    loaded_close(&j.file);
    return ok;
}

static bool choose_driver(const char *name) {
    if (!name)
        name = rewriters[0]->name;
    for (const Rewriter *const *r = rewriters; *r; r++)
        if (!strcmp((*r)->name, name))
            return setenv("BINOPT_DRIVER", name, 1) == 0;
    fprintf(stderr, "lathe: --driver: there is no '%s'; there are", name);
    for (const Rewriter *const *r = rewriters; *r; r++)
        fprintf(stderr, " %s", (*r)->name);
    fputc('\n', stderr);
    return false;
}

/* If the results differ, the output is written all the same. */
static bool run_into(const char *path, const BinoptSettings *s) {
    FILE *out = path ? fopen(path, "w") : stdout;
    if (!out) {
        fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
        return false;
    }
    bool ok = run(out, s);
    bool written = fflush(out) == 0 && !ferror(out);
    if (!written)
        fprintf(stderr, "lathe: %s: %s\n", path ? path : "standard output", strerror(errno));
    if (path)
        fclose(out);
    return ok && written;
}

int command_binopt(int argc, char **argv) {
    BinoptSettings s = {.ir = IR_FINAL};
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc != 1)
        return options_misuse(&options, argc ? "one FILE at a time" : "which FILE?");
    if (!s.function)
        return options_misuse(&options,
                              "which function? Give --function; 'lathe lift FILE --list' shows what there is");
    s.file = argv[1];
    bool ok = choose_driver(s.driver) && run_into(s.output, &s);
    VEC_FREE(&s.fixes);
    VEC_FREE(&s.constants);
    VEC_FREE(&s.nested);
    VEC_FREE(&s.dynamic);
    VEC_FREE(&s.args);
    return ok ? 0 : 1;
}
