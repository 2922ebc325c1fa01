/* coverage.c: bench-coverage, lifting every function of real programs.
 *
 * For each file: how many of its instructions have a row, whether every lifted function is valid IR, how long discovery
 * and lifting take, and how much IR they make. Fails if a bar is missed. Calls are lifted as a translator has them: a
 * guest call is a call of a dispatch function, and the function goes on after it.
 */
#include <getopt.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "census.h"
#include "series.h"

static const char *const default_files[] = {
    "/usr/bin/bash",
    "/usr/bin/python3",
    "/usr/bin/perl",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
    "/usr/bin/sqlite3",
    "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
};

/* The bars. */
#define MIN_LIFTED_PERCENT 99.9
#define MAX_MICROSECONDS 3.0
#define MAX_IR_PER_INSN 8.0

/* Functions per LLVM context, and how many are lifted before the clock counts. */
enum { BATCH = 256, WARM_UP = 300, MAX_INSNS = 50000, QUICK_STEP = 16, MISSING_SHOWN = 25 };

typedef struct Report {
    const char *path;
    Census census;
    u64 functions, failed, invalid, ir;
    u64 insns;                   /* as often as they were lifted, where the census has each once */
    Series discover, lift, both; /* microseconds per guest instruction, by function */
    Series ir_per_insn;
} Report;

/* Where functions are lifted into, made anew from time to time so that memory stays bounded. */
typedef struct Nest {
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMValueRef dispatch;
    u32 used;
} Nest;

static void nest_make(Nest *n) {
    n->ctx = LLVMContextCreate();
    n->mod = LLVMModuleCreateWithNameInContext("coverage", n->ctx);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(n->ctx, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(n->ctx), &ptr, 1, false);
    n->dispatch = LLVMAddFunction(n->mod, "dispatch", type);
    n->used = 0;
}

static void nest_free(Nest *n) {
    LLVMDisposeModule(n->mod);
    LLVMContextDispose(n->ctx);
}

static void nest_refresh(Nest *n) {
    if (++n->used < BATCH)
        return;
    nest_free(n);
    nest_make(n);
}

