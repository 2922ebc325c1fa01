/* traces.c: traces PROGRAM [ARG]...: what tracing.c prints, by single steps of the CPU and what Zydis knows of instructions: the oracle of events. */
#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "stepping.h"

typedef struct user_regs_struct Registers;

/* An instruction and its registers before it. */
typedef struct Decoded {
    uint64_t pc, next;
    Registers regs;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
} Decoded;

static ZydisDecoder decoder;
static FILE *out;
static uint64_t stack;

static uint64_t read_word(uint64_t address, size_t bytes) {
    uint64_t word = 0;
    struct iovec to = {&word, bytes < 8 ? bytes : 8}, from = {(void *)address, bytes < 8 ? bytes : 8};
    process_vm_readv(child, &to, 1, &from, 1, 0);
    return word;
}

static bool decode(uint64_t pc, Decoded *d) {
    uint8_t text[15] = {0};
    struct iovec to = {text, sizeof(text)}, from = {(void *)pc, sizeof(text)};
    d->pc = pc;
    if (process_vm_readv(child, &to, 1, &from, 1, 0) <= 0 ||
        ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, text, sizeof(text), &d->in, d->op)))
        return false;
    d->next = pc + d->in.length;
    return true;
}

static uint64_t general(const Registers *r, ZydisRegister reg) {
    const uint64_t all[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                            r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    if (reg == ZYDIS_REGISTER_NONE)
        return 0;
    return all[ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg))];
}

/* A push is told by the register before it: what it writes is below. */
static uint64_t address_of(const Decoded *d, const ZydisDecodedOperand *op) {
    const ZydisDecodedOperandMem *m = &op->mem;
    if (m->base == ZYDIS_REGISTER_RIP)
        return d->next + (uint64_t)m->disp.value;
    bool pushes = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && m->base == ZYDIS_REGISTER_RSP &&
                  op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    uint64_t address = general(&d->regs, m->base) + general(&d->regs, m->index) * (m->scale ? m->scale : 1) +
                       (uint64_t)m->disp.value - (pushes ? op->size / 8 : 0);
    return address + (m->segment == ZYDIS_REGISTER_FS ? d->regs.fs_base : 0);
}

static void say(char kind, uint64_t pc, uint64_t address, uint64_t more) {
    enum { NEAR = 1 << 20 };
    if (address - stack + NEAR < NEAR)
        fprintf(out, "%c %lx stack-%lx %lx\n", kind, pc, stack - address, more);
    else if (address - stack < NEAR)
        fprintf(out, "%c %lx above %lx\n", kind, pc, more);
    else
        fprintf(out, "%c %lx %lx %lx\n", kind, pc, address, more);
}

/* Those of all accesses that read, or write; with sizes, or with what memory has. */
static void say_accesses(const Decoded *d, char kind, uint32_t action, bool values) {
    bool repeated = d->in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    if ((repeated && !d->regs.rcx) || d->in.mnemonic == ZYDIS_MNEMONIC_NOP)
        return;
    for (int i = 0; i < d->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->op[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type != ZYDIS_MEMOP_TYPE_MEM || !(op->actions & action))
            continue;
        uint64_t address = address_of(d, op), value = values ? read_word(address, op->size / 8) : 0;
        say(kind, d->pc, address, !values ? op->size / 8 : value < stack >> 1 ? value : 0);
    }
}

static bool is_branch(const Decoded *d) {
    return d->in.meta.category == ZYDIS_CATEGORY_COND_BR;
}

static bool goes_on(const Decoded *d) {
    switch (d->in.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
        return false;
    default:
        return d->in.mnemonic != ZYDIS_MNEMONIC_UD2;
    }
}

static void say_block(uint64_t pc) {
    Decoded d;
    uint64_t bytes = 0, count = 0;
    while (decode(pc + bytes, &d)) {
        bytes += d.in.length;
        count++;
        if (!goes_on(&d))
            break;
    }
    fprintf(out, "K %lx %lx %lu\n", pc, bytes, count);
}

static void say_before(const Decoded *d) {
    say_accesses(d, 'L', ZYDIS_OPERAND_ACTION_MASK_READ, false);
    say_accesses(d, 'S', ZYDIS_OPERAND_ACTION_MASK_WRITE, false);
}

/* Once it is known where it leads. What a call stores is known only then. */
static void say_flow(const Decoded *d, uint64_t to) {
    if (!goes_on(d)) {
        say_accesses(d, 'l', ZYDIS_OPERAND_ACTION_MASK_READ, true);
        say_accesses(d, 's', ZYDIS_OPERAND_ACTION_MASK_WRITE, true);
    }
    if (is_branch(d))
        fprintf(out, "B %lx %lx %d\n", d->pc, d->next + (uint64_t)d->op[0].imm.value.s, to != d->next);
    if (d->in.meta.category == ZYDIS_CATEGORY_CALL)
        fprintf(out, "C %lx %lx %lx\n", d->pc, to, d->next);
    if (d->in.meta.category == ZYDIS_CATEGORY_RET)
        fprintf(out, "R %lx %lx\n", d->pc, to);
    if (d->in.meta.category == ZYDIS_CATEGORY_UNCOND_BR && d->op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        fprintf(out, "J %lx %lx\n", d->pc, to);
    else if (d->in.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        fprintf(out, "G %lx %lx\n", d->pc, to);
}

static void say_behind(const Decoded *d, uint64_t to) {
    if (!goes_on(d))
        return;
    say_accesses(d, 'l', ZYDIS_OPERAND_ACTION_MASK_READ, true);
    say_accesses(d, 's', ZYDIS_OPERAND_ACTION_MASK_WRITE, true);
    if (to != d->pc)
        fprintf(out, "D %lx\n", d->pc);
}

/* What is said before a step is kept until it is known that the instruction was begun: a signal may come first. */
static char *kept;
static size_t kept_size;

static void keep(void) {
    out = open_memstream(&kept, &kept_size);
}

static void say_kept(bool begun) {
    fclose(out);
    out = stderr;
    if (begun)
        fwrite(kept, 1, kept_size, stderr);
    free(kept);
}

typedef struct State {
    bool begins;  /* a block */
    bool repeats; /* a pass of the same instruction follows */
    int sig;      /* is handed over with the next step, which is none then */
} State;

/* False: the program has ended. */
static bool step(Decoded *d, State *s, int *status) {
    bool executes = !s->sig, known = decode(d->regs.rip, d) && executes;
    keep();
    if (known && s->begins)
        say_block(d->pc);
    if (known && !s->repeats)
        fprintf(out, "I %lx %x\n", d->pc, d->in.length);
    if (known)
        say_before(d);
    bool goes = stepping_step(s->sig, status);
    Stop stop = goes ? stepping_stop(*status) : STOP_STEP;
    say_kept(stop != STOP_SIGNAL);
    if (!goes)
        return false;
    Registers after = stepping_registers();
    if (known && stop == STOP_STEP) {
        say_flow(d, after.rip);
        say_behind(d, after.rip);
    }
    s->repeats = executes && stop == STOP_STEP && after.rip == d->pc;
    s->begins = !executes || stop != STOP_STEP || (known && !goes_on(d));
    s->sig = stop == STOP_STEP ? 0 : WSTOPSIG(*status);
    d->regs = after;
    return true;
}

int main(int argc, char **argv) {
    int status;
    if (argc < 2)
        return 2;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    stepping_begin(argv + 1);
    Decoded d = {.regs = stepping_registers()};
    State s = {.begins = true};
    stack = d.regs.rsp;
    while (step(&d, &s, &status))
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
