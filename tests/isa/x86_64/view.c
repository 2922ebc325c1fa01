/* view.c: x86_view against the facts (x86_facts), in all fields: on every opcode, on the code of real files and on random bytes.
 *
 * view [--count=N] [--seed=N] [--text=MEGABYTES] [FILE]...: without files, the libraries of this process and the shell. */
#include "isa/x86_64/view.h"

#include <Zydis/Zydis.h>

#include "corpus.h"
#include "isa/x86_64/facts.h"
#include "isa/x86_64/scan.h"
#include "opcodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_LENGTH = 15, MAX_COMPLAINTS = 30 };

typedef struct Test {
    u64 seed;
    size_t compared, failures;
} Test;

static void complain(Test *t, const u8 *bytes, size_t size, const char *what, u64 got, u64 want) {
    if (++t->failures > MAX_COMPLAINTS)
        return;
    printf("%s: 0x%lx instead of 0x%lx:", what, (long)got, (long)want);
    for (size_t i = 0; i < size && i < MAX_LENGTH; i++)
        printf(" %02x", bytes[i]);
    printf("\n");
}

/* ------------------------------------------------------------------------------------------------- what is to be seen */

/* What is said of the instruction must be what the facts say: no more and no less. */
typedef struct Seen {
    Test *t;
    const u8 *bytes;
    const X86Facts *f;
} Seen;

static void expect(const Seen *s, const char *what, u64 got, u64 want) {
    if (got != want)
        complain(s->t, s->bytes, s->f->length, what, got, want);
}

/* What leaves for the system may read and write everything; of mov of control registers, which traps, it is not known what it kills. */
static void compare_registers(const Seen *s, const InsnView *v) {
    u64 status = (u64)0x3f << CF, general = 0xffff;
    const X86Facts *f = s->f;
    bool system = f->flow == FLOW_SYSCALL || f->flow == FLOW_STOP;
    bool open = f->flow == FLOW_STOP && f->mnemonic == ZYDIS_MNEMONIC_MOV;
    u64 reads = f->reads.word[0] | f->address.word[0], writes = f->writes.word[0], kills = f->kills.word[0];
    expect(s, "reads", v->reads, system ? general : reads & general);
    expect(s, "writes", v->writes, system ? general : writes & general);
    expect(s, "kills", v->kills, open ? 0 : kills & general);
    expect(s, "reads_flags", v->reads_flags, system || f->reads.word[0] & status);
    expect(s, "writes_flags", v->writes_flags, system || writes & status);
    expect(s, "kills_flags", v->kills_flags, (kills & status) == status);
}

/* Accesses are in another order in the facts: there the memory operand comes first, here loads do. */
static void in_order(const X86Facts *f, InsnAccess *sorted) {
    u32 count = 0;
    for (u32 stores = 0; stores < 2; stores++)
        for (u32 i = 0; i < f->access_count; i++)
            if (stores == !(f->access[i].how & ACCESS_READ))
                sorted[count++] = f->access[i];
}

static void compare_accesses(const Seen *s, const InsnView *v) {
    InsnAccess sorted[INSN_ACCESSES];
    in_order(s->f, sorted);
    expect(s, "count of accesses", v->access_count, s->f->access_count);
    for (u32 i = 0; i < v->access_count && i < s->f->access_count; i++) {
        const InsnAccess *got = &v->access[i], *want = &sorted[i];
        expect(s, "how", got->how, want->how);
        expect(s, "bytes", got->bytes, want->bytes);
        expect(s, "kind", got->at.kind, OPERAND_MEM);
        expect(s, "bits", got->at.bits, want->at.bits);
        expect(s, "base", got->at.base, want->at.base);
        expect(s, "index", got->at.index, want->at.index);
        if (got->at.index != REG_NONE)
            expect(s, "scale", got->at.scale, want->at.scale);
        expect(s, "segment", got->at.seg, want->at.seg);
        expect(s, "address size", got->at.addr_bits, want->at.addr_bits);
        expect(s, "displacement", (u64)got->at.disp, (u64)want->at.disp);
    }
}

static void compare_view(const Seen *s, const InsnView *v) {
    const X86Facts *f = s->f;
    expect(s, "size", v->size, f->length);
    expect(s, "flow", v->flow, f->flow);
    expect(s, "indirect", v->indirect, f->indirect);
    expect(s, "target", v->target, f->target);
    expect(s, "classes", v->classes, f->classes);
    if (strcmp(x86_opcode_name(v->opcode), ZydisMnemonicGetString(f->mnemonic)))
        complain(s->t, s->bytes, f->length, x86_opcode_name(v->opcode), v->opcode, f->mnemonic);
    compare_registers(s, v);
    compare_accesses(s, v);
}

