/* caller.c: see caller.h; by the System V ABI of x86-64. */
#include "run/client/core/caller.h"

#include "guest_context.h"
#include "run/client/memory/peek.h"

/* DWARF's numbers, which are not those of the instruction set for the first eight. The last one is that of the return address. */
enum { DWARF_RAX, DWARF_RDX, DWARF_RCX, DWARF_RBX, DWARF_RSI, DWARF_RDI, DWARF_RBP, DWARF_RSP, DWARF_PC = 16 };

static const u8 number_in_dwarf[] = {DWARF_RAX, DWARF_RCX, DWARF_RDX, DWARF_RBX, DWARF_RSP, DWARF_RBP,
                                     DWARF_RSI, DWARF_RDI, 8,         9,         10,        11,
                                     12,        13,        14,        15};

u32 caller_sp_number(void) {
    return DWARF_RSP;
}

Caller caller_first(const GuestCpu *cpu) {
    Caller c = {.pc = cpu->pc};
    for (u32 i = 0; i < ARRAY_LEN(number_in_dwarf); i++)
        c.reg[number_in_dwarf[i]] = cpu->gp[i];
    c.reg[DWARF_PC] = cpu->pc;
    return c;
}

static void go_to(Caller *c, u64 pc, u64 sp) {
    c->pc = c->reg[DWARF_PC] = pc;
    c->reg[DWARF_RSP] = sp;
}

bool caller_at_entry(Caller *c) {
    u64 back;
    if (!copy_guarded(&back, (const void *)c->reg[DWARF_RSP], sizeof(back)))
        return false;
    go_to(c, back, c->reg[DWARF_RSP] + sizeof(back));
    return true;
}

/* rbp points to two words: the caller's rbp, and the return address. */
bool caller_by_pointer(Caller *c) {
    u64 words[2];
    if (c->reg[DWARF_RBP] % 8 || !copy_guarded(words, (const void *)c->reg[DWARF_RBP], sizeof(words)))
        return false;
    go_to(c, words[1], c->reg[DWARF_RBP] + sizeof(words));
    c->reg[DWARF_RBP] = words[0];
    return true;
}

/* Compilers write .eh_frame for all code of this machine. */
bool caller_by_code(Caller *c, u64 start, bool behind_call) {
    return (void)c, (void)start, (void)behind_call, false;
}

/* True if code begins here that makes the system call rt_sigreturn. C libraries have one of two forms of it. */
static bool returns_from_handler(u64 pc) {
    static const u8 forms[][9] = {
        {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, /* mov rax, 15; syscall */
        {0xb8, 15, 0, 0, 0, 0x0f, 0x05},             /* mov eax, 15; syscall */
    };
    u8 bytes[16];
    return copy_guarded(bytes, (const void *)pc, sizeof(bytes)) &&
           (!memcmp(bytes, forms[0], 9) || !memcmp(bytes, forms[1], 7));
}

bool caller_is_signal(Caller *c) {
    GuestContext s;
    if (!returns_from_handler(c->pc) || !copy_guarded(&s, (const void *)c->reg[DWARF_RSP], sizeof(s)))
        return false;
    const u64 all[] = {s.rax, s.rdx, s.rcx, s.rbx, s.rsi, s.rdi, s.rbp, s.rsp, s.r8,
                       s.r9,  s.r10, s.r11, s.r12, s.r13, s.r14, s.r15, s.rip};
    memcpy(c->reg, all, sizeof(all));
    c->pc = s.rip;
    return true;
}
