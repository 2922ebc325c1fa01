/* rows.c: see rows.h, and sample.h for what is the same for all such guests. */
#include "rows.h"

#include <stdio.h>

#include "oracle.h"

enum { ROWS_MOST = 4096, PROBES = 30 };

static struct Rows {
    u32 at[ROWS_MOST];
    u32 count;
} rows;

u32 row_of(u32 number) {
    return rows.at[number];
}

u32 row_any(Rng *r) {
    return rows.at[rng_below(r, rows.count)];
}

const Operand *memory_of(const Insn *in) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_MEM)
            return &in->op[i];
    return NULL;
}

bool jumps_into_sample(const Insn *in) {
    bool direct = in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL;
    return direct && in->target >= STATE_CODE && in->target < STATE_CODE + SAMPLE_BYTES;
}

void append(Sample *s, u32 word, u32 size) {
    memcpy(s->code + s->size, &word, size);
    s->size += size;
}

/* Does the oracle run at least one instruction of the row? */
static bool oracle_runs(u32 number) {
    Rng r = {row_of(number)};
    Sample s;
    for (u32 i = 0; i < PROBES; i++) {
        if (!sample_first(&r, number, &s))
            continue;
        if (row_table.make_plain)
            row_table.make_plain(&s.initial);
        oracle_run(&s.initial, s.code, s.size, LATHE_TRAP_NONE);
        if (s.initial.cpu.trap != LATHE_TRAP_UNDEFINED)
            return true;
    }
    return false;
}

u32 sample_find(const char *only) {
    CHECK(row_table.count <= ROWS_MOST, "there is room for all rows");
    for (u32 row = 1; row < row_table.count; row++) {
        const char *name = row_table.names[row];
        if (row_table.is_left_out(row) || (only && strcmp(only, name)))
            continue;
        rows.at[rows.count++] = row;
        if (row_table.is_right(row, oracle_runs(rows.count - 1)))
            continue;
        rows.count--;
        printf("left out, because the oracle does not have it or not right: %s\n", name);
    }
    return rows.count;
}

const char *sample_row_name(u32 row) {
    return row_table.names[row_of(row)];
}

u32 sample_form_count(void) {
    return rows.count;
}

void sample_list(u32 row) {
    printf("%s\n", sample_row_name(row));
}

bool sample_open(const Case *c, const State *initial, State *ignore) {
    (void)c, (void)initial;
    oracle_limits(ignore);
    return true;
}
