/* function.c: a function from guest code to host code, as JSON. */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "cli/explore/explorer.h"
#include "cli/explore/record.h"
#include "cli/lift/show.h"

enum { TEXT_MAX = 128 };

void explore_error(FILE *out, const char *text) {
    fprintf(out, "{\"error\": ");
    show_json_string(out, text);
    fprintf(out, "}\n");
}

/* ------------------------------------------------------------------------------------------------------- guest's code */

/* The page knows an instruction by the number that its lines have. */
static void number_insns(const Unit *u, Map64 *numbers) {
    for (u32 line = 1; lathe_func_line(u->fn, line); line++)
        map64_set(numbers, lathe_func_line(u->fn, line), line);
}

static u32 number_of(const Map64 *numbers, u64 pc) {
    u32 number = 0;
    map64_get(numbers, pc, &number);
    return number;
}

/* [number, address, text, times executed, gap, whether the function leaves there]; the last two only if there is a gap */
static void write_insn(FILE *out, const Explorer *x, const Unit *u, u64 pc, u32 number) {
    char text[TEXT_MAX];
    Gap gap = explore_gap(u, pc);
    fprintf(out, "[%u,\"0x%lx\",", number, pc);
    show_json_string(out, lathe_disassemble(&u->cfg, pc, text, sizeof(text)) < 0 ? "(not an instruction)" : text);
    fprintf(out, ",%lu", samples_times(&x->samples, pc));
    if (gap.text) {
        fputc(',', out);
        show_json_string(out, gap.text);
        fprintf(out, ",%d", gap.leaves);
    }
    fputc(']', out);
}

static void write_block(FILE *out, const Explorer *x, const Unit *u, const LatheBlock *b, const Map64 *numbers) {
    fprintf(out, "{\"at\":\"0x%lx\",\"exits\":%d,\"table\":%d,\"unsupported\":%d,\"next\":[", b->start, b->exits,
            b->jump_table, b->unsupported);
    for (size_t i = 0; i < b->successor_count; i++)
        fprintf(out, "%s\"0x%lx\"", i ? "," : "", b->successors[i]);
    fprintf(out, "],\"insns\":[");
    for (size_t i = 0; i < b->insn_count; i++) {
        fputs(i ? "," : "", out);
        write_insn(out, x, u, b->insns[i], number_of(numbers, b->insns[i]));
    }
    fprintf(out, "]}");
}

static void write_blocks(FILE *out, const Explorer *x, const Unit *u) {
    Map64 numbers = {0};
    number_insns(u, &numbers);
    fprintf(out, "\"blocks\": [");
    for (size_t i = 0; i < lathe_func_block_count(u->fn); i++) {
        LatheBlock b = lathe_func_block(u->fn, i);
        fputs(i ? ",\n" : "", out);
        write_block(out, x, u, &b, &numbers);
    }
    fprintf(out, "],\n");
    map64_free(&numbers);
}

/* ---------------------------------------------------------------------------------------------------------- made code */

static void write_text(FILE *out, const Line *line) {
    char *text = strndup(line->text, line->size);
    CHECK(text, "out of memory");
    show_json_string(out, text);
    free(text);
}

/* {"text": […], "from": […]}, an element for each line. */
static void write_lines(FILE *out, const char *member, const Line *lines, size_t count) {
    fprintf(out, "\"%s\": {\"text\": [", member);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n" : "", out);
        write_text(out, &lines[i]);
    }
    fprintf(out, "],\n\"from\": [");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%u", i ? "," : "", lines[i].from);
    fprintf(out, "]},\n");
}

static void write_steps(FILE *out, const Look *look, const Record *r) {
    write_lines(out, "ir", r->lines.at, r->lines.len);
    fprintf(out, "\"steps\": [");
    for (size_t i = 0; i < r->steps.len; i++) {
        const Step *s = &r->steps.at[i];
        fprintf(out, "%s{\"pass\":\"%s\",\"lines\":[", i ? ",\n" : "", s->pass);
        for (u32 n = 0; n < s->count; n++)
            fprintf(out, "%s%u", n ? "," : "", s->lines[n]);
        fprintf(out, "]}");
    }
    fprintf(out, "],\n\"each_pass\": %s, \"left_out\": %zu,\n", look->steps ? "true" : "false", r->left_out);
}

