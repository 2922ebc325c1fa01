/* forms.c: see forms.h. */
#include "forms.h"

#include <stdlib.h>

#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"
#include "native.h"

/* Rows whose effect on the CPU cannot be compared, each with the reason. */
static const struct Excluded {
    const char *name, *reason;
} excluded[] = {
    {"syscall", "would make a system call of this process"},
    {"int", "raises a signal that says nothing about the number"},
    {"int1", "a debug exception that the kernel treats as its own"},
    {"int3", "is how a native run ends"},
    {"hlt", "#GP looks like any other memory fault"},
    {"cpuid", "depends on the core that runs it"},
    {"rdtsc", "time"},
    {"rdtscp", "time"},
    {"rdrand", "random"},
    {"rdseed", "random"},
    {"rdpid", "depends on the core that runs it"},
    {"xgetbv", "bit 1 (XINUSE) depends on what the kernel restored"},
};

/* Forms of other rows that cannot be compared either. */
static bool is_excluded_form(const Encoding *e, const Insn *in) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_REG && (in->op[i].cls == CLS_SEG || in->op[i].cls == CLS_OTHER))
            return true; /* selectors and control registers: what can be loaded depends on the kernel */
    bool hint = in->row == ZYDIS_MNEMONIC_NOP && e->map == MAP_0F && e->opcode == 0x0d;
    return hint; /* a prefetch of a register: #UD for AMD, nothing for Intel */
}

size_t encoding_put(const Encoding *e, u8 bytes[ENCODING_BYTES]) {
    u8 *at = bytes;
    memcpy(at, e->prefix, e->prefix_count);
    at += e->prefix_count;
    if (e->vex) {
        *at++ = 0xc4;
        *at++ = (u8)((~e->rxb & 7) << 5 | e->map);
        *at++ = (u8)(e->w << 7 | (~e->vvvv & 15) << 3 | e->pp);
    } else {
        if (e->rex || e->w || e->rxb)
            *at++ = (u8)(0x40 | e->w << 3 | e->rxb);
        if (e->map != MAP_ONE_BYTE)
            *at++ = 0x0f;
        if (e->map >= MAP_0F38)
            *at++ = e->map == MAP_0F38 ? 0x38 : 0x3a;
    }
    *at++ = e->opcode;
    if (e->has_modrm) {
        u8 mod = e->modrm >> 6, rm = e->modrm & 7;
        *at++ = e->modrm;
        if (mod != 3 && rm == 4)
            *at++ = e->sib;
        bool far_disp = mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (e->sib & 7) == 5)));
        memcpy(at, &e->disp, 4);
        at += far_disp ? 4 : mod == 1 ? 1 : 0;
    }
    memcpy(at, e->imm, sizeof(e->imm));
    return (size_t)(at + sizeof(e->imm) - bytes);
}

static u64 hash(u64 h, u64 v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

u64 forms_key(const Encoding *e, const Insn *in) {
    u64 h = hash(in->row, (u64)(e->map << 8 | e->opcode));
    h = hash(h, (u64)in->prefixes << 32 | (u64)in->operand_bits << 8 | (u64)e->pp << 4 | in->operand_count);
    for (u32 i = 0; i < in->operand_count; i++)
        h = hash(h, (u64)in->op[i].kind << 24 | (u64)in->op[i].cls << 16 | in->op[i].bits);
    return h;
}

/* --------------------------------------------------------------------------------------------------------- finding */

typedef struct Finder {
    Forms *forms;
    const char *name;
    Map64 seen;
} Finder;

static bool is_excluded(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (!strcmp(name, excluded[i].name))
            return true;
    return false;
}

/* Keeps the form if it is a new one of a row that is asked for. */
static void try_form(Finder *f, const Encoding *e) {
    u8 bytes[ENCODING_BYTES];
    Insn in = {.pc = NATIVE_CODE};
    u32 old;
    size_t size = encoding_put(e, bytes);
    if (isa_find(LATHE_ARCH_X86_64)->decode(bytes, size, in.pc, &in) != LATHE_OK || !in.row)
        return;
    const char *name = isa_find(LATHE_ARCH_X86_64)->row_name(in.row);
    u64 key = forms_key(e, &in);
    if (is_excluded(name) || is_excluded_form(e, &in) || (f->name && strcmp(name, f->name)))
        return;
    if (map64_get(&f->seen, key, &old))
        return;
    map64_set(&f->seen, key, 1);
    VEC_PUSH(&f->forms->found, ((Form){in.row, key, *e}));
}

/* Whether an opcode has a ModRM byte does not depend on what the byte is. */
static bool has_modrm(const Encoding *e) {
    ZydisDecoder d;
    ZydisDecodedInstruction z;
    u8 bytes[ENCODING_BYTES];
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (u32 reg = 0; reg < 8; reg++) {
        Encoding with = *e;
        with.has_modrm = true;
        with.modrm = (u8)(reg << 3);
        size_t size = encoding_put(&with, bytes);
        if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, bytes, size, &z)))
            return z.attributes & ZYDIS_ATTRIB_HAS_MODRM;
    }
    return true;
}

