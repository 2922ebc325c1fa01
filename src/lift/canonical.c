/* canonical.c: results that are not numbers, made the guest's NaN where somebody looks at their bits.
 *
 * A guest may know one NaN as the result of arithmetic where the host has many. Meanings say so with ir_canonical, and would pay
 * a comparison and a choice for each operation. But arithmetic and comparisons do the same for every quiet NaN, so while values
 * go from one operation to the next they need not be settled. What ir_canonical made is a call that stands for the choice. Here,
 * when the function is complete, uses that are blind to a NaN's bits get the operation's own result, and all others (stores,
 * calls, bit casts, signs) a choice made right before them, which is off the hot path if they are.
 *
 * Another guest passes on an operand's NaN, as the host does, and only the one that is made where no operand is a NaN is another than the host's. Then uses are as blind, but
 * for signs, and what is chosen for others is only that one.
 *
 * A phi all of whose incoming values are unsettled, or are numbers, is unsettled itself. If some come with bits of their own (from
 * memory, for example, where a NaN must stay as it is), the blind uses have a second phi.
 */
#include <math.h>

#include "lift/func.h"

typedef VEC(Val) Vals;

typedef struct Phi {
    Val phi;
    bool is_open;  /* unsettled: the bits of a NaN are anybody's */
    bool is_blind; /* only has blind uses */
    Val twin;      /* for the blind uses of others */
} Phi;

typedef struct Settling {
    Lifter *l;
    Vals calls; /* of the stand-ins */
    VEC(Phi) phis;
    Map64 index; /* of phis by value, from 1 */
    Val nan;     /* of the type at hand */
    Val made;    /* the only one that becomes it, if it is another; then operations pass on the bits of others */
} Settling;

/* ----------------------------------------------------------------------------------------------------------- what there is */

static Phi *phi_of(Settling *s, Val v) {
    u32 at;
    return map64_get(&s->index, (u64)(size_t)v, &at) ? &s->phis.at[at - 1] : NULL;
}

static bool is_stand_in(Val v) {
    return LLVMIsACallInst(v) && ir_is_stand_in(v);
}

/* The operation's own result. */
static Val result_of(Val stand_in) {
    return LLVMGetOperand(stand_in, 0);
}

static void note_phi(Settling *s, Phi p) {
    VEC_PUSH(&s->phis, p);
    map64_set(&s->index, (u64)(size_t)p.phi, (u32)s->phis.len);
}

static void note_phis_among_users(Settling *s, Val v) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        Val user = LLVMGetUser(use);
        if (LLVMIsAPHINode(user) && !phi_of(s, user))
            note_phi(s, (Phi){user, true, true, NULL});
    }
}

static void gather(Settling *s, Val mark) {
    for (LLVMUseRef use = LLVMGetFirstUse(mark); use; use = LLVMGetNextUse(use))
        VEC_PUSH(&s->calls, LLVMGetUser(use));
    s->nan = LLVMGetOperand(s->calls.at[0], 1);
    s->made = LLVMGetOperand(s->calls.at[0], 2);
}

static void gather_phis(Settling *s) {
    for (size_t i = 0; i < s->calls.len; i++)
        note_phis_among_users(s, s->calls.at[i]);
    for (size_t i = 0; i < s->phis.len; i++)
        note_phis_among_users(s, s->phis.at[i].phi);
}

/* ------------------------------------------------------------------------------------------------------- which phis are open */

/* Is it the same settled and unsettled? */
static bool is_number(Val v) {
    LLVMBool inexact;
    if (LLVMIsConstant(v) && LLVMIsNull(v))
        return true;
    if (LLVMIsAConstantFP(v))
        return !isnan(LLVMConstRealGetDouble(v, &inexact));
    return LLVMIsASIToFPInst(v) || LLVMIsAUIToFPInst(v);
}

static bool may_be_open(Settling *s, Val v) {
    Phi *p = phi_of(s, v);
    return p ? p->is_open : is_stand_in(v) || is_number(v);
}

static bool all_may_be_open(Settling *s, Val phi) {
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (!may_be_open(s, LLVMGetIncomingValue(phi, i)))
            return false;
    return true;
}

static void find_open(Settling *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->phis.len; i++)
            if (s->phis.at[i].is_open && !all_may_be_open(s, s->phis.at[i].phi)) {
                s->phis.at[i].is_open = false;
                changed = true;
            }
    }
}

/* -------------------------------------------------------------------------------------------------------- which uses are blind */

static bool has_blind_uses_only(Settling *s, Val v);

static bool is_one_of(const char *name, const char *const *starts, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strncmp(name, starts[i], strlen(starts[i])))
            return true;
    return false;
}

/* The host's own intrinsics may be blind, too. */
static bool is_blind_form(const Host *host, const char *name) {
    for (const char *const *start = host->blind; start && *start; start++)
        if (is_one_of(name, start, 1))
            return true;
    return false;
}

static bool passes_on(const Settling *s) {
    return s->made != s->nan;
}

/* Of calls: those whose result does not show which NaN was among the arguments, or is one that they pass on. */
static bool call_is_blind(Settling *s, Val call) {
    static const char constrained[] = "llvm.experimental.constrained.", plain[] = "llvm.";
    static const char *const passing[] = {"nearbyint.", "rint.", "roundeven.", "trunc.", "floor.", "ceil.", "round."};
    static const char *const blind[] = {"fma.", "sqrt.", "fptosi.sat.", "fptoui.sat."};
    Val callee = LLVMGetCalledValue(call);
    size_t len;
    const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &len) : "";
    if (is_stand_in(call))
        return true;
    bool is_constrained = !strncmp(name, constrained, sizeof(constrained) - 1);
    if (!is_constrained && strncmp(name, plain, sizeof(plain) - 1))
        return false;
    name += is_constrained ? sizeof(constrained) - 1 : sizeof(plain) - 1;
    bool drops_sign = is_one_of(name, (const char *const[]){"fabs."}, 1);
    if (drops_sign && passes_on(s))
        return false;
    if (drops_sign || is_one_of(name, passing, ARRAY_LEN(passing)))
        return has_blind_uses_only(s, call);
    return is_constrained || is_one_of(name, blind, ARRAY_LEN(blind)) || is_blind_form(s->l->host, name);
}

