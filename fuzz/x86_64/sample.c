/* sample.c: samples of x86-64: of forms.c's forms by generate.c; and what the manual leaves undefined in them. */
#include "sample.h"

#include <stdio.h>

#include "decoded.h"
#include "draw.h"
#include "generate.h"
#include "oracle.h"

#define STEPS_MAX 200

static Forms forms;

u32 sample_find(const char *only) {
    forms_find(&forms, only);
    return (u32)forms.row_count;
}

const char *sample_row_name(u32 row) {
    return isa_find(LATHE_ARCH_X86_64)->row_name(forms.found.at[forms.first.at[row]].row);
}

u32 sample_form_count(void) {
    return (u32)forms.found.len;
}

void sample_list(u32 row) {
    printf("%s\n", sample_row_name(row));
    for (u32 k = forms.first.at[row]; k < forms.first.at[row + 1]; k++) {
        u8 bytes[ENCODING_BYTES];
        char text[100] = "?";
        size_t size = encoding_put(&forms.found.at[k].e, bytes);
        isa_find(LATHE_ARCH_X86_64)->format(bytes, size, STATE_CODE, text, sizeof(text));
        printf("    %s\n", text);
    }
}

/* Each form of a row is as likely as any other. */
static const Form *draw_form_of(Rng *r, u32 row) {
    u32 first = forms.first.at[row], count = forms.first.at[row + 1] - first;
    return &forms.found.at[first + rng_below(r, count)];
}

/* Instructions act on each other most through the flags: half of those in a sequence have to do with them. */
static const Form *draw_next_form(Rng *r) {
    if (forms.flag_rows.len && rng_next(r) & 1)
        return draw_form_of(r, forms.flag_rows.at[rng_below(r, (u32)forms.flag_rows.len)]);
    return draw_form_of(r, rng_below(r, (u32)forms.row_count));
}

bool sample_first(Rng *r, u32 row, Sample *out) {
    return generate_sample(r, draw_form_of(r, row), out);
}

bool sample_more(Rng *r, const State *now, Sample *out) {
    return generate_more(r, draw_next_form(r), now, out);
}

void sample_loop(Rng *r, Sample *out) {
    generate_loop(r, out);
}

/* A result is undefined because of an operand, or of a flag that an earlier instruction left undefined. */
bool sample_open(const Case *c, const State *initial, State *ignore) {
    State s = *initial;
    for (u32 steps = 0; s.cpu.pc - STATE_CODE < c->size && !s.cpu.trap; steps++) {
        size_t offset = s.cpu.pc - STATE_CODE;
        Case one = {.file = c->file, .code = c->code + offset, .size = draw_size_at(c, offset)};
        if (steps == STEPS_MAX || decoded_result_undefined(&one) || !decoded_step_flags(&one, &s, ignore))
            return false;
        if (one.size == c->size)
            return true;
        oracle_run(&s, one.code, one.size, LATHE_TRAP_NONE);
    }
    return true;
}

void sample_reduce(ReducePart *reduce, void *arg) {
#define REDUCE(member) reduce(arg, offsetof(State, member), sizeof(((State *)0)->member))
    REDUCE(cpu.vec);
    REDUCE(cpu.gp);
    REDUCE(cpu.st);
    for (int i = 0; i < 16; i++) {
        REDUCE(cpu.gp[i]);
        REDUCE(cpu.vec[i]);
        REDUCE(cpu.st[i & 7]);
    }
    for (size_t i = offsetof(State, cpu.cf); i <= offsetof(State, cpu.id); i++)
        reduce(arg, i, 1);
    REDUCE(cpu.fsbase);
    REDUCE(cpu.gsbase);
    REDUCE(cpu.mxcsr);
    REDUCE(cpu.fpu_cw);
    REDUCE(cpu.fpu_sw);
    REDUCE(cpu.fpu_top);
    REDUCE(cpu.fpu_tag);
#undef REDUCE
}
