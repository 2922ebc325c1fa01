/* live.c: which registers and flags the guest still needs, for code that is put between its instructions.
 *
 * Instructions are looked at up to the next one that transfers control, or up to the end of the page, since all code of a page is forgotten if some
 * of it changes; behind that everything counts as needed. A register is not needed if it is written before it is read. But if the guest handles
 * faults, all registers are needed before an instruction that can fault, because the handler may go on elsewhere with any of them. The same holds in
 * memory that the guest can write to, where the code that follows may be other code by then. Flags are not treated so carefully. A register that a
 * tool's function looks at, before an instruction or behind it, is needed there. */
#include "isa/x86_64/facts.h"
#include "run/client/code/quick/quick.h"
#include "run/client/host/x86_64/copy/copy.h"
#include "run/client/tool/sites.h"

static bool divides(const InsnView *v) {
    enum { RAX_BIT = 1 };
    const char *name = v->reads & v->writes & RAX_BIT ? insn_opcode_name(v->opcode) : "";
    return !strcmp(name, "div") || !strcmp(name, "idiv");
}

/* True if the instruction may fault: it accesses memory, divides, or is not a plain integer instruction (exceptions of floating point may be unmasked). */
static bool may_fault(const InsnView *v) {
    return v->access_count || v->classes & ~CLASS_INTEGER || divides(v);
}

/* True if not only the instructions that follow, but others as well, may look at all registers here. */
static bool shows_all(const InsnView *v, bool faults_are_seen) {
    return v->flow != FLOW_NEXT || v->classes & (CLASS_SYSTEM | CLASS_STRING) || (faults_are_seen && may_fault(v));
}

bool live_is_copied(const InsnView *v) {
    for (u32 i = 0; i < v->access_count; i++)
        if (v->access[i].at.seg == SEG_GS)
            return false;
    return v->flow == FLOW_NEXT && !(v->classes & (CLASS_SYSTEM | CLASS_STRING));
}

/* Sets what is needed before instruction number i, by what is needed behind it. */
static void step_back(EmitLive *live, u32 i, const InsnView *v, u32 registers, bool flags) {
    u64 pc = live->at[i].pc;
    u32 watched = sites_watched(pc, v) & LIVE_ALL;
    live->at[i].registers =
        shows_all(v, quick_keeps_registers(pc)) ? LIVE_ALL : ((registers | watched) & ~v->kills) | v->reads | watched;
    live->at[i].flags = (flags && !v->kills_flags) || v->reads_flags;
    live->at[i].used = v->reads | v->writes;
    live->at[i].overwritten = live_is_copied(v) ? v->kills & ~v->reads : 0;
}

/* True if the flags are needed before the last instruction or behind it. `handed`: popf has set them, and the return hands them over. */
static bool needs_flags(const EmitLive *live, const InsnView *last, bool handed) {
    if (!live->count || last->flow == FLOW_NEXT)
        return true;
    return !flags_are_dead(live->at[live->count - 1].pc, handed);
}

static void look_ahead(EmitLive *live, u64 pc, bool handed) {
    enum { POPF = 0x9d };
    InsnView view[EMIT_LIVE];
    u64 end = quick_code_bytes(pc) ? page_down(pc) + PAGE : pc;
    bool on = true;
    live->count = 0;
    while (on && live->count < EMIT_LIVE && insn_view((const u8 *)pc, end - pc, pc, &view[live->count])) {
        live->at[live->count].pc = pc;
        handed |= *(const u8 *)pc == POPF;
        pc += view[live->count].size;
        on = view[live->count++].flow == FLOW_NEXT;
    }
    u32 registers = LIVE_ALL;
    bool flags = needs_flags(live, &view[live->count ? live->count - 1 : 0], handed);
    for (u32 i = live->count; i-- > 0;) {
        step_back(live, i, &view[i], registers, flags);
        registers = live->at[i].registers;
        flags = live->at[i].flags;
    }
}

static u32 index_of(const EmitLive *live, u64 pc) {
    u32 i = 0;
    while (i < live->count && live->at[i].pc != pc)
        i++;
    return i;
}

static void set_distances(const EmitLive *all, u32 first, Live *live) {
    memset(live->distance, EMIT_LIVE, sizeof(live->distance));
    for (u32 i = all->count; i-- > first;)
        for (u32 left = all->at[i].used & LIVE_ALL; left; left &= left - 1)
            live->distance[__builtin_ctz(left)] = (u8)(i - first);
}

void live_look(Emitter *e, u64 pc, Live *live) {
    u32 i = index_of(&e->live, pc);
    if (i == e->live.count) {
        look_ahead(&e->live, pc, e->flags_set);
        i = 0;
    }
    bool known = e->live.count;
    live->registers = known ? e->live.at[i].registers : LIVE_ALL;
    live->flags = !known || e->live.at[i].flags;
    live->overwritten = known ? e->live.at[i].overwritten : 0;
    set_distances(&e->live, i, live);
}
