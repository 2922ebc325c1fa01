/* stats.c: measures of lifting, as a table or as JSON. */
#include "cli/lift/show.h"

static const char *const stage_names[STAGE_COUNT] = {
    [STAGE_DISCOVER] = "discover",
    [STAGE_LIFT] = "lift",
    [STAGE_OPTIMIZE] = "optimize",
    [STAGE_COMPILE] = "compile",
};

static double ratio(u64 a, u64 b) {
    return b ? (double)a / (double)b : 0;
}

void show_json_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        u8 c = (u8)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || c == '<') /* in a page, "</script>" would end what the text is in */
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

void show_measures(FILE *out, const Measures *m) {
    fprintf(out, "guest instructions  %10lu\n", m->insns);
    fprintf(out, "guest blocks        %10lu\n", m->blocks);
    fprintf(out, "guest bytes         %10lu\n", m->bytes);
    fprintf(out, "jump tables         %10lu\n", m->tables);
    fprintf(out, "IR as lifted        %10lu  %.2f per guest instruction\n", m->ir_lifted,
            ratio(m->ir_lifted, m->insns));
    fprintf(out, "IR at the end       %10lu  %.2f per guest instruction\n", m->ir_final, ratio(m->ir_final, m->insns));
    if (m->host_bytes)
        fprintf(out, "host bytes          %10lu  %.2f per guest byte\n", m->host_bytes, ratio(m->host_bytes, m->bytes));
    for (Stage s = 0; s < STAGE_COUNT; s++)
        if (m->seconds[s] > 0)
            fprintf(out, "%-8s            %10.3f ms  %.2f us per guest instruction\n", stage_names[s],
                    m->seconds[s] * 1e3, m->insns ? m->seconds[s] * 1e6 / (double)m->insns : 0);
}

void show_measures_json(FILE *out, const Measures *m) {
    fprintf(out, "\"guest_instructions\": %lu, \"guest_blocks\": %lu, \"guest_bytes\": %lu, \"jump_tables\": %lu, ",
            m->insns, m->blocks, m->bytes, m->tables);
    fprintf(out, "\"ir_lifted\": %lu, \"ir_final\": %lu, \"host_bytes\": %lu, \"seconds\": {", m->ir_lifted,
            m->ir_final, m->host_bytes);
    for (Stage s = 0; s < STAGE_COUNT; s++)
        fprintf(out, "%s\"%s\": %.9f", s ? ", " : "", stage_names[s], m->seconds[s]);
    fprintf(out, "}");
}

void show_unit_stats(FILE *out, const Unit *u, bool json) {
    char name[200];
    guest_name(u->plan->guest, u->addr, name, sizeof(name));
    if (!json) {
        fprintf(out, "%s at 0x%lx\n", name, u->addr);
        show_measures(out, &u->measures);
        return;
    }
    fprintf(out, "{\"function\": ");
    show_json_string(out, name);
    fprintf(out, ", \"address\": %lu, ", u->addr);
    show_measures_json(out, &u->measures);
    fprintf(out, "}\n");
}
