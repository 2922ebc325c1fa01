/* x86_forms.c: what an x86-64 host has for instructions of x86-64 guests, besides single rows (x86_rows.c). */
#include <stdio.h>

#include "host/x86_64/parts.h"
#include "host/x86_64/x86_parts.h"

/* llvm.x86.sse2.cvttsd2si64 and its relatives: the low lane of a vector. */
static Val to_int(Lifter *l, bool truncates, Val v, Ty to) {
    Ty from = ir_ty(v);
    char name[40];
    snprintf(name, sizeof(name), "llvm.x86.sse%s.cvt%s%s2si%s", from == F64 ? "2" : "", truncates ? "t" : "",
             from == F64 ? "sd" : "ss", to == I64 ? "64" : "");
    Val wide = ir_low_lane(l, v, 128 / ty_bits(from));
    return ir_intrinsic(l, name, NULL, 0, &wide, 1);
}

static Val to_four_ints(Lifter *l, bool truncates, Val v) {
    bool doubles = ty_elem(ir_ty(v)) == F64;
    char name[40];
    snprintf(name, sizeof(name), "llvm.x86.sse2.cvt%sp%c2dq", truncates ? "t" : "", doubles ? 'd' : 's');
    return ir_intrinsic(l, name, NULL, 0, &v, 1);
}

static Val compare_strings(Lifter *l, const char *what, Val *args, u32 arg_count) {
    const char *name = arena_printf(l->arena, "llvm.x86.sse42.pcmp%cstr%s128", arg_count == 5 ? 'e' : 'i', what);
    return ir_intrinsic(l, name, NULL, 0, args, arg_count);
}

static void repeat(Lifter *l, bool stores, Ty t, Val dst, Val count, Val other) {
    static const char *const text[2][4] = {{"rep movsb", "rep movsw", "rep movsl", "rep movsq"},
                                           {"rep stosb", "rep stosw", "rep stosl", "rep stosq"}};
    const char *constraints = stores ? "=&{di},=&{cx},=&{ax},0,1,2,~{memory}" : "=&{di},=&{cx},=&{si},0,1,2,~{memory}";
    Val args[] = {dst, count, other};
    ir_asm_in_place(l, text[stores][__builtin_ctz(ty_bits(t) / 8)], constraints, args, 3);
}

static void load_mxcsr(Lifter *l, Val slot) {
    ir_asm(l, "ldmxcsr ($0)", "r,~{memory}", 0, &slot, 1);
}

static void store_mxcsr(Lifter *l, Val slot) {
    ir_asm(l, "stmxcsr ($0)", "r,~{memory}", 0, &slot, 1);
}

static Val read_fs_base(Lifter *l) {
    return ir_asm(l, "rdfsbase $0", "=r", I64, NULL, 0);
}

static void write_fs_base(Lifter *l, Val base) {
    ir_asm(l, "wrfsbase $0", "r", 0, &base, 1);
}

static void divide(Lifter *l, Val low, Val high, Val by, Val results[2]) {
    Val args[] = {low, high, by};
    ir_asm_both(l, "divq $4", "={ax},={dx},{ax},{dx},r,~{flags}", I64, args, 3, results);
}

const X86Forms x86_64_forms_x86 = {
    .run = x86_run_row,
    .exact_unary = x86_exact_unary,
    .exact_binary = x86_exact_binary,
    .exact_named = x86_exact_named,
    .exact_compare = x86_exact_compare,
    .to_int = to_int,
    .to_four_ints = to_four_ints,
    .compare_strings = compare_strings,
    .repeat = repeat,
    .load_mxcsr = load_mxcsr,
    .store_mxcsr = store_mxcsr,
    .read_fs_base = read_fs_base,
    .write_fs_base = write_fs_base,
    .divide = divide,
};
