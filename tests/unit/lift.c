/* lift.c: the lifting API: what its configuration promises, and what it says about bad input. */
#include <lathe/lift.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tuning.h"

static int failures;

#define EXPECT(cond)                                                                                                   \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            printf("%s:%d: expected %s\n", __FILE__, __LINE__, #cond);                                                 \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Guest code at a fixed address that is not mapped here. */
enum { BASE = 0x10000 };

typedef struct Code {
    const uint8_t *bytes;
    size_t size;
} Code;

static size_t read_code(void *user, uint64_t addr, void *buf, size_t size) {
    const Code *code = user;
    if (addr < BASE || addr >= BASE + code->size)
        return 0;
    size_t n = BASE + code->size - addr;
    n = n < size ? n : size;
    memcpy(buf, code->bytes + (addr - BASE), n);
    return n;
}

typedef struct Unit {
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LatheJit *jit;
    Code code;
    LatheConfig cfg;
} Unit;

static Unit unit_new(const void *bytes, size_t size) {
    Unit u = {.ctx = LLVMContextCreate(), .jit = lathe_jit_new(NULL), .code = {bytes, size}};
    u.mod = LLVMModuleCreateWithNameInContext("unit", u.ctx);
    return u;
}

static void unit_free(Unit *u) {
    lathe_jit_free(u->jit);
    LLVMContextDispose(u->ctx);
}

static LatheFunc *new_func(Unit *u) {
    u->cfg.read_memory = read_code;
    u->cfg.user = &u->code;
    return lathe_func_new(u->mod, &u->cfg);
}

/* A void(ptr) function of the module with C code behind it. */
static LLVMValueRef declare(Unit *u, const char *name, LLVMTypeRef *types, unsigned count) {
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(u->ctx), types, count, false);
    return LLVMAddFunction(u->mod, name, type);
}

static LLVMValueRef declare_state(Unit *u, const char *name) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(u->ctx, 0);
    return declare(u, name, &ptr, 1);
}

static void *test_symbol(void *user, const char *name);

/* Lift from BASE, compile, and run on a state whose stack is `stack`. */
static bool run(Unit *u, LatheX86Cpu *cpu) {
    static __thread uint64_t stack[64];
    LatheFunc *fn = new_func(u);
    bool ok = lathe_func_decode_cfg(fn, BASE) == LATHE_OK && lathe_func_lift(fn, "f");
    lathe_func_free(fn);
    if (!ok)
        return false;
    LatheJitConfig jc = {.symbol = test_symbol, .user = u};
    lathe_jit_free(u->jit);
    u->jit = lathe_jit_new(&jc);
    if (lathe_jit_add(u->jit, u->mod, LATHE_OPT_QUICK) != LATHE_OK)
        return false;
    u->mod = NULL;
    stack[32] = 0x7777;
    cpu->gp[LATHE_RSP] = (uint64_t)(uintptr_t)&stack[32];
    ((LatheEntry *)lathe_jit_lookup(u->jit, "f"))(cpu);
    return true;
}

/* ------------------------------------------------------------------------------------------------- functions behind names */

static unsigned insns_seen, blocks_seen, loads_seen, stores_seen;

static void on_insn(uint64_t pc, uint32_t size) {
    insns_seen += pc >= BASE && size > 0;
}

static void on_block(uint64_t pc, uint32_t count) {
    blocks_seen += pc >= BASE && count > 0;
}

static void on_memory(uint64_t pc, void *addr, uint32_t size, uint32_t kind) {
    (void)pc;
    loads_seen += addr && size && (kind & 1);
    stores_seen += addr && size && (kind & 2);
}

static void on_syscall(void *state) {
    LatheX86Cpu *cpu = state;
    cpu->gp[LATHE_RAX] = cpu->gp[LATHE_RAX] * 2 + 1;
}

static void on_cpuid(void *state) {
    LatheX86Cpu *cpu = state;
    cpu->gp[LATHE_RAX] = 0xabcd;
}

/* A callee that doubles rdi into rax and returns; or does not come back where it should. */
static bool callee_goes_astray;

