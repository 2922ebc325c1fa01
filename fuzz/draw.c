/* draw.c: see draw.h. */
#include "draw.h"

#include "isa/isa.h"
#include "oracle.h"

/* More instructions, each one made for the state that the ones before it leave on the oracle. */
static void draw_rest(Rng *r, u32 length, Sample *s) {
    State now = s->initial;
    size_t done = 0;
    for (u32 left = rng_below(r, length); left > 0; left--) {
        oracle_run(&now, s->code + done, s->size - done, LATHE_TRAP_NONE);
        done = s->size;
        if (now.cpu.trap || now.cpu.pc != STATE_CODE + done)
            return;
        for (int tries = 0; tries < 50 && !sample_more(r, &now, s); tries++)
            continue;
        if (s->size == done)
            return;
    }
}

/* Each row is as likely as any other. */
u32 draw_sample(u32 row_count, u64 *seed, u32 length, Sample *out) {
    u32 row = 0;
    for (bool found = false; !found;) {
        out->seed = (*seed)++;
        Rng r = {out->seed * 0xd1342543de82ef95u};
        row = rng_below(&r, row_count);
        found = sample_first(&r, row, out);
        if (found && length > 1 && out->seed % 2)
            draw_rest(&r, length, out);
        if (found && length > 1 && out->seed % 8 == 3 && out->may_repeat)
            sample_loop(&r, out);
    }
    return row;
}

size_t draw_size_at(const Case *c, size_t offset) {
    Insn in = {.pc = STATE_CODE + offset};
    LatheStatus status = isa_find(GUEST_ARCH)->decode(c->code + offset, c->size - offset, in.pc, &in);
    CHECK(status == LATHE_OK, "a sample of no instructions");
    return in.size;
}
