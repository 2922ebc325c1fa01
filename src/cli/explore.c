/* explore.c: `lathe explore`: a page that shows a file's functions on their way from guest code to host code, served to a browser or as a file. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/explore/explorer.h"
#include "cli/explore/server.h"
#include "cli/explore/stats.h"
#include "cli/explore/whole.h"
#include "cli/options.h"

typedef struct ExploreSettings {
    const char *file; /* the operand */
    const char *html, *hot, *stats;
    OptionList functions, targets;
    u64 port;
    int opt;
    bool no_tables, strict_fp;
} ExploreSettings;

#define AT(field) offsetof(ExploreSettings, field)

// clang-format off
static const Option table[] = {
    {NULL, NULL, "What to show:", OPTION_HEADING, 0},
    {"function",       "NAME|ADDR",           "open this function; may be given more than once", OPTION_LIST, AT(functions)},
    {"target",         "HOST",                "the machine that code is for; likewise",  OPTION_LIST,   AT(targets)},
    {"opt",            "none|quick|full|max", "how far to optimise (full)",              OPTION_CHOICE, AT(opt)},
    {"hot",            "FILE",                "colours by what --tool=hot,data=FILE has counted", OPTION_TEXT, AT(hot)},
    {"stats",          "FILE",                "the output of 'lathe run --stats=json'",  OPTION_TEXT,   AT(stats)},
    {"no-jump-tables", NULL,                  "do not follow jump tables",               OPTION_FLAG,   AT(no_tables)},
    {"strict-fp",      NULL,                  "exact NaNs, rounding, exception flags",   OPTION_FLAG,   AT(strict_fp)},
    {NULL, NULL, "Where:", OPTION_HEADING, 0},
    {"port",           "N",                   "serve at this port (any that is free)",   OPTION_NUMBER, AT(port)},
    {"html",           "OUT",                 "write a page that needs no server",       OPTION_TEXT,   AT(html)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe explore",
    .usage = "[OPTION]... FILE\n[OPTION]... --html=OUT FILE",
    .about = "Shows functions in a browser: guest code, IR after each pass, and host code side by side.",
    .table = table,
};

static const char *contradiction(const ExploreSettings *s) {
    if (!s->file)
        return "what shall be explored? Give a FILE";
    if (s->html && s->port)
        return "--html serves nothing: it takes no --port";
    if (s->port > UINT16_MAX)
        return "--port: there are 65535 at most";
    if (!s->html && s->targets.len > 1)
        return "the page offers all targets: one --target is enough to begin with";
    return NULL;
}

typedef VEC(LatheHost) Hosts;
typedef VEC(Look) Looks;

static bool find_hosts(const ExploreSettings *s, Hosts *hosts) {
    LatheHost host = LATHE_HOST_OWN;
    for (size_t i = 0; i < s->targets.len; i++) {
        if (!unit_host(s->targets.at[i], &host))
            return false;
        VEC_PUSH(hosts, host);
    }
    if (!hosts->len)
        VEC_PUSH(hosts, host);
    return true;
}

static void add_looks(Looks *looks, u64 at, const Hosts *hosts, const ExploreSettings *s) {
    for (size_t i = 0; i < hosts->len; i++)
        VEC_PUSH(looks, ((Look){at, hosts->at[i], (LatheOpt)s->opt, s->functions.len > 0}));
}

static bool find_looks(const ExploreSettings *s, const Explorer *x, const Hosts *hosts, Looks *looks) {
    for (size_t i = 0; i < s->functions.len; i++) {
        ElfFunction f;
        if (!guest_find(&x->guest, s->functions.at[i], &f))
            return false;
        add_looks(looks, f.addr, hosts, s);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ running */

/* All functions there are, those first that were executed most. */
static void add_all(const ExploreSettings *s, const Explorer *x, const Hosts *hosts, Looks *looks) {
    const ElfFunction *f;
    size_t count = elf_functions(x->guest.elf, &f), *order = mem_new((count + 1) * sizeof(*order));
    explore_order(x, order);
    for (size_t i = 0; i < count; i++)
        add_looks(looks, f[order[i]].addr, hosts, s);
    mem_free(order);
}

static bool show(const ExploreSettings *s, const Explorer *x) {
    Hosts hosts = {0};
    Looks looks = {0};
    bool ok = find_hosts(s, &hosts) && find_looks(s, x, &hosts, &looks);
    if (ok) {
        Look first = {.host = hosts.at[0], .opt = (LatheOpt)s->opt};
        first = looks.len ? looks.at[0] : first;
        if (s->html && !looks.len)
            add_all(s, x, &hosts, &looks);
        ok = s->html ? whole_write(x, &first, looks.at, looks.len, s->html) : server_run(x, &first, (u16)s->port);
    }
    VEC_FREE(&hosts);
    VEC_FREE(&looks);
    return ok;
}

static bool read_counts(const ExploreSettings *s, Explorer *x) {
    if (s->hot && !samples_read(&x->samples, s->hot, s->file))
        return false;
    return !s->stats || (x->stats = stats_read(s->stats));
}

static bool has_functions(const ExploreSettings *s, const Explorer *x) {
    const ElfFunction *f;
    return s->functions.len || elf_functions(x->guest.elf, &f) ||
           guest_fail(&x->guest, "no functions are known in it; --function=0x… shows the code at an address");
}

static bool run(const ExploreSettings *s) {
    Explorer x = {.strict_fp = s->strict_fp, .no_tables = s->no_tables};
    bool ok = guest_open_file(&x.guest, s->file) && has_functions(s, &x) && read_counts(s, &x) && show(s, &x);
    samples_free(&x.samples);
    free(x.stats);
    guest_close(&x.guest);
    return ok;
}

int command_explore(int argc, char **argv) {
    ExploreSettings s = {.opt = LATHE_OPT_FULL};
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc > 1)
        return options_misuse(&options, "one FILE at a time");
    s.file = argc ? argv[1] : NULL;
    const char *wrong = contradiction(&s);
    if (wrong)
        return options_misuse(&options, "%s", wrong);
    bool ok = run(&s);
    VEC_FREE(&s.functions);
    VEC_FREE(&s.targets);
    return ok ? 0 : 1;
}
