/* listing.c: prints the decoded code as text or as a graph. */
#include "cli/lift/show.h"

#define TEXT_MAX 128

static const char *disassemble(const Unit *u, u64 pc, char *text) {
    if (lathe_disassemble(&u->cfg, pc, text, TEXT_MAX) < 0)
        snprintf(text, TEXT_MAX, "(not an instruction)");
    return text;
}

static void print_insns(FILE *out, const Unit *u, const LatheBlock *b, const char *prefix) {
    char text[TEXT_MAX];
    for (size_t i = 0; i < b->insn_count; i++)
        fprintf(out, "%s  0x%lx: %s\n", prefix, b->insns[i], disassemble(u, b->insns[i], text));
}

/* Escapes the characters that have a meaning in a record label of Graphviz. \l ends a line that is left-aligned. */
static void print_label(FILE *out, const char *text) {
    for (; *text; text++) {
        if (strchr("{}|<>\"\\ ", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
    fputs("\\l", out);
}

static void print_node(FILE *out, const Unit *u, const LatheBlock *b) {
    char text[TEXT_MAX], line[TEXT_MAX + 32];
    fprintf(out, "    \"0x%lx\" [label=\"{", b->start);
    snprintf(line, sizeof(line), "0x%lx:", b->start);
    print_label(out, line);
    fputc('|', out);
    for (size_t i = 0; i < b->insn_count; i++) {
        snprintf(line, sizeof(line), "%lx  %s", b->insns[i], disassemble(u, b->insns[i], text));
        print_label(out, line);
    }
    fprintf(out, "}\"%s];\n", b->exits ? ", style=bold" : "");
}

void show_listing(FILE *out, const Unit *u, const char *prefix) {
    for (size_t i = 0; i < lathe_func_block_count(u->fn); i++) {
        LatheBlock b = lathe_func_block(u->fn, i);
        fprintf(out, "%s%lx:\n", prefix, b.start);
        print_insns(out, u, &b, prefix);
    }
}

void show_cfg_text(FILE *out, const Unit *u) {
    for (size_t i = 0; i < lathe_func_block_count(u->fn); i++) {
        LatheBlock b = lathe_func_block(u->fn, i);
        fprintf(out, "%sblock 0x%lx-0x%lx%s\n", i ? "\n" : "", b.start, b.end, b.start == u->addr ? " (entry)" : "");
        print_insns(out, u, &b, "");
        fprintf(out, "  ->");
        for (size_t s = 0; s < b.successor_count; s++)
            fprintf(out, " 0x%lx", b.successors[s]);
        fprintf(out, "%s\n", b.exits ? " exit" : "");
    }
}

void show_cfg_dot(FILE *out, const Unit *u) {
    fprintf(out, "digraph ");
    show_json_string(out, u->lifted_name);
    fprintf(out, " {\n    node [shape=record, fontname=\"monospace\", fontsize=10];\n");
    for (size_t i = 0; i < lathe_func_block_count(u->fn); i++) {
        LatheBlock b = lathe_func_block(u->fn, i);
        print_node(out, u, &b);
        for (size_t s = 0; s < b.successor_count; s++)
            fprintf(out, "    \"0x%lx\" -> \"0x%lx\";\n", b.start, b.successors[s]);
    }
    fprintf(out, "}\n");
}