/* The host's code, as it is without locations, and with them. */
typedef struct Assembly {
    char *plain, *marked;
} Assembly;

static void write_host(FILE *out, const Assembly *a) {
    Lines plain = {0}, marked = {0};
    lines_of_assembly(&plain, a->plain);
    lines_of_assembly(&marked, a->marked);
    lines_take_origins(&plain, &marked);
    write_lines(out, "host", plain.at, plain.len);
    VEC_FREE(&plain);
    VEC_FREE(&marked);
}

/* ---------------------------------------------------------------------------------------------------------- its stages */

static void write_head(FILE *out, const Unit *u, const Look *look) {
    char name[200], problem[256];
    const char *why = unit_problem(u, problem, sizeof(problem));
    fprintf(out, "{\"at\": \"0x%lx\", \"name\": ", look->at);
    show_json_string(out, guest_name(u->plan->guest, look->at, name, sizeof(name)));
    fprintf(out, ", \"target\": \"%s\", \"opt\": \"%s\",\n\"problem\": ", look_host_name(look->host),
            look_opt_name(look->opt));
    if (why)
        show_json_string(out, why);
    else
        fprintf(out, "null");
    fprintf(out, ",\n");
}

static void write_all(FILE *out, const Explorer *x, const Look *look, const Unit *u, const Record *r,
                      const Assembly *assembly) {
    write_head(out, u, look);
    write_blocks(out, x, u);
    write_steps(out, look, r);
    write_host(out, assembly);
    show_measures_json(out, &u->measures);
    fprintf(out, "}\n");
}

static void fail(FILE *out, const Unit *u, const char *stage, LatheStatus status) {
    char why[UNIT_FAILURE_MAX];
    explore_error(out, unit_failure(u, stage, status, why));
}

/* Where locations are, LLVM also says how to unwind the frame at each instruction, and keeps what saves registers in order for that. So the code that is shown is generated without. */
static LatheStatus compile(Unit *u, LatheJit *jit, Assembly *a) {
    a->marked = unit_assembly(u, jit);
    LLVMStripModuleDebugInfo(u->mod);
    LatheStatus status = unit_compile(u, jit);
    a->plain = status == LATHE_OK ? unit_assembly(u, jit) : NULL;
    return a->marked && a->plain ? LATHE_OK : LATHE_ERR_COMPILE;
}

static void finish(FILE *out, const Explorer *x, const Look *look, Unit *u, LatheJit *jit) {
    Record record = {.function = u->lifted};
    Assembly assembly = {NULL, NULL};
    record_step(&record, "lifted");
    lathe_jit_watch(jit, look->steps ? record_pass : NULL, &record);
    LatheStatus status = unit_optimize(u, jit);
    if (status == LATHE_OK) {
        record_step(&record, "optimised");
        status = compile(u, jit, &assembly);
    }
    if (status == LATHE_OK)
        write_all(out, x, look, u, &record, &assembly);
    else
        fail(out, u, "compile", status);
    mem_free(assembly.plain);
    mem_free(assembly.marked);
    record_free(&record);
}

static void go_through(FILE *out, const Explorer *x, const Look *look, Unit *u, LatheJit *jit) {
    LatheStatus status = unit_discover(u);
    if (status < 0) {
        fail(out, u, "decode", status);
        return;
    }
    status = unit_lift(u);
    if (status < 0)
        fail(out, u, "lift", status);
    else
        finish(out, x, look, u, jit);
}

void explore_function(FILE *out, const Explorer *x, const Look *look) {
    UnitPlan plan = {
        .guest = &x->guest,
        .cfg = {.calls = LATHE_CALLS_RETURN,
                .host = look->host,
                .strict_fp = x->strict_fp,
                .no_jump_tables = x->no_tables,
                .mark_lines = true},
        .opt = look->opt,
    };
    LatheJit *jit = unit_jit_new(look->host);
    if (!jit) {
        explore_error(out, "LLVM has no code generator for this host");
        return;
    }
    LLVMContextRef ctx = LLVMContextCreate();
    Unit u;
    unit_init(&u, &plan, ctx, look->at);
    go_through(out, x, look, &u, jit);
    unit_free(&u);
    LLVMContextDispose(ctx);
    lathe_jit_free(jit);
}
