/* stats.c: --stats: what a run cost, as text or JSON on stderr. */
#include "run/client/core/client.h"

enum { LABEL_WIDTH = 44 };

typedef struct Figure {
    const char *key, *text;
    u64 value;
    const char *unit;
} Figure;

static size_t put_text(char *out, size_t size, const Figure *f, size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        n += format_text(out + n, size - n, "lathe: %s", f[i].text);
        for (size_t column = strlen(f[i].text); column < LABEL_WIDTH && n + 1 < size; column++)
            out[n++] = ' ';
        n += format_text(out + n, size - n, "%lu%s\n", f[i].value, f[i].unit);
    }
    return n;
}

static size_t put_json(char *out, size_t size, const Figure *f, size_t count) {
    size_t n = format_text(out, size, "{");
    for (size_t i = 0; i < count; i++)
        n += format_text(out + n, size - n, "%s\"%s\": %lu", i ? ", " : "", f[i].key, f[i].value);
    return n + format_text(out + n, size - n, "}\n");
}

void stats_print(void) {
    const Stats *s = &the.stats;
    const Figure figures[] = {
        {"time_us", "time", sys_now_us() - the.start_us, " us"},
        {"quick_blocks", "blocks copied", s->blocks, ""},
        {"quick_instructions", "  guest instructions in them", s->quick_insns, ""},
        {"quick_us", "  copying", s->quick_us, " us"},
        {"samples", "samples taken in them", s->samples, ""},
        {"functions", "functions optimised", s->functions, ""},
        {"from_image", "  in the image", s->imaged, ""},
        {"from_cache", "  from the cache", s->cached, ""},
        {"translated", "  asked of the server", s->requested, ""},
        {"left", "  left for after the run", s->left, ""},
        {"from_shared", "    which had them from its shared cache", s->shared, ""},
        {"optimised_us", "  time in them", s->optimised_us, " us"},
        {"crossings", "  crossings to them and from them", s->crossings, ""},
        {"reverted", "  given up again", s->reverted, ""},
        {"refused", "  not to be had", s->refused, ""},
        {"renewals", "  all code forgotten", s->renewals, ""},
        {"guest_instructions", "  guest instructions in them", s->guest_insns, ""},
        {"object_bytes", "bytes of objects", s->objects_bytes, ""},
        {"dispatches", "computed targets not in the table", s->lookups_missed, ""},
        {"syscalls", "system calls", s->syscalls, ""},
        {"servers", "servers started, beside a daemon", s->servers, ""},
        {"wait_us", "waiting for the server", s->wait_us, " us"},
        {"lift_us", "  lifting", s->lift_us, " us"},
        {"optimize_us", "  optimising", s->opt_us, " us"},
        {"emit_us", "  emitting code", s->emit_us, " us"},
        {"link_us", "linking", s->link_us, " us"},
    };
    char out[4096];
    size_t n = the.opt.stats == 2 ? put_json(out, sizeof(out), figures, ARRAY_LEN(figures))
                                  : put_text(out, sizeof(out), figures, ARRAY_LEN(figures));
    sys_write_all(the.stats_fd, out, n);
}
