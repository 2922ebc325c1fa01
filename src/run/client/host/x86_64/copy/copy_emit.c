/* copy_emit.c: copies instructions (see emit.h). An instruction that only computes is copied as it is; if it addresses memory relative to its own
 * place, its displacement is changed or, where that does not reach, a register holds the address meanwhile. Transfers of control become jumps. Calls
 * and returns of the guest are the host's own, so that the CPU predicts them; the host's return address on the stack is replaced by the guest's. */
#include "run/client/code/quick/map.h"
#include "run/client/host/x86_64/copy/encode.h"
#include "run/client/tool/sites.h"

enum { OPERAND_MOV = 0x8b };
static const u8 *guest(const Emitter *e) {
    return e->text;
}

/* ------------------------------------------------------------------------------------------------------------- copying */

/* A register for an address that an instruction with a ModRM operand does not use: of those three none has an extended number,
 * and none is implied by an instruction that has a memory operand, but for rbx (cmpxchg16b), which comes last. */
static u32 free_register(const u8 *insn, const Shape *s) {
    u32 reg = insn[s->modrm_at] >> 3 & 7, third = third_register(insn, s);
    return reg != RSI && third != RSI ? RSI : reg != RDI && third != RDI ? RDI : RBX;
}

/* The same instruction with [reg] in place of [rip + x]. The bit that would extend reg's number is ignored beside rip, so it may
 * be set: REX.B, and its inverse in VEX and EVEX. */
static void put_with_register(Emitter *e, const Shape *s, u32 reg) {
    u8 text[16];
    memcpy(text, guest(e), s->length);
    u32 op = s->opcode_at;
    if (s->rex && op >= 1)
        for (u32 i = 0; i < op; i++)
            if (text[i] == s->rex)
                text[i] &= (u8)~REX_B;
    if (op >= 3 && text[op - 3] == VEX3 && !s->rex)
        text[op - 2] |= 0x20;
    if (op >= 4 && text[op - 4] == EVEX && !s->rex)
        text[op - 3] |= 0x20;
    text[s->modrm_at] = (u8)((text[s->modrm_at] & 0x38) | reg);
    put(e, text, s->disp_at);
    put(e, text + s->disp_at + 4, s->length - s->disp_at - 4u);
}

static void put_far(Emitter *e, const Shape *s, u64 address) {
    u32 reg = free_register(guest(e), s);
    spill(e, reg, THREAD_SPILL_BASE);
    put_constant(e, reg, address);
    put_with_register(e, s, reg);
    unspill(e, reg, THREAD_SPILL_BASE);
}

static u64 relative_address(const Emitter *e, const Shape *s) {
    i32 disp;
    memcpy(&disp, guest(e) + s->disp_at, 4);
    u64 address = e->next + (u64)(i64)disp;
    return s->address32 ? (u32)address : address;
}

/* True if an instruction of that length at e->at reaches the address by [rip + x]. With 32-bit addresses it reaches all of them. */
static bool reaches(const Emitter *e, const Shape *s, u64 length, u64 address) {
    i64 distance = (i64)(address - ((u64)e->at + length));
    return s->address32 || distance == (i32)distance;
}

void put_copy(Emitter *e, const Shape *s) {
    if (!s->disp_at) {
        put(e, guest(e), s->length);
        return;
    }
    u64 address = relative_address(e, s);
    if (!reaches(e, s, s->length, address)) {
        put_far(e, s, address);
        return;
    }
    u8 *at = e->at;
    i32 disp = (i32)(address - ((u64)at + s->length));
    put(e, guest(e), s->length);
    memcpy(arena_writable(at + s->disp_at), &disp, 4);
}

/* ------------------------------------------------------------------------------------------------------------- control */

/* mov $address, %rcx; mov (%rcx), %rcx */
static void put_load_far(Emitter *e, const u8 *prefixes, u32 count, u64 address) {
    put_constant(e, RCX, address);
    put(e, prefixes, count);
    put(e, "\x48\x8b\x09", 3);
}