/* Memory is one case; a register's number can be part of the opcode, as in x87. */
static void try_operands(Finder *f, Encoding *e) {
    e->has_modrm = has_modrm(e);
    if (!e->has_modrm) {
        try_form(f, e);
        return;
    }
    for (u32 modrm = 0; modrm < 256; modrm++) {
        if (modrm < 0xc0 && (modrm & ~0x38u))
            continue;
        e->modrm = (u8)modrm;
        try_form(f, e);
    }
}

/* Bytes that are no opcodes: prefixes, REX, escapes and the heads of VEX and EVEX. */
static bool is_head(u32 map, u32 opcode) {
    if (map == MAP_0F)
        return opcode == 0x0f || opcode == 0x38 || opcode == 0x3a;
    if (map != MAP_ONE_BYTE)
        return false;
    return opcode == 0x0f || (opcode & ~0x18u) == 0x26 || (opcode & 0xf0) == 0x40 || opcode == 0x62 ||
           (opcode >= 0x64 && opcode <= 0x67) || opcode == 0xc4 || opcode == 0xc5 || opcode == 0xf0 || opcode == 0xf2 ||
           opcode == 0xf3;
}

static void try_legacy(Finder *f, u32 map, u32 opcode) {
    static const char *const prefixes[] = {"", "\x66", "\xf2", "\xf3", "\xf0", "\x66\xf2", "\x66\xf3", "\x66\xf0"};
    for (size_t p = 0; p < ARRAY_LEN(prefixes) && !is_head(map, opcode); p++)
        for (int w = 0; w < 2; w++) {
            Encoding e = {.map = (u8)map, .opcode = (u8)opcode, .w = w};
            e.prefix_count = (u8)strlen(prefixes[p]);
            memcpy(e.prefix, prefixes[p], e.prefix_count);
            try_operands(f, &e);
        }
}

static void try_vex(Finder *f, u32 map, u32 opcode) {
    for (u8 pp = 0; pp < 4; pp++)
        for (int w = 0; w < 2; w++) {
            Encoding e = {.vex = true, .map = (u8)map, .opcode = (u8)opcode, .w = w, .pp = pp};
            try_operands(f, &e);
        }
}

static int by_row(const void *a, const void *b) {
    const Form *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static bool has_flags(const Form *form) {
    ZydisDecoder d;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    u8 bytes[ENCODING_BYTES];
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    size_t size = encoding_put(&form->e, bytes);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, size, &z, op)) && z.cpu_flags &&
           (z.cpu_flags->tested | z.cpu_flags->modified | z.cpu_flags->set_0 | z.cpu_flags->set_1);
}

void forms_find(Forms *f, const char *name) {
    Finder finder = {.forms = f, .name = name};
    for (u32 map = MAP_ONE_BYTE; map <= MAP_0F3A; map++)
        for (u32 opcode = 0; opcode < 256; opcode++) {
            try_legacy(&finder, map, opcode);
            if (map != MAP_ONE_BYTE)
                try_vex(&finder, map, opcode);
        }
    map64_free(&finder.seen);
    if (f->found.len)
        qsort(f->found.at, f->found.len, sizeof(Form), by_row);
    for (u32 i = 0; i < f->found.len; i++)
        if (!i || f->found.at[i].row != f->found.at[i - 1].row) {
            if (has_flags(&f->found.at[i]))
                VEC_PUSH(&f->flag_rows, (u32)f->first.len);
            VEC_PUSH(&f->first, i);
        }
    f->row_count = f->first.len;
    VEC_PUSH(&f->first, (u32)f->found.len);
}