static void compare(Test *t, const u8 *bytes, size_t size, u64 pc, const X86Facts *f) {
    Seen s = {t, bytes, f};
    Scan scan;
    InsnView v;
    if (!scan_insn(bytes, size, &scan))
        return; /* 3DNow! and what is Knights Corner's: isa-shape has the list */
    if (scan.address32 && !strncmp(ZydisMnemonicGetString(f->mnemonic), "bnd", 3))
        return; /* MPX ignores the prefix, and what goes by it is a nop elsewhere */
    t->compared++;
    if (x86_view(bytes, size, pc, &v))
        compare_view(&s, &v);
    else
        complain(t, bytes, f->length, "not known", 0, f->mnemonic);
}

/* -------------------------------------------------------------------------------------------------------------- by hand */

typedef struct Case {
    const char *bytes;
    const char *seen; /* name, registers read, written and killed, flags read, written and killed, then each access */
} Case;

/* Where the facts come from Zydis and Zydis is not the judge, and some of each kind, to be read. */
// clang-format off
static const Case cases[] = {
    {"48 01 07",                   "add r:0081 w:0000 k:0000 -wk rw8[7+0]"},
    {"50",                         "push r:0011 w:0010 k:0010 --- w8[4-8]"},
    {"67 50",                      "push r:0011 w:0010 k:0010 --- w8[4-8]"}, /* the stack pointer has 64 bits all the same */
    {"8f 44 24 08",                "pop r:0010 w:0010 k:0010 --- r8[4+0] w8[4+16]"},
    {"ff 50 10",                   "call r:0011 w:0010 k:0010 --- r8[0+16] w8[4-8]"},
    {"c3",                         "ret r:0010 w:0010 k:0010 --- r8[4+0]"},
    {"c8 10 00 02",                "enter r:0030 w:0030 k:0030 --- r8?~[5+0] w8~[4-8]"}, /* may copy what is below rbp */
    {"c9",                         "leave r:0030 w:0030 k:0030 --- r8[5+0]"},
    {"66 63 02",                   "movsxd r:0004 w:0001 k:0000 --- r2[2+0]"}, /* SDM 2B, MOVSXD: a word */
    {"f3 48 ab",                   "stosq r:0083 w:0082 k:0000 --- w8?*[7+0]"},
    {"64 67 ac",                   "lodsb r:0040 w:0041 k:0000 --- r1[fs:6+0]32"},
    {"66 0f 38 f8 20",             "movdir64b r:0011 w:0000 k:0000 --- r64[0+0] w64[4+0]"}, /* not below rsp */
    {"62 f1 7c 48 58 40 01",       "vaddps r:0001 w:0000 k:0000 --- r64[0+64]"},
    {"62 f1 7c 58 58 40 01",       "vaddps r:0001 w:0000 k:0000 --- r4[0+4]"}, /* broadcast */
    {"62 f1 7c 49 11 40 01",       "vmovups r:0001 w:0000 k:0000 --- w64?[0+64]"},
    {"c4 e2 6d 92 04 08",          "vgatherdps r:0001 w:0000 k:0000 --- r4?^[0+0]"},
    {"0f ae 20",                   "xsave r:0005 w:0000 k:0000 --- rw0[0+0]"},
    {"0f 05",                      "syscall r:ffff w:ffff k:0802 rw-"},
    {"c1 e0 05",                   "shl r:0001 w:0001 k:0001 -wk"},
    {"c1 e0 20",                   "shl r:0001 w:0001 k:0001 -w-"}, /* by 0 */
    {"10 e0",                      "adc r:0001 w:0001 k:0000 rwk"}, /* al, ah */
    {"40 10 e0",                   "adc r:0011 w:0001 k:0000 rwk"}, /* al, spl */
};
// clang-format on

