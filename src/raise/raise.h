/* raise.h: `lathe raise`: a whole program lifted, made native functions of values, and written as a program again.
 *
 *     discover/    which functions there are, and all of them lifted as void f(ptr cpu) into one module (discover.c);
 *                  kept.c: functions of statically linked programs that stay as they are, and where their threads begin;
 *                  fallback.c: functions that stay as they are because they cannot be raised;
 *                  far.c: addresses that code computes with more than one instruction;
 *                  stubs.c: stubs for functions of other files;
 *                  join.c: computed jumps of functions that have very many of them;
 *                  signs.c: calls of object files whose arguments another machine would not find
 *     effects.c    what each of them does to the guest's registers, over the whole graph of calls
 *     promote.c    the functions rewritten: registers are arguments, results and values
 *     signature.c  what they take and give
 *     call.c       their calls of each other, and call_native.c those of native code
 *     frame.c      locals on the guest's stack that nobody else sees become variables
 *     exceptions.c calls that may throw, and where control goes on then
 *     library.c    what is known of functions of the C library
 *     prototypes.c its functions, from the system's headers
 *     native.c     where native code and raised functions call each other
 *     compile.c    the module optimised and compiled, in parts if it is large
 *     program.c    the ELF file, with the new code behind the old image
 *     symbols.c    what it has of other files
 *     unwind.c     the index of its unwind tables
 *     report.c     what was found, and what is left to run time
 *     tool/        what tools (lathe/tool.h) do at its instructions
 *
 * docs/raise.md has the design and the rules that programs have to keep to. */
#ifndef RAISE_RAISE_H
#define RAISE_RAISE_H

#include <stdio.h>

#include "elf/elf.h"
#include "isa/isa.h"
#include "raise/prototypes.h"

enum { RAISE_TEXT = 256 };

typedef struct RaiseFunction RaiseFunction;
typedef struct RaiseTool RaiseTool;

/* What an instruction of a lifted function does to registers, in the order of its block. */
typedef enum EventKind {
    EVENT_READ,
    EVENT_WRITE,
    EVENT_CALL,   /* of a function of the program */
    EVENT_OUT,    /* of code that is known only at run time, with the registers that the calling convention has */
    EVENT_SYSTEM, /* a system call */
    EVENT_WHOLE,  /* of a helper that sees the whole state */
    EVENT_CAUGHT, /* a register that landing pads find something in, behind a call that may throw */
    EVENT_RETURN, /* to the caller; behind a call of another kind where that was a jump */
} EventKind;

typedef struct Event {
    EventKind kind;
    Reg reg;
    u32 callee;       /* CALL: index of the function */
    LLVMValueRef at;  /* CALL, OUT, WHOLE: the call */
    RegSet available; /* CALL, OUT, WHOLE: what has a value there */
    RegSet passed;    /* OUT: registers that the callee may have arguments in */
} Event;

typedef struct RaiseBlock {
    u32 first, count; /* events */
    VEC(u32) next;    /* blocks */
    RegSet available; /* at its head: written since the function began, or handed over, and not lost in a call since */
    RegSet live;      /* at its head */
} RaiseBlock;

struct RaiseFunction {
    u64 pc;
    bool native;       /* may native code enter it? */
    bool uses_rest;    /* does it use state that is no register? */
    bool calls_system; /* has it system calls of its own? They may be given addresses of its locals. */
    bool kept;         /* it stays as it is: kept.c, fallback.c */
    bool left;         /* because it cannot be raised: fallback.c */
    bool by_address;   /* that is called by its address, too */
    bool goes_on;      /* it begins behind a system call of another function, and finds the frame of that */
    bool
        gives_memory; /* does native code call it for a result in memory, whose address the function gets as its first integer? */
    const char *import; /* it only jumps to this function of another file; NULL: it does not */
    LLVMValueRef plain; /* as lifted, then NULL */
    LLVMValueRef raised;
    LLVMTypeRef type; /* of `raised` */
    VEC(Event) events;
    VEC(RaiseBlock) blocks; /* the first is the function's beginning */
    RegSet written;         /* by itself */
    RegSet lost;            /* registers whose value a caller may not count on: all that it or its callees write */
    RegSet given;           /* results */
    RegSet taken;           /* arguments */
    RegSet handed;          /* registers that have a value at some call of it */
    RegSet untouched;       /* of a function that is left: registers that are not lost */
    i64 above; /* frame.c: how many bytes from its return address on it looks at itself; RAISE_NO_BOUND or more: it has the address of a place there */
};