/* mov target, %rcx, where the target is the ModRM operand of a jump or call. */
static void put_load_target(Emitter *e, const Shape *s) {
    const u8 *insn = guest(e);
    u8 text[16];
    u32 n = 0, tail = s->length - s->modrm_at - 1u;
    for (u32 i = 0; i < s->opcode_at; i++)
        if (insn[i] == FS || insn[i] == ADDRESS32)
            text[n++] = insn[i];
    u32 prefixes = n;
    text[n++] = (u8)(REX | REX_W | (s->rex & (REX_X | REX_B)));
    text[n++] = OPERAND_MOV;
    text[n++] = (u8)((insn[s->modrm_at] & 0xc7) | RCX << 3);
    memcpy(text + n, insn + s->modrm_at + 1, tail);
    if (s->disp_at) {
        u64 address = relative_address(e, s);
        if (!reaches(e, s, n + tail, address)) {
            put_load_far(e, text, prefixes, address);
            return;
        }
        i32 disp = (i32)(address - ((u64)e->at + n + tail));
        memcpy(text + n, &disp, 4);
    }
    put(e, text, n + tail);
}

/* With the target in rcx, whose own value is spilled:
 *
 *     mov map(,%rcx,4), %ecx       or, where the target was elsewhere once, jmp 1f: see emit_detour
 *     jrcxz 1f
 *     ...                          go there
 * 1:  ...                          ask for it
 *
 * The first two bytes are written as a whole, so they are in one aligned word. */
static const u8 map_load[] = {0x8b,         0x0c, 0x8d, LOW_MAP & 0xff, LOW_MAP >> 8 & 0xff, LOW_MAP >> 16 & 0xff,
                              LOW_MAP >> 24};
enum { JRCXZ = 0xe3, JMP_SHORT = 0xeb, JUMP_BYTES = 2 };

static void put_map_load(Emitter *e, u32 bytes_to_go) {
    if ((u64)e->at % 8 == 7)
        put8(e, 0x90);
    put(e, map_load, sizeof(map_load));
    put8(e, JRCXZ);
    put8(e, bytes_to_go);
}

static const u8 put_on_stack[] = {0x48, 0x89, 0x0c, 0x24}; /* mov %rcx, (%rsp) */
enum { RET = 0xc3, RET_DROP = 0xc2, DROP_BYTES = 2 };

static u32 return_bytes(bool drops) {
    return sizeof(put_on_stack) + 1 + (drops ? DROP_BYTES : 0);
}

/* A host return to the address in rcx, which also drops as many bytes of the stack as the guest's. */
static void put_return(Emitter *e, u16 dropped) {
    put(e, put_on_stack, sizeof(put_on_stack));
    put8(e, dropped ? RET_DROP : RET);
    if (dropped)
        put(e, &dropped, DROP_BYTES);
}

static bool is_return(const u8 *code) {
    u8 opcode = code[sizeof(put_on_stack)];
    return !memcmp(code, put_on_stack, sizeof(put_on_stack)) && (opcode == RET || opcode == RET_DROP);
}

/* True if a look into the map begins here, even if another thread has replaced the load by a jump since it has faulted in this thread. */
static bool is_map_load(const u8 *code) {
    bool jumps = code[0] == JMP_SHORT;
    return (jumps || !memcmp(code, map_load, JUMP_BYTES)) &&
           !memcmp(code + JUMP_BYTES, map_load + JUMP_BYTES, sizeof(map_load) - JUMP_BYTES) &&
           code[sizeof(map_load)] == JRCXZ;
}

u64 emit_detour(u64 host, u64 target) {
    u8 *code = (u8 *)host;
    if (is_return(code) && is_map_load(code - JUMP_BYTES - sizeof(map_load)))
        return host + return_bytes(code[sizeof(put_on_stack)] == RET_DROP);
    if (!is_map_load(code))
        return 0;
    u32 distance = sizeof(map_load) + JUMP_BYTES + code[sizeof(map_load) + 1];
    if (target >= LOW_CODE) {
        arena_lock();
        u16 jump = (u16)(JMP_SHORT | (distance - JUMP_BYTES) << 8);
        __atomic_store_n((u16 *)arena_writable(code), jump, __ATOMIC_RELEASE);
        arena_unlock();
    }
    return host + distance;
}

/* Goes to the guest address in rcx, by the map or else by a routine whose address is at this offset in the Thread. */
static void put_go(Emitter *e, u32 routine) {
    if (map_covers(e->pc)) {
        spill(e, RCX, THREAD_ASKED);
        put_map_load(e, 2);
        put(e, "\xff\xe1", 2); /* jmp *%rcx */
        unspill(e, RCX, THREAD_ASKED);
    }
    put_thread_jump(e, routine);
}

