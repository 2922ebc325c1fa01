/* frames.c: frames of functions are undefined when the stack pointer makes room for them.
 *
 * What lies below the stack pointer was never set, whatever an earlier call has left there. So an instruction that moves the stack pointer down by arithmetic on it undefines what it has moved
 * over; one that stores there as well (a push, a call) has set all that it makes room for. Functions that call nothing may have their variables in the red zone, for which no
 * room is made: the call of a function undefines that. A stack pointer that is loaded or copied is that of another stack, or of a frame that is there already. */
#include "run/server/values/masks.h"

static const char frame_name[] = "lathe.value.frame";

/* LLVM makes some stores of a memset as large as this, which is the red zone; frames that are larger are left to a function of the tool's. */
enum { STORED_BYTES = 128 };

Val frames_marker(LLVMModuleRef mod) {
    Val marker = LLVMGetNamedFunction(mod, frame_name);
    if (marker)
        return marker;
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef words[] = {LLVMInt64TypeInContext(ctx), LLVMInt64TypeInContext(ctx)};
    return LLVMAddFunction(mod, frame_name, LLVMFunctionType(LLVMVoidTypeInContext(ctx), words, 2, false));
}

void values_mark_frame(Lifter *l, Val from, Val to) {
    Val marker = frames_marker(l->mod), args[] = {from, to};
    LLVMBuildCall2(l->b, LLVMGlobalGetValueType(marker), marker, args, 2, "");
}

/* ------------------------------------------------------------------------------------------------------------ distances */

static LLVMOpcode opcode_of(Val v) {
    return LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : 0;
}

/* What is added to an address, or taken from it; NULL: nothing is. Stack pointers are pointers to bytes, where they can be. */
static Val addend_of(Val v) {
    LLVMOpcode op = opcode_of(v);
    bool adds = op == LLVMAdd || op == LLVMSub || (op == LLVMGetElementPtr && LLVMGetNumOperands(v) == 2);
    return adds ? LLVMGetOperand(v, 1) : NULL;
}

static bool converts(Val v) {
    return opcode_of(v) == LLVMPtrToInt || opcode_of(v) == LLVMIntToPtr;
}

/* What an address is made of, but for constants that are added, whose sum is *off. */
static Val root_of(Val v, i64 *off) {
    *off = 0;
    for (Val by = addend_of(v); converts(v) || (by && LLVMIsAConstantInt(by)); by = addend_of(v)) {
        if (!converts(v))
            *off += (opcode_of(v) == LLVMSub ? -1 : 1) * LLVMConstIntGetSExtValue(by);
        v = LLVMGetOperand(v, 0);
    }
    return v;
}

/* Is `from` the result of arithmetic on `to`? */
static bool is_made_from(Val from, Val to) {
    i64 off;
    Val last = root_of(from, &off);
    bool computes = addend_of(last) || opcode_of(last) == LLVMAnd;
    return computes && root_of(LLVMGetOperand(last, 0), &off) == root_of(to, &off);
}

/* ------------------------------------------------------------------------------------------------------------ undefining */

/* A stack pointer that goes up gives room back. */
void frames_undefine(const Masks *m, Val from, Val to) {
    i64 from_off, to_off;
    bool known = root_of(from, &from_off) == root_of(to, &to_off);
    u64 bytes = (u64)(to_off - from_off);
    if (known && to_off <= from_off)
        return;
    Val size = known ? LLVMConstInt(m->word, bytes, false) : LLVMBuildSub(m->b, to, from, "");
    Val args[] = {from, size};
    if (known && bytes <= STORED_BYTES)
        LLVMBuildMemSet(m->b, masks_at(m, from), LLVMConstAllOnes(m->byte), size, 1);
    else if (known || is_made_from(from, to))
        masks_call_tool(m, m->undefine, args, ARRAY_LEN(args));
}