/* A computed jump that leads to places of its function. */
typedef struct RaiseJump {
    u64 pc;
    u64 table, table_end; /* 0: there is no table, only addresses that the program has of these places */
    u64 places;
} RaiseJump;

/* A place that is left to run time, where the program may stop. */
typedef struct RaiseNote {
    u64 pc;
    const char *why;
} RaiseNote;

/* A variable that another file may have in its place. */
typedef struct RaiseVariable {
    const char *name;
    u64 at, size;
} RaiseVariable;

typedef struct RaiseCounts {
    u64 functions, native, insns, unresolved_jumps, unsupported, no_room, left;
    u64 arguments, results, locals;
    u64 signatures;     /* different ones */
    u64 shared, fences; /* memory accesses that other threads may see, and what orders them */
} RaiseCounts;

typedef struct Raise {
    ElfFile *elf;
    ElfExtent extent;
    const Isa *isa;
    const Host *host;
    bool is_static; /* does its own code do what else the dynamic linker and the C library do? */
    bool is_library;
    bool is_object; /* was it an object file? For the own machine it is raised as a library. */
    bool foreign;   /* is the host another machine than the program is for? */
    bool own_files; /* has it file streams of C++ in which something is larger or smaller than on the host? */
    bool unwinds;   /* does it have to do with exceptions? */
    bool strict_fp; /* as in LatheConfig */
    bool fallback;  /* does what cannot be raised stay as it is? */
    const char *
        tuned_for; /* the processor, as LLVM calls it, whose timing code is laid out for; NULL: the one that it is made for */
    const ElfParts *parts;              /* what the file was made of, if it was joined; else NULL */
    RaiseTool *tool;                    /* NULL: none */
    const struct LiftWatch *tool_watch; /* by which it sees instructions */
    LatheConfig cfg;
    LatheTuning tuning;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    VEC(RaiseFunction) functions;
    Map64 by_pc; /* index of a function */
    Map64
        table_entries; /* what seem to be entries of tables of jumps: where they lead to, from the image's beginning, by address */
    ElfPointers loose; /* pointers to what may be functions */
    ElfPointers
        offered; /* functions of an object file, or a library for another machine, that others may call by their names */
    VEC(RaiseVariable)
    variables; /* what is not in the image for others: a program's copies of other files' variables, and what such a library offers, of which programs may have copies */
    VEC(Prototype)
    declared;         /* functions of an object file for another machine, and those that it calls: foreign/debug.c */
    bool plain_calls; /* functions that are not among these take and return plain values, as the user says */
    Map64 claimed,
        table_words;      /* instructions that others go on to, and words of tables of jumps, where that matters */
    VEC(u64) labels;      /* places within functions that pointers in the data lead to, sorted */
    VEC(u64) jump_places; /* of the function being decoded: where its computed jumps may lead to */
    Map64 never_return;   /* functions that never return, by pc */
    Map64 left, decoded; /* fallback.c: functions that stay as they are, and instructions that were understood, by pc */
    VEC(LatheRange) stays; /* fallback.c: old code that is not overwritten */
    VEC(u64) callable;     /* fallback.c: functions that may be called where they are, with old code */
    Map64 stubs;           /* index of a name in stub_names */
    VEC(const char *) stub_names;
    u64 current; /* pc of the function being lifted */
    LLVMValueRef dispatch, lookup, nowhere, threw;
    VEC(LatheRange) code;   /* instructions that were lifted */
    VEC(u32) reg_at;        /* per byte of the guest state: the register there + 1, or 0 */
    RegSet from_state;      /* registers that bridges take from the state */
    RegSet taken_by_native; /* registers that functions take that native code may call */
    bool uses_rest;         /* does it use state that is no register, such as that of x87? */
    Map64 types;            /* of raised functions */
    RaiseCounts counts;
    VEC(RaiseJump) jumps; /* for the report */
    VEC(RaiseNote) notes;
    /* Called now and then with what is being done, and how much of it is done; NULL: nobody wants to know. */
    void (*progress)(const char *what, u64 done, u64 total);
    Arena arena;
    char problem[RAISE_TEXT]; /* why it cannot be done */
} Raise;