/* Finds one of the first eight registers that the guest does not need now. If there is none, returns rcx, and it has to be spilled. */
static u32 counting_register(Emitter *e, bool *spilled) {
    enum { CAN = LIVE_ALL & 0xff & ~(1 << RSP) };
    Live live;
    live_look(e, e->pc, &live);
    u32 spare = CAN & (~live.registers | e->aside) & ~e->words.registers;
    *spilled = !spare;
    return *spilled ? RCX : (u32)__builtin_ctz(spare);
}

/* lea amount(reg), reg */
static void put_lea(Emitter *e, u32 reg, bool small) {
    const u8 text[] = {REX | REX_W, 0x8d, (u8)((small ? 0x40 : 0x80) | reg << 3 | reg)};
    put(e, text, sizeof(text));
    e->at += small ? 1 : 4;
}

/* addq $amount, gs:off; or, where the flags are read, lea adds. */
EmitCount emit_count(Emitter *e, u32 off, bool small) {
    bool spilled;
    if (flags_are_dead(e->pc, e->flags_set))
        return put_thread_add(e, off, small);
    u32 reg = counting_register(e, &spilled);
    EmitCount count = {.at = e->at, .small = small};
    if (spilled)
        spill(e, reg, THREAD_SPILL_BASE);
    unspill(e, reg, off);
    count.off_at[0] = (u8)(e->at - count.at - 4);
    put_lea(e, reg, small);
    count.amount_at = (u8)(e->at - count.at - (small ? 1 : 4));
    spill(e, reg, off);
    count.off_at[1] = (u8)(e->at - count.at - 4);
    if (spilled)
        unspill(e, reg, THREAD_SPILL_BASE);
    count.bytes = (u8)(e->at - count.at);
    return count;
}

enum { ENTRY_BYTES = 9 };
const u32 emit_entry_bytes = ENTRY_BYTES;

void emit_entry(Emitter *e) {
    unspill(e, RCX, THREAD_SPILL_RCX);
}

bool emit_is_entered(const u8 *code) {
    u8 text[] = {GS, REX | REX_W, 0x8b, RM_SP | RCX << 3, 0x25, 0, 0, 0, 0};
    const u32 off = THREAD_SPILL_RCX;
    _Static_assert(sizeof(text) == ENTRY_BYTES, "what unspill makes");
    memcpy(text + 5, &off, 4);
    return !memcmp(code - ENTRY_BYTES, text, ENTRY_BYTES);
}

/* The guest's return address in place of the host's: movq $pc, (%rsp); or lea 8(%rsp), %rsp and a push of what lies in the arena's data. */
static void put_return_address(Emitter *e, u64 pc) {
    if (pc <= INT32_MAX) {
        put(e, "\x48\xc7\x04\x24", 4);
        put32(e, (u32)pc);
        return;
    }
    u8 *literal = arena_data(8, 8);
    memcpy(literal, &pc, 8);
    put(e, "\x48\x8d\x64\x24\x08\xff\x35", 7);
    put32(e, (u32)(literal - (e->at + 4)));
}

static EmitResult put_call(Emitter *e, const Shape *s, bool indirect) {
    put8(e, 0xe8);
    u64 pc = e->next + (u64)s->target;
    bool skips = !indirect && !sites_want_all(); /* a tool sees the instructions of a PLT, too */
    e->call[e->calls++] = (EmitCall){e->at, pc, e->next, skips ? linkage_slot(pc) : 0, indirect};
    e->at += 4;
    if (map_covers(e->next))
        emit_entry(e);
    return (EmitResult){.returns = true};
}

EmitSites emit_call_rest(Emitter *e, const EmitCall *c) {
    i32 distance = (i32)(e->at - (c->site + 4));
    memcpy(arena_writable(c->site), &distance, 4);
    put_return_address(e, c->next);
    if (c->indirect) {
        put_go(e, THREAD_CALL);
        return (EmitSites){0};
    }
    u8 *other = c->slot ? put_linkage(e, c->slot) : NULL;
    return (EmitSites){emit_jump(e), other};
}

static EmitResult link_to(const Emitter *e, const Shape *s, u8 *site) {
    return (EmitResult){.exits = true, .exit = {EXIT_LINK, e->next + (u64)s->target, site}};
}

static EmitResult leave_with(ExitKind kind, u64 pc) {
    return (EmitResult){.ends = true, .exits = true, .exit = {kind, pc, NULL}};
}

static EmitResult emit_jcc(Emitter *e, const Shape *s) {
    const u8 opcode[] = {0x0f, (u8)(0x80 | (s->opcode & 15))};
    return link_to(e, s, put_site(e, opcode, 2));
}

