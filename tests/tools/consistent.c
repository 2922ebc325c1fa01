/* consistent.c: ends the program with status 127 if the events of a thread's instructions do not follow each other as lathe/tool.h says: if one is told twice, is missing, or is
 * told of another instruction. Around signals, where the program may go on anywhere, the first instruction is taken as it is. */
#include <lathe/tool.h>

typedef struct Own {
    uint64_t pc, end;   /* the last instruction that was begun */
    uint64_t block;     /* one that begins a block is to follow; 0: none */
    uint64_t loose;     /* nothing is known of what was before */
    uint64_t transfers; /* the last one was told to transfer control */
    uint64_t done;      /* the last one was told to be done */
} Own;

static void begin(Own *own) {
    *own = (Own){.loose = 1};
}

static __attribute__((noinline, cold)) void fail(const Own *own, const char *what, uint64_t pc) {
    lathe_fail("%s at %lx, behind the instruction from %lx to %lx (block %lx)", what, pc, own->pc, own->end,
               own->block);
}

static void block(Own *own, uint64_t pc) {
    if (own->block && !own->loose)
        fail(own, "a second block begins", pc);
    own->block = pc;
}

static void insn(Own *own, uint64_t pc, uint64_t size) {
    if (!own->loose) {
        if (own->block && own->block != pc)
            fail(own, "another instruction begins the block", pc);
        if (!own->block && (pc != own->end || own->transfers))
            fail(own, "an instruction without a block", pc);
        if (!own->block && !own->done)
            fail(own, "the one before was not done", pc);
    }
    *own = (Own){.pc = pc, .end = pc + size};
}

static void access(Own *own, uint64_t pc, uint64_t address, uint64_t bytes) {
    if ((own->pc != pc || own->done || own->transfers) && !own->loose)
        fail(own, "an access of another instruction", pc);
    if (!address && !bytes)
        fail(own, "an access of nothing", pc);
}

static void behind(Own *own, uint64_t pc) {
    if (own->pc != pc && !own->loose)
        fail(own, "something is told behind another instruction", pc);
}

static void done(Own *own, uint64_t pc) {
    if ((own->pc != pc || own->done) && !own->loose)
        fail(own, "another instruction is done", pc);
    own->done = 1;
}

/* How control goes on is known only when it does: that moves the event. */
static void transfer(Own *own, uint64_t pc, uint64_t how) {
    (void)how;
    if ((own->pc != pc || own->transfers) && !own->loose)
        fail(own, "another instruction transfers control", pc);
    own->transfers = 1;
}

/* A handler may return to an instruction that was told before the signal came. */
static void call(Own *own, uint64_t number) {
    enum { X86_SIGRETURN = 15 };
    own->transfers = 1;
    own->loose |= number == X86_SIGRETURN;
}

LATHE_HOOKS(LATHE_ON(LATHE_START, begin, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_SIGNAL, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_SYSCALL, call, {LATHE_THREAD_OWN}, {LATHE_NUMBER}),
            LATHE_ON(LATHE_BLOCK, block, {LATHE_THREAD_OWN}, {LATHE_PC}),
            LATHE_ON(LATHE_INSN, insn, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_SIZE}),
            LATHE_ON(LATHE_LOAD, access, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, access, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_LOADED, behind, {LATHE_THREAD_OWN}, {LATHE_PC}),
            LATHE_ON(LATHE_INSN_DONE, done, {LATHE_THREAD_OWN}, {LATHE_PC}),
            LATHE_ON(LATHE_BRANCH, transfer, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_TAKEN}),
            LATHE_ON(LATHE_JUMP, transfer, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_CALL, transfer, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_RETURN, transfer, {LATHE_THREAD_OWN}, {LATHE_PC}, {LATHE_TARGET}));
