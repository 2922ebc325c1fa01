/* counts.c: the additions to a tool's counters and rows, when functions are values.
 *
 * What a function adds to a counter it adds up in a variable of its own, which LLVM keeps in a register, also through loops. All of it is added to the counter
 * before each call, since what is called may end the program or ask for totals, and where the function ends. A row of a table is added to at once, because a function may have
 * very many of them. Where there may be a second thread, additions to what all share are atomic. */
#include <llvm-c/Core.h>

#include "raise/tool/tool.h"

typedef struct Counting {
    RaiseTool *t;
    LLVMBuilderRef b;
    LLVMTypeRef word;
    LLVMValueRef counters, rows;
    LLVMValueRef
        own[TOOL_COUNTERS_MAX]; /* of the function: what it has counted and not added yet; NULL: nothing ever */
} Counting;

typedef VEC(LLVMValueRef) Values;

static const char *called_name(LLVMValueRef in) {
    size_t len;
    bool is_call = LLVMIsACallInst(in) || LLVMIsAInvokeInst(in);
    LLVMValueRef called = is_call ? LLVMGetCalledValue(in) : NULL;
    return called && LLVMIsAFunction(called) ? LLVMGetValueName2(called, &len) : "";
}

bool raise_is_tool_add(LLVMValueRef call) {
    const char *name = called_name(call);
    return !strcmp(name, TOOL_ADD) || !strcmp(name, TOOL_ADD_ROW);
}

static u64 number_of(LLVMValueRef call) {
    return LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
}

static LLVMValueRef word_in(const Counting *c, LLVMValueRef array, u64 index) {
    LLVMValueRef off = LLVMConstInt(c->word, index, false);
    return LLVMBuildGEP2(c->b, c->word, array, &off, 1, "");
}

/* Memory of the tool's is not the program's. */
static void set_apart(const Counting *c, LLVMValueRef access) {
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(c->t->r->ctx, "noalias", 7), ir_not_guest(c->t->r->ctx));
}

static void add_plainly(const Counting *c, LLVMValueRef at, LLVMValueRef amount) {
    LLVMValueRef load = LLVMBuildLoad2(c->b, c->word, at, "");
    LLVMValueRef store = LLVMBuildStore(c->b, LLVMBuildAdd(c->b, load, amount, ""), at);
    set_apart(c, load);
    set_apart(c, store);
}

static void add_for_all(const Counting *c, LLVMValueRef at, LLVMValueRef amount) {
    if (c->t->parallel)
        LLVMBuildAtomicRMW(c->b, LLVMAtomicRMWBinOpAdd, at, amount, LLVMAtomicOrderingMonotonic, false);
    else
        add_plainly(c, at, amount);
}

static LLVMValueRef own_of(Counting *c, LLVMValueRef fn, u64 counter) {
    if (c->own[counter])
        return c->own[counter];
    LLVMBuilderRef head = LLVMCreateBuilderInContext(c->t->r->ctx);
    LLVMPositionBuilderBefore(head, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn)));
    c->own[counter] = LLVMBuildAlloca(head, c->word, "");
    LLVMBuildStore(head, LLVMConstInt(c->word, 0, false), c->own[counter]);
    LLVMDisposeBuilder(head);
    return c->own[counter];
}

static void expand(Counting *c, LLVMValueRef fn, LLVMValueRef call) {
    LLVMValueRef amount = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(c->b, call);
    if (!strcmp(called_name(call), TOOL_ADD_ROW)) {
        add_for_all(c, word_in(c, c->rows, number_of(call)), amount);
    } else {
        LLVMValueRef own = own_of(c, fn, number_of(call)), load = LLVMBuildLoad2(c->b, c->word, own, "");
        LLVMBuildStore(c->b, LLVMBuildAdd(c->b, load, amount, ""), own);
    }
    LLVMInstructionEraseFromParent(call);
}

/* Does control leave the function here, or may it? */
static bool leaves(LLVMValueRef in) {
    if (LLVMIsAReturnInst(in) || LLVMIsAResumeInst(in) || LLVMIsAInvokeInst(in))
        return true;
    return LLVMIsACallInst(in) && !LLVMGetIntrinsicID(LLVMGetCalledValue(in));
}

static void add_up(Counting *c, LLVMValueRef before) {
    LLVMPositionBuilderBefore(c->b, before);
    for (u64 i = 0; i < c->t->parts.head->counter_count; i++)
        if (c->own[i]) {
            add_for_all(c, word_in(c, c->counters, i), LLVMBuildLoad2(c->b, c->word, c->own[i], ""));
            LLVMBuildStore(c->b, LLVMConstInt(c->word, 0, false), c->own[i]);
        }
}

static void collect(LLVMValueRef fn, Values *adds, Values *leaving) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            if (raise_is_tool_add(in))
                VEC_PUSH(adds, in);
            else if (leaves(in))
                VEC_PUSH(leaving, in);
        }
}

static void count_in(Counting *c, LLVMValueRef fn) {
    Values adds = {0}, leaving = {0};
    memset(c->own, 0, sizeof(c->own));
    collect(fn, &adds, &leaving);
    for (size_t i = 0; i < adds.len; i++)
        expand(c, fn, adds.at[i]);
    for (size_t i = 0; i < leaving.len; i++)
        add_up(c, leaving.at[i]);
    VEC_FREE(&adds);
    VEC_FREE(&leaving);
}

static LLVMValueRef add_words(const Counting *c, const char *name, u64 count) {
    LLVMTypeRef type = LLVMArrayType2(c->word, count + !count);
    LLVMValueRef words = LLVMAddGlobal(c->t->r->mod, type, name);
    LLVMSetInitializer(words, LLVMConstNull(type));
    LLVMSetVisibility(words, LLVMHiddenVisibility);
    return words;
}

void raise_tool_count(Raise *r) {
    if (!r->tool)
        return;
    Counting c = {.t = r->tool, .b = LLVMCreateBuilderInContext(r->ctx), .word = LLVMInt64TypeInContext(r->ctx)};
    c.counters = add_words(&c, TOOL_COUNTERS, r->tool->parts.head->counter_count);
    c.rows = add_words(&c, TOOL_ROWS, r->tool->rows.len);
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].raised)
            count_in(&c, r->functions.at[i].raised);
    LLVMDisposeBuilder(c.b);
    tool_add_facts(r->tool);
}
