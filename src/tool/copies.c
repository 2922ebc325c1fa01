/* copies.c: see copies.h. */
#include "tool/copies.h"

#include <string.h>

#include "base/base.h"

enum { SMALLEST = 65, LARGEST = 128, WORD = 8 };
enum { TO, FROM, SIZE, VOLATILE }; /* operands */

/* A copy, or where memory is set to a byte, by its intrinsic function. */
typedef struct Copy {
    LLVMValueRef call;
    u64 bytes;
    bool sets;
} Copy;

static bool is_intrinsic(const char *name, size_t len, const char *which) {
    return len > strlen(which) && !strncmp(name, which, strlen(which));
}

static bool as_copy(LLVMValueRef insn, Copy *copy) {
    size_t len;
    LLVMValueRef called = LLVMIsACallInst(insn) ? LLVMGetCalledValue(insn) : NULL;
    if (!called || !LLVMIsAFunction(called))
        return false;
    const char *name = LLVMGetValueName2(called, &len);
    bool copies = is_intrinsic(name, len, "llvm.memcpy.p") || is_intrinsic(name, len, "llvm.memmove.p");
    *copy = (Copy){.call = insn, .sets = is_intrinsic(name, len, "llvm.memset.p")};
    if (!(copies || copy->sets) || !LLVMIsAConstantInt(LLVMGetOperand(insn, SIZE)) ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(insn, VOLATILE)))
        return false;
    copy->bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(insn, SIZE));
    return copy->bytes >= SMALLEST && copy->bytes <= LARGEST &&
           (copies || LLVMIsAConstantInt(LLVMGetOperand(insn, FROM)));
}

/* The largest piece that is left at `done`. */
static u64 piece(const Copy *copy, u64 done) {
    u64 bytes = WORD;
    while (bytes > copy->bytes - done)
        bytes /= 2;
    return bytes;
}

static LLVMValueRef address(LLVMBuilderRef b, LLVMTypeRef byte, LLVMValueRef start, u64 off) {
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(byte)), off, false);
    return LLVMBuildGEP2(b, byte, start, &index, 1, "");
}

/* All is loaded before anything is stored, for what is copied from may overlap what is copied to. */
static void expand(const Copy *copy) {
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(copy->call));
    LLVMTypeRef byte = LLVMInt8TypeInContext(ctx);
    LLVMValueRef value[LARGEST / WORD + WORD], from = LLVMGetOperand(copy->call, FROM);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderBefore(b, copy->call);
    u64 ones = copy->sets ? LLVMConstIntGetZExtValue(from) * 0x0101010101010101u : 0;
    for (u64 done = 0, n = 0; done < copy->bytes; done += piece(copy, done)) {
        LLVMTypeRef type = LLVMIntTypeInContext(ctx, (unsigned)(8 * piece(copy, done)));
        value[n] =
            copy->sets ? LLVMConstInt(type, ones, false) : LLVMBuildLoad2(b, type, address(b, byte, from, done), "");
        if (!copy->sets)
            LLVMSetAlignment(value[n], 1);
        n++;
    }
    for (u64 done = 0, n = 0; done < copy->bytes; done += piece(copy, done))
        LLVMSetAlignment(LLVMBuildStore(b, value[n++], address(b, byte, LLVMGetOperand(copy->call, TO), done)), 1);
    LLVMDisposeBuilder(b);
    LLVMInstructionEraseFromParent(copy->call);
}

void tool_expand_copies(LLVMModuleRef mod) {
    Copy copy;
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (as_copy(i, &copy))
                    expand(&copy);
            }
}
