/* draw.c: see draw.h. */
#include "draw.h"

static const Form *draw_form_of(const Forms *forms, Rng *r, u32 row) {
    u32 first = forms->first.at[row], count = forms->first.at[row + 1] - first;
    return &forms->found.at[first + rng_below(r, count)];
}

/* Instructions act on each other most through the flags: half of those in a sequence have to do with them. */
static const Form *draw_next_form(const Forms *forms, Rng *r) {
    if (forms->flag_rows.len && rng_next(r) & 1)
        return draw_form_of(forms, r, forms->flag_rows.at[rng_below(r, (u32)forms->flag_rows.len)]);
    return draw_form_of(forms, r, rng_below(r, (u32)forms->row_count));
}

/* More instructions, each one made for the state that the ones before it leave on the CPU. */
static void draw_rest(const Forms *forms, Rng *r, u32 length, Sample *s) {
    State now = s->initial;
    size_t done = 0;
    for (u32 left = rng_below(r, length); left > 0; left--) {
        state_run_cpu(&now, s->code + done, s->size - done, LATHE_TRAP_NONE);
        done = s->size;
        if (now.cpu.trap || now.cpu.pc != STATE_CODE + done)
            return;
        for (int tries = 0; tries < 50 && !generate_more(r, draw_next_form(forms, r), &now, s); tries++)
            continue;
        if (s->size == done)
            return;
    }
}

/* Each row is as likely as any other, and so is each form of a row. */
u32 draw_sample(const Forms *forms, u64 *seed, u32 length, Sample *s) {
    u32 row = 0;
    for (bool found = false; !found;) {
        s->seed = (*seed)++;
        Rng r = {s->seed * 0xd1342543de82ef95u};
        row = rng_below(&r, (u32)forms->row_count);
        found = generate_sample(&r, draw_form_of(forms, &r, row), s);
        if (found && length > 1 && s->seed % 2)
            draw_rest(forms, &r, length, s);
        if (found && length > 1 && s->seed % 8 == 3 && s->may_repeat)
            generate_loop(&r, s);
    }
    return row;
}
