/* host.h: what a host is: the machine that generated code is for.
 *
 * A host is one constant `Host`. Whoever generates code asks it: the lifter for instructions of a guest that the host has a form
 * of its own for, codegen for the triple and the features, the server for what patchable code looks like. A part that a host lacks
 * is NULL or 0, and then there is a plain way that any LLVM target compiles. Nothing of LLVM is in here, so that also those can
 * include it who must do without. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "base/base.h"
#include "lathe/types.h"

/* ------------------------------------------------------------------------------------------------------ exact accesses */

/* One instruction of assembly that moves a value between memory and a register: from operand 1 to 0 when it loads ($1 is
 * memory), and from 1 to 0 when it stores ($0 is memory). The constraint is the register's. */
typedef struct HostMove {
    const char *load, *store, *constraint;
} HostMove;

/* How an access to guest memory is one instruction, so that its fault has one address (ir/access.c). */
typedef struct HostAccess {
    HostMove ints[4];           /* of 8, 16, 32 and 64 bits */
    HostMove floats[2];         /* of 32 and 64 bits */
    const char *look, *claim;   /* touch a byte $0 without changing it: fault as a load does, or as a store */
    u32 claim_bytes;            /* not 0: `claim` touches all of these around the byte, at a multiple of that number */
    const char *touch_memory;   /* the constraint of $0 in these two */
    const char *touch_clobbers; /* what these two change, as constraints */
} HostAccess;

/* ------------------------------------------------------------------------------------------------------- the convention */

/* A calling convention of LLVM that passes and returns so many values in registers, in the same order both ways. */
typedef struct HostConvention {
    unsigned cc; /* LLVM's number */
    u32 ints, vectors;
} HostConvention;

/* ---------------------------------------------------------------------------------------- for code that becomes the host's own */

/* What libbinopt asks for, whose guest is the machine that it runs on. */

/* Forms convert floating point to integers by this intrinsic of LLVM: toward zero, and to the most negative integer what does not fit. With one lane,
 * the operand is a vector of 128 bits, of which the lowest is meant. */
typedef struct HostTruncation {
    const char *intrinsic; /* NULL: the end of a list */
    u8 lanes, from_bits, to_bits;
} HostTruncation;

/* Forms estimate 1 / x, or 1 / sqrt(x), by this intrinsic; low: in the lowest lane only, the others stay. */
typedef struct HostEstimate {
    const char *intrinsic; /* NULL: the end of a list */
    bool of_root, low;
} HostEstimate;

/* Assembly with its constraints. */
typedef struct HostAsm {
    const char *text, *constraints;
} HostAsm;

/* How a function is called on another stack: by assembly that has the function's address and the new stack pointer in registers that the function keeps. */
typedef struct HostStackCall {
    const char *const *ints,
        *const *vectors; /* names of registers for constraints, in the order of the machine's numbers */
    const char *function,
        *stack;                /* the names of those two; `stack` has the address at which the return address is put */
    const char *clobbers;      /* the last constraints */
    const char *(*text)(void); /* for the CPU that this runs on */
    HostAsm
        copy; /* words of 64 bits, without vector registers: $0, $1, $2 are the destination, the source and how many */
} HostStackCall;

/* ------------------------------------------------------------------------------------------- for raised programs (src/raise) */

typedef enum HostRaiseKind {
    RAISE_DYNAMIC, /* a program */
    RAISE_STATIC,  /* a program whose C library is part of it */
    RAISE_LIBRARY,
} HostRaiseKind;

/* How raised functions and native code call each other, the guest being of the host's kind. */
typedef struct HostRaise {
    const char *features; /* for LLVM, besides those of the CPU */
    /* Assembly of the functions that src/raise/raise.h names, malloc'ed. Raise's own variables of a thread begin at that
     * distance from the thread pointer; `rest`: the program has to do with
     * state that is no register; `unwinds`: with exceptions, and then lathe_import_… is what it has of C++'s library; `kind`: what is raised. */
    char *(*runtime)(i64 thread_offset, u64 image, u64 image_bytes, bool rest, bool unwinds, HostRaiseKind kind);
    u32 thread_bytes;
    /* Where raised libraries have them: their distance from the thread pointer cannot be known, so they are in a part of what is there that the C library
     * keeps and does not use. All raised libraries of a process share them. */
    i64 library_thread_offset;
    /* Raised functions have the C convention; the guest's stack pointer and the state have registers of their own, which these attributes of LLVM
     * give them. */
    const char *stack_mark, *state_mark;
    const char *target_mark; /* and for the address that is called, where a function of the runtime calls native code */
    /* The host's register that a guest's register is in where native code is called; NULL: none. */
    const char *(*reg_name)(u32 reg);
    /* Inline assembly that calls native code, for printf: where the thread's variables are. */
    const char *call;
    /* The same for programs that have to do with state that is no register. */
    const char *call_rest;
    /* The same for a function that ends the thread, whose host stack goes first; for printf comes the size of that, too. */
    const char *call_end;
    i32 stack_bytes;
    /* The registers that `call` has the guest's stack pointer, the address that is called, and the state in. */
    const char *call_stack, *call_target, *call_state;
    /* Constraints for what `call` loses besides registers of the guest. */
    const char *call_lost;
    /* Inline assembly at landing pads, to which exceptions come from native code, for printf: where the thread's variables are. */
    const char *landed;
    /* Inline assembly that traps as a division without a result does, and by intent; and what is lost then. */
    const char *divides, *traps, *trap_lost;
    /* Inline assembly that finds the bridge of a raised function by the function's old address, and its constraints. */
    const char *find, *find_constraints;
    /* Assembly of where native code enters a function, for printf: its name twice, then the bridge's. */
    const char *entry;
    /* The same for where the program begins, which returns to nobody. */
    const char *entry_first;
    /* The same for functions that take registers from the state. */
    const char *entry_rest;
    /* The same for functions that need no host stack; the bridge's name comes twice. */
    const char *entry_direct;
    /* A jump that replaces the first bytes of a function; `distance` is from its own beginning. */
    u32 jump_bytes;
    void (*jump)(u8 *code, i32 distance);
    u32 short_bytes, short_reach; /* the same for a near place */
    void (*short_jump)(u8 *code, i32 distance);
    u8 fill;                            /* a byte that traps */
    u8 only_return;                     /* an instruction of one byte that returns; 0: there is none */
    bool (*is_thread_offset)(u32 type); /* a relocation of a place within the file's own thread-local storage? */
    /* For statically linked programs: assembly of where the kernel begins them, for printf: the entry's name; functions that only work as they
     * are (setjmp, longjmp, sigreturn: their names, or NULL); and system calls, one of which starts threads. */
    const char *start;
    const char *(*kept)(const u8 *code, size_t size);
    /* The registers that a system call may read; the first has the number, and the result. */
    const u8 *system_call_regs;
    u32 system_call_reg_count;
    bool (*is_system_call)(const u8 *code, size_t size);
    bool (*starts_thread)(u64 number);
} HostRaise;

