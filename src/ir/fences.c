/* fences.c: see fences.h. */
#include "ir/fences.h"

#include <string.h>

bool fences_needed(const Host *host) {
    return host->foreign && host->foreign->order_loads;
}

bool pending_join(Pending *to, Pending from) {
    Pending before = *to;
    to->load |= from.load;
    to->store |= from.store;
    return before.load != to->load || before.store != to->store;
}

static void write_asm(Fences *f, Val before, const char *text) {
    if (!f->writes)
        return;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetTypeContext(LLVMTypeOf(before))), NULL, 0, false);
    Val fence = LLVMGetInlineAsm(type, text, strlen(text), "~{memory}", 9, true, false, LLVMInlineAsmDialectATT, false);
    LLVMPositionBuilderBefore(f->b, before);
    LLVMBuildCall2(f->b, type, fence, NULL, 0, "");
    f->count++;
}

static void order_loads(Fences *f, Val before, Pending *p) {
    if (p->load)
        write_asm(f, before, f->host->foreign->order_loads);
    p->load = false;
}

static void order_all(Fences *f, Val before, Pending *p) {
    const HostForeign *host = f->host->foreign;
    if (p->store)
        write_asm(f, before, p->load ? host->order_all : host->order_stores);
    else
        order_loads(f, before, p);
    *p = (Pending){false, false};
}

static void full_fence(Fences *f, Val before, Pending *p) {
    *p = (Pending){false, false};
    if (!f->writes)
        return;
    LLVMPositionBuilderBefore(f->b, before);
    LLVMBuildFence(f->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
    f->count++;
}

void fences_load(Fences *f, Val access, Pending *p) {
    order_loads(f, access, p);
    p->load = true;
}

void fences_store(Fences *f, Val access, Pending *p) {
    order_all(f, access, p);
    p->store = true;
}

void fences_atomic(Fences *f, Val access, Pending *p) {
    if (p->store && LLVMIsAAtomicCmpXchgInst(access)) /* one that fails only loads, which does not wait for stores */
        full_fence(f, access, p);
    order_loads(f, access, p);
    full_fence(f, LLVMGetNextInstruction(access), p);
}
