/* report.c: what was found in a program, and what is left to run time: as text, which has the numbers and the places where the program may
 * stop, and as JSON, which has each function and each table besides. docs/raise.md describes both. */
#include "raise/raise.h"

/* ---------------------------------------------------------------------------------------------------------------- text */

static u64 count_tables(const Raise *r) {
    u64 count = 0;
    for (size_t i = 0; i < r->jumps.len; i++)
        count += r->jumps.at[i].table != 0;
    return count;
}

void raise_report_text(const Raise *r, FILE *out) {
    const RaiseCounts *c = &r->counts;
    fprintf(out, "functions              %lu\n", c->functions);
    fprintf(out, "  native code may call %lu\n", c->native);
    fprintf(out, "instructions           %lu\n", c->insns);
    fprintf(out, "signatures             %lu\n", c->signatures);
    fprintf(out, "arguments              %lu\n", c->arguments);
    fprintf(out, "results                %lu\n", c->results);
    fprintf(out, "locals                 %lu\n", c->locals);
    fprintf(out, "computed jumps         %lu\n", (u64)r->jumps.len + c->unresolved_jumps);
    fprintf(out, "  by a table           %lu\n", count_tables(r));
    fprintf(out, "  by known addresses   %lu\n", (u64)r->jumps.len - count_tables(r));
    fprintf(out, "  not resolved         %lu\n", c->unresolved_jumps);
    fprintf(out, "functions with code that cannot be raised %lu\n", c->unsupported);
    fprintf(out, "functions that stay as they were %lu\n", c->left);
    if (r->foreign)
        fprintf(out, "accesses that others may see %lu, fences %lu\n", c->shared, c->fences);
    for (size_t i = 1; r->parts && i < r->parts->len; i++)
        if (!r->parts->at[i].outside)
            fprintf(out, "library %-15s addresses from 0x%lx\n", r->parts->at[i].name, r->parts->at[i].shift);
    for (size_t i = 0; i < r->notes.len; i++)
        fprintf(out, "0x%lx: %s\n", r->notes.at[i].pc, r->notes.at[i].why);
}

/* ---------------------------------------------------------------------------------------------------------------- JSON */

/* Bytes beyond ASCII are passed on if they are UTF-8, which names in files need not be: so each is written as a code point of its own. */
static void put_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        u8 c = (u8)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_number(FILE *out, const char *name, u64 value) {
    fprintf(out, "    \"%s\": %lu,\n", name, value);
}

/* The place of a register in a list of the calling convention, counted from 1; 0: it is not there. */
static unsigned place_in(const Reg *regs, u32 count, Reg reg) {
    for (u32 i = 0; i < count; i++)
        if (regs[i] == reg)
            return i + 1;
    return 0;
}

/* Registers by what they are to the calling convention. The stack pointer is no argument of the program's. */
static void put_registers(FILE *out, const Raise *r, const char *name, const Reg *list, unsigned count,
                          const RegSet *set) {
    const CallAbi *abi = &r->isa->abi;
    const char *comma = "";
    fprintf(out, ", \"%s\": [", name);
    for (unsigned i = 0; i < count; i++) {
        unsigned n;
        if (list[i] == abi->stack || !regset_has(set, list[i]))
            continue;
        bool vector = r->isa->regs[list[i]].kind == REG_VECTOR || r->isa->regs[list[i]].kind == REG_FLOAT;
        if ((n = place_in(abi->int_args, abi->int_arg_count, list[i])))
            fprintf(out, "%s\"integer %u\"", comma, n);
        else if ((n = place_in(abi->float_args, abi->float_arg_count, list[i])))
            fprintf(out, "%s\"vector %u\"", comma, n);
        else
            fprintf(out, "%s\"other %s\"", comma, vector ? "vector" : "integer");
        comma = ", ";
    }
    fputc(']', out);
}

/* Results are numbered in their own order, as they have registers of their own. */
static void put_results(FILE *out, const Raise *r, const RaiseFunction *f) {
    Reg list[REG_MAX];
    unsigned count = raise_results(r, &f->given, list), seen[2] = {0};
    const char *comma = "";
    fprintf(out, ", \"gives\": [");
    for (unsigned i = 0; i < count; i++) {
        bool vector = r->isa->regs[list[i]].kind != REG_INT;
        seen[vector]++;
        if (!regset_has(&f->given, list[i]))
            continue;
        fprintf(out, "%s\"%s %u\"", comma, vector ? "vector" : "integer", seen[vector]);
        comma = ", ";
    }
    fputc(']', out);
}