static bool is_blind(Settling *s, Val user) {
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFCmp:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
        return true;
    case LLVMFNeg:
        return !passes_on(s) && has_blind_uses_only(s, user);
    case LLVMSelect:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
        return has_blind_uses_only(s, user);
    case LLVMCall:
        return call_is_blind(s, user);
    case LLVMPHI:
        return phi_of(s, user) && (phi_of(s, user)->is_open || phi_of(s, user)->is_blind);
    default:
        return false;
    }
}

static bool has_blind_uses_only(Settling *s, Val v) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
        if (!is_blind(s, LLVMGetUser(use)))
            return false;
    return true;
}

static void find_blind(Settling *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->phis.len; i++)
            if (s->phis.at[i].is_blind && !has_blind_uses_only(s, s->phis.at[i].phi)) {
                s->phis.at[i].is_blind = false;
                changed = true;
            }
    }
}

/* ----------------------------------------------------------------------------------------------------------------- settling */

static Val unsettled(Settling *s, Val v) {
    Phi *p = phi_of(s, v);
    if (is_stand_in(v))
        return result_of(v);
    return p && p->twin ? p->twin : v;
}

static void fill_twin(Settling *s, const Phi *p) {
    for (unsigned i = 0; i < LLVMCountIncoming(p->phi); i++)
        ir_phi_add(p->twin, unsettled(s, LLVMGetIncomingValue(p->phi, i)), LLVMGetIncomingBlock(p->phi, i));
}

/* Twins are phis as the others, with blind uses only. */
static void make_twins(Settling *s) {
    size_t count = s->phis.len;
    for (size_t i = 0; i < count; i++) {
        Phi *p = &s->phis.at[i];
        if (p->is_open || p->is_blind)
            continue;
        LLVMPositionBuilderBefore(s->l->b, p->phi);
        p->twin = ir_phi(s->l, ir_ty(p->phi));
        note_phi(s, (Phi){p->twin, false, true, NULL});
    }
    for (size_t i = 0; i < count; i++)
        if (s->phis.at[i].twin)
            fill_twin(s, &s->phis.at[i]);
}

static Val is_made(Settling *s, Val v) {
    Ty bits = ty_as_int(ir_ty(v));
    return ir_icmp(s->l, EQ, ir_bitcast(s->l, v, bits), ir_bitcast(s->l, s->made, bits));
}

/* The choice, where operand k of user is needed. */
static Val settle_for(Settling *s, Val v, Val user, unsigned k) {
    Lifter *l = s->l;
    LLVMPositionBuilderBefore(l->b,
                              LLVMIsAPHINode(user) ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, k)) : user);
    return ir_select(l, passes_on(s) ? is_made(s, v) : ir_result_is_nan(l, v), s->nan, v);
}

/* A phi has the same value for all edges from one block. */
static void set_operand(Val user, unsigned k, Val old, Val v) {
    bool is_phi = LLVMIsAPHINode(user);
    for (unsigned i = k; i < (unsigned)LLVMGetNumOperands(user); i++)
        if (LLVMGetOperand(user, i) == old &&
            (i == k || (is_phi && LLVMGetIncomingBlock(user, i) == LLVMGetIncomingBlock(user, k))))
            LLVMSetOperand(user, i, v);
}

static void rewrite_use(Settling *s, Val v, Val user, unsigned k) {
    Phi *p = phi_of(s, v);
    if (is_blind(s, user))
        LLVMSetOperand(user, k, unsettled(s, v));
    else if (!p || p->is_open)
        set_operand(user, k, v, settle_for(s, p ? v : result_of(v), user, k));
}

/* The users are listed first: rewriting changes the list of uses. */
static void rewrite_uses(Settling *s, Val v) {
    Vals users = {0};
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
        VEC_PUSH(&users, LLVMGetUser(use));
    for (size_t i = 0; i < users.len; i++)
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(users.at[i]); k++)
            if (LLVMGetOperand(users.at[i], k) == v)
                rewrite_use(s, v, users.at[i], k);
    VEC_FREE(&users);
}

static void settle(Settling *s) {
    gather_phis(s);
    find_open(s);
    find_blind(s);
    make_twins(s);
    for (size_t i = 0; i < s->phis.len; i++)
        rewrite_uses(s, s->phis.at[i].phi);
    for (size_t i = 0; i < s->calls.len; i++)
        rewrite_uses(s, s->calls.at[i]);
    for (size_t i = 0; i < s->calls.len; i++)
        LLVMInstructionEraseFromParent(s->calls.at[i]);
}

void canonical_settle(Lifter *l) {
    static const Ty types[] = {F32, F64, VECTOR(F32, 2), VECTOR(F32, 4), VECTOR(F64, 2)};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        Val mark = ir_stand_in(l, types[i]);
        if (!mark)
            continue;
        Settling s = {.l = l};
        gather(&s, mark);
        settle(&s);
        LLVMDeleteFunction(mark);
        VEC_FREE(&s.calls);
        VEC_FREE(&s.phis);
        map64_free(&s.index);
    }
}
