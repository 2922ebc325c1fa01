/* join.c: many computed jumps of one function that lead to the same places become one.
 *
 * An interpreter jumps to its next operation from the end of each one: with 200 operations that are 40000 ways, and at each place the registers' values from 200 others, in
 * which LLVM loses itself. Where a function has very many ways, jumps to the same places go to one jump, with the number of the place as a value:
 *
 *     a: switch (i) …      b: switch (j) …              a: if (n[i]) …     b: if (n[j]) …
 *                                              ──►            └── joined: k = n[i] or n[j] ──┘
 *                                                                 switch (k) …
 *
 * n has for each value that is switched over, the index of a table or the distance from the function's beginning, the number of the place from 1 on, or 0. A jump that leads to none
 * of the places goes where it went. */
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "raise/raise.h"

enum { WAYS_MAX = 4096, PLACES_MIN = 16, PLACES_MAX = 1 << 15, VALUES_MAX = 1 << 21 };

typedef VEC(LLVMValueRef) Values;

/* Jumps with the same table. */
typedef struct Group {
    Values jumps;
    u64 highest;          /* value of a case */
    LLVMValueRef numbers; /* the table n, of highest + 2 rows: the last is that of all values that are higher */
    LLVMBasicBlockRef joined;
    LLVMBuilderRef b; /* at the end of the phis of `joined` */
    Values phis;      /* in `joined`, each with one incoming value for each jump */
} Group;

typedef VEC(Group) Groups;

static unsigned places_of(LLVMValueRef jump) {
    return LLVMGetNumSuccessors(jump) - 1; /* without the default */
}

static u64 case_of(LLVMValueRef jump, unsigned i) {
    return LLVMConstIntGetZExtValue(LLVMGetOperand(jump, 2 + 2 * i));
}

static u64 highest_case(LLVMValueRef jump) {
    u64 highest = 0;
    for (unsigned i = 0; i < places_of(jump); i++)
        highest = case_of(jump, i) > highest ? case_of(jump, i) : highest;
    return highest;
}

static bool is_alike(LLVMValueRef a, LLVMValueRef b) {
    if (places_of(a) != places_of(b) || LLVMTypeOf(LLVMGetOperand(a, 0)) != LLVMTypeOf(LLVMGetOperand(b, 0)))
        return false;
    for (unsigned i = 0; i < places_of(a); i++)
        if (LLVMGetSuccessor(a, i + 1) != LLVMGetSuccessor(b, i + 1) || case_of(a, i) != case_of(b, i))
            return false;
    return true;
}

static void add_jump(Groups *groups, LLVMValueRef jump) {
    for (size_t i = 0; i < groups->len; i++)
        if (is_alike(groups->at[i].jumps.at[0], jump)) {
            VEC_PUSH(&groups->at[i].jumps, jump);
            return;
        }
    Group g = {.highest = highest_case(jump)};
    VEC_PUSH(&g.jumps, jump);
    VEC_PUSH(groups, g);
}

static void find_groups(LLVMValueRef fn, Groups *groups) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (end && LLVMIsASwitchInst(end) && places_of(end) >= PLACES_MIN && places_of(end) < PLACES_MAX)
            add_jump(groups, end);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- values */

static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef from) {
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

static bool has_values(LLVMValueRef phi, LLVMTypeRef type, const LLVMValueRef *values, size_t count) {
    if (LLVMTypeOf(phi) != type)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetIncomingValue(phi, i) != values[i])
            return false;
    return true;
}