static u64 count_ir(LLVMValueRef f) {
    u64 count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

static u64 count_guest(LatheFunc *fn) {
    u64 count = 0;
    for (size_t i = 0; i < lathe_func_block_count(fn); i++)
        count += lathe_func_block(fn, i).insn_count;
    return count;
}

static LatheFunc *open_func(Nest *n, ElfFile *elf) {
    LatheConfig cfg = {
        .arch = elf_arch(elf),
        .read_memory = elf_read_const,
        .user = elf,
        .max_insns = MAX_INSNS,
        .calls = LATHE_CALLS_RETURN,
        .dispatch = n->dispatch,
    };
    return lathe_func_new(n->mod, &cfg);
}

static void measure(Report *r, ElfFile *elf, Nest *n, u64 addr) {
    double start = seconds_now();
    LatheFunc *fn = open_func(n, elf);
    LatheStatus status = lathe_func_decode_cfg(fn, addr);
    double found = seconds_now();
    LLVMValueRef f = status == LATHE_OK ? lathe_func_lift(fn, "f") : NULL;
    double lifted = seconds_now();
    r->functions++;
    census_add(&r->census, elf, fn);
    if (f) {
        u64 guest = count_guest(fn), ir = count_ir(f);
        double scale = 1e6 / (double)guest;
        series_add(&r->discover, (found - start) * scale);
        series_add(&r->lift, (lifted - found) * scale);
        series_add(&r->both, (lifted - start) * scale);
        series_add(&r->ir_per_insn, (double)ir / (double)guest);
        r->insns += guest;
        r->ir += ir;
        r->invalid += LLVMVerifyFunction(f, LLVMReturnStatusAction);
    } else {
        r->failed++;
    }
    lathe_func_free(fn);
    nest_refresh(n);
}

static void warm_up(ElfFile *elf, Nest *n, const ElfFunction *functions, size_t count) {
    for (size_t i = 0; i < count && i < WARM_UP; i++) {
        LatheFunc *fn = open_func(n, elf);
        if (lathe_func_decode_cfg(fn, functions[i].addr) == LATHE_OK)
            lathe_func_lift(fn, "f");
        lathe_func_free(fn);
        nest_refresh(n);
    }
}

static void cover(Report *r, ElfFile *elf, u32 step) {
    const ElfFunction *functions;
    size_t count = elf_functions(elf, &functions);
    Nest n;
    nest_make(&n);
    warm_up(elf, &n, functions, count);
    for (size_t i = 0; i < count; i += step)
        measure(r, elf, &n, functions[i].addr);
    nest_free(&n);
}

/* ---------------------------------------------------------------------------------------------------- the verdict */

static double percent(u64 part, u64 whole) {
    return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static double lifted_percent(const Report *r, Era e) {
    return percent(r->census.lifted[e], r->census.insns[e]);
}

static double ir_mean(const Report *r) {
    return r->insns ? (double)r->ir / (double)r->insns : 0;
}

static bool good(Report *r) {
    return lifted_percent(r, ERA_BELOW_AVX) >= MIN_LIFTED_PERCENT && !r->invalid && !r->failed &&
           series_median(&r->both) <= MAX_MICROSECONDS && ir_mean(r) <= MAX_IR_PER_INSN;
}

/* ------------------------------------------------------------------------------------------------------- printing */

static void print_head(void) {
    printf("%-18s %9s %9s %9s %8s %8s %8s  %6s %6s %6s  %6s %6s  %6s %6s %6s\n", "", "", "insns", "lifted%", "AVX+",
           "lifted%", "invalid", "found", "lifted", "both", "IR/in", "IR/in", "jump", "tables", "other");
    printf("%-18s %9s %9s %9s %8s %8s %8s  %6s %6s %6s  %6s %6s  %6s %6s %6s\n", "file", "functions", "below", "below",
           "insns", "AVX+", "IR", "us/in", "us/in", "us/in", "mean", "median", "tables", "missed", "indir.");
}

static void print_row(Report *r) {
    const Census *c = &r->census;
    const char *name = strrchr(r->path, '/');
    printf("%-18s %9lu %9lu %9.4f %8lu %8.3f %8lu  %6.2f %6.2f %6.2f  %6.2f %6.2f  %6lu %6lu %6lu%s\n",
           name ? name + 1 : r->path, r->functions, c->insns[ERA_BELOW_AVX], lifted_percent(r, ERA_BELOW_AVX),
           c->insns[ERA_AVX], lifted_percent(r, ERA_AVX), r->invalid + r->failed, series_median(&r->discover),
           series_median(&r->lift), series_median(&r->both), ir_mean(r), series_median(&r->ir_per_insn),
           c->jumps[JUMP_TABLE], c->jumps[JUMP_MISSED], c->jumps[JUMP_OTHER], good(r) ? "" : "  below the bar");
    fflush(stdout);
}

static void print_missing(const Census *all, Era era, const char *title) {
    CensusList list;
    census_missing(all, &list);
    size_t shown = 0;
    for (size_t i = 0; i < list.len && shown < MISSING_SHOWN; i++) {
        ZydisMnemonic m = list.at[i];
        if (all->missing_era[m] != era)
            continue;
        if (!shown++)
            printf("\n%s without a row, most frequent first:\n", title);
        printf("%9lu  %-20s for example at 0x%lx\n", all->missing[m], ZydisMnemonicGetString(m), all->missing_at[m]);
    }
}

static void print_json_row(Report *r, const char *separator) {
    const Census *c = &r->census;
    printf("%s{\"file\": \"%s\", \"functions\": %lu, \"failed\": %lu, \"invalid\": %lu, ", separator, r->path,
           r->functions, r->failed, r->invalid);
    printf("\"below_avx\": {\"insns\": %lu, \"lifted\": %lu}, \"avx\": {\"insns\": %lu, \"lifted\": %lu}, ",
           c->insns[ERA_BELOW_AVX], c->lifted[ERA_BELOW_AVX], c->insns[ERA_AVX], c->lifted[ERA_AVX]);
    printf("\"discover_us\": %.4f, \"lift_us\": %.4f, \"both_us\": %.4f, \"ir_mean\": %.3f, \"ir_median\": %.3f, ",
           series_median(&r->discover), series_median(&r->lift), series_median(&r->both), ir_mean(r),
           series_median(&r->ir_per_insn));
    printf("\"jump_tables\": %lu, \"tables_missed\": %lu, \"other_indirect\": %lu, \"missing\": {",
           c->jumps[JUMP_TABLE], c->jumps[JUMP_MISSED], c->jumps[JUMP_OTHER]);
    CensusList list;
    census_missing(c, &list);
    for (size_t i = 0; i < list.len; i++)
        printf("%s\"%s\": %lu", i ? ", " : "", ZydisMnemonicGetString(list.at[i]), c->missing[list.at[i]]);
    printf("}}");
}

/* ------------------------------------------------------------------------------------------------------------ main */

typedef struct Options {
    u32 step;
    bool json;
    u32 rows; /* printed so far */
} Options;

static const char usage[] = "usage: bench-coverage [--quick | --every=N] [--json] [FILE...]\n"
                            "Lifts every function of ELF files, whatever their machine, and says how that went.\n";

static bool parse(int argc, char **argv, Options *o) {
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},
        {"every", required_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},
        {0},
    };
    *o = (Options){.step = 1};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'q':
            o->step = QUICK_STEP;
            break;
        case 'e':
            o->step = (u32)strtoul(optarg, NULL, 10);
            break;
        case 'j':
            o->json = true;
            break;
        default:
            return false;
        }
    }
    return o->step > 0;
}

/* A file that cannot be read is skipped: not every machine has all programs. */
static bool run_file(const char *path, Options *o, Census *all) {
    ElfError error;
    ElfFile *elf = elf_open(path, &error);
    if (!elf) {
        fprintf(stderr, "%s: skipped: %s\n", path, error.text);
        return true;
    }
    Report *r = mem_new(sizeof(*r));
    r->path = path;
    cover(r, elf, o->step);
    if (o->json)
        print_json_row(r, o->rows++ ? ",\n " : "");
    else
        print_row(r);
    bool ok = good(r);
    census_merge(all, &r->census);
    census_free(&r->census);
    Series *series[] = {&r->discover, &r->lift, &r->both, &r->ir_per_insn};
    for (size_t i = 0; i < ARRAY_LEN(series); i++)
        series_free(series[i]);
    mem_free(r);
    elf_close(elf);
    return ok;
}

int main(int argc, char **argv) {
    Options o;
    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    const char *const *files = optind < argc ? (const char *const *)argv + optind : default_files;
    size_t count = optind < argc ? (size_t)(argc - optind) : ARRAY_LEN(default_files);
    Census *all = mem_new(sizeof(*all));
    bool ok = true;
    if (o.json)
        printf("[");
    else
        print_head();
    for (size_t i = 0; i < count; i++)
        ok &= run_file(files[i], &o, all);
    if (o.json) {
        printf("]\n");
    } else {
        print_missing(all, ERA_BELOW_AVX, "below AVX");
        print_missing(all, ERA_AVX, "AVX and later");
    }
    mem_free(all);
    return ok ? 0 : 1;
}
