/* emit.c: the program fuzz-emit: samples of fuzz-diff with what this CPU makes of them, for fuzz-replay.
 *
 * Left out is what `lathe run` is known not to have: string instructions at gs with 32-bit addresses. Flags are left open where docs/quick.md says that
 * they are lost. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"
#include "draw.h"
#include "isa/isa.h"
#include "record.h"

typedef struct Options {
    u64 seed, count;
    u32 length;
    bool gs;
    const char *row;
} Options;

static const char usage[] = "Usage: fuzz-emit [OPTION]... | lathe run --tier=quick fuzz-replay\n"
                            "Writes random instructions, and what this CPU does with them, to standard output.\n"
                            "\n"
                            "  --seed=N      of the first sample (1)\n"
                            "  --count=N     samples (4000)\n"
                            "  --row=NAME    only this instruction\n"
                            "  --gs          only samples with an instruction at gs\n"
                            "  --length=N    up to N instructions in every other sample (6)\n";

static bool is_prefix(u8 byte) {
    static const u8 prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    return memchr(prefixes, byte, sizeof(prefixes));
}

static bool has_prefix(const u8 *code, u8 prefix) {
    while (is_prefix(*code) && *code != prefix)
        code++;
    return *code == prefix;
}

static bool is_left_out(const Insn *in, const u8 *code) {
    static const char *const names[] = {"movs", "cmps", "lods"};
    const char *name = isa_find(LATHE_ARCH_X86_64)->row_name(in->row);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return has_prefix(code, 0x65) && has_prefix(code, 0x67);
    return false;
}

static bool loses_flags(const Insn *in) {
    bool fixed_place = in->op[0].kind == OPERAND_MEM && in->op[0].base == REG_PC;
    return in->flow == FLOW_RETURN || (in->flow == FLOW_CALL && !in->target) ||
           (in->flow == FLOW_INDIRECT && fixed_place);
}

static void ignore_flags(LatheX86Cpu *c) {
    c->cf = c->pf = c->af = c->zf = c->sf = c->of = 0xff;
}

/* Goes through the instructions one after the other. False: there is one that is left out, or none at gs where one is wanted. */
static bool describe(const Sample *s, bool wants_gs, Record *r) {
    const Isa *isa = isa_find(LATHE_ARCH_X86_64);
    size_t used = 0;
    for (size_t at = 0; at < s->size;) {
        Insn in = {.pc = STATE_CODE + at};
        char text[100] = "?";
        LatheStatus status = isa->decode(s->code + at, s->size - at, in.pc, &in);
        CHECK(status == LATHE_OK, "a sample of no instructions");
        if (is_left_out(&in, s->code + at))
            return false;
        wants_gs &= !has_prefix(s->code + at, 0x65);
        if (loses_flags(&in))
            ignore_flags(&r->ignore.cpu);
        isa->format(s->code + at, s->size - at, in.pc, text, sizeof(text));
        used += (size_t)snprintf(r->text + used, sizeof(r->text) - used, "%s%s", at ? "; " : "", text);
        if (used >= sizeof(r->text))
            used = sizeof(r->text) - 1;
        at += in.size;
    }
    return !wants_gs;
}

static bool make_record(const Sample *s, bool wants_gs, Record *r) {
    *r = (Record){.seed = s->seed, .size = (u32)s->size, .initial = s->initial, .final = s->initial};
    memcpy(r->code, s->code, s->size);
    if (!describe(s, wants_gs, r))
        return false;
    r->result = cpu_run(&r->final, s->code, s->size, LATHE_TRAP_NONE);
    return r->result.signal != SIGVTALRM; /* where it was stopped is chance */
}

static Options parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},
        {"count", required_argument, NULL, 'n'},
        {"row", required_argument, NULL, 'r'},
        {"length", required_argument, NULL, 'k'},
        {"gs", no_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    Options o = {.seed = 1, .count = 4000, .length = 6};
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o.count = strtoull(optarg, NULL, 0);
            break;
        case 'r':
            o.row = optarg;
            break;
        case 'g':
            o.gs = true;
            break;
        case 'k':
            o.length = (u32)strtoul(optarg, NULL, 0);
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    return o;
}

int main(int argc, char **argv) {
    static Sample sample;
    static Record record;
    Options o = parse_options(argc, argv);
    u32 row_count = sample_find(o.row);
    if (!row_count) {
        fprintf(stderr, "fuzz-emit: there is no instruction '%s' to compare\n", o.row);
        return 2;
    }
    for (u64 done = 0, seed = o.seed; done < o.count;) {
        draw_sample(row_count, &seed, o.length, &sample);
        if (!make_record(&sample, o.gs, &record))
            continue;
        if (fwrite(&record, sizeof(record), 1, stdout) != 1)
            return 1;
        done++;
    }
    return fflush(stdout) != 0;
}
