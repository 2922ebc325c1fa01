/* lanes.c: see lanes.h.
 *
 * A web is a set of vectors, each made by a phi or by inserting a new low lane into another one of the set. If its members are used only by
 * each other and for their low lanes, the low lanes suffice. */
#include "binopt/llvm/passes/lanes.h"

enum { WEB_MAX = 256 };

typedef struct LowLaneWeb {
    Val member[WEB_MAX], scalar[WEB_MAX];
    u32 count;
} LowLaneWeb;

static bool find(const LowLaneWeb *w, Val v, u32 *index) {
    for (u32 i = 0; i < w->count; i++)
        if (w->member[i] == v) {
            *index = i;
            return true;
        }
    return false;
}

static bool add(LowLaneWeb *w, Val v) {
    u32 index;
    if (find(w, v, &index))
        return true;
    if (w->count == WEB_MAX)
        return false;
    w->member[w->count++] = v;
    return true;
}

static bool takes_low_lane(Val user, unsigned index_operand) {
    return LLVMIsNull(LLVMGetOperand(user, index_operand));
}

/* True if the use is one of the low lane, or is another member. */
static bool follow(LowLaneWeb *w, Val v, Val user) {
    if (LLVMIsAExtractElementInst(user))
        return takes_low_lane(user, 1);
    if (LLVMIsAPHINode(user))
        return add(w, user);
    return LLVMIsAInsertElementInst(user) && LLVMGetOperand(user, 0) == v && takes_low_lane(user, 2) && add(w, user);
}

static bool collect(LowLaneWeb *w, Val phi) {
    w->count = 0;
    add(w, phi);
    for (u32 i = 0; i < w->count; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(w->member[i]); use; use = LLVMGetNextUse(use))
            if (!follow(w, w->member[i], LLVMGetUser(use)))
                return false;
    return true;
}

static Val low_lane(LlvmUnit *u, LowLaneWeb *w, Val vector, Label from) {
    u32 index;
    if (find(w, vector, &index))
        return w->scalar[index];
    LLVMPositionBuilderBefore(u->l.b, LLVMGetBasicBlockTerminator(from));
    return ir_extract(&u->l, vector, 0);
}

static void fill_phi(LlvmUnit *u, LowLaneWeb *w, u32 i) {
    Val phi = w->member[i];
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        Label from = LLVMGetIncomingBlock(phi, k);
        ir_phi_add(w->scalar[i], low_lane(u, w, LLVMGetIncomingValue(phi, k), from), from);
    }
}

static void replace_lanes(LowLaneWeb *w, u32 i) {
    for (LLVMUseRef use = LLVMGetFirstUse(w->member[i]), next; use; use = next) {
        next = LLVMGetNextUse(use);
        Val user = LLVMGetUser(use);
        if (!LLVMIsAExtractElementInst(user))
            continue;
        LLVMReplaceAllUsesWith(user, w->scalar[i]);
        LLVMInstructionEraseFromParent(user);
    }
}

/* An inserted lane may be the low lane of another member. */
static Val inserted(const LowLaneWeb *w, Val insert) {
    Val lane = LLVMGetOperand(insert, 1);
    u32 index;
    if (LLVMIsAExtractElementInst(lane) && find(w, LLVMGetOperand(lane, 0), &index) && LLVMIsAPHINode(w->member[index]))
        return w->scalar[index];
    return lane;
}

static void make_scalars(LlvmUnit *u, LowLaneWeb *w) {
    Ty lane = ty_elem(ir_ty(w->member[0]));
    for (u32 i = 0; i < w->count; i++) {
        if (!LLVMIsAPHINode(w->member[i]))
            continue;
        LLVMPositionBuilderBefore(u->l.b, w->member[i]);
        w->scalar[i] = ir_phi(&u->l, lane);
    }
    for (u32 i = 0; i < w->count; i++)
        if (!LLVMIsAPHINode(w->member[i]))
            w->scalar[i] = inserted(w, w->member[i]);
    for (u32 i = 0; i < w->count; i++)
        if (LLVMIsAPHINode(w->member[i]))
            fill_phi(u, w, i);
    for (u32 i = 0; i < w->count; i++)
        replace_lanes(w, i);
    for (u32 i = 0; i < w->count; i++)
        LLVMReplaceAllUsesWith(w->member[i], LLVMGetPoison(LLVMTypeOf(w->member[i])));
    for (u32 i = 0; i < w->count; i++)
        LLVMInstructionEraseFromParent(w->member[i]);
}

static bool is_candidate(Val in) {
    if (!LLVMIsAPHINode(in) || LLVMGetTypeKind(LLVMTypeOf(in)) != LLVMVectorTypeKind)
        return false;
    LLVMTypeKind lane = LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(in)));
    return lane == LLVMFloatTypeKind || lane == LLVMDoubleTypeKind;
}

/* Changes one web. The search for the next one starts anew, because the instructions of this one are gone. */
static bool narrow_one(LlvmUnit *u, LowLaneWeb *w) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in && LLVMIsAPHINode(in); in = LLVMGetNextInstruction(in))
            if (is_candidate(in) && collect(w, in)) {
                make_scalars(u, w);
                return true;
            }
    return false;
}

bool lanes_narrow(LlvmUnit *u) {
    LowLaneWeb *w = ARENA_NEW(&u->arena, LowLaneWeb);
    bool changed = false;
    while (narrow_one(u, w))
        changed = true;
    return changed;
}
