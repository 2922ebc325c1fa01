/* guard.c: translations of code that may change.
 *
 * Code that is not in a file (a JIT's, self-modifying code) can be overwritten at any time. Its translation begins with a check that the
 * guest's bytes are still those it was made from; if not, the client has it translated anew. So a change is seen whenever a function is
 * entered, without protecting pages or taking faults. */
#include "ir/ir.h"
#include "isa/isa.h"
#include "lift/convention.h"
#include "run/server/server.h"

enum { BYTES_MAX = 1 << 16 };

/* Adds all differences between a range's bytes and what they were to `seen`, by or. */
static Val compare_range(Lifter *l, const LatheRange *r, const u8 *bytes, Val seen) {
    for (u64 at = r->start; at < r->end;) {
        u32 size = 8;
        while (size > r->end - at)
            size /= 2;
        u64 was = 0;
        memcpy(&was, bytes + (at - r->start), size);
        Val ptr = ir_bitcast(l, ir_int(l, I64, at), PTR);
        Val differs = ir_xor(l, ir_load(l, ty_int(size * 8), ptr, 1, SPACE_GUEST), ir_int(l, ty_int(size * 8), was));
        seen = ir_or(l, seen, ir_zext(l, differs, I64));
        at += size;
    }
    return seen;
}

static void become(Lifter *l, const Convention *conv, Val callee) {
    Val params[CONVENTION_SLOTS + 1];
    LLVMGetParams(l->fn, params);
    Val call = LLVMBuildCall2(l->b, convention_type(l, conv), callee, params, LLVMCountParams(l->fn), "");
    convention_mark_call(l, conv, call);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    if (conv->in_registers)
        LLVMBuildRet(l->b, call);
    else
        LLVMBuildRetVoid(l->b);
}

static Val compare_all(Lifter *l, const LatheRange *ranges, size_t count, Pages *pages) {
    u8 *bytes = mem_new(BYTES_MAX);
    Val seen = ir_int(l, I64, 0);
    for (size_t i = 0; seen && i < count; i++) {
        size_t size = ranges[i].end - ranges[i].start;
        if (size > BYTES_MAX || pages_read(pages, ranges[i].start, bytes, size) != size)
            seen = NULL;
        else
            seen = compare_range(l, &ranges[i], bytes, seen);
    }
    mem_free(bytes);
    return seen;
}

LLVMValueRef guard_build(LLVMValueRef lifted, const LatheConfig *cfg, u64 pc, const LatheRange *ranges, size_t count,
                         Pages *pages) {
    const Isa *isa = isa_find(cfg->arch);
    LLVMModuleRef mod = LLVMGetGlobalParent(lifted);
    Lifter l = {.cfg = cfg};
    Convention conv;
    convention_init(&conv, isa, host_find(cfg->host), tuning_of(cfg)->convention);
    ir_begin(&l, mod);
    l.fn = lathe_declare(mod, cfg, "guarded");
    l.cpu = LLVMGetParam(l.fn, conv.count);
    ir_here(&l, ir_label(&l, "entry"));
    Val seen = compare_all(&l, ranges, count, pages);
    if (seen) {
        Label same = ir_label(&l, "same"), stale = ir_label(&l, "stale");
        ir_branch_rare(&l, ir_icmp(&l, NE, seen, ir_int(&l, I64, 0)), stale, same);
        ir_here(&l, same);
        become(&l, &conv, lifted);
        ir_here(&l, stale);
        ir_store(&l, ir_int(&l, I64, pc), ir_state(&l, isa->pc_off), 8, SPACE_STATE);
        become(&l, &conv, lathe_declare(mod, cfg, SYMBOL_STALE));
    }
    ir_end(&l);
    return seen ? l.fn : NULL;
}