/* The value that is one of these, by the jump that control comes from. Registers are the same at all places, so that there are few such values. */
static LLVMValueRef joined_value(Group *g, LLVMTypeRef type, LLVMValueRef *values) {
    bool same = true;
    for (size_t i = 1; i < g->jumps.len; i++)
        same &= values[i] == values[0];
    if (same && !LLVMIsAInstruction(values[0]))
        return values[0];
    for (size_t i = 0; i < g->phis.len; i++)
        if (has_values(g->phis.at[i], type, values, g->jumps.len))
            return g->phis.at[i];
    LLVMValueRef phi = LLVMBuildPhi(g->b, type, "");
    for (size_t i = 0; i < g->jumps.len; i++) {
        LLVMBasicBlockRef from = LLVMGetInstructionParent(g->jumps.at[i]);
        LLVMAddIncoming(phi, &values[i], &from, 1);
    }
    VEC_PUSH(&g->phis, phi);
    return phi;
}

/* -------------------------------------------------------------------------------------------------------------- rewriting */

/* A phi that has the joined block in place of those of the group's jumps, which `of_group` has. */
static LLVMValueRef new_phi(Group *g, LLVMValueRef phi, const Map64 *of_group, LLVMBuilderRef b) {
    LLVMValueRef *values = malloc(g->jumps.len * sizeof(*values)), joined;
    CHECK(values, "there is memory");
    for (size_t i = 0; i < g->jumps.len; i++)
        values[i] = incoming_from(phi, LLVMGetInstructionParent(g->jumps.at[i]));
    joined = joined_value(g, LLVMTypeOf(phi), values);
    free(values);
    LLVMPositionBuilderBefore(b, phi);
    LLVMValueRef with = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
    LLVMBasicBlockRef first = LLVMGetInstructionParent(g->jumps.at[0]);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        u32 known;
        if (from == first) /* as often as the first jump has it as a place */
            LLVMAddIncoming(with, &joined, &g->joined, 1);
        else if (!map64_get(of_group, (u64)from, &known))
            LLVMAddIncoming(with, &v, &from, 1);
    }
    return with;
}

static void replace_phis(Group *g) {
    Values old = {0}, new = {0};
    Map64 of_group = {0}, seen = {0};
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(g->jumps.at[0])));
    u32 known;
    for (size_t i = 0; i < g->jumps.len; i++)
        map64_set(&of_group, (u64)LLVMGetInstructionParent(g->jumps.at[i]), 1);
    for (unsigned i = 0; i < places_of(g->jumps.at[0]); i++) {
        LLVMBasicBlockRef place = LLVMGetSuccessor(g->jumps.at[0], i + 1);
        if (map64_get(&seen, (u64)place, &known))
            continue;
        map64_set(&seen, (u64)place, 1);
        for (LLVMValueRef in = LLVMGetFirstInstruction(place); in && LLVMIsAPHINode(in);
             in = LLVMGetNextInstruction(in)) {
            u32 made;
            if (map64_get(&seen, (u64)in, &made))
                continue;
            LLVMValueRef with = new_phi(g, in, &of_group, b);
            map64_set(&seen, (u64)with, 1);
            VEC_PUSH(&old, in);
            VEC_PUSH(&new, with);
        }
    }
    for (size_t i = 0; i < old.len; i++)
        LLVMReplaceAllUsesWith(old.at[i], new.at[i]);
    for (size_t i = 0; i < old.len; i++)
        LLVMInstructionEraseFromParent(old.at[i]);
    LLVMDisposeBuilder(b);
    VEC_FREE(&old);
    VEC_FREE(&new);
    map64_free(&of_group);
    map64_free(&seen);
}

static void build_numbers(Group *g, LLVMModuleRef mod) {
    LLVMTypeRef type = LLVMInt16TypeInContext(LLVMGetModuleContext(mod));
    LLVMValueRef *rows = calloc(g->highest + 2, sizeof(*rows)), like = g->jumps.at[0];
    CHECK(rows, "there is memory");
    for (u64 i = 0; i < g->highest + 2; i++)
        rows[i] = LLVMConstInt(type, 0, false);
    for (unsigned i = 0; i < places_of(like); i++)
        rows[case_of(like, i)] = LLVMConstInt(type, i + 1, false);
    LLVMValueRef all = LLVMConstArray2(type, rows, g->highest + 2);
    free(rows);
    g->numbers = LLVMAddGlobal(mod, LLVMTypeOf(all), RAISE_PREFIX "places");
    LLVMSetInitializer(g->numbers, all);
    LLVMSetGlobalConstant(g->numbers, true);
    LLVMSetLinkage(g->numbers, LLVMInternalLinkage);
}