static void dispatch(void *state) {
    LatheX86Cpu *cpu = state;
    uint64_t *stack = (uint64_t *)(uintptr_t)cpu->gp[LATHE_RSP];
    cpu->gp[LATHE_RAX] = cpu->gp[LATHE_RDI] * 2 + cpu->pc;
    cpu->pc = callee_goes_astray ? 0x5555 : *stack;
    cpu->gp[LATHE_RSP] += 8;
}

static void *test_symbol(void *user, const char *name) {
    static const struct {
        const char *name;
        void *fn;
    } symbols[] = {
        {"on_insn", (void *)on_insn},           {"on_block", (void *)on_block}, {"on_memory", (void *)on_memory},
        {"on_syscall", (void *)on_syscall},     {"on_cpuid", (void *)on_cpuid}, {"dispatch", (void *)dispatch},
        {"guest", (void *)(uintptr_t)0x900000},
    };
    (void)user;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
        if (!strcmp(symbols[i].name, name))
            return symbols[i].fn;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ tests */

/* mov eax, edi; add eax, esi; ret */
static const uint8_t add_two[] = {0x89, 0xf8, 0x01, 0xf0, 0xc3};

static void test_plain(void) {
    Unit u = unit_new(add_two, sizeof(add_two));
    LatheX86Cpu cpu = {.gp[LATHE_RDI] = 40, .gp[LATHE_RSI] = 2};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.gp[LATHE_RAX] == 42 && cpu.pc == 0x7777 && cpu.trap == LATHE_TRAP_NONE);
    unit_free(&u);
}

static void test_flags_kept(void) {
    static const bool keep[] = {false, true};
    for (int i = 0; i < 2; i++) {
        Unit u = unit_new(add_two, sizeof(add_two));
        u.cfg.keep_flags_at_calls = keep[i];
        LatheX86Cpu cpu = {.gp[LATHE_RDI] = 0xffffffff, .gp[LATHE_RSI] = 1};
        EXPECT(run(&u, &cpu));
        EXPECT(cpu.zf == keep[i] && cpu.cf == keep[i]);
        unit_free(&u);
    }
}

/* A call that is used for its flags is where the function leaves; another one is not. */
static void test_flags_behind_calls(void) {
    /* call BASE+0x1000; mov ecx, eax; then: setc al or test ecx, ecx, setc al; ret */
    static const uint8_t used[] = {0xe8, 0xfb, 0x0f, 0, 0, 0x89, 0xc1, 0x0f, 0x92, 0xc0, 0xc3};
    static const uint8_t unused[] = {0xe8, 0xfb, 0x0f, 0, 0, 0x89, 0xc1, 0x85, 0xc9, 0x0f, 0x92, 0xc0, 0xc3};
    /* stc; call 1f; ret; 1: sbb rax, rax; ret */
    static const uint8_t given[] = {0xf9, 0xe8, 1, 0, 0, 0, 0xc3, 0x48, 0x19, 0xc0, 0xc3};
    static const struct {
        const uint8_t *code;
        size_t size, leaves_at;
    } cases[] = {{used, sizeof(used), 0}, {unused, sizeof(unused), SIZE_MAX}, {given, sizeof(given), 1}};
    callee_goes_astray = false;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        Unit u = unit_new(cases[i].code, cases[i].size);
        u.cfg.calls = LATHE_CALLS_RETURN;
        u.cfg.dispatch = declare_state(&u, "dispatch");
        u.cfg.tuning = &(LatheTuning){.leave_at_flags = true};
        LatheX86Cpu cpu = {0};
        EXPECT(run(&u, &cpu));
        if (cases[i].leaves_at == SIZE_MAX)
            EXPECT(cpu.pc == 0x7777 && cpu.trap == LATHE_TRAP_NONE);
        else
            EXPECT(cpu.pc == BASE + cases[i].leaves_at && cpu.trap == LATHE_TRAP_UNSUPPORTED && cpu.cf == (i == 2));
        unit_free(&u);
    }
}

/* popf; ret keeps the flags: it goes back to what was interrupted. */
static void test_flags_restored(void) {
    static const uint8_t code[] = {0x6a, 0x41, 0x9d, 0xc3}; /* push 0x41; popf; ret */
    Unit u = unit_new(code, sizeof(code));
    LatheX86Cpu cpu = {0};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.cf && cpu.zf && cpu.pc == 0x7777);
    unit_free(&u);
}

