/* tracing.c: a line for each event of an instruction. traces.c writes the same lines by the CPU's single steps.
 *
 * Where the stack is differs, so addresses are told relative to where it was at first; what is above that differs, too. */
#include <lathe/tool.h>

static uint64_t stack;

/* Addresses below the first one of the stack, and some more: see traces.c. */
static void say(char kind, uint64_t pc, uint64_t address, uint64_t more) {
    enum { NEAR = 1 << 20 };
    if (address - stack + NEAR < NEAR)
        lathe_print("%c %lx stack-%lx %lx\n", kind, pc, stack - address, more);
    else if (address - stack < NEAR)
        lathe_print("%c %lx above %lx\n", kind, pc, more);
    else
        lathe_print("%c %lx %lx %lx\n", kind, pc, address, more);
}

static void insn(uint64_t pc, uint64_t size, uint64_t sp) {
    if (!stack)
        stack = sp;
    lathe_print("I %lx %lx\n", pc, size);
}
static void done(uint64_t pc) {
    lathe_print("D %lx\n", pc);
}
static void load(uint64_t pc, uint64_t address, uint64_t bytes) {
    say('L', pc, address, bytes);
}
static void store(uint64_t pc, uint64_t address, uint64_t bytes) {
    say('S', pc, address, bytes);
}
/* Values that are addresses of the stack differ. */
static void loaded(uint64_t pc, uint64_t address, uint64_t value) {
    say('l', pc, address, value < stack >> 1 ? value : 0);
}
static void stored(uint64_t pc, uint64_t address, uint64_t value) {
    say('s', pc, address, value < stack >> 1 ? value : 0);
}
static void block(uint64_t pc, uint64_t bytes, uint64_t count) {
    lathe_print("K %lx %lx %lu\n", pc, bytes, count);
}
static void branch(uint64_t pc, uint64_t target, uint64_t taken) {
    lathe_print("B %lx %lx %lu\n", pc, target, taken);
}
static void jump(uint64_t pc, uint64_t target) {
    lathe_print("J %lx %lx\n", pc, target);
}
static void go(uint64_t pc, uint64_t target) {
    lathe_print("G %lx %lx\n", pc, target);
}
static void call(uint64_t pc, uint64_t target, uint64_t next) {
    lathe_print("C %lx %lx %lx\n", pc, target, next);
}
static void leave(uint64_t pc, uint64_t target) {
    lathe_print("R %lx %lx\n", pc, target);
}

LATHE_HOOKS(LATHE_ON(LATHE_BLOCK, block, {LATHE_PC}, {LATHE_BYTES}, {LATHE_COUNT}),
            LATHE_ON(LATHE_INSN, insn, {LATHE_PC}, {LATHE_SIZE}, {LATHE_SP}),
            LATHE_ON(LATHE_INSN_DONE, done, {LATHE_PC}),
            LATHE_ON(LATHE_LOAD, load, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, store, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_LOADED, loaded, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_VALUE}),
            LATHE_ON(LATHE_STORED, stored, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_VALUE}),
            LATHE_ON(LATHE_BRANCH, branch, {LATHE_PC}, {LATHE_TARGET}, {LATHE_TAKEN}),
            LATHE_ON(LATHE_JUMP, jump, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_GOTO, go, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_CALL, call, {LATHE_PC}, {LATHE_TARGET}, {LATHE_NEXT}),
            LATHE_ON(LATHE_RETURN, leave, {LATHE_PC}, {LATHE_TARGET}));