/* The number of the place that the jump leads to, right before it. */
static LLVMValueRef build_number(Group *g, LLVMValueRef jump) {
    LLVMValueRef value = LLVMGetOperand(jump, 0), last = LLVMConstInt(LLVMTypeOf(value), g->highest + 1, false);
    LLVMTypeRef type = LLVMInt16TypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)));
    LLVMPositionBuilderBefore(g->b, jump);
    LLVMValueRef is_in = LLVMBuildICmp(g->b, LLVMIntULE, value, LLVMConstInt(LLVMTypeOf(value), g->highest, false), "");
    LLVMValueRef row = LLVMBuildSelect(g->b, is_in, value, last, "");
    return LLVMBuildLoad2(g->b, type, LLVMBuildGEP2(g->b, type, g->numbers, &row, 1, ""), "");
}

/* The joined jump, whose number is always that of a place. */
static void build_joined(Group *g, LLVMValueRef fn, LLVMValueRef number) {
    LLVMValueRef like = g->jumps.at[0];
    LLVMBasicBlockRef never = LLVMAppendBasicBlockInContext(LLVMGetTypeContext(LLVMTypeOf(number)), fn, "never");
    LLVMPositionBuilderAtEnd(g->b, never);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, g->joined);
    LLVMValueRef jump = LLVMBuildSwitch(g->b, number, never, places_of(like));
    for (unsigned i = 0; i < places_of(like); i++)
        LLVMAddCase(jump, LLVMConstInt(LLVMTypeOf(number), i + 1, false), LLVMGetSuccessor(like, i + 1));
}

static void replace_jump(Group *g, LLVMValueRef jump, LLVMValueRef number) {
    LLVMBasicBlockRef outside = LLVMGetSwitchDefaultDest(jump);
    LLVMPositionBuilderBefore(g->b, jump);
    LLVMValueRef none = LLVMConstInt(LLVMTypeOf(number), 0, false);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, number, none, ""), g->joined, outside);
    LLVMInstructionEraseFromParent(jump);
}

static void join(Group *g, LLVMValueRef fn) {
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(fn));
    Values numbers = {0};
    g->joined = LLVMAppendBasicBlockInContext(ctx, fn, "joined");
    g->b = LLVMCreateBuilderInContext(ctx);
    build_numbers(g, LLVMGetGlobalParent(fn));
    for (size_t i = 0; i < g->jumps.len; i++)
        VEC_PUSH(&numbers, build_number(g, g->jumps.at[i]));
    LLVMPositionBuilderAtEnd(g->b, g->joined);
    LLVMValueRef number = joined_value(g, LLVMTypeOf(numbers.at[0]), numbers.at);
    replace_phis(g);
    build_joined(g, fn, number);
    for (size_t i = 0; i < g->jumps.len; i++)
        replace_jump(g, g->jumps.at[i], numbers.at[i]);
    LLVMDisposeBuilder(g->b);
    VEC_FREE(&numbers);
}

void raise_join_jumps(LLVMValueRef fn) {
    Groups groups = {0};
    find_groups(fn, &groups);
    for (size_t i = 0; i < groups.len; i++) {
        Group *g = &groups.at[i];
        if (g->jumps.len > 1 && g->jumps.len * places_of(g->jumps.at[0]) > WAYS_MAX && g->highest < VALUES_MAX)
            join(g, fn);
        VEC_FREE(&g->jumps);
        VEC_FREE(&g->phis);
    }
    VEC_FREE(&groups);
}
