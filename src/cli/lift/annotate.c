/* annotate.c: prints IR with the guest's instructions as comments.
 *
 * The lifter calls a marker before the IR of each instruction. LLVM cannot attach comments, so the marker calls are
 * replaced in the text: the n-th call in the text is the n-th in the module, from which the guest address is taken.
 */
#include <llvm-c/Core.h>

#include "cli/lift/show.h"

typedef VEC(u64) Addresses;

/* A guest address in the IR is a constant, or an expression over the image's symbol. In both cases it is the sum of its
 * parts. */
static u64 address_of(const Unit *u, LLVMValueRef v) {
    if (LLVMIsAConstantInt(v))
        return LLVMConstIntGetZExtValue(v);
    if (LLVMIsAGlobalValue(v))
        return u->cfg.pic_base;
    u64 sum = 0;
    for (int i = 0; LLVMIsAConstantExpr(v) && i < LLVMGetNumOperands(v); i++)
        sum += address_of(u, LLVMGetOperand(v, (unsigned)i));
    return sum;
}

static void collect_marks(const Unit *u, Addresses *marks) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == u->cfg.mark_insn)
                    VEC_PUSH(marks, address_of(u, LLVMGetOperand(i, 0)));
}

static bool mentions_marker(const char *line, size_t len) {
    static const char call[] = "@" UNIT_MARKER "(";
    const char *at = strstr(line, call);
    return at && at < line + len;
}

static void print_comment(FILE *out, const Unit *u, u64 pc) {
    char text[128];
    if (lathe_disassemble(&u->cfg, pc, text, sizeof(text)) < 0)
        snprintf(text, sizeof(text), "(not an instruction)");
    fprintf(out, "  ; 0x%lx: %s\n", pc, text);
}

static void print_annotated(FILE *out, const Unit *u, const char *ir) {
    Addresses marks = {0};
    size_t next = 0;
    collect_marks(u, &marks);
    for (const char *line = ir; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        if (!mentions_marker(line, len))
            fwrite(line, 1, len, out);
        else if (next < marks.len && strncmp(line, "declare", 7))
            print_comment(out, u, marks.at[next++]);
        line += len;
    }
    VEC_FREE(&marks);
}

void show_ir(FILE *out, const Unit *u) {
    char *ir = LLVMPrintModuleToString(u->mod);
    if (u->cfg.mark_insn)
        print_annotated(out, u, ir);
    else
        fputs(ir, out);
    LLVMDisposeMessage(ir);
}
