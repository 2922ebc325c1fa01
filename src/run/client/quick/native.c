/* native.c: with --tier=opt, an instruction that the lifter has no row for is executed as it is, on the guest's state.
 *
 * Its copy is made as quick code's is, and has all of the guest's general registers, flags and vector registers in the host's own for
 * as long as it takes. The x87 unit stays the host's: all of its instructions have rows. This is for completeness, not for speed: an
 * instruction takes some hundred nanoseconds, and the function around it is in pieces. */
#include "run/client/quick/native.h"

#include "flags.h"
#include "run/client/arena.h"
#include "run/client/quick/copy.h"
#include "run/client/quick/quick.h"
#include "xstate.h"

#define REGISTERS_0_15 ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
#define REGISTERS_16_31 ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n\t"
#define MASKS ".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n\t"
#define END "\n\t.endr\n\t"

enum { CODE_BYTES = EMIT_INSN_BYTES + EMIT_LEAVE_BYTES, X87_FIRST = 0xd8, X87_LAST = 0xdf };

__attribute__((visibility("hidden"))) bool native_call(void);

/* ------------------------------------------------------------------------------------------------------------- vectors */

/* How wide registers are; UNKNOWN_WIDTH: as those of Knights Landing, whose masks have 16 bits. */
typedef enum Width { XMM, YMM, ZMM, UNKNOWN_WIDTH } Width;

static Width width(void) {
    enum { AVX512BW = 1 << 30 };
    u32 a = 7, b, c = 0, d;
    u64 features = xstate_features();
    if ((features & XSTATE_ZMM) != XSTATE_ZMM)
        return (features & XSTATE_YMM) == XSTATE_YMM ? YMM : XMM;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b & AVX512BW ? ZMM : UNKNOWN_WIDTH;
}

static void load_vectors(const LatheX86Cpu *c, Width w) {
    if (w == ZMM)
        __asm__ volatile(REGISTERS_0_15 "vmovdqa64 64*\\n(%0), %%zmm\\n" END REGISTERS_16_31 "vmovdqa64 64*\\n(%0), %%zmm\\n" END MASKS
                         "kmovq 8*\\n(%1), %%k\\n" END
                         :
                         : "r"(c->vec), "r"(c->k)
                         : "memory");
    else if (w == YMM)
        __asm__ volatile(REGISTERS_0_15 "vmovdqa 64*\\n(%0), %%ymm\\n" END : : "r"(c->vec) : "memory");
    else
        __asm__ volatile(REGISTERS_0_15 "movaps 64*\\n(%0), %%xmm\\n" END : : "r"(c->vec) : "memory");
}

static void store_vectors(LatheX86Cpu *c, Width w) {
    if (w == ZMM)
        __asm__ volatile(REGISTERS_0_15 "vmovdqa64 %%zmm\\n, 64*\\n(%0)" END REGISTERS_16_31 "vmovdqa64 %%zmm\\n, 64*\\n(%0)" END MASKS
                         "kmovq %%k\\n, 8*\\n(%1)" END "vzeroupper"
                         :
                         : "r"(c->vec), "r"(c->k)
                         : "memory");
    else if (w == YMM)
        __asm__ volatile(REGISTERS_0_15 "vmovdqa %%ymm\\n, 64*\\n(%0)" END "vzeroupper" : : "r"(c->vec) : "memory");
    else
        __asm__ volatile(REGISTERS_0_15 "movaps %%xmm\\n, 64*\\n(%0)" END : : "r"(c->vec) : "memory");
}

/* --------------------------------------------------------------------------------------------------------------- copies */

/* There is one thread. */
typedef struct Native {
    u8 *place; /* of the copy; NULL: nothing is known yet */
    Width width;
} Native;

static Native native;

static bool shape_at(u64 pc, Shape *shape) {
    return shape_of((const u8 *)pc, quick_code_bytes(pc), shape) && shape->kind == SHAPE_PLAIN;
}

static bool is_x87(const Shape *s) {
    return !s->vector && s->opcode >= X87_FIRST && s->opcode <= X87_LAST;
}

static void prepare(void) {
    if (native.place)
        return;
    arena_lock();
    native = (Native){arena_code(CODE_BYTES, 64), width()};
    arena_unlock();
}

static void copy(u64 pc, const Shape *shape) {
    Emitter e;
    e.at = native.place;
    e.pc = pc;
    e.next = pc + shape->length;
    e.text = (const u8 *)pc;
    e.calls = 0;
    e.flags_set = false;
    emit_insn(&e, shape);
    emit_leave(&e, 0);
}

static bool execute(Thread *t, const Shape *shape) {
    arena_lock();
    copy(t->cpu.pc, shape);
    arena_unlock();
    t->leave = native_leave;
    t->target = (u64)native.place;
    t->flags = frame_flags(&t->cpu);
    load_vectors(&t->cpu, native.width);
    bool ok = native_call();
    store_vectors(&t->cpu, native.width);
    frame_set_flags(&t->cpu, t->flags);
    t->cpu.pc += ok ? shape->length : 0;
    return ok;
}

bool native_holds(u64 host) {
    return native.place && host - (u64)native.place < CODE_BYTES;
}

/* Vector instructions come in rows. */
bool native_run(Thread *t) {
    Shape shape;
    if (t->cpu.trap != LATHE_TRAP_UNSUPPORTED || !shape_at(t->cpu.pc, &shape) || is_x87(&shape))
        return false;
    prepare();
    if (native.width == UNKNOWN_WIDTH)
        return false;
    do {
        if (!execute(t, &shape)) {
            t->cpu.trap = LATHE_TRAP_UNDEFINED;
            return false;
        }
    } while (!t->pending_signals && shape_at(t->cpu.pc, &shape) && shape.vector);
    t->cpu.trap = LATHE_TRAP_NONE;
    return true;
}
