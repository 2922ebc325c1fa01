/* native.c: see native.h.
 *
 * The kernel does the work: native_enter() raises SIGTRAP, the handler writes the guest's registers into the signal
 * frame and returns into the guest. Whatever ends the run is again a signal, because everything around the guest's bytes
 * is int3; then the frame holds the guest's complete state, and the host's frame is put back.
 */
#include "native.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

#include "state.h"

#define AREA_BYTES 0x10000u
#define STACK_BYTES 0x20000u
#define TICK_US 50000
#define HWCAP2_FSGSBASE 2

/* XSAVE state components; FXSAVE's legacy layout comes first in the area. */
enum { X87, SSE, AVX, OPMASK = 5, ZMM_HIGH = 6, ZMM_16_31 = 7, COMPONENTS };
enum { LEGACY_XMM = 160, LEGACY_ST = 32, LEGACY_SW_RESERVED = 464, HEADER = 512 };
#define MANAGED (1 << X87 | 1 << SSE | 1 << AVX | 1 << OPMASK | 1 << ZMM_HIGH | 1 << ZMM_16_31)
#define XSTATE_MAGIC 0x46505853u

enum {
    FLAG_CF = 0,
    FLAG_PF = 2,
    FLAG_AF = 4,
    FLAG_ZF = 6,
    FLAG_SF = 7,
    FLAG_DF = 10,
    FLAG_OF = 11,
    FLAG_AC = 18,
    FLAG_ID = 21
};

