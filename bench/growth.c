/* growth.c: bench-growth, what compiling takes per guest instruction, for functions of one shape and growing size.
 *
 * A shape is a few instructions, again and again. The time of a compiler that looks at each pair of instructions doubles, per
 * instruction, where their number does. Printed are microseconds of CPU time per instruction and how many times that of plain code it is.
 * With --check it is a test: four times as many instructions may take at most LIMIT times as long for each. Both are measured
 * one right after the other, and the least of several times counts. */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "lathe/lift.h"

enum { CHECKED_INSNS = 200, FACTOR = 4, TRIES = 3, BASE = 0x10000 };
#define LIMIT 2.0

/* Hexadecimal bytes of instructions, separated by commas. dd: a displacement of 32 bits, 8 more for each instruction; oo: one of
 * 3 more; ii: one byte that differs. */
typedef struct Shape {
    const char *name;
    LatheArch arch;
    const char *insns;
    bool unbounded; /* known to grow: shown, not checked */
} Shape;

static const Shape shapes[] = {
    {"plain", LATHE_ARCH_X86_64, "48 8b 87 dd, 48 01 f0, 48 8d 4c 70 08, 48 0f af f1, 48 31 c1, 48 89 8a dd", false},
    {"adc", LATHE_ARCH_X86_64, "48 13 86 dd", false},
    {"adc, adc, adc", LATHE_ARCH_X86_64, "48 11 f0, 48 11 f9, 4c 11 c2", false},
    {"load, sbb, store", LATHE_ARCH_X86_64, "48 8b 86 dd, 48 1b 82 dd, 48 89 87 dd", false},
    {"mul, add, adc", LATHE_ARCH_X86_64, "48 8b 86 dd, 48 f7 e1, 49 01 c0, 49 11 d1, 49 83 d2 00", false},
    {"byte stores", LATHE_ARCH_X86_64, "c6 87 dd ii", false},
    {"overlapping stores", LATHE_ARCH_X86_64, "48 89 b7 oo", false},
    {"loads and stores", LATHE_ARCH_X86_64, "48 8b 86 dd, 48 89 87 dd", false},
    {"read, modify, write", LATHE_ARCH_X86_64, "83 87 dd ii", false},
    {"push and pop", LATHE_ARCH_X86_64, "50, 51, 59, 58", false},
    {"pushf", LATHE_ARCH_X86_64, "48 01 f0, 9c, 59, 48 29 ca", false},
    {"setcc", LATHE_ARCH_X86_64, "48 39 f0, 0f 9f c0", false},
    {"cmov", LATHE_ARCH_X86_64, "48 39 f0, 48 0f 4f cf, 48 01 c8", false},
    {"rcl and rcr", LATHE_ARCH_X86_64, "48 d1 d0, 48 d1 da", false},
    {"shifts by cl", LATHE_ARCH_X86_64, "48 d3 e0, 48 d3 c0", false},
    {"shld", LATHE_ARCH_X86_64, "48 0f a5 c2, 48 01 d0", false},
    {"ah and al", LATHE_ARCH_X86_64, "00 e0, 30 cc, 88 c1", false},
    {"16 bits", LATHE_ARCH_X86_64, "66 01 f0, 66 89 c1, 66 c1 c9 08, 66 29 ce", false},
    {"x87", LATHE_ARCH_X86_64, "dd 87 dd, de c1", false},
    {"shuffles", LATHE_ARCH_X86_64, "66 0f 38 00 ca, 66 0f 60 c1", false},
    {"sse", LATHE_ARCH_X86_64, "0f 10 87 dd, 0f 58 d0, 0f 11 96 dd", false},
    {"string instructions", LATHE_ARCH_X86_64, "a4, ac", false},
    {"repne scas", LATHE_ARCH_X86_64, "b9 08 00 00 00, f2 ae", false},
    {"divisions by one register", LATHE_ARCH_X86_64, "48 01 f0, 99, f7 f9, 8d 50 01, f7 f9", true},
    {"branches", LATHE_ARCH_X86_64, "a9 00 01 00 ii, 75 04, 48 83 c1 ii, 48 31 ca", false},
    {"calls", LATHE_ARCH_X86_64, "48 89 c7, e8 00 00 10 00", false},
    {"atomic", LATHE_ARCH_X86_64, "f0 83 87 dd ii", false},
    {"vectors without a meaning", LATHE_ARCH_X86_64, "48 01 f0, c5 fc 58 c1", false},
    {"riscv64: plain", LATHE_ARCH_RISCV64, "98 65, b3 07 d7 00, 33 b8 e7 00, c2 96, 1c ea", false},
    {"riscv64: stores", LATHE_ARCH_RISCV64, "23 00 b5 00, a3 31 b5 00, 23 33 b5 00, 23 32 b5 38", false},
    {"riscv64: divisions", LATHE_ARCH_RISCV64, "33 47 f7 02, b3 f7 e7 02", false},
    {"riscv64: floating point", LATHE_ARCH_RISCV64, "18 25, c3 77 d7 7a, 9c ad", false},
    {"riscv64: branches", LATHE_ARCH_RISCV64, "93 77 f7 01, 91 c3, 0d 08, b3 c8 08 01", false},
    {"riscv64: shifts", LATHE_ARCH_RISCV64, "33 17 f7 00, bb 57 b7 40", false},
};