/* How programs of another machine become this host's own. */
typedef struct HostForeign {
    const char *features; /* for LLVM, besides those that every machine of the kind has */
    /* Assembly of where native code enters a function, for printf: its name twice, its bridge's, its name, and its bridge's twice. Before it is the distance from
     * there to its bridge, and it goes on at lathe_raise_enter of src/raise/runtime. */
    const char *entry;
    /* The same for a function whose result is in memory, where either the host or the guest has a register of its own for the address of that. */
    const char *entry_for_memory;
    /* The same for a function that takes and gives integers in the host's registers: its name twice, its bridge's, its name, and that of the code. */
    const char *entry_direct;
    /* Assembly: loads before it come before all accesses behind it; stores before stores; both. NULL: the host has the order of all guests. */
    const char *order_loads, *order_stores, *order_all;
    bool result_apart;   /* has the host such a register? Else that address comes before all other integers. */
    bool short_extended; /* has its long double 80 bits, and not 128? */
    const char *linker;  /* the C compiler that links for this machine */
} HostForeign;

/* --------------------------------------------------------------------------------------------------------------- hosts */

typedef struct Host {
    LatheHost id;
    const char *name;

    /* For LLVM. Lists of features begin with a comma. */
    const char *triple;
    const char *common_cpu;     /* what every machine of this kind has that we generate code for */
    const char *least_features; /* added to every target, because forms count on them */
    const char *left_out;       /* added to the own machine's: what is not to be used of them */
    const char
        *low_features; /* LatheJitConfig.low_vectors: with these, code leaves high parts of vector registers alone */
    /* How names of its intrinsics begin that do not tell one NaN from another (lift/canonical.c), then NULL. */
    const char *const *blind;
    bool
        makes_negative_nans; /* where no operand of an operation is one; else the first operand's, or the second's, is passed on */

    /* For lifted code. */
    bool signed_arguments;     /* do C functions count on 32-bit arguments being sign-extended? */
    bool boxed_floats;         /* is a float whose upper bits in its register are not all ones no number? */
    HostConvention convention; /* no ints: there is none, and all registers travel in the guest state */
    const HostAccess *access;  /* NULL: LatheConfig.exact_faults is not for this host */
    bool native_fs;            /* is LatheTuning.native_fs for this host? */
    /* What it has for instructions of these guests: isa/x86_64/forms.h, isa/riscv64/forms.h, isa/aarch64/forms.h. */
    const struct X86Forms *x86_64;
    const struct RvForms *riscv64;
    const struct A64Forms *aarch64;

    /* For code that is run as it is translated. */
    const char *read_stack_pointer;    /* assembly: into $0 */
    const char *load_low, *load_wide;  /* assembly: the symbol $1 as a constant of 32 or 64 bits into $0 */
    const char *stencil_cpu;           /* what stencils are compiled for */
    const struct HostStencil *stencil; /* host/stencil.h */
    u64 nops;                          /* eight bytes of instructions that do nothing */
    const char *patchable; /* LLVM's "patchable-function"; NULL: any first instruction can be replaced at once */
    /* Does the code touch no vector register from that number on? */
    bool (*keeps_vectors)(const u8 *code, size_t size, unsigned vectors);

    /* For code that becomes the host's own. */
    const HostTruncation *truncations;
    const HostEstimate *estimates;
    const HostStackCall *stack_call;
    const HostRaise *raise;     /* NULL: no programs of its own kind are raised for this host */
    const HostForeign *foreign; /* NULL: no programs of another kind */
    HostAsm divide_fault;       /* raises what a division by zero raises */
} Host;

/* The host of that id; LATHE_HOST_OWN is the machine that Lathe was built for. NULL: there is none. */
const Host *host_find(LatheHost id);
const Host *host_own(void);
/* That of an LLVM triple; the own one for an empty triple. NULL: there is none. */
const Host *host_of_triple(const char *triple);

extern const LatheHost host_this; /* the machine that this program was built for: NAME/cpu.c */

/* What the CPU that runs this and its system offer to programs, as bytes that are equal where that is the same. */
enum { HOST_CPU_FACTS = 72 };
size_t host_cpu_facts(u8 facts[HOST_CPU_FACTS]); /* returns how many */
/* Can the code of the kernel's vdso be run as guest code? */
bool host_has_plain_vdso(void);

#endif