/* LatheX86Cpu's order of registers in terms of the signal frame's. */
static const u8 frame_gp[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

typedef enum Phase { PHASE_HOST, PHASE_ENTER, PHASE_GUEST, PHASE_CALL } Phase;

typedef struct Area {
    u64 base;
    u8 *bytes;
} Area;

/* A signal handler has no other argument: the one run in progress. */
static struct Run {
    volatile Phase phase;
    LatheX86Cpu *cpu;
    u64 code, code_end;
    NativeResult result;
    volatile unsigned ticks;
    greg_t host_gregs[NGREG];
    u32 host_mxcsr;
    u64 host_fsbase, host_gsbase;
    sigjmp_buf out_of_call;
} run;

static struct Machine {
    bool ready, has_fsgsbase;
    u32 component_offset[COMPONENTS];
} machine;

void native_enter(void);

/* ------------------------------------------------------------------------------------------------ state and frame */

static void put_flags(greg_t *gregs, const LatheX86Cpu *c) {
    gregs[REG_EFL] = 0x202 | c->cf << FLAG_CF | c->pf << FLAG_PF | c->af << FLAG_AF | c->zf << FLAG_ZF |
                     c->sf << FLAG_SF | c->df << FLAG_DF | c->of << FLAG_OF;
}

static void get_flags(const greg_t *gregs, LatheX86Cpu *c) {
    u64 f = (u64)gregs[REG_EFL];
    c->cf = f >> FLAG_CF & 1;
    c->pf = f >> FLAG_PF & 1;
    c->af = f >> FLAG_AF & 1;
    c->zf = f >> FLAG_ZF & 1;
    c->sf = f >> FLAG_SF & 1;
    c->df = f >> FLAG_DF & 1;
    c->of = f >> FLAG_OF & 1;
    c->id = f >> FLAG_ID & 1;
}

/* FXSAVE's image has the registers as ST(0)–ST(7), but the tag byte by physical register. */
static void put_fpu(u8 *area, const LatheX86Cpu *c) {
    u16 sw = (u16)((c->fpu_sw & ~0x3800) | c->fpu_top << 11);
    memcpy(area, &c->fpu_cw, 2);
    memcpy(area + 2, &sw, 2);
    area[4] = c->fpu_tag;
    area[5] = 0;
    memcpy(area + 6, &c->fpu_opcode, 2);
    memcpy(area + 8, &c->fpu_ip, 8);
    memcpy(area + 16, &c->fpu_dp, 8);
    for (int i = 0; i < 8; i++) {
        memset(area + LEGACY_ST + 16 * i, 0, 16);
        memcpy(area + LEGACY_ST + 16 * i, c->st[(c->fpu_top + i) & 7], 10);
    }
}

static void get_fpu(const u8 *area, LatheX86Cpu *c) {
    u16 sw;
    memcpy(&c->fpu_cw, area, 2);
    memcpy(&sw, area + 2, 2);
    c->fpu_sw = (u16)(sw & ~0x3800);
    c->fpu_top = sw >> 11 & 7;
    c->fpu_tag = area[4];
    memcpy(&c->fpu_opcode, area + 6, 2);
    memcpy(&c->fpu_ip, area + 8, 8);
    memcpy(&c->fpu_dp, area + 16, 8);
    for (int i = 0; i < 8; i++)
        memcpy(c->st[(c->fpu_top + i) & 7], area + LEGACY_ST + 16 * i, 10);
}

/* Which extended components the frame has. */
static u64 frame_components(const u8 *area) {
    u32 magic;
    u64 features;
    memcpy(&magic, area + LEGACY_SW_RESERVED, 4);
    memcpy(&features, area + LEGACY_SW_RESERVED + 8, 8);
    return magic == XSTATE_MAGIC ? features & MANAGED : 1 << X87 | 1 << SSE;
}

/* Moves one piece of state between its place in the frame and its place in the guest state. */
typedef void MovePiece(u8 *frame, u8 *cpu, size_t size, bool in_use);

static void put_piece(u8 *frame, u8 *cpu, size_t size, bool in_use) {
    (void)in_use;
    memcpy(frame, cpu, size);
}

/* A component that is not in use has its initial value, zero, whatever the frame's bytes are (SDM 1, 13.6). */
static void get_piece(u8 *frame, u8 *cpu, size_t size, bool in_use) {
    if (in_use)
        memcpy(cpu, frame, size);
    else
        memset(cpu, 0, size);
}

static void each_vector_piece(u8 *area, LatheX86Cpu *c, MovePiece *move, u64 in_use) {
    const u32 *off = machine.component_offset;
    u64 components = frame_components(area);
    for (int i = 0; i < 16; i++) {
        move(area + LEGACY_XMM + 16 * i, c->vec[i], 16, in_use >> SSE & 1);
        if (components >> AVX & 1)
            move(area + off[AVX] + 16 * i, c->vec[i] + 16, 16, in_use >> AVX & 1);
        if (components >> ZMM_HIGH & 1)
            move(area + off[ZMM_HIGH] + 32 * i, c->vec[i] + 32, 32, in_use >> ZMM_HIGH & 1);
        if (components >> ZMM_16_31 & 1)
            move(area + off[ZMM_16_31] + 64 * i, c->vec[16 + i], 64, in_use >> ZMM_16_31 & 1);
    }
    if (components >> OPMASK & 1)
        for (int i = 0; i < 8; i++)
            move(area + off[OPMASK] + 8 * i, (u8 *)&c->k[i], 8, in_use >> OPMASK & 1);
}

static u64 components_in_use(const u8 *area) {
    u64 bv = 0;
    if (frame_components(area) >> AVX)
        memcpy(&bv, area + HEADER, 8);
    return bv | 1 << X87 | 1 << SSE;
}

static void put_state(ucontext_t *uc, LatheX86Cpu *c) {
    greg_t *gregs = uc->uc_mcontext.gregs;
    u8 *area = (u8 *)uc->uc_mcontext.fpregs;
    u64 components = frame_components(area);
    for (int i = 0; i < 16; i++)
        gregs[frame_gp[i]] = (greg_t)c->gp[i];
    gregs[REG_RIP] = (greg_t)run.code;
    put_flags(gregs, c);
    put_fpu(area, c);
    u32 mxcsr = c->mxcsr & 0xffff;
    memcpy(area + 24, &mxcsr, 4);
    each_vector_piece(area, c, put_piece, MANAGED);
    if (components >> AVX)
        *(u64 *)(area + HEADER) |= components;
}

static void get_state(ucontext_t *uc, LatheX86Cpu *c) {
    const greg_t *gregs = uc->uc_mcontext.gregs;
    u8 *area = (u8 *)uc->uc_mcontext.fpregs;
    for (int i = 0; i < 16; i++)
        c->gp[i] = (u64)gregs[frame_gp[i]];
    c->pc = (u64)gregs[REG_RIP];
    get_flags(gregs, c);
    get_fpu(area, c);
    memcpy(&c->mxcsr, area + 24, 4);
    each_vector_piece(area, c, get_piece, components_in_use(area));
}

/* The host gets initial vector and x87 state (all of it dead in native_enter's caller) and its own mxcsr. */
static void put_host(ucontext_t *uc) {
    u8 *area = (u8 *)uc->uc_mcontext.fpregs;
    LatheX86Cpu initial = {.fpu_cw = 0x37f};
    memcpy(uc->uc_mcontext.gregs, run.host_gregs, sizeof(run.host_gregs));
    put_fpu(area, &initial);
    memcpy(area + 24, &run.host_mxcsr, 4);
    if (frame_components(area) >> AVX)
        *(u64 *)(area + HEADER) &= ~(u64)(MANAGED & ~(1 << X87 | 1 << SSE));
}

/* ---------------------------------------------------------------------------------------------------- the handler */

#define SEGMENT_OP(op, v) asm volatile(op " %0" : "+r"(v))

/* The system call alone: libc's function would leave its error at fs. */
static inline void arch_prctl(u64 code, u64 arg) {
    u64 nr = SYS_arch_prctl;
    asm volatile("syscall" : "+a"(nr) : "D"(code), "S"(arg) : "rcx", "r11", "memory");
}

/* sigreturn does not load these two: ID from the frame's flags, and the segment bases. */
static inline void set_unframed(u64 id, u64 fsbase, u64 gsbase) {
    u64 flags = __builtin_ia32_readeflags_u64() & ~(1ull << FLAG_ID | 1ull << FLAG_AC);
    __builtin_ia32_writeeflags_u64(flags | id << FLAG_ID);
    if (machine.has_fsgsbase) {
        SEGMENT_OP("wrgsbase", gsbase);
        SEGMENT_OP("wrfsbase", fsbase);
    } else {
        arch_prctl(ARCH_SET_GS, gsbase);
        arch_prctl(ARCH_SET_FS, fsbase);
    }
}

static inline void get_segments(u64 *fsbase, u64 *gsbase) {
    if (machine.has_fsgsbase) {
        SEGMENT_OP("rdfsbase", *fsbase);
        SEGMENT_OP("rdgsbase", *gsbase);
    } else {
        arch_prctl(ARCH_GET_FS, (u64)fsbase);
        arch_prctl(ARCH_GET_GS, (u64)gsbase);
    }
}

static bool in_code(u64 addr) {
    return addr >= run.code && addr < run.code_end;
}

/* Leaving the code is no signal to the caller: a landing on our int3, or a fetch from memory that has no code. */
static NativeResult how_it_ended(int sig, const siginfo_t *info, LatheX86Cpu *c) {
    NativeResult r = {.signal = sig, .code = info->si_code, .fault = (u64)(uintptr_t)info->si_addr};
    if (sig == SIGTRAP && !in_code(c->pc - 1)) {
        c->pc--;
        return (NativeResult){0};
    }
    if (sig == SIGSEGV && info->si_code != SI_KERNEL && r.fault == c->pc && !in_code(c->pc))
        return (NativeResult){0};
    return r;
}

static void end_run(int sig, const siginfo_t *info, ucontext_t *uc) {
    get_state(uc, run.cpu);
    run.result = how_it_ended(sig, info, run.cpu);
    put_host(uc);
}

/* libc's thread data is behind the fs base: nothing may use it while the guest's is loaded. */
__attribute__((no_stack_protector, no_sanitize("address", "undefined"))) static void on_signal(int sig, siginfo_t *info,
                                                                                               void *context) {
    Phase phase = run.phase;
    if (sig == SIGVTALRM && (phase != PHASE_GUEST || run.ticks++ == 0))
        return;
    run.phase = PHASE_HOST;
    if (phase == PHASE_ENTER) {
        memcpy(run.host_gregs, ((ucontext_t *)context)->uc_mcontext.gregs, sizeof(run.host_gregs));
        get_segments(&run.host_fsbase, &run.host_gsbase);
        put_state(context, run.cpu);
        run.phase = PHASE_GUEST;
        set_unframed(run.cpu->id, run.cpu->fsbase, run.cpu->gsbase);
    } else if (phase == PHASE_GUEST) {
        u64 fsbase = run.cpu->fsbase, gsbase = run.cpu->gsbase;
        get_segments(&fsbase, &gsbase);
        set_unframed(0, run.host_fsbase, run.host_gsbase);
        run.cpu->fsbase = fsbase;
        run.cpu->gsbase = gsbase;
        end_run(sig, info, context);
    } else if (phase == PHASE_CALL) {
        run.result = (NativeResult){.signal = sig, .code = info->si_code, .fault = (u64)(uintptr_t)info->si_addr};
        siglongjmp(run.out_of_call, 1);
    } else {
        signal(sig, SIG_DFL);
    }
}

/* ------------------------------------------------------------------------------------------------------- set-up */

static void find_components(void) {
    unsigned a, b, c, d;
    for (unsigned i = AVX; i < COMPONENTS; i++)
        if (__get_cpuid_count(0xd, i, &a, &b, &c, &d))
            machine.component_offset[i] = b;
}

static void catch_signals(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGVTALRM};
    stack_t stack = {.ss_size = STACK_BYTES};
    stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack.ss_sp != MAP_FAILED && !sigaltstack(&stack, NULL), "no memory for the signal stack");
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    sigaddset(&action.sa_mask, SIGVTALRM);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    struct itimerval tick = {{0, TICK_US}, {0, TICK_US}};
    setitimer(ITIMER_VIRTUAL, &tick, NULL);
}