/* A loop that is asked to return does so with the flags that it would read, and only these. */
static void test_flags_at_polls(void) {
    /* stc; 1: sbb rax, rax or cmp rdi, rdx; dec rdi; jnz 1b; ret */
    static const uint8_t reads[] = {0xf9, 0x48, 0x19, 0xc0, 0x48, 0xff, 0xcf, 0x75, 0xf8, 0xc3};
    static const uint8_t sets[] = {0xf9, 0x48, 0x39, 0xd7, 0x48, 0xff, 0xcf, 0x75, 0xf8, 0xc3};
    for (int i = 0; i < 2; i++) {
        Unit u = unit_new(i ? reads : sets, sizeof(reads));
        u.cfg.tuning = &(LatheTuning){.poll_off = offsetof(LatheX86Cpu, gp[LATHE_R15])};
        LatheX86Cpu cpu = {.gp[LATHE_RDI] = 3, .gp[LATHE_R15] = 1};
        EXPECT(run(&u, &cpu));
        EXPECT(cpu.pc == BASE + 1 && cpu.cf == i && cpu.gp[LATHE_RDI] == 3);
        unit_free(&u);
    }
}

static void test_position_independence(void) {
    static const uint8_t code[] = {0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3}; /* lea rax, [rip+0x10]; ret */
    Unit u = unit_new(code, sizeof(code));
    u.cfg.pic_symbol = "guest";
    u.cfg.pic_base = BASE;
    LatheX86Cpu cpu = {0};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.gp[LATHE_RAX] == 0x900000 + 7 + 0x10);
    unit_free(&u);
}

static void test_calls(void) {
    static const uint8_t code[] = {0xe8, 0xfb, 0x0f, 0, 0, 0x48, 0xff, 0xc0, 0xc3}; /* call BASE+0x1000; inc rax; ret */
    for (int mode = 0; mode < 3; mode++) {
        Unit u = unit_new(code, sizeof(code));
        callee_goes_astray = mode == 2;
        if (mode) {
            u.cfg.calls = LATHE_CALLS_RETURN;
            u.cfg.dispatch = declare_state(&u, "dispatch");
        }
        LatheX86Cpu cpu = {.gp[LATHE_RDI] = 5};
        EXPECT(run(&u, &cpu));
        uint64_t result = 10 + BASE + 0x1000;
        if (mode == 0)
            EXPECT(cpu.pc == BASE + 0x1000 && *(uint64_t *)(uintptr_t)cpu.gp[LATHE_RSP] == BASE + 5);
        if (mode == 1)
            EXPECT(cpu.pc == 0x7777 && cpu.gp[LATHE_RAX] == result + 1);
        if (mode == 2)
            EXPECT(cpu.pc == 0x5555 && cpu.gp[LATHE_RAX] == result);
        unit_free(&u);
    }
}

static void test_overrides(void) {
    /* syscall; push rax; cpuid; pop rcx; add rax, rcx; ret */
    static const uint8_t code[] = {0x0f, 0x05, 0x50, 0x0f, 0xa2, 0x59, 0x48, 0x01, 0xc8, 0xc3};
    Unit u = unit_new(code, sizeof(code));
    u.cfg.on_syscall = declare_state(&u, "on_syscall");
    u.cfg.on_cpuid = declare_state(&u, "on_cpuid");
    LatheX86Cpu cpu = {.gp[LATHE_RAX] = 100};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.gp[LATHE_RAX] == 201 + 0xabcd && cpu.pc == 0x7777);
    unit_free(&u);

    u = unit_new(code, sizeof(code)); /* without an override the system call is a trap */
    cpu = (LatheX86Cpu){.gp[LATHE_RAX] = 100};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.trap == LATHE_TRAP_SYSCALL && cpu.pc == BASE + 2 && cpu.gp[LATHE_RCX] == BASE + 2);
    unit_free(&u);
}

