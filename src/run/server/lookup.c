/* lookup.c: the search for translated code by guest address, as IR that is inlined wherever a guest jumps or calls
 * through a register. It compares one entry of the thread's table; if the address is not there, the client searches. */
#include "ir/ir.h"
#include "isa/isa.h"
#include "run/server/server.h"

static Val entry_for(Lifter *l, Val pc) {
    Val mixed = ir_xor(l, ir_lshr_by(l, pc, 4), pc);
    Val index = ir_and_with(l, mixed, (1u << TABLE_BITS) - 1);
    return ir_index(l, ir_state(l, THREAD_TABLE), index, sizeof(TableEntry));
}

/* ptr lookup(ptr cpu, i64 pc, i1 is_call) */
static Val declare(Lifter *l) {
    LLVMTypeRef params[] = {ir_type(l, PTR), ir_type(l, I64), ir_type(l, I1)};
    Val fn = LLVMAddFunction(l->mod, "lookup", LLVMFunctionType(ir_type(l, PTR), params, 3, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    ir_attribute(l, fn, OF_FUNCTION, "alwaysinline", 0);
    return fn;
}

/* Jumps can go on for ever without a return. When the stack is deep, a jump is left to the client, which returns to its
 * dispatcher. */
static Val stack_is_deep(Lifter *l) {
    Val sp = ir_asm_pure(l, l->host->read_stack_pointer, "=r", I64, NULL, 0);
    return ir_icmp(l, UGT, sp, ir_load(l, I64, ir_state(l, THREAD_STACK_LIMIT), 8, SPACE_STATE));
}

LLVMValueRef lookup_build(LLVMModuleRef mod, const LatheConfig *cfg) {
    Lifter l = {.cfg = cfg};
    ir_begin(&l, mod);
    l.fn = declare(&l);
    l.cpu = LLVMGetParam(l.fn, 0);
    Val pc = LLVMGetParam(l.fn, 1), is_call = LLVMGetParam(l.fn, 2);
    ir_here(&l, ir_label(&l, "entry"));
    Label hit = ir_label(&l, "hit"), miss = ir_label(&l, "miss");
    Val entry = entry_for(&l, pc);
    Val found = ir_icmp(&l, EQ, ir_load(&l, I64, entry, 16, SPACE_STATE), pc);
    Val go = ir_and(&l, found, ir_or(&l, is_call, stack_is_deep(&l)));
    ir_branch_rare(&l, ir_not(&l, go), miss, hit);
    ir_here(&l, hit);
    LLVMBuildRet(l.b, ir_load(&l, PTR, ir_offset(&l, entry, 8), 8, SPACE_STATE));
    ir_here(&l, miss);
    ir_store(&l, pc, ir_state(&l, isa_find(cfg->arch)->pc_off), 8, SPACE_STATE);
    Val on_call = cfg->dispatch, on_jump = lathe_declare(mod, cfg, SYMBOL_JUMP_MISS);
    LLVMBuildRet(l.b, ir_select(&l, is_call, on_call, on_jump));
    ir_end(&l);
    return l.fn;
}