static const struct {
    const char *bytes;
    u16 classes;
} classes[] = {
    {"48 01 d8", CLASS_INTEGER},                                              /* add */
    {"f0 48 01 18", CLASS_INTEGER | CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC}, /* lock add */
    {"87 03", CLASS_INTEGER | CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC},       /* xchg */
    {"50", CLASS_INTEGER | CLASS_STORE},                                      /* push */
    {"f3 a4", CLASS_INTEGER | CLASS_STRING | CLASS_LOAD | CLASS_STORE},       /* rep movsb */
    {"f2 0f 58 c1", CLASS_FLOAT},                                             /* addsd */
    {"f2 0f 2c 00", CLASS_FLOAT | CLASS_LOAD},                                /* cvttsd2si */
    {"66 0f 3a 0b c1 01", CLASS_FLOAT},                                       /* roundsd */
    {"66 0f 58 c1", CLASS_FLOAT | CLASS_VECTOR},                              /* addpd */
    {"c4 e2 7d 18 00", CLASS_FLOAT | CLASS_VECTOR | CLASS_LOAD},              /* vbroadcastss */
    {"66 0f ef c0", CLASS_VECTOR},                                            /* pxor */
    {"62 f2 7d 48 8b c0", CLASS_VECTOR},                                      /* vpcompressd */
    {"62 f3 7d 48 1f c0 00", CLASS_VECTOR},                                   /* vpcmpd */
    {"c4 e3 fd 01 c0 00", CLASS_FLOAT | CLASS_VECTOR},                        /* vpermpd */
    {"c5 fc 77", CLASS_VECTOR},                                               /* vzeroall */
    {"db 08", CLASS_FLOAT | CLASS_STORE},                                     /* fisttp */
    {"0f 1f 00", 0},                                                          /* nop */
    {"0f 18 08", 0},                                                          /* prefetcht0 */
    {"0f ae f0", CLASS_ATOMIC},                                               /* mfence */
    {"75 00", CLASS_BRANCH},                                                  /* jne */
    {"ff e0", CLASS_JUMP},                                                    /* jmp */
    {"e8 00 00 00 00", CLASS_CALL | CLASS_STORE},                             /* call */
    {"c3", CLASS_RETURN | CLASS_LOAD},                                        /* ret */
    {"0f 05", CLASS_SYSTEM},                                                  /* syscall */
    {"0f a2", CLASS_SYSTEM},                                                  /* cpuid */
    {"0f ae 00", CLASS_SYSTEM | CLASS_STORE},                                 /* fxsave */
    {"cc", CLASS_SYSTEM},                                                     /* int3 */
};

static void describe_access(const InsnAccess *a, FILE *out) {
    bool elements = a->how & ACCESS_ELEMENTS;
    fprintf(out, " %s%s%u%s%s%s%s[%s%u%+ld]%s", a->how & ACCESS_READ ? "r" : "", a->how & ACCESS_WRITE ? "w" : "",
            a->bytes, a->how & ACCESS_MAYBE ? "?" : "", a->how & ACCESS_REPEATED ? "*" : "",
            a->how & ACCESS_AROUND ? "~" : "", elements ? "^" : "", a->at.seg == SEG_FS ? "fs:" : "", a->at.base,
            (long)a->at.disp, a->at.addr_bits == 32 ? "32" : "");
}

static void describe(const InsnView *v, char *text, size_t size) {
    FILE *out = fmemopen(text, size, "w");
    CHECK(out, "a text can be written");
    fprintf(out, "%s r:%04x w:%04x k:%04x %c%c%c", x86_opcode_name(v->opcode), v->reads, v->writes, v->kills,
            v->reads_flags ? 'r' : '-', v->writes_flags ? 'w' : '-', v->kills_flags ? 'k' : '-');
    for (u32 i = 0; i < v->access_count; i++)
        describe_access(&v->access[i], out);
    fclose(out);
}

/* The view of bytes that are written in hexadecimal, with zeros behind them. */
static bool view_text(const char *text, InsnView *v) {
    u8 bytes[2 * MAX_LENGTH] = {0};
    for (size_t size = 0; *text; size++) {
        char *end;
        bytes[size] = (u8)strtoul(text, &end, 16);
        text = end;
    }
    return x86_view(bytes, sizeof(bytes), 0, v);
}

static void check_case(Test *t, const Case *c) {
    char text[256] = "?";
    InsnView v;
    if (view_text(c->bytes, &v))
        describe(&v, text, sizeof(text));
    if (strcmp(text, c->seen)) {
        printf("%s:\n  %s\n  instead of\n  %s\n", c->bytes, text, c->seen);
        t->failures++;
    }
}

static void check_class(Test *t, size_t index) {
    InsnView v = {0};
    if (view_text(classes[index].bytes, &v) && v.classes == classes[index].classes)
        return;
    printf("%s: classes %#x instead of %#x\n", classes[index].bytes, v.classes, classes[index].classes);
    t->failures++;
}