/* loop near; jmp over; near: jmp target; over: */
static EmitResult emit_counted(Emitter *e, const Shape *s) {
    put(e, guest(e), s->length - 1u);
    put8(e, 2);
    put8(e, 0xeb);
    u8 *over = e->at;
    put8(e, 0);
    u8 *site = emit_jump(e);
    *arena_writable(over) = (u8)(e->at - (over + 1));
    return link_to(e, s, site);
}

static void put_load_return(Emitter *e) {
    put(e, "\x48\x8b\x0c\x24", 4); /* mov (%rsp), %rcx */
}

/* A return that drops bytes becomes a jump where the map does not have its target. */
static EmitResult emit_ret(Emitter *e, const Shape *s) {
    spill(e, RCX, THREAD_SPILL_RCX);
    if (map_covers(e->pc)) {
        put_load_return(e);
        put_map_load(e, return_bytes(s->immediate));
        put_return(e, (u16)s->immediate);
    }
    if (s->immediate) {
        put8(e, 0x59);                 /* pop %rcx */
        put(e, "\x48\x8d\xa4\x24", 4); /* lea n(%rsp), %rsp */
        put32(e, s->immediate);
        put_thread_jump(e, THREAD_JUMP);
    } else {
        put_load_return(e);
        put_thread_jump(e, e->flags_set ? THREAD_RETURN_EXACT : THREAD_RETURN);
    }
    return (EmitResult){.ends = true};
}

/* The target is in rcx, whose own value is spilled. */
static EmitResult go_to_target(Emitter *e, const Shape *s) {
    if (s->kind == SHAPE_CALL_INDIRECT)
        return put_call(e, s, true);
    put_go(e, s->disp_at ? THREAD_CALL : THREAD_JUMP); /* through a fixed place: to a function, as from a PLT */
    return (EmitResult){.ends = true};
}

static EmitResult emit_indirect(Emitter *e, const Shape *s) {
    spill(e, RCX, THREAD_SPILL_RCX);
    put_load_target(e, s);
    return go_to_target(e, s);
}

/* Instructions that always trap do so by themselves; int n is a system call for some n. */
static EmitResult emit_trap(Emitter *e, const Shape *s) {
    if (s->opcode == 0xcd)
        return leave_with(EXIT_INTERRUPT, e->pc);
    put_copy(e, s);
    return (EmitResult){0};
}

/* A return behind popf goes back to what was interrupted, wherever that is, as Go's preemption does. */
static void note_flags(Emitter *e, const Shape *s) {
    enum { POPF = 0x9d };
    if (s->kind == SHAPE_CALL || s->kind == SHAPE_CALL_INDIRECT)
        e->flags_set = false;
    else if (s->opcode == POPF && !s->modrm_at)
        e->flags_set = true;
}

static EmitResult emit_plain(Emitter *e, const Shape *s) {
    EmitResult r = {0};
    note_flags(e, s);
    switch ((ShapeKind)s->kind) {
    case SHAPE_PLAIN:
        put_copy(e, s);
        return r;
    case SHAPE_JCC:
        return emit_jcc(e, s);
    case SHAPE_COUNTED:
        return emit_counted(e, s);
    case SHAPE_CALL:
        return put_call(e, s, false);
    case SHAPE_JMP:
        r = link_to(e, s, emit_jump(e));
        r.ends = true;
        return r;
    case SHAPE_RET:
        return emit_ret(e, s);
    case SHAPE_JMP_INDIRECT:
    case SHAPE_CALL_INDIRECT:
        return emit_indirect(e, s);
    case SHAPE_TRAP:
        return emit_trap(e, s);
    case SHAPE_SYSCALL:
        return leave_with(EXIT_SYSCALL, e->next);
    case SHAPE_CPUID:
        return leave_with(EXIT_SPECIAL, e->next);
    case SHAPE_OTHER:
        break;
    }
    return leave_with(EXIT_UNSUPPORTED, e->pc);
}

EmitResult emit_insn(Emitter *e, const Shape *s) {
    u8 text[SHAPE_BYTES];
    Shape plain;
    if (s->kind != SHAPE_OTHER)
        return emit_plain(e, s);
    switch (emit_gs(e, s, text, &plain)) {
    case EMIT_GS_DONE:
        return (EmitResult){0};
    case EMIT_GS_WITHOUT:
        return emit_plain(e, &plain);
    case EMIT_GS_TARGET:
        return go_to_target(e, &plain);
    case EMIT_GS_NOT:
        break;
    }
    return leave_with(EXIT_UNSUPPORTED, e->pc);
}