static void test_markers(void) {
    static const uint8_t code[] = {0x57, 0x58, 0x74, 0x01, 0x90, 0xc3}; /* push rdi; pop rax; je +1; nop; ret */
    Unit u = unit_new(code, sizeof(code));
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u.ctx), i32 = LLVMInt32TypeInContext(u.ctx);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(u.ctx, 0);
    u.cfg.mark_insn = declare(&u, "on_insn", (LLVMTypeRef[]){i64, i32}, 2);
    u.cfg.mark_block = declare(&u, "on_block", (LLVMTypeRef[]){i64, i32}, 2);
    u.cfg.mark_memory = declare(&u, "on_memory", (LLVMTypeRef[]){i64, ptr, i32, i32}, 4);
    LatheX86Cpu cpu = {.gp[LATHE_RDI] = 7};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.gp[LATHE_RAX] == 7);
    EXPECT(insns_seen == 5 && blocks_seen == 3 && loads_seen == 2 && stores_seen == 1);
    unit_free(&u);
}

static void count_step(void *user, const char *pass, LLVMModuleRef mod) {
    EXPECT(*pass && !strchr(pass, '<') && LLVMGetNamedFunction(mod, "f"));
    ++*(unsigned *)user;
}

/* The addresses that lines of the function's IR tell of: bit n stands for BASE + n. */
static unsigned lines_of(const LatheFunc *fn, LLVMValueRef f) {
    unsigned found = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetDebugLocLine(i))
                found |= 1u << (lathe_func_line(fn, LLVMGetDebugLocLine(i)) - BASE);
    return found;
}

static void test_lines(void) {
    /* test rdi, rdi; jz +3; add rax, rdi; ret, at 0, 3, 5 and 8 */
    static const uint8_t code[] = {0x48, 0x85, 0xff, 0x74, 0x03, 0x48, 0x01, 0xf8, 0xc3};
    Unit u = unit_new(code, sizeof(code));
    u.cfg.mark_lines = true;
    LatheFunc *fn = new_func(&u);
    EXPECT(lathe_func_decode_cfg(fn, BASE) == LATHE_OK);
    LLVMValueRef f = lathe_func_lift(fn, "f");
    unsigned steps = 0, of = lines_of(fn, f);
    EXPECT((of & 0x128) == 0x128 && !(of & ~0x129u)); /* what test does may be the jump's */
    EXPECT(!lathe_func_line(fn, 0) && !lathe_func_line(fn, 5));
    EXPECT(!LLVMVerifyModule(u.mod, LLVMReturnStatusAction, NULL));
    lathe_jit_watch(u.jit, count_step, &steps);
    EXPECT(lathe_jit_optimize(u.jit, u.mod, LATHE_OPT_QUICK) == LATHE_OK && steps > 5);
    EXPECT(lines_of(fn, f) && !(lines_of(fn, f) & ~0x129u));
    lathe_jit_watch(u.jit, NULL, NULL);
    steps = 0;
    EXPECT(lathe_jit_optimize(u.jit, u.mod, LATHE_OPT_QUICK) == LATHE_OK && !steps);
    lathe_func_free(fn);
    LLVMDisposeModule(u.mod);
    unit_free(&u);
}

static void test_graph(void) {
    Unit u = unit_new(add_two, sizeof(add_two));
    LatheFunc *fn = new_func(&u);
    EXPECT(lathe_func_decode_insn(fn, BASE) == LATHE_OK);
    const LatheRange *ranges;
    EXPECT(lathe_func_ranges(fn, &ranges) == 1 && ranges[0].start == BASE && ranges[0].end == BASE + 2);
    EXPECT(lathe_func_decode_block(fn, BASE + 2) == LATHE_OK);
    EXPECT(lathe_func_ranges(fn, &ranges) == 1 && ranges[0].end == BASE + 5);
    EXPECT(lathe_func_block_count(fn) == 1);
    LatheBlock b = lathe_func_block(fn, 0);
    EXPECT(b.start == BASE && b.end == BASE + 5 && b.insn_count == 3 && b.exits && !b.successor_count);
    EXPECT(lathe_func_decode_insn(fn, BASE + 1) == LATHE_ERR_ARGUMENT); /* too late */
    EXPECT(lathe_func_lift(fn, "f") && !lathe_func_lift(fn, "g"));
    lathe_func_free(fn);
    LLVMDisposeModule(u.mod);
    unit_free(&u);
}

