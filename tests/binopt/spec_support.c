/* spec_support.c: see spec.h. */
#include "spec.h"

enum { MAX_PARAMS = 12, MAX_SITES = 1000 };

/* A place in the tests that asks for a new function, and whether the rewriter made one there at least once. */
typedef struct Site {
    const char *file;
    int line;
    bool gained;
} Site;

BinoptHandle handle;
bool guarded;
const int edges[] = {0, 1, -1, 2, 7, 42, -42, 1000, 2147483647, -2147483647 - 1};
static int failures, checks;
static Site sites[MAX_SITES];
static int site_count;

void check(bool right, const char *what, const char *file, int line) {
    const char *slash = strrchr(file, '/');
    checks++;
    if (right)
        return;
    failures++;
    printf("%s:%d: %s\n", slash ? slash + 1 : file, line, what);
}

static BinoptType type_of(char c) {
    switch (c) {
    case 'b':
        return BINOPT_TY_INT8;
    case 'B':
        return BINOPT_TY_UINT8;
    case 'h':
        return BINOPT_TY_INT16;
    case 'H':
        return BINOPT_TY_UINT16;
    case 'i':
        return BINOPT_TY_INT32;
    case 'I':
        return BINOPT_TY_UINT32;
    case 'l':
        return BINOPT_TY_INT64;
    case 'L':
        return BINOPT_TY_UINT64;
    case 'f':
        return BINOPT_TY_FLOAT;
    case 'd':
        return BINOPT_TY_DOUBLE;
    case 'p':
        return BINOPT_TY_PTR;
    case 'r':
        return BINOPT_TY_PTR_NOALIAS;
    }
    return BINOPT_TY_VOID;
}

BinoptCfgRef configure(void *function, const char *sig) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, function);
    BinoptType t[MAX_PARAMS] = {0};
    unsigned count = (unsigned)strlen(sig) - 1;
    for (unsigned i = 0; i < count; i++)
        t[i] = type_of(sig[1 + i]);
    binopt_cfg_type(cfg, count, type_of(sig[0]), t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10],
                    t[11]);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, guarded);
    return cfg;
}

bool may_keep(void) {
    const char *always = getenv("BINOPT_ALWAYS");
    return strncmp(binopt_driver(), "Default", 7) && !(always && *always == '1');
}

static void note_site(const char *file, int line, bool gained) {
    int i = 0;
    while (i < site_count && (sites[i].line != line || strcmp(sites[i].file, file)))
        i++;
    if (i == MAX_SITES) {
        CHECK_THAT(!"there is room for all places that make functions");
        return;
    }
    if (i == site_count)
        sites[site_count++] = (Site){file, line, false};
    sites[i].gained |= gained;
}

BinoptFunc make(BinoptCfgRef cfg, void *function, Expect expect, const char *file, int line) {
    BinoptFunc made = binopt_spec_create(cfg);
    bool none = strncmp(binopt_driver(), "Default", 7) == 0, lifts = strcmp(binopt_driver(), "llvm") == 0;
    if (expect == NEW && !none && !may_keep())
        check(made != function, "a new function", file, line);
    if (expect == NEW && may_keep())
        note_site(file, line, made != function);
    if (expect == SAME || none || (expect == NOT_LIFTED && lifts && !may_keep()))
        check(made == function, "the original function", file, line);
    return made;
}

/* Of what can be specialised, most is. The rest is so short that the original stays. */
static void check_gains(void) {
    int gained = 0;
    for (int i = 0; i < site_count; i++)
        gained += sites[i].gained;
    printf("%d of %d kinds of functions are new\n", gained, site_count);
    CHECK_THAT(gained > site_count / 2);
}

int report(void) {
    if (may_keep())
        check_gains();
    printf("%d of %d checks failed (%s)\n", failures, checks, binopt_driver());
    return failures != 0;
}