/* Writes the sentence into r->problem; false. */
bool raise_fail(Raise *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void raise_note(Raise *r, u64 pc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Marks all functions of the module to be compiled for size. */
void raise_for_size(Raise *r);
void raise_progress(const Raise *r, const char *what, u64 done, u64 total);

/* Position-independent, and no program: those have an interpreter, or say that they are one. */
bool raise_is_library(const ElfFile *elf);
/* Is the host another machine than the program is for? */
bool raise_is_foreign(const ElfFile *elf, const Host *host);
/* The library that the address is in, and the address in its own file, if it was joined with the program; NULL: it is the program's. */
const char *raise_library_at(const Raise *r, u64 address, u64 *own);
/* False with r->problem set if the program is of a kind that cannot be raised. Takes the file, also on failure. `host` is what it is
 * raised for; NULL: this machine. `is_object`: the file is an object that a linker has laid out. */
bool raise_begin(Raise *r, ElfFile *elf, const Host *host, bool is_object);
void raise_end(Raise *r);

/* discover.c, stubs.c */
bool raise_discover(Raise *r);
RaiseFunction *raise_function_at(Raise *r, u64 pc); /* NULL: none */
/* The function of another file that the stub at `pc` jumps to; NULL: it is no stub. */
const char *raise_import_at(Raise *r, u64 pc);
/* Is it a stub that jumps to a function of the file's own, which only the dynamic linker knows? */
bool raise_is_stub(const Raise *r, u64 pc);

/* far.c: all addresses of code that the function computes with two instructions. */
void raise_far_addresses(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 address));
/* Where the stub at `pc` loads what it jumps to, if it computes that place with two instructions; 0: it does not. */
u64 raise_far_slot(const Raise *r, u64 pc);

/* fallback.c: notes whether a function that was decoded has to stay as it is, and, once all functions are found, what else has to. */
void raise_leave(Raise *r, const LatheFunc *fn, u64 pc);
void raise_settle(Raise *r);
bool raise_is_left(const Raise *r, u64 pc);
void raise_note_left(Raise *r, const LatheFunc *fn, u64 pc);
/* Adds the list of what may be called where it is, for the host's assembly. */
void raise_add_callable(Raise *r);

/* signs.c: sets r->problem if a function that was decoded calls another object's in a way that another machine does not have. */
void raise_check_calls(Raise *r, const LatheFunc *fn);

/* join.c: makes one jump of those that lead to the same places, if there are very many, in a function that was lifted. */
void raise_join_jumps(LLVMValueRef fn);

/* kept.c: the name of the function of the C library at `pc` that has to stay as it is, in a statically linked program; NULL: it need not. */
const char *raise_kept(const Raise *r, u64 pc);
/* All places that it jumps to, or calls. */
void raise_kept_targets(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 pc));
/* A function like lifted ones that calls it. */
LLVMValueRef raise_kept_stub(Raise *r, u64 pc);
/* Fills `fn`, a lifted function without a body, with a jump to an address. */
void raise_build_jump(Raise *r, LLVMValueRef fn, LLVMValueRef target);
/* Places behind system calls where a new thread may go on. */
void raise_thread_starts(Raise *r, const LatheFunc *fn, void (*found)(Raise *r, u64 pc));
LLVMValueRef raise_image(Raise *r); /* the variable that stands for the image */

/* effects.c: fills the RegSets of all functions. */
void raise_effects(Raise *r);
/* The index of the register that has this byte of the guest state, or REG_NONE. */
Reg raise_reg_at(const Raise *r, u64 off);
/* The offset from `cpu` if v is that pointer or a constant distance from it; false: it is something else. */
bool raise_state_offset(LLVMValueRef cpu, LLVMValueRef v, u64 *off);

