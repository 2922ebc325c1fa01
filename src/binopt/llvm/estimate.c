/* estimate.c: see estimate.h. Instructions are counted, those that take long several times, and those in loops ten times for each loop that
 * they are in, as *trace* does it (gain.c). A loop is what can come back to a block that all ways to it lead through. */
#include "binopt/llvm/estimate.h"

#include <llvm-c/Core.h>

#include "binopt/process/maps.h"
#include "lift/func.h"

enum { MAX_INSNS = 20000, PASSES = 10, MAX_DEPTH = 4, CALL = 8, DIVISION = 20 };

static size_t read_memory(void *user, u64 addr, void *buf, size_t size) {
    (void)user;
    return maps_read(addr, buf, size);
}

static u64 cost_of(const LatheFunc *fn, const Insn *in) {
    const char *name = fn->isa->row_name(in->row);
    u64 cost = 1;
    if (in->flow == FLOW_CALL)
        return CALL;
    if (strstr(name, "div") || strstr(name, "sqrt"))
        return DIVISION;
    for (u32 i = 0; i < in->operand_count; i++)
        cost += in->op[i].kind == OPERAND_MEM && strcmp(name, "lea") && strcmp(name, "nop");
    return strcmp(name, "nop") ? cost : 0;
}

typedef struct Loop {
    u8 *has; /* by block */
    u32 *work, count;
} Loop;

static void add(const LatheFunc *fn, Loop *loop, u32 block) {
    if (loop->has[block] || !fn->blocks[block].reachable)
        return;
    loop->has[block] = 1;
    loop->work[loop->count++] = block;
}

static void add_preds(const LatheFunc *fn, Loop *loop, u32 block) {
    for (const BlockList *p = fn->blocks[block].preds; p; p = p->next)
        add(fn, loop, p->block);
}

/* The blocks of the loop that begins with `head`: those from which one that jumps back to it is reached. False: there is none. */
static bool find_loop(const LatheFunc *fn, u32 head, Loop *loop) {
    bool found = false;
    memset(loop->has, 0, fn->block_count);
    loop->has[head] = 1;
    for (const BlockList *p = fn->blocks[head].preds; p; p = p->next)
        if (fn->blocks[p->block].reachable && graph_dominates(fn, head, p->block)) {
            add(fn, loop, p->block);
            found = true;
        }
    while (loop->count)
        add_preds(fn, loop, loop->work[--loop->count]);
    return found;
}

static Estimate estimate(LatheFunc *fn) {
    Estimate e = {0};
    Loop loop = {.has = ARENA_ARRAY(&fn->arena, u8, fn->block_count),
                 .work = ARENA_ARRAY(&fn->arena, u32, fn->block_count)};
    u32 *depth = ARENA_ARRAY(&fn->arena, u32, fn->block_count);
    for (u32 b = 1; b < fn->block_count; b++) {
        if (!fn->blocks[b].reachable || !find_loop(fn, b, &loop))
            continue;
        e.loops++;
        for (u32 i = 1; i < fn->block_count; i++)
            depth[i] += loop.has[i];
    }
    for (u32 b = 1; b < fn->block_count; b++) {
        u64 weight = 1;
        for (u32 i = 0; i < depth[b] && i < MAX_DEPTH; i++)
            weight *= PASSES;
        u32 at = fn->blocks[b].first;
        for (u32 i = 0; fn->blocks[b].reachable && i < fn->blocks[b].insn_count; i++, at = fn->insns.at[at].next) {
            const Insn *in = &fn->insns.at[at];
            e.cost += weight * cost_of(fn, in);
            e.incomplete |= in->flow == FLOW_INDIRECT && !in->table;
            e.unread |= in->flow == FLOW_STOP;
        }
    }
    return e;
}

Estimate estimate_code(u64 pc) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("estimate", ctx);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0),
                type = LLVMFunctionType(LLVMVoidTypeInContext(ctx), &ptr, 1, false);
    LatheConfig cfg = {.arch = LATHE_ARCH_X86_64,
                       .read_memory = read_memory,
                       .max_insns = MAX_INSNS,
                       .calls = LATHE_CALLS_RETURN,
                       .dispatch = LLVMAddFunction(mod, "called", type)};
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    Estimate e = {.unread = true};
    if (lathe_func_decode_cfg(fn, pc) == LATHE_OK) {
        graph_build(fn);
        e = estimate(fn);
    }
    lathe_func_free(fn);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
    return e;
}
