/* file.c: what the page is told when it opens: the file, its functions, and what was counted. */
#include <stdlib.h>

#include "cli/explore/explorer.h"
#include "cli/lift/show.h"

static void write_names(FILE *out, const char *member, const char *(*name)(u32)) {
    fprintf(out, "\"%s\": [", member);
    for (u32 i = 0; name(i); i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", name(i));
    fprintf(out, "],\n");
}

static const char *host_name(u32 i) {
    return look_host_name((LatheHost)i);
}

static const char *opt_name(u32 i) {
    return look_opt_name((LatheOpt)i);
}

/* The end of a function whose size is not known is where the next one begins. */
static u64 end_of(const ElfFunction *f, size_t i, size_t count) {
    u64 next = i + 1 < count ? f[i + 1].addr : UINT64_MAX;
    return f[i].size ? f[i].addr + f[i].size : next;
}

static u64 cost_of(const Explorer *x, const ElfFunction *f, size_t i, size_t count) {
    return samples_cost(&x->samples, f[i].addr, end_of(f, i, count));
}

/* Each is [address, size, name, instructions executed]. */
static void write_functions(FILE *out, const Explorer *x) {
    const ElfFunction *f;
    size_t count = elf_functions(x->guest.elf, &f);
    fprintf(out, "\"functions\": [");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s\n[\"0x%lx\",%lu,", i ? "," : "", f[i].addr, f[i].size);
        show_json_string(out, f[i].name ? f[i].name : "");
        fprintf(out, ",%lu]", cost_of(x, f, i, count));
    }
    fprintf(out, "]");
}

void explore_file(FILE *out, const Explorer *x, const Look *first) {
    fprintf(out, "{\"file\": ");
    show_json_string(out, x->guest.source);
    fprintf(out, ",\n\"arch\": \"%s\",\n\"own\": \"%s\",\n\"target\": \"%s\",\n\"opt\": \"%s\",\n\"at\": \"0x%lx\",\n",
            lathe_arch_name(x->guest.arch), lathe_host_name(LATHE_HOST_OWN), look_host_name(first->host),
            look_opt_name(first->opt), first->at);
    write_names(out, "targets", host_name);
    write_names(out, "opts", opt_name);
    fprintf(out, "\"executed\": %lu,\n\"stats\": %s,\n", x->samples.total, x->stats ? x->stats : "null");
    write_functions(out, x);
    fprintf(out, "}\n");
}

typedef struct Ranked {
    size_t number;
    u64 cost;
} Ranked;

static int by_cost(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void explore_order(const Explorer *x, size_t *order) {
    const ElfFunction *f;
    size_t count = elf_functions(x->guest.elf, &f);
    Ranked *ranked = mem_new((count + 1) * sizeof(*ranked));
    for (size_t i = 0; i < count; i++)
        ranked[i] = (Ranked){i, cost_of(x, f, i, count)};
    qsort(ranked, count, sizeof(*ranked), by_cost);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].number;
    mem_free(ranked);
}
