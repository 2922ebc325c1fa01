/* lift.c: `lathe lift`: reads guest code and prints what the user wants to see of it. */
#include <errno.h>
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/lift/show.h"
#include "cli/options.h"

enum { CFG_DOT, CFG_TEXT, CFG_OFF };
enum { STATS_TEXT, STATS_JSON, STATS_OFF };
enum { EMIT_LLVM, EMIT_ASM, EMIT_OBJ };
#define OPT_UNSET (-1)

typedef struct LiftSettings {
    const char *file; /* the operand */
    const char *function, *hex, *isa, *target, *signature, *output;
    u64 at;
    int opt, calls, cfg, stats, emit;
    LatheHost host; /* the one that --target names */
    bool assembly, guest, columns, support, list, all;
    bool block, insn, pic, keep_flags, no_tables, strict_fp;
} LiftSettings;

#define AT(field) offsetof(LiftSettings, field)

// clang-format off
static const Option table[] = {
    {NULL, NULL, "What to lift:", OPTION_HEADING, 0},
    {"function",       "NAME|ADDR",           "a function of FILE: a name, or 0x1f00",   OPTION_TEXT,   AT(function)},
    {"hex",            "BYTES",               "these bytes, such as \"48 01 f8 c3\"",    OPTION_TEXT,   AT(hex)},
    {"isa",            "NAME",                "what --hex and --support are of",        OPTION_TEXT,  AT(isa)},
    {"at",             "ADDR",                "the address of --hex (0x1000)",           OPTION_NUMBER, AT(at)},
    {"block",          NULL,                  "only the basic block at the start",       OPTION_FLAG,   AT(block)},
    {"insn",           NULL,                  "only the instruction at the start",       OPTION_FLAG,   AT(insn)},
    {"all",            NULL,                  "every function of FILE, for a summary",   OPTION_FLAG,   AT(all)},
    {NULL, NULL, "How:", OPTION_HEADING, 0},
    {"target",         "HOST",                "the machine that code is for; see the manual", OPTION_TEXT, AT(target)},
    {"opt",            "none|quick|full|max", "how far to optimise (full)",              OPTION_CHOICE, AT(opt)},
    {"calls",          "exit|return",         "guest calls leave it, or come back (return)", OPTION_CHOICE, AT(calls)},
    {"signature",      "SIG",                 "a C function around it: see the manual",  OPTION_TEXT,   AT(signature)},
    {"pic",            NULL,                  "guest addresses relative to a symbol",    OPTION_FLAG,   AT(pic)},
    {"keep-flags",     NULL,                  "flags are live at calls and returns",     OPTION_FLAG,   AT(keep_flags)},
    {"no-jump-tables", NULL,                  "do not follow jump tables",               OPTION_FLAG,   AT(no_tables)},
    {"strict-fp",      NULL,                  "exact NaNs, rounding, exception flags",   OPTION_FLAG,   AT(strict_fp)},
    {NULL, NULL, "What to print instead of the IR:", OPTION_HEADING, 0},
    {"guest",          NULL,                  "the IR, with the guest's instructions",   OPTION_FLAG,   AT(guest)},
    {"emit",           "llvm|asm|obj",        "the IR, assembly or an object file made of it", OPTION_CHOICE, AT(emit)},
    {"asm",            NULL,                  "the same as --emit=asm",                  OPTION_FLAG,   AT(assembly)},
    {"side-by-side",   NULL,                  "guest and host in columns; then the IR",  OPTION_FLAG,   AT(columns)},
    {"cfg",            "dot|text",            "the graph of basic blocks",               OPTION_MAYBE,  AT(cfg)},
    {"stats",          "text|json",           "counts, sizes and times",                 OPTION_MAYBE,  AT(stats)},
    {"list",           NULL,                  "the functions of FILE",                   OPTION_FLAG,   AT(list)},
    {"support",        NULL,                  "the supported instructions",              OPTION_FLAG,   AT(support)},
    {"o",              "FILE",                "write to FILE",                           OPTION_TEXT,   AT(output)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe lift",
    .usage = "[OPTION]... FILE --function=NAME|ADDR\n"
             "[OPTION]... --hex=BYTES [--isa=NAME] [--at=ADDR]\n"
             "[OPTION]... FILE --all | FILE --list | --support [--target=HOST]",
    .about = "Lifts machine code of an executable or shared library, or given as bytes, to LLVM-IR.",
    .table = table,
};

/* Returns what is wrong with the combination of options, or NULL. */
static const char *contradiction(const LiftSettings *s) {
    int outputs =
        (s->emit != EMIT_LLVM) + s->columns + (s->cfg != CFG_OFF) + (s->stats != STATS_OFF) + s->list + s->support;
    if (s->all && outputs > (s->stats != STATS_OFF))
        return "--all prints a summary only";
    if (outputs > 1)
        return "choose one of --asm, --emit, --side-by-side, --cfg, --stats, --list and --support";
    if (s->emit == EMIT_OBJ && !s->output)
        return "an object file is not for reading: --emit=obj needs -o FILE";
    if (s->columns && s->target)
        return "--side-by-side is for the machine that this runs on: it takes no --target";
    if (s->block && s->insn)
        return "choose one of --block and --insn";
    if (s->support)
        return s->file || s->hex ? "--support is about the lifter: it takes no guest code" : NULL;
    if (!s->file == !s->hex)
        return s->file ? "a FILE and --hex exclude each other" : "what shall be lifted? Give a FILE or --hex";
    if (s->hex && (s->function || s->all || s->list))
        return "--function, --all and --list need a FILE";
    if (s->file && s->isa)
        return "a FILE says itself what --isa it is of";
    if (s->file && !s->function && !s->all && !s->list)
        return "which function? Give --function, or --list to see what there is";
    if (s->function && (s->all || s->list))
        return "--function excludes --all and --list";
    return NULL;
}

static UnitPlan make_plan(const LiftSettings *s, const Guest *guest) {
    UnitPlan plan = {
        .guest = guest,
        .cfg = {.calls = (LatheCalls)s->calls,
                .host = s->host,
                .pic_symbol = s->pic ? UNIT_PIC_SYMBOL : NULL,
                .keep_flags_at_calls = s->keep_flags,
                .no_jump_tables = s->no_tables,
                .strict_fp = s->strict_fp},
        .extent = s->insn    ? EXTENT_INSN
                  : s->block ? EXTENT_BLOCK
                             : EXTENT_FUNCTION,
        .opt = s->opt == OPT_UNSET ? LATHE_OPT_FULL : (LatheOpt)s->opt,
        .signature = s->signature,
    };
    plan.mark_insns = s->guest && plan.opt == LATHE_OPT_NONE && s->emit == EMIT_LLVM && !s->columns;
    return plan;
}

static bool stage_failed(const Unit *u, const char *stage, LatheStatus status) {
    char why[UNIT_FAILURE_MAX];
    return guest_fail(u->plan->guest, "%s", unit_failure(u, stage, status, why));
}

static bool print_assembly(FILE *out, const LiftSettings *s, Unit *u, LatheJit *jit) {
    char *text = unit_assembly(u, jit);
    if (!text)
        return stage_failed(u, "compile", LATHE_ERR_COMPILE);
    if (s->guest)
        show_listing(out, u, "# ");
    fputs(text, out);
    mem_free(text);
    return true;
}

static bool print_object(FILE *out, Unit *u, LatheJit *jit) {
    size_t size;
    void *object = unit_object(u, jit, &size);
    if (!object)
        return stage_failed(u, "compile", LATHE_ERR_COMPILE);
    fwrite(object, 1, size, out);
    free(object);
    return true;
}

static bool print_unit(FILE *out, const LiftSettings *s, Unit *u, LatheJit *jit) {
    if (s->stats != STATS_OFF) {
        show_unit_stats(out, u, s->stats == STATS_JSON);
        return true;
    }
    if (s->emit == EMIT_ASM)
        return print_assembly(out, s, u, jit);
    if (s->emit == EMIT_OBJ)
        return print_object(out, u, jit);
    if (s->columns) {
        if (!show_side_by_side(out, u, jit))
            return stage_failed(u, "compile", LATHE_ERR_COMPILE);
        fputc('\n', out);
    } else if (s->guest && !u->cfg.mark_insn) {
        show_listing(out, u, "; ");
    }
    show_ir(out, u);
    return true;
}

/* Code that could not be lifted is replaced by an exit, which gives a warning but is not a failure. */
static void warn_of_problem(const Unit *u) {
    char problem[256];
    const char *why = unit_problem(u, problem, sizeof(problem));
    if (why)
        fprintf(stderr, "lathe: %s: warning: %s\n", u->plan->guest->source, why);
}

static bool process_unit(FILE *out, const LiftSettings *s, Unit *u, LatheJit *jit) {
    LatheStatus status = unit_discover(u);
    if (status < 0)
        return stage_failed(u, "decode", status);
    if (s->cfg != CFG_OFF) {
        warn_of_problem(u);
        (s->cfg == CFG_DOT ? show_cfg_dot : show_cfg_text)(out, u);
        return true;
    }
    status = unit_lift(u);
    if (status < 0 && u->lifted)
        return guest_fail(u->plan->guest, "--signature: '%s' is none (v i l p f d; the result first)", s->signature);
    if (status < 0)
        return stage_failed(u, "lift", status);
    warn_of_problem(u);
    status = jit ? unit_optimize(u, jit) : LATHE_OK;
    if (status == LATHE_OK && s->stats != STATS_OFF)
        status = unit_compile(u, jit);
    return status < 0 ? stage_failed(u, "compile", status) : print_unit(out, s, u, jit);
}

static bool lift_one(FILE *out, const LiftSettings *s, const UnitPlan *plan, LatheJit *jit) {
    ElfFunction function = {.addr = s->at};
    if (s->function && !guest_find(plan->guest, s->function, &function))
        return false;
    LLVMContextRef ctx = LLVMContextCreate();
    Unit u;
    unit_init(&u, plan, ctx, function.addr);
    bool ok = process_unit(out, s, &u, jit);
    unit_free(&u);
    LLVMContextDispose(ctx);
    return ok;
}

static bool needs_jit(const LiftSettings *s, const UnitPlan *plan) {
    if (s->all)
        return s->opt != OPT_UNSET;
    if (s->cfg != CFG_OFF)
        return false;
    return s->target || s->emit != EMIT_LLVM || s->columns || s->stats != STATS_OFF || plan->opt != LATHE_OPT_NONE;
}

static bool lift_guest(FILE *out, const LiftSettings *s, const Guest *guest) {
    UnitPlan plan = make_plan(s, guest);
    if (s->list) {
        show_functions(out, guest->elf);
        return true;
    }
    LatheJit *jit = NULL;
    if (needs_jit(s, &plan) && !(jit = unit_jit_new(s->host)))
        return false;
    bool ok = s->all ? show_survey(out, &plan, jit, s->stats == STATS_JSON) : lift_one(out, s, &plan, jit);
    lathe_jit_free(jit);
    return ok;
}

/* Finds the architecture called s->isa. Returns false if there is none. */
static bool find_arch(const LiftSettings *s, LatheArch *arch) {
    const char *name;
    for (*arch = 0; (name = lathe_arch_name(*arch)); ++*arch)
        if (!s->isa || !strcmp(name, s->isa))
            return true;
    fprintf(stderr, "lathe: --isa: there is no '%s'; there are", s->isa);
    for (*arch = 0; (name = lathe_arch_name(*arch)); ++*arch)
        fprintf(stderr, " %s", name);
    fputc('\n', stderr);
    return false;
}

static bool run(FILE *out, LiftSettings *s) {
    LatheArch arch;
    if (!find_arch(s, &arch) || !unit_host(s->target, &s->host))
        return false;
    if (s->support) {
        show_support(out, arch, s->host);
        return true;
    }
    Guest guest = {0};
    bool ok = s->file ? guest_open_file(&guest, s->file) : guest_open_hex(&guest, s->hex, s->at, arch);
    ok = ok && lift_guest(out, s, &guest);
    guest_close(&guest);
    return ok;
}

/* path NULL: writes to standard output. */
static bool write_out(const char *path, const char *data, size_t size) {
    FILE *out = path ? fopen(path, "w") : stdout;
    bool ok = out && fwrite(data, 1, size, out) == size && fflush(out) == 0;
    if (!ok)
        fprintf(stderr, "lathe: %s: %s\n", path ? path : "standard output", strerror(errno));
    if (out && path)
        fclose(out);
    return ok;
}

/* The output is written only when everything has succeeded: after a failure the file is unchanged. It may be the file
 * that was read. */
static bool run_into(const char *path, LiftSettings *s) {
    char *data;
    size_t size;
    FILE *out = open_memstream(&data, &size);
    CHECK(out, "out of memory");
    bool ok = run(out, s);
    CHECK(fclose(out) == 0, "out of memory");
    ok = ok && write_out(path, data, size);
    free(data);
    return ok;
}

int command_lift(int argc, char **argv) {
    LiftSettings s = {.at = 0x1000, .opt = OPT_UNSET, .calls = LATHE_CALLS_RETURN, .cfg = CFG_OFF, .stats = STATS_OFF};
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc > 1)
        return options_misuse(&options, "one FILE at a time");
    s.file = argc ? argv[1] : NULL;
    if (s.assembly)
        s.emit = EMIT_ASM;
    const char *wrong = contradiction(&s);
    if (wrong)
        return options_misuse(&options, "%s", wrong);
    return run_into(s.output, &s) ? 0 : 1;
}