/* promote.c: rewrites all functions. */
void raise_promote(Raise *r);
LLVMTypeRef raise_reg_type(Raise *r, Reg reg);
/* The address in the image of a constant that is one; false: it is something else. */
bool raise_image_address(const Raise *r, LLVMValueRef v, u64 *address);
/* The same, also of a number, where any may be an address because the program is not position-independent. */
bool raise_constant_address(const Raise *r, LLVMValueRef v, u64 *address);

/* signature.c: the signatures of raised functions. Lists have the registers in the order of parameters, the last of which is the state, or of
 * results; those that are not in the set only hold a place. */
unsigned raise_params(const Raise *r, const RegSet *taken, Reg *list);
unsigned raise_results(const Raise *r, const RegSet *given, Reg *list);
LLVMTypeRef raise_function_type(Raise *r, const RegSet *taken, const RegSet *given);
/* Is the register passed where native code passes it? */
bool raise_passes_in_place(const Raise *r, Reg reg);
bool raise_is_listed(const Reg *regs, u32 count, Reg reg);
LLVMAttributeRef raise_attribute(Raise *r, const char *name, u64 value);
void raise_mark_function(Raise *r, LLVMValueRef fn);
void raise_mark_call(Raise *r, LLVMValueRef call);

/* The operand of a call that is the guest's stack pointer as the callee finds it; more than there are: none. */
unsigned raise_stack_operand(LLVMValueRef call);
/* May the callee, which is native code, find arguments on the stack? */
bool raise_may_pass_on_stack(LLVMValueRef call);

/* frame.c: makes locals of the program variables of LLVM's, where nobody else can see them. */
enum { RAISE_NO_BOUND = 1 << 30 };
void raise_frames(Raise *r);
/* Runs these passes of LLVM's over the module. */
void raise_run_passes(Raise *r, const char *passes);

/* library.c: does this function of the C library have all of its arguments in registers? */
bool raise_is_in_registers(const char *name);
/* The registers that the function of another file may have arguments in; NULL: nobody knows which it is. */
RegSet raise_passed_to(const Raise *r, const char *name);
/* Is it one of the libraries of C and C++, by its name? */
bool raise_is_known_library(const char *name);
/* May somebody else, such as a second thread, see the program's memory? */
bool raise_may_share(const Raise *r);
/* Can it be called where the calling function is, on the host's stack? */
bool raise_is_leaf(const Raise *r, const char *name);
/* Does this function of the C++ library end with an exception, or the program? */
bool raise_always_throws(const char *name);
/* Is it setjmp(), by any of its names, or vfork()? */
bool raise_returns_twice(const char *name);

#define RAISE_PERSONALITY "__gxx_personality_v0" /* C++'s */

/* exceptions.c: Insn.landing of a call; `user` is the Raise. */
u64 raise_landing(void *user, const Insn *in);
/* The registers that a landing pad finds the exception and the selector in. */
void raise_caught_regs(const Raise *r, Reg regs[2]);

/* call_native.c: the function of another file whose address is loaded from where the dynamic linker has put it, or one of this file that stays as it is
 * (kept.c); NULL: it is something else. */
const char *raise_imported_name(const Raise *r, LLVMValueRef target);
/* native.c: is it a function without a frame of the guest's, calls and state? */
bool raise_works_anywhere(const RaiseFunction *f);
/* Where a register is in *cpu. */
LLVMValueRef raise_place(Raise *r, LLVMBuilderRef b, LLVMValueRef cpu, Reg reg);
LLVMValueRef raise_offset_in_state(Raise *r, LLVMBuilderRef b, LLVMValueRef cpu, u64 off_bytes);
/* native.c: adds entries from native code, and the assembly beneath. */
#define RAISE_PREFIX "lathe_raise_"
#define RAISE_START "lathe_raise_start"       /* where the kernel begins a statically linked program */
#define RAISE_SYSCALL "lathe_raise_syscall"   /* void(ptr cpu) */
#define RAISE_CPUID "lathe_raise_cpuid"       /* void(ptr cpu) */
#define RAISE_CALLABLE "lathe_raise_callable" /* where functions are that may be called as they were: fallback.c */
#define RAISE_STOP "lathe_raise_stop"         /* void(ptr text, i64 size, i64 pc): a message and the end */
#define RAISE_SIGNAL RAISE_PREFIX "signal"    /* likewise, by a signal; only on other machines */
#define RAISE_CALL "lathe_raise_call"         /* void(ptr cpu): for another machine, a call of the address in cpu->pc */
#define RAISE_LANDED "lathe_raise_landed"     /* void(ptr stack): likewise, raised code goes on behind an exception */
#define RAISE_TERMINATE "lathe_raise_terminate" /* void(i64 exception): likewise, a promise not to throw was broken */
#define RAISE_IMAGE "lathe_image"
#define RAISE_AT "lathe_at_%lx"      /* a place of the image, by its address there */
#define RAISE_IMPORT "lathe_import_" /* before the name of another file's symbol. Only data can have its address */
#define RAISE_OUT                                                                                                      \
    RAISE_PREFIX "out_" /* before the names of a function that calls native code, one for each signature */