static void put_function(FILE *out, const Raise *r, const RaiseFunction *f) {
    Reg list[REG_MAX + 1];
    ElfFunction known = elf_function_at(r->elf, f->pc);
    fprintf(out, "{\"address\": \"0x%lx\", \"name\": ", f->pc);
    if (known.name)
        put_string(out, known.name);
    else
        fputs("null", out);
    if (f->import) {
        fputs(", \"import\": ", out);
        put_string(out, f->import);
    }
    if (f->left)
        fputs(", \"left\": true", out);
    fprintf(out, ", \"native\": %s", f->native ? "true" : "false");
    put_registers(out, r, "takes", list, raise_params(r, &f->taken, list), &f->taken);
    put_results(out, r, f);
    fputc('}', out);
}

static void put_functions(FILE *out, const Raise *r) {
    const char *comma = "";
    fprintf(out, "  \"functions\": [");
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].raised) {
            fprintf(out, "%s\n    ", comma);
            put_function(out, r, &r->functions.at[i]);
            comma = ",";
        }
    fprintf(out, "\n  ],\n");
}

static void put_jumps(FILE *out, const Raise *r) {
    fprintf(out, "  \"computed_jumps\": [");
    for (size_t i = 0; i < r->jumps.len; i++) {
        const RaiseJump *j = &r->jumps.at[i];
        fprintf(out, "%s\n    {\"address\": \"0x%lx\", \"places\": %lu, \"table\": ", i ? "," : "", j->pc, j->places);
        if (j->table)
            fprintf(out, "{\"start\": \"0x%lx\", \"end\": \"0x%lx\"}}", j->table, j->table_end);
        else
            fprintf(out, "null}");
    }
    fprintf(out, "\n  ],\n");
}

static void put_notes(FILE *out, const Raise *r) {
    fprintf(out, "  \"left_to_run_time\": [");
    for (size_t i = 0; i < r->notes.len; i++) {
        fprintf(out, "%s\n    {\"address\": \"0x%lx\", \"why\": ", i ? "," : "", r->notes.at[i].pc);
        put_string(out, r->notes.at[i].why);
        fputc('}', out);
    }
    fprintf(out, "\n  ]\n");
}

static void put_libraries(FILE *out, const Raise *r) {
    const char *comma = "";
    fprintf(out, "  \"libraries\": [");
    for (size_t i = 1; r->parts && i < r->parts->len; i++) {
        if (r->parts->at[i].outside)
            continue;
        fprintf(out, "%s\n    {\"name\": ", comma);
        put_string(out, r->parts->at[i].name);
        fprintf(out, ", \"address\": \"0x%lx\"}", r->parts->at[i].shift);
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
}

static void put_counts(FILE *out, const Raise *r) {
    const RaiseCounts *c = &r->counts;
    fprintf(out, "  \"counts\": {\n");
    put_number(out, "functions", c->functions);
    put_number(out, "native", c->native);
    put_number(out, "instructions", c->insns);
    put_number(out, "signatures", c->signatures);
    put_number(out, "arguments", c->arguments);
    put_number(out, "results", c->results);
    put_number(out, "locals", c->locals);
    put_number(out, "tables", count_tables(r));
    put_number(out, "jumps_resolved", r->jumps.len);
    put_number(out, "jumps_not_resolved", c->unresolved_jumps);
    put_number(out, "functions_with_stops", c->unsupported);
    put_number(out, "functions_left", c->left);
    put_number(out, "shared_accesses", c->shared);
    fprintf(out, "    \"fences\": %lu\n  },\n", c->fences);
}

void raise_report_json(const Raise *r, const char *file, FILE *out) {
    fprintf(out, "{\n  \"file\": ");
    put_string(out, file);
    fprintf(out, ",\n  \"machine\": \"%s\",\n  \"target\": \"%s\",\n", isa_name(r->isa->arch), r->host->name);
    put_counts(out, r);
    put_libraries(out, r);
    put_functions(out, r);
    put_jumps(out, r);
    put_notes(out, r);
    fprintf(out, "}\n");
}