/* --------------------------------------------------------------------------------------------------------- guest code */

typedef VEC(u8) Bytes;

static void put_number(Bytes *b, u32 value) {
    for (int i = 0; i < 4; i++)
        VEC_PUSH(b, (u8)(value >> 8 * i));
}

/* The bytes of one instruction, the number-th of the function; returns what is behind it. */
static const char *put_insn(Bytes *b, const char *text, u32 number) {
    for (; *text && *text != ','; text += *text == ' ') {
        if (!strncmp(text, "dd", 2) && b->len && strncmp(text, "dd 87", 5))
            put_number(b, number * 8 % 4096);
        else if (!strncmp(text, "oo", 2))
            put_number(b, number * 3 % 4096);
        else if (!strncmp(text, "ii", 2))
            VEC_PUSH(b, (u8)(number % 120 + 1));
        else
            VEC_PUSH(b, (u8)strtoul(text, NULL, 16));
        text += 2;
    }
    return *text ? text + 2 : NULL;
}

static void make_code(const Shape *s, u32 insns, Bytes *b) {
    const char *at = NULL;
    b->len = 0;
    for (u32 i = 0; i < insns || at; i++)
        at = put_insn(b, at ? at : s->insns, i);
    static const char *const ret[] = {[LATHE_ARCH_X86_64] = "c3", [LATHE_ARCH_RISCV64] = "82 80"};
    put_insn(b, ret[s->arch], 0);
}

static size_t read_code(void *user, uint64_t addr, void *buf, size_t size) {
    const Bytes *b = user;
    if (addr < BASE || addr - BASE >= b->len)
        return 0;
    size_t left = b->len - (addr - BASE), count = size < left ? size : left;
    memcpy(buf, b->at + (addr - BASE), count);
    return count;
}

/* ----------------------------------------------------------------------------------------------------------- measuring */

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static LLVMValueRef dispatch_in(LLVMModuleRef mod) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0);
    return LLVMAddFunction(mod, "dispatch", LLVMFunctionType(LLVMVoidTypeInContext(ctx), &ptr, 1, false));
}

/* Microseconds per instruction, from bytes to an object. */
static double compile(LatheJit *jit, const Shape *s, u32 insns) {
    Bytes code = {0};
    make_code(s, insns, &code);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("growth", ctx);
    LatheConfig cfg = {.arch = s->arch,
                       .read_memory = read_code,
                       .user = &code,
                       .calls = LATHE_CALLS_RETURN,
                       .dispatch = dispatch_in(mod)};
    double start = now_us();
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    void *object = NULL;
    size_t size;
    bool ok = lathe_func_decode_cfg(fn, BASE) == LATHE_OK && lathe_func_lift(fn, "f") &&
              lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK &&
              lathe_jit_emit(jit, mod, LATHE_OPT_NONE, false, &object, &size) == LATHE_OK;
    double taken = now_us() - start;
    CHECK(ok, "a shape cannot be compiled");
    free(object);
    lathe_func_free(fn);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
    VEC_FREE(&code);
    return taken / insns;
}

static double least(LatheJit *jit, const Shape *s, u32 insns, double so_far) {
    double taken = compile(jit, s, insns);
    return so_far && so_far < taken ? so_far : taken;
}

/* How many times as long an instruction takes among FACTOR times as many. */
static double growth(LatheJit *jit, const Shape *s) {
    double few = 0, many = 0;
    for (int i = 0; i < TRIES && (!i || many > LIMIT * few); i++) {
        few = least(jit, s, CHECKED_INSNS, few);
        many = least(jit, s, CHECKED_INSNS * FACTOR, many);
    }
    return many / few;
}

static int check(LatheJit *jit) {
    int failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (shapes[i].unbounded)
            continue;
        double seen = growth(jit, &shapes[i]);
        failed += seen > LIMIT;
        if (seen > LIMIT)
            printf("%s: an instruction takes %.1f times as long if there are %d times as many\n", shapes[i].name, seen,
                   FACTOR);
    }
    return failed != 0;
}

static int show(LatheJit *jit) {
    static const u32 sizes[] = {100, 400, 1500};
    double plain[ARRAY_LEN(sizes)] = {0};
    printf("%-28s", "us per guest instruction at");
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
        printf("%12u       ", sizes[k]);
    printf("\n");
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        printf("%-28s", shapes[i].name);
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            double taken = compile(jit, &shapes[i], sizes[k]);
            plain[k] = plain[k] ? plain[k] : taken;
            printf("%12.1f %6.1f", taken, taken / plain[k]);
            fflush(stdout);
        }
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv) {
    LatheJit *jit = lathe_jit_new(NULL);
    CHECK(jit, "LLVM has no code generator for this machine");
    compile(jit, &shapes[0], CHECKED_INSNS); /* what is done once */
    int status = argc > 1 && !strcmp(argv[1], "--check") ? check(jit) : show(jit);
    lathe_jit_free(jit);
    return status;
}
