/* copy.h: between the files that copy instructions of the host's own kind. */
#ifndef RUN_CLIENT_COPY_H
#define RUN_CLIENT_COPY_H

#include "isa/x86_64/shape.h"
#include "run/client/code/quick/emit.h"

EmitResult emit_insn(Emitter *e, const Shape *shape);

/* gs.c: an instruction that is SHAPE_OTHER, if it is so by the guest's gs. */
typedef enum EmitGs {
    EMIT_GS_NOT, /* no, or it cannot be done */
    EMIT_GS_DONE,
    EMIT_GS_WITHOUT, /* as if it were *plain, with the bytes in `text`, which e->text is then */
    EMIT_GS_TARGET,  /* the same, and its target is in rcx, whose own value is spilled */
} EmitGs;
EmitGs emit_gs(Emitter *e, const Shape *shape, u8 text[SHAPE_BYTES], Shape *plain);
/* The rest of a call, behind the block: the site of its jump if it is direct, and of one before it if it may lead elsewhere. */
typedef struct EmitSites {
    u8 *jump, *other;
} EmitSites;
EmitSites emit_call_rest(Emitter *e, const EmitCall *call);

/* copy_flags.c: are the flags surely written before they are read, from pc on? */
bool flags_are_dead(u64 pc);

/* linkage.c: the word by which code at pc jumps, if it does nothing else, as an entry of a PLT does; 0: it is no such code. */
u64 linkage_slot(u64 pc);
/* cmpq $0, slot; jne. Returns the jump's site. */
u8 *put_linkage(Emitter *e, u64 slot);

/* Where to go on if the access of quick code at `host` to the map, or to the place of a return address, faults; 0: it is none. If the target that is looked
 * for is never in the map, the code there does not look for it again. */
u64 emit_detour(u64 host, u64 target);

#endif