static void test_bad_input(void) {
    static const uint8_t code[] = {0x89, 0xf8, 0x62, 0xf1, 0x7d, 0x48, 0x6f, 0xc1, 0xc3}; /* mov; vmovdqa32 zmm; ret */
    LatheConfig cfg = {.arch = (LatheArch)77};
    Unit u = unit_new(code, sizeof(code));
    EXPECT(!lathe_func_new(u.mod, &cfg));
    LatheFunc *fn = new_func(&u);
    EXPECT(lathe_func_decode_cfg(fn, 0x99) == LATHE_ERR_MEMORY && lathe_func_problem(fn).pc == 0x99);
    EXPECT(!lathe_func_lift(fn, "f"));
    lathe_func_free(fn);
    u.cfg.exact_unsupported = true;
    fn = new_func(&u);
    EXPECT(lathe_func_decode_cfg(fn, BASE) == LATHE_OK && !lathe_func_lift(fn, "f"));
    EXPECT(lathe_func_problem(fn).status == LATHE_ERR_UNSUPPORTED && lathe_func_problem(fn).pc == BASE + 2);
    EXPECT(strstr(lathe_func_problem(fn).text, "vmovdqa32"));
    lathe_func_free(fn);
    u.cfg.exact_unsupported = false;
    LatheX86Cpu cpu = {.gp[LATHE_RDI] = 3};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.trap == LATHE_TRAP_UNSUPPORTED && cpu.pc == BASE + 2 && cpu.gp[LATHE_RAX] == 3);
    unit_free(&u);

    u = unit_new(code, 2); /* the code ends where memory does */
    cpu = (LatheX86Cpu){.gp[LATHE_RDI] = 3};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.trap == LATHE_TRAP_UNREADABLE && cpu.pc == BASE + 2);
    unit_free(&u);

    cfg = (LatheConfig){0}; /* this process's memory, at an address that is not mapped */
    char text[64];
    EXPECT(lathe_disassemble(&cfg, 0x10, text, sizeof(text)) == LATHE_ERR_MEMORY);
}

static void test_limit(void) {
    uint8_t code[64];
    memset(code, 0x90, sizeof(code));
    Unit u = unit_new(code, sizeof(code));
    u.cfg.max_insns = 10;
    LatheX86Cpu cpu = {0};
    EXPECT(run(&u, &cpu));
    EXPECT(cpu.pc == BASE + 10 && cpu.trap == LATHE_TRAP_NONE);
    unit_free(&u);
}

static void test_wrapper(void) {
    Unit u = unit_new(add_two, sizeof(add_two));
    LatheFunc *fn = new_func(&u);
    lathe_func_decode_cfg(fn, BASE);
    LLVMValueRef f = lathe_func_lift(fn, "f");
    lathe_func_free(fn);
    EXPECT(!lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "w", "", 0));
    EXPECT(!lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "w", "iq", 0));
    EXPECT(!lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "w", "iv", 0));
    char long_sig[80];
    memset(long_sig, 'i', sizeof(long_sig) - 1);
    long_sig[79] = 0;
    EXPECT(!lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "w", long_sig, 0));
    EXPECT(lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "w", "iii", 0));
    EXPECT(lathe_jit_add(u.jit, u.mod, LATHE_OPT_FULL) == LATHE_OK);
    int (*w)(int, int) = (int (*)(int, int))lathe_jit_lookup(u.jit, "w");
    EXPECT(w(20, 22) == 42);
    unit_free(&u);
}

static void *lift_many(void *result) {
    for (int i = 0; i < 50; i++) {
        Unit u = unit_new(add_two, sizeof(add_two));
        LatheX86Cpu cpu = {.gp[LATHE_RDI] = (uint64_t)i, .gp[LATHE_RSI] = 1};
        *(bool *)result &= run(&u, &cpu) && cpu.gp[LATHE_RAX] == (uint64_t)i + 1;
        unit_free(&u);
    }
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[4];
    bool ok[4] = {true, true, true, true};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, lift_many, &ok[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        EXPECT(ok[i]);
    }
}

int main(void) {
    test_plain();
    test_flags_kept();
    test_flags_behind_calls();
    test_flags_restored();
    test_flags_at_polls();
    test_position_independence();
    test_calls();
    test_overrides();
    test_markers();
    test_lines();
    test_graph();
    test_bad_input();
    test_limit();
    test_wrapper();
    test_threads();
    printf("%s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