static void get_ready(void) {
    if (machine.ready)
        return;
    machine.ready = true;
    machine.has_fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
    find_components();
    catch_signals();
}

/* The area of int3 around `pc`, mapped on first use; the least recently mapped of a few goes for a new one. */
static u8 *area_at(u64 pc) {
    static Area areas[8];
    static size_t next;
    u64 base = pc & ~(u64)(AREA_BYTES - 1);
    for (size_t i = 0; i < ARRAY_LEN(areas); i++)
        if (areas[i].bytes && areas[i].base == base)
            return areas[i].bytes;
    Area *a = &areas[next++ % ARRAY_LEN(areas)];
    if (a->bytes)
        munmap(a->bytes, AREA_BYTES);
    a->base = base;
    a->bytes = mmap((void *)(uintptr_t)base, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(a->bytes == (u8 *)(uintptr_t)base, "the guest's code address is taken in this process");
    memset(a->bytes, 0xcc, AREA_BYTES);
    return a->bytes;
}

NativeResult native_run(LatheX86Cpu *cpu, const void *code, size_t size) {
    get_ready();
    u64 pc = cpu->pc ? cpu->pc : NATIVE_CODE;
    u64 offset = pc & (AREA_BYTES - 1);
    CHECK(offset + size < AREA_BYTES, "guest code must not cross the end of its 64 KiB area");
    u8 *bytes = area_at(pc) + offset;
    memcpy(bytes, code, size);
    run.cpu = cpu;
    run.code = pc;
    run.code_end = pc + size;
    run.ticks = 0;
    run.host_mxcsr = __builtin_ia32_stmxcsr();
    run.phase = PHASE_ENTER;
    native_enter();
    memset(bytes, 0xcc, size);
    return run.result;
}

NativeResult native_call(LatheEntry *entry, void *cpu) {
    get_ready();
    run.result = (NativeResult){0};
    if (!sigsetjmp(run.out_of_call, 1)) {
        run.phase = PHASE_CALL;
        entry(cpu);
    }
    run.phase = PHASE_HOST;
    return run.result;
}

unsigned native_vector_bytes(void) {
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
}

u32 native_trap_of(NativeResult r, u32 expected) {
    switch (r.signal) {
    case 0:
        return LATHE_TRAP_NONE;
    case SIGFPE:
        return r.code == FPE_INTDIV || r.code == FPE_INTOVF ? LATHE_TRAP_DIVIDE : TRAP_FLOAT;
    case SIGILL:
        return expected == LATHE_TRAP_UNSUPPORTED ? expected : LATHE_TRAP_UNDEFINED;
    case SIGTRAP:
        return LATHE_TRAP_BREAK;
    case SIGBUS:
        return LATHE_TRAP_MISALIGNED;
    case SIGVTALRM:
        return TRAP_TIMEOUT;
    case SIGSEGV:
        if (r.code != SI_KERNEL)
            return TRAP_MEMORY;
        return expected == LATHE_TRAP_MISALIGNED || expected == LATHE_TRAP_INTERRUPT ? expected : LATHE_TRAP_PRIVILEGED;
    default:
        return TRAP_SIGNAL;
    }
}
