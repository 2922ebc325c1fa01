/* survey.c: lifts every function of a file and prints a summary: what works, and what is missing most often. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "cli/lift/show.h"

/* One reason why functions are not lifted completely, with one place as an example. */
typedef struct Reason {
    char what[64];
    u64 count, pc;
    char function[64];
} Reason;

typedef struct Survey {
    const UnitPlan *plan;
    LatheJit *jit; /* NULL: only lifts */
    u64 functions, complete, partial, failed;
    Measures measures;
    VEC(Reason) reasons;
} Survey;

/* The mnemonic at pc with its prefixes, which identifies a missing instruction. */
static void name_insn(const Unit *u, u64 pc, char *what, size_t size) {
    char text[128];
    if (lathe_disassemble(&u->cfg, pc, text, sizeof(text)) < 0) {
        snprintf(what, size, "?");
        return;
    }
    size_t len = strcspn(text, " ");
    static const char *const prefixes[] = {"lock", "rep", "repe", "repne", "bnd", "notrack", "xacquire", "xrelease"};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strlen(prefixes[i]) == len && !strncmp(prefixes[i], text, len) && text[len])
            len += 1 + strcspn(text + len + 1, " ");
    snprintf(what, size, "%.*s", (int)len, text);
}

static void count_reason(Survey *s, const Unit *u, const char *what, u64 pc) {
    for (size_t i = 0; i < s->reasons.len; i++)
        if (!strcmp(s->reasons.at[i].what, what)) {
            s->reasons.at[i].count++;
            return;
        }
    Reason r = {.count = 1, .pc = pc};
    snprintf(r.what, sizeof(r.what), "%s", what);
    guest_name(u->plan->guest, u->addr, r.function, sizeof(r.function));
    VEC_PUSH(&s->reasons, r);
}

static void count_problem(Survey *s, const Unit *u, LatheStatus status) {
    LatheProblem p = lathe_func_problem(u->fn);
    char what[64];
    if (p.status != LATHE_OK)
        status = p.status;
    if (status == LATHE_ERR_UNSUPPORTED)
        name_insn(u, p.pc, what, sizeof(what));
    else
        snprintf(what, sizeof(what), "%s", lathe_status_text(status));
    count_reason(s, u, what, p.status != LATHE_OK ? p.pc : u->addr);
}

static LatheStatus go_through(Survey *s, Unit *u) {
    LatheStatus status = unit_discover(u);
    if (status == LATHE_OK)
        status = unit_lift(u);
    if (status == LATHE_OK && LLVMVerifyModule(u->mod, LLVMReturnStatusAction, NULL)) {
        count_reason(s, u, "invalid IR", u->addr);
        return LATHE_ERR_COMPILE;
    }
    if (status == LATHE_OK && s->jit)
        status = unit_optimize(u, s->jit);
    if (status == LATHE_OK && s->jit)
        status = unit_compile(u, s->jit);
    if (status < 0 || lathe_func_problem(u->fn).status < 0)
        count_problem(s, u, status);
    return status;
}

static void survey_one(Survey *s, u64 addr) {
    LLVMContextRef ctx = LLVMContextCreate();
    Unit u;
    unit_init(&u, s->plan, ctx, addr);
    s->functions++;
    if (go_through(s, &u) < 0) {
        s->failed++;
    } else {
        bool problem = lathe_func_problem(u.fn).status < 0;
        s->partial += problem;
        s->complete += !problem;
        measures_add(&s->measures, &u.measures);
    }
    unit_free(&u);
    LLVMContextDispose(ctx);
}

static int by_count(const void *a, const void *b) {
    const Reason *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->what, y->what);
}

static void print_text(FILE *out, const Survey *s) {
    fprintf(out, "functions           %10lu\n", s->functions);
    fprintf(out, "  lifted            %10lu\n", s->complete);
    fprintf(out, "  lifted in part    %10lu  with exits at what is not supported or no code\n", s->partial);
    fprintf(out, "  failed            %10lu\n", s->failed);
    show_measures(out, &s->measures);
    if (s->reasons.len)
        fprintf(out, "\nfunctions  the first problem in them\n");
    for (size_t i = 0; i < s->reasons.len; i++) {
        const Reason *r = &s->reasons.at[i];
        fprintf(out, "%9lu  %-28s for example at 0x%lx in %s\n", r->count, r->what, r->pc, r->function);
    }
}

static void print_json(FILE *out, const Survey *s) {
    fprintf(out, "{\"functions\": %lu, \"lifted\": %lu, \"partial\": %lu, \"failed\": %lu, ", s->functions, s->complete,
            s->partial, s->failed);
    show_measures_json(out, &s->measures);
    fprintf(out, ", \"problems\": [");
    for (size_t i = 0; i < s->reasons.len; i++) {
        const Reason *r = &s->reasons.at[i];
        fprintf(out, "%s{\"what\": ", i ? ", " : "");
        show_json_string(out, r->what);
        fprintf(out, ", \"functions\": %lu, \"address\": %lu, \"in\": ", r->count, r->pc);
        show_json_string(out, r->function);
        fprintf(out, "}");
    }
    fprintf(out, "]}\n");
}

bool show_survey(FILE *out, const UnitPlan *plan, LatheJit *jit, bool json) {
    Survey s = {.plan = plan, .jit = jit};
    const ElfFunction *functions;
    size_t count = elf_functions(plan->guest->elf, &functions);
    for (size_t i = 0; i < count; i++)
        survey_one(&s, functions[i].addr);
    if (s.reasons.len)
        qsort(s.reasons.at, s.reasons.len, sizeof(*s.reasons.at), by_count);
    if (json)
        print_json(out, &s);
    else
        print_text(out, &s);
    VEC_FREE(&s.reasons);
    return count > 0 || guest_fail(plan->guest, "no functions are known in it");
}
