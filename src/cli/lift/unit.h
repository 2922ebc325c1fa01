/* unit.h: one piece of guest code on its way through the stages: discover, lift, optimise, compile. Each stage is timed and measured. The
 * commands decide which stages to run and what to print.
 */
#ifndef CLI_UNIT_H
#define CLI_UNIT_H

#include "cli/lift/guest.h"

typedef enum Stage { STAGE_DISCOVER, STAGE_LIFT, STAGE_OPTIMIZE, STAGE_COMPILE, STAGE_COUNT } Stage;

/* Sums over the measured units. */
typedef struct Measures {
    u64 insns, blocks, bytes, tables; /* of the guest; tables: indirect jumps whose targets are known */
    u64 ir_lifted, ir_final;          /* number of IR instructions as lifted, and after optimisation */
    u64 host_bytes;
    double seconds[STAGE_COUNT];
} Measures;

typedef enum Extent { EXTENT_FUNCTION, EXTENT_BLOCK, EXTENT_INSN } Extent;

typedef struct UnitPlan {
    const Guest *guest;
    LatheConfig cfg; /* the unit itself sets arch, read_memory, user, resolve and dispatch */
    Extent extent;
    LatheOpt opt;
    const char *signature; /* of a C function that is wrapped around the lifted one; NULL: none */
    bool mark_insns;       /* calls UNIT_MARKER before the IR of each guest instruction */
} UnitPlan;

#define UNIT_MARKER "lathe_insn"
#define UNIT_PIC_SYMBOL "guest_image"

typedef struct Unit {
    const UnitPlan *plan;
    u64 addr;
    LatheConfig cfg; /* as it is passed to the library; also for lathe_disassemble */
    LLVMModuleRef mod;
    LatheFunc *fn;
    LLVMValueRef lifted; /* set by unit_lift */
    LLVMValueRef itself; /* stands for the function in its own body until it exists */
    const char *entry;   /* the name of the function to call: the wrapper, or the lifted function */
    char lifted_name[256], wrapper_name[256];
    Measures measures;
} Unit;

/* The stages, in this order. unit_free must be called in any case. A wrong signature gives LATHE_ERR_ARGUMENT. */
void unit_init(Unit *u, const UnitPlan *plan, LLVMContextRef ctx, u64 addr);
LatheStatus unit_discover(Unit *u);
LatheStatus unit_lift(Unit *u);
LatheStatus unit_optimize(Unit *u, LatheJit *jit);
LatheStatus unit_compile(Unit *u, LatheJit *jit); /* only to measure */
void unit_free(Unit *u);

/* The assembly text of the optimised unit, to be freed by free(); NULL on failure. */
char *unit_assembly(Unit *u, LatheJit *jit);

/* The optimised unit as an ELF object, to be freed by free(); NULL on failure. */
void *unit_object(Unit *u, LatheJit *jit, size_t *size);

/* The host code of the optimised unit, linked into this process and owned by the jit; NULL on failure. */
const u8 *unit_host_code(Unit *u, LatheJit *jit, size_t *size);

/* A compiler for that host that prints assembly like lathe_disassemble, and defines the symbols that units leave
 * undefined. */
LatheJit *unit_jit_new(LatheHost host);

/* Why the unit was not lifted completely, as a sentence with the address, written to buf; NULL: it was. */
const char *unit_problem(const Unit *u, char *buf, size_t size);

/* What to say of a stage that failed with this status: "cannot lift 0x1000: …", written to buf. */
enum { UNIT_FAILURE_MAX = 320 };
const char *unit_failure(const Unit *u, const char *stage, LatheStatus status, char buf[UNIT_FAILURE_MAX]);

/* The host of that name, or this machine if `name` is NULL. False: there is none, and a message was printed. */
bool unit_host(const char *name, LatheHost *host);

void measures_add(Measures *sum, const Measures *m);

#endif
