/* hashing.c: a number made of all that functions before instructions can be told. With SLOW there is a call that cannot be followed, so that
 * Lathe calls the functions by leaving the program's code, and not from within. Addresses on the stack are told as distances: where it is may differ. */
#include <lathe/tool.h>

static uint64_t hash, events, first_sp, selfs;
static void (*volatile nobody)(void) __attribute__((unused));

static void add(uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
#ifdef SLOW
    if (nobody)
        nobody();
#endif
}

static uint64_t place(uint64_t address) {
    return address - first_sp + (1 << 20) < 2 << 20 ? address - first_sp : address;
}

/* The word that fs begins with is its own address. */
static void access(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t sp, uint64_t next, uint64_t opcode) {
    events++;
    if (!first_sp)
        first_sp = sp;
    add(place(address)), add(bytes), add(pc), add(place(sp)), add(next), add(opcode);
    if (bytes == 8 && address > 4096 && *(uint64_t *)address == address)
        selfs++;
}

static void branch(uint64_t taken, uint64_t target, uint64_t pc, uint64_t size) {
    events++;
    add(taken), add(target), add(pc), add(size);
}

static void block(uint64_t bytes, uint64_t count, uint64_t classes, uint64_t rcx, uint64_t r9) {
    events++;
    add(bytes), add(count), add(classes), add(place(rcx)), add(place(r9));
}

static void done(uint64_t pc, uint64_t rax) {
    events++;
    add(pc), add(place(rax));
}

static void report(void) {
    lathe_print("%lu events: %lx\n", events, hash);
    lathe_print("%s\n", selfs ? "fs" : "no fs");
}

#define ACCESS                                                                                                         \
    {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC}, {LATHE_SP}, {LATHE_NEXT}, {                                            \
        LATHE_OPCODE                                                                                                   \
    }
LATHE_HOOKS(LATHE_ON(LATHE_LOAD, access, ACCESS), LATHE_ON(LATHE_STORE, access, ACCESS),
            LATHE_ON(LATHE_BRANCH, branch, {LATHE_TAKEN}, {LATHE_TARGET}, {LATHE_PC}, {LATHE_SIZE}),
            LATHE_ON(LATHE_BLOCK, block, {LATHE_BYTES}, {LATHE_COUNT}, {LATHE_CLASSES}, {LATHE_REGISTER, LATHE_X86_RCX},
                     {LATHE_REGISTER, 9}),
            LATHE_ON(LATHE_INSN_DONE, done, {LATHE_PC}, {LATHE_REGISTER, LATHE_X86_RAX}), LATHE_ON(LATHE_END, report));