#define RAISE_ENTRY "lathe_entry_%lx" /* where native code enters the function at that address of the file */
#define RAISE_BRIDGE                                                                                                   \
    "lathe_bridge_%lx" /* the function with arguments where native code has them, and the rest in the state */
#define RAISE_DIRECT "lathe_direct_%lx" /* the function in the host's convention: src/raise/foreign/entries.c */
void raise_add_native(Raise *r);
/* native.c: the table by which raised functions find the bridge of a function whose address they call: for each address that is a multiple of RAISE_ROW, the
 * distance of its bridge from the table's beginning in 32 bits, or 0. */
#define RAISE_BRIDGES "lathe_raise_bridges"
enum { RAISE_ROW_SHIFT = 4, RAISE_ROW = 1 << RAISE_ROW_SHIFT };
typedef struct RaiseTable {
    u64 start; /* the address of the first row */
    u64 rows;
} RaiseTable;
RaiseTable raise_bridge_table(const Raise *r);
/* In object files, entries of all functions are in one section instead; before each is the distance from there to its bridge. */
#define RAISE_ENTRIES "lathe_entries"
/* call_native.c: a call of another file's function with one argument or none (NULL). The stack pointer is as before the call. */
void raise_call_import(Raise *r, LLVMBuilderRef b, const char *name, LLVMValueRef argument, LLVMValueRef stack,
                       LLVMValueRef cpu);

/* program.c: the whole program from objects that were made of the module; malloc'ed bytes in *data. */
typedef struct RaiseObject {
    const void *bytes;
    size_t size;
} RaiseObject;
/* `helpers` has the functions that lifted code calls; it is taken only if one of the objects needs it. */
bool raise_program(Raise *r, const RaiseObject *objects, size_t count, RaiseObject helpers, u8 **data,
                   size_t *data_size);

/* compile.c: the module optimised and compiled, by several threads as several objects if it is large. They are malloc'ed, the list is not. */
LatheStatus raise_compile(Raise *r, const LatheJitConfig *cfg, LatheOpt level, RaiseObject **objects, size_t *count);

/* tool/tool.c: tools watch the program. Between raise_begin and raise_discover; false with r->problem set: a raised program does not have what they ask for. */
typedef struct ToolUse {
    const void *package; /* tool/package.h */
    size_t size;
    const char *options; /* as in tool/library/library.h; has to stay */
    const char *file;    /* the name of the program's file */
    RaiseObject runtime; /* what the new program has for tools */
} ToolUse;
bool raise_use_tool(Raise *r, const ToolUse *use);
/* The following do nothing if there are none. Functions are lifted from now on. */
void raise_tool_lifting(Raise *r);
/* After raise_discover: the tools are told of the program's beginning and end. False with r->problem set. */
bool raise_tool_surround(Raise *r);
/* tool/counts.c: after raise_promote: what the tools count. */
void raise_tool_count(Raise *r);
bool raise_is_tool_add(LLVMValueRef call); /* will it only be an addition? */
void raise_tool_end(Raise *r);
RaiseObject raise_tool_object(const Raise *r); /* the tools' own functions */

/* Where the variables of raise's own are, relative to the thread pointer. */
i64 raise_thread_offset(const Raise *r);

/* report.c: what was found, for people and as one object of JSON. Not before the output has been made. */
void raise_report_text(const Raise *r, FILE *out);
void raise_report_json(const Raise *r, const char *file, FILE *out);

#endif