/* ----------------------------------------------------------------------------------------------------------- everything */

/* Takes away the bits by which prefixes make register numbers larger. */
static void lower_registers(u8 *bytes, size_t size) {
    Scan s;
    CHECK(scan_insn(bytes, size, &s), "it has just been an instruction");
    u8 *payload = bytes + s.payload_at, escape = s.payload_at ? payload[-1] : 0;
    if (escape == 0xc5)
        payload[0] |= 0xc0;
    else if (escape) {
        payload[0] |= escape == 0x62 ? 0xf0 : 0xe0;
        payload[1] |= 0x40;
    }
    for (u32 i = s.opcode_at; s.rex && i--;)
        if (bytes[i] == s.rex) {
            bytes[i] &= 0xf8;
            return;
        }
}

static bool is_complex_product(const char *name) {
    return !strncmp(name, "vf", 2) && (strstr(name, "cph") || strstr(name, "csh"));
}

/* The view takes these for instructions, though they fault: those whose registers there are not; gathers, products of tiles and of complex
 * numbers whose registers are not all different. */
static bool wants_other_registers(const u8 *bytes, const InsnView *v) {
    const char *name = x86_opcode_name(v->opcode);
    u8 lower[MAX_LENGTH];
    X86Facts f;
    memcpy(lower, bytes, v->size);
    lower_registers(lower, v->size);
    return (v->flow == FLOW_STOP && !strcmp(name, "mov")) || strstr(name, "gather") || !strncmp(name, "tdp", 3) ||
           is_complex_product(name) || x86_facts(lower, v->size, 0, &f);
}

static void compare_bytes(void *self, const u8 *bytes, size_t size) {
    const u64 pc = 0x7ffff7f00000;
    Test *t = self;
    X86Facts f;
    InsnView v;
    if (x86_facts(bytes, size, pc, &f))
        compare(t, bytes, size, pc, &f);
    else if (x86_view(bytes, size, pc, &v) && !wants_other_registers(bytes, &v))
        complain(t, bytes, v.size, "taken for an instruction", v.opcode, 0);
}

static u64 cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

/* ns per instruction. */
static double measure(const u8 *text, size_t size) {
    u64 start = cpu_ns();
    size_t seen = 0;
    for (size_t at = 0; at < size;) {
        InsnView v;
        bool good = x86_view(text + at, size - at, 0, &v);
        seen += good;
        at += good ? v.size : 1;
    }
    return (double)(cpu_ns() - start) / (double)(seen ? seen : 1);
}

static void compare_text(void *self, const char *path, const u8 *text, size_t size) {
    Test *t = self;
    size_t insns = 0;
    for (size_t at = 0; at < size; insns++) {
        X86Facts f;
        compare_bytes(t, text + at, size - at);
        at += x86_facts(text + at, size - at, 0, &f) ? f.length : 1;
    }
    printf("%s: %zu bytes, %zu instructions, %.1f ns each\n", path, size, insns, measure(text, size));
}

static void compare_random(Test *t, size_t count) {
    u8 bytes[MAX_LENGTH + 1];
    for (size_t i = 0; i < count; i++) {
        corpus_fill(&t->seed, bytes, sizeof(bytes));
        compare_bytes(t, bytes, sizeof(bytes));
    }
}

/* Tells how many have been compared since the last time. */
static void tell(Test *t, const char *what) {
    printf("%s: %zu instructions compared\n", what, t->compared);
    t->compared = 0;
}

static bool option(const char *arg, const char *name, u64 *value) {
    size_t len = strlen(name);
    if (strncmp(arg, name, len) != 0)
        return false;
    *value = strtoull(arg + len, NULL, 0);
    return true;
}

int main(int argc, char **argv) {
    Test t = {0};
    u64 count = 3000000, seed = 1, megabytes = 2;
    int first = 1;
    while (first < argc && (option(argv[first], "--count=", &count) || option(argv[first], "--seed=", &seed) ||
                            option(argv[first], "--text=", &megabytes)))
        first++;
    t.seed = corpus_seed(seed);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_case(&t, &cases[i]);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        check_class(&t, i);
    opcodes_each(compare_bytes, &t);
    tell(&t, "every opcode");
    corpus_texts(argv + first, argc - first, megabytes << 20, compare_text, &t);
    tell(&t, "real files");
    compare_random(&t, count);
    tell(&t, "random");
    printf("%zu failures\n", t.failures);
    return t.failures != 0;
}
