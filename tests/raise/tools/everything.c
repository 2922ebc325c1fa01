/* everything.c: a tool that tells all that happened in files whose names begin with `native`, in lines that are the same under `lathe run` and in the raised program. */
#include <lathe/tool.h>

static LatheTable insns, blocks, opcodes;
static LatheCounter loads, stores, load_bytes, all, jumps, gotos, left, calls, returns, functions, later;
static LatheMap branches = LATHE_MAP(uint64_t[2]), targets = LATHE_MAP(uint64_t), unaligned = LATHE_MAP(uint64_t);

#define OWN ((LatheWhere){.module = "native*"})
#define LEAVES ((LatheWhere){.module = "native*", .leaves = true})

static void insn(uint64_t pc) {
    lathe_count(&all, 1);
    lathe_count_in(&insns, pc, 0, 0, 1);
}

static void opcode(uint64_t number, uint64_t classes, uint64_t size) {
    lathe_count_in(&opcodes, number, classes, size, 1);
}

static void block(uint64_t pc, uint64_t count, uint64_t bytes) {
    lathe_count_in(&blocks, pc, count, bytes, 1);
}

static void load(uint64_t bytes) {
    lathe_count(&loads, 1);
    lathe_count(&load_bytes, (long)bytes);
}

static void store(void) {
    lathe_count(&stores, 1);
}

static void access(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t *site) {
    if (!(address & (bytes - 1)))
        return;
    if (!__atomic_fetch_add(site, 1, __ATOMIC_RELAXED))
        *(uint64_t *)lathe_map_at(&unaligned, pc) = (uint64_t)site;
}

static void branch(uint64_t pc, uint64_t taken) {
    __atomic_fetch_add((uint64_t *)lathe_map_at(&branches, pc) + taken, 1, __ATOMIC_RELAXED);
}

static uint64_t place(uint64_t pc) {
    LatheSymbol s;
    lathe_symbol(pc, &s);
    return s.address;
}

static void to(uint64_t pc, uint64_t target) {
    LatheSymbol s;
    if (lathe_symbol(target, &s) && !strcmp(s.file, lathe_program()))
        __atomic_fetch_add((uint64_t *)lathe_map_at(&targets, place(pc) ^ s.address << 32), 1, __ATOMIC_RELAXED);
}

static void jump(void) {
    lathe_count(&jumps, 1);
}

static void go(void) {
    lathe_count(&gotos, 1);
}

static void leave(void) {
    lathe_count(&left, 1);
}

static void call(void) {
    lathe_count(&calls, 1);
}

static void returned(void) {
    lathe_count(&returns, 1);
}

static void function(void) {
    lathe_count(&functions, 1);
}

static void stored(uint64_t value, uint64_t own[LATHE_OWN_WORDS]) {
    lathe_count(&later, value != 0);
    own[0]++;
}

/* Code that is in no function is not the same in a raised program. */
static void report_extent(LatheFile *out, uint64_t pc) {
    uint64_t from, to;
    LatheSymbol s;
    lathe_extent(pc, &from, &to);
    if (lathe_symbol(pc, &s))
        lathe_fprint(out, "block %lx is %lu behind the beginning of %lu bytes\n", place(pc), pc - from, to - from);
}

static void report(uint64_t id) {
    LatheFile *out = lathe_open(lathe_option("out"));
    lathe_fprint(out,
                 "%lu instructions, %lu loads of %lu bytes, %lu stores, %lu jumps, %lu and %lu others, %lu calls, %lu "
                 "returns, %lu functions\n",
                 lathe_total(&all), lathe_total(&loads), lathe_total(&load_bytes), lathe_total(&stores),
                 lathe_total(&jumps), lathe_total(&gotos), lathe_total(&left), lathe_total(&calls),
                 lathe_total(&returns), lathe_total(&functions));
    if (id != lathe_process())
        lathe_fprint(out, "the first thread has another number\n");
    for (LatheRow r = {0}; lathe_table_next(&insns, &r);)
        lathe_fprint(out, "insn %lx: %lu\n", place(r.key[0]), r.total);
    for (LatheRow r = {0}; lathe_table_next(&blocks, &r);)
        lathe_fprint(out, "block %lx of %lu insns, %lu bytes: %lu\n", place(r.key[0]), r.key[1], r.key[2], r.total);
    for (LatheRow r = {0}; lathe_table_next(&blocks, &r);)
        report_extent(out, r.key[0]);
    for (LatheRow r = {0}; lathe_table_next(&opcodes, &r);)
        lathe_fprint(out, "opcode %s of classes %lx, %lu bytes: %lu\n", lathe_opcode_name(r.key[0]), r.key[1], r.key[2],
                     r.total);
    for (LatheWalk w = {0}; lathe_map_next(&branches, &w);)
        lathe_fprint(out, "branch %lx: %lu not taken, %lu taken\n", place(w.key), ((uint64_t *)w.value)[0],
                     ((uint64_t *)w.value)[1]);
    for (LatheWalk w = {0}; lathe_map_next(&targets, &w);)
        lathe_fprint(out, "call %lx to %lx: %lu\n", w.key & 0xffffffff, w.key >> 32, *(uint64_t *)w.value);
    for (LatheWalk w = {0}; lathe_map_next(&unaligned, &w);)
        lathe_fprint(out, "unaligned %lx: %lu\n", place(w.key), **(uint64_t **)w.value);
    lathe_close(out);
}

static void start(void) {
    lathe_option("out");
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_WHERE(LATHE_INSN, insn, OWN, {LATHE_PC}),
            LATHE_WHERE(LATHE_INSN, opcode, OWN, {LATHE_OPCODE}, {LATHE_CLASSES}, {LATHE_SIZE}),
            LATHE_WHERE(LATHE_BLOCK, block, OWN, {LATHE_PC}, {LATHE_COUNT}, {LATHE_BYTES}),
            LATHE_WHERE(LATHE_LOAD, load, OWN, {LATHE_BYTES}), LATHE_WHERE(LATHE_STORE, store, OWN),
            LATHE_WHERE(LATHE_LOAD, access, OWN, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC}, {LATHE_SITE}),
            LATHE_WHERE(LATHE_BRANCH, branch, OWN, {LATHE_PC}, {LATHE_TAKEN}), LATHE_WHERE(LATHE_JUMP, jump, OWN),
            LATHE_WHERE(LATHE_GOTO, go, OWN), LATHE_WHERE(LATHE_GOTO, leave, LEAVES),
            LATHE_WHERE(LATHE_BRANCH, leave, LEAVES), LATHE_WHERE(LATHE_CALL, call, OWN),
            LATHE_WHERE(LATHE_CALL, to, OWN, {LATHE_PC}, {LATHE_TARGET}), LATHE_WHERE(LATHE_RETURN, returned, OWN),
            LATHE_WHERE(LATHE_FUNCTION, function, OWN),
            LATHE_WHERE(LATHE_STORED, stored, OWN, {LATHE_VALUE}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_END, report, {LATHE_THREAD_ID}));
