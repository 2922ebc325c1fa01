/* shape.c: instruction lengths in 64-bit mode, by one byte of facts per opcode.
 *
 * The fact byte of an opcode says whether a ModRM byte follows, how large the immediate is and of which ShapeKind the
 * instruction is. What depends on ModRM (the groups) or on a mandatory prefix is settled by a switch after ModRM has
 * been read. Encodings that no CPU accepts may pass as plain: copied, they fault as they would have. What is refused
 * must be known wrong, or of no known length (REX2, VEX and EVEX maps that are still empty), or extinct (3DNow!).
 *
 * Intel's reading is followed where the vendors differ: near branches ignore the prefix 66 (AMD: 16-bit offsets), ud0
 * has a ModRM byte. */
#include "isa/x86_64/shape.h"

enum {
    WINDOW = 24,     /* bytes that may be looked at: 14 prefixes, EVEX, opcode, ModRM and SIB are 21 */
};

/* Facts: M | immediate | kind. */
enum {
    M = 0x80,
    I8 = 0x10,
    I16 = 0x20,
    I32 = 0x30,
    IZ = 0x40,    /* 2 or 4 by operand size */
    IV = 0x50,    /* 2, 4 or 8 by operand size */
    MOFFS = 0x60, /* 4 or 8 by address size */
    ENTER = 0x70, /* 2 + 1 */
    IMMEDIATE = 0x70,

    GROUP = SHAPE_OTHER + 1, /* the kind and more depends on ModRM or prefixes */
    PREFIX,
    ESCAPE,
    BAD,
    KIND = 0x0f,
};
_Static_assert(BAD <= KIND, "kinds fit into half a byte");

/* clang-format off */
static const u8 map_one_byte[256] = {
    /* add, or, adc, sbb, and, sub, xor, cmp */
    [0x00 ... 0x03] = M, [0x04] = I8, [0x05] = IZ, [0x06 ... 0x07] = BAD,
    [0x08 ... 0x0b] = M, [0x0c] = I8, [0x0d] = IZ, [0x0e] = BAD, [0x0f] = ESCAPE,
    [0x10 ... 0x13] = M, [0x14] = I8, [0x15] = IZ, [0x16 ... 0x17] = BAD,
    [0x18 ... 0x1b] = M, [0x1c] = I8, [0x1d] = IZ, [0x1e ... 0x1f] = BAD,
    [0x20 ... 0x23] = M, [0x24] = I8, [0x25] = IZ, [0x26] = PREFIX, [0x27] = BAD,
    [0x28 ... 0x2b] = M, [0x2c] = I8, [0x2d] = IZ, [0x2e] = PREFIX, [0x2f] = BAD,
    [0x30 ... 0x33] = M, [0x34] = I8, [0x35] = IZ, [0x36] = PREFIX, [0x37] = BAD,
    [0x38 ... 0x3b] = M, [0x3c] = I8, [0x3d] = IZ, [0x3e] = PREFIX, [0x3f] = BAD,
    [0x40 ... 0x4f] = PREFIX, /* REX */
    [0x60 ... 0x61] = BAD, [0x62] = ESCAPE, [0x63] = M, [0x64 ... 0x67] = PREFIX,
    [0x68] = IZ, [0x69] = M | IZ, [0x6a] = I8, [0x6b] = M | I8, [0x6c ... 0x6f] = SHAPE_TRAP,
    [0x70 ... 0x7f] = I8 | SHAPE_JCC,
    [0x80] = M | I8, [0x81] = M | IZ, [0x82] = BAD, [0x83] = M | I8,
    [0x84 ... 0x8d] = M, [0x8e] = M | GROUP, [0x8f] = ESCAPE,
    [0x9a] = BAD,
    [0xa0 ... 0xa3] = MOFFS, [0xa8] = I8, [0xa9] = IZ,
    [0xb0 ... 0xb7] = I8, [0xb8 ... 0xbf] = IV,
    [0xc0 ... 0xc1] = M | I8, [0xc2] = I16 | SHAPE_RET, [0xc3] = SHAPE_RET, [0xc4 ... 0xc5] = ESCAPE,
    [0xc6] = M | I8 | GROUP, [0xc7] = M | IZ | GROUP,
    [0xc8] = ENTER, [0xca] = I16 | SHAPE_OTHER, [0xcb] = SHAPE_OTHER,
    [0xcc] = SHAPE_TRAP, [0xcd] = I8 | SHAPE_TRAP, [0xce] = BAD, [0xcf] = SHAPE_OTHER,
    [0xd0 ... 0xd3] = M, [0xd4 ... 0xd6] = BAD, [0xd8 ... 0xdf] = M,
    [0xe0 ... 0xe3] = I8 | SHAPE_COUNTED, [0xe4 ... 0xe7] = I8 | SHAPE_TRAP,
    [0xe8] = I32 | SHAPE_CALL, [0xe9] = I32 | SHAPE_JMP, [0xea] = BAD, [0xeb] = I8 | SHAPE_JMP,
    [0xec ... 0xef] = SHAPE_TRAP,
    [0xf0] = PREFIX, [0xf1] = SHAPE_TRAP, [0xf2 ... 0xf3] = PREFIX, [0xf4] = SHAPE_TRAP, [0xf6 ... 0xf7] = M | GROUP,
    [0xfa ... 0xfb] = SHAPE_TRAP, [0xfe ... 0xff] = M | GROUP,
};

static const u8 map_0f[256] = {
    [0x00 ... 0x01] = M | GROUP, [0x02 ... 0x03] = M, [0x04] = BAD, [0x05] = SHAPE_SYSCALL, [0x06] = SHAPE_TRAP,
    [0x07] = SHAPE_OTHER, [0x08 ... 0x09] = SHAPE_TRAP, [0x0a] = BAD, [0x0b] = SHAPE_TRAP, [0x0c] = BAD, [0x0d] = M,
    [0x0f] = BAD, /* 3DNow!, whose opcode comes last; CPUs of today have none of it */
    [0x10 ... 0x1f] = M,
    [0x20 ... 0x23] = I8 | SHAPE_TRAP, /* mov cr, dr: a ModRM byte whose mod is ignored, so no memory operand follows */
    [0x24 ... 0x27] = BAD, [0x28 ... 0x2f] = M,
    [0x30] = SHAPE_TRAP, [0x32] = SHAPE_TRAP, [0x34 ... 0x35] = SHAPE_OTHER, [0x36] = BAD, [0x37] = SHAPE_TRAP,
    [0x38] = ESCAPE, [0x39] = BAD, [0x3a] = ESCAPE, [0x3b ... 0x3f] = BAD,
    [0x40 ... 0x6f] = M,
    [0x70 ... 0x73] = M | I8, [0x74 ... 0x76] = M, [0x78 ... 0x7b] = M | GROUP, [0x7c ... 0x7f] = M,
    [0x80 ... 0x8f] = I32 | SHAPE_JCC,
    [0x90 ... 0x9f] = M,
    [0xa2] = SHAPE_CPUID, [0xa3] = M, [0xa4] = M | I8, [0xa5 ... 0xa7] = M,
    [0xa9] = SHAPE_OTHER, [0xaa] = SHAPE_TRAP, [0xab] = M, [0xac] = M | I8, [0xad] = M, [0xae] = M | GROUP, [0xaf] = M,
    [0xb0 ... 0xb4] = M, [0xb5] = M | SHAPE_OTHER, [0xb6 ... 0xb7] = M, [0xb8] = M | GROUP, [0xb9] = M | SHAPE_TRAP,
    [0xba] = M | I8, [0xbb ... 0xbf] = M,
    [0xc0 ... 0xc1] = M, [0xc2] = M | I8, [0xc3] = M, [0xc4 ... 0xc6] = M | I8, [0xc7] = M,
    [0xd0 ... 0xfe] = M, [0xff] = M | SHAPE_TRAP,
};
/* clang-format on */

/* The instruction as far as it has been read. */
typedef struct Scan {
    const u8 *bytes;
    u8 at;       /* the next byte */
    u8 rex, rep; /* rep: the last of F2 and F3, which counts */
    bool operand16, address32, lock, gs, vector;
    u8 map; /* of the opcode: 0 (one byte), 1 (0F), or another, of which no group is */
    u8 opcode_at, modrm_at, disp_at;
} Scan;

/* SDM 2A, 2.2.1: a REX prefix that is not directly before the opcode is ignored. */
static void skip_prefixes(Scan *s) {
    for (; s->at < SHAPE_BYTES; s->at++) {
        u8 byte = s->bytes[s->at];
        if (map_one_byte[byte] != PREFIX)
            return;
        if ((byte & 0xf0) == 0x40) {
            s->rex = byte;
            continue;
        }
        s->rex = 0;
        switch (byte) {
        case 0x65:
            s->gs = true;
            break;
        case 0x66:
            s->operand16 = true;
            break;
        case 0x67:
            s->address32 = true;
            break;
        case 0xf0:
            s->lock = true;
            break;
        case 0xf2:
        case 0xf3:
            s->rep = byte;
            break;
        }
    }
}

/* BMI: andn, blsr and others, bzhi, pdep, pext, mulx, bextr, sarx, shlx, shrx; rorx. */
static bool is_general(u8 map, u8 opcode) {
    return (map == 2 && opcode >= 0xf2 && opcode <= 0xf7) || (map == 3 && opcode == 0xf0);
}

/* The opcode after `prefix_bytes` of VEX, EVEX or XOP. Their maps 1 to 3 are 0F, 0F38 and 0F3A, whose opcodes have the
 * immediates of their legacy namesakes; 5 and 6 are EVEX's half precision; 8 to 10 are XOP's. */
static u8 vector_opcode(Scan *s, u8 map, u8 prefix_bytes) {
    if (s->rex || s->rep || s->operand16 || s->lock)
        return BAD;
    s->map = 0xff;
    s->at = (u8)(s->at + prefix_bytes);
    u8 opcode = s->bytes[s->at];
    s->vector = !is_general(map, opcode);
    switch (map) {
    case 1:
        if (opcode == 0x77) /* vzeroupper */
            return SHAPE_PLAIN;
        return map_0f[opcode] & M ? map_0f[opcode] & (M | IMMEDIATE) : BAD;
    case 2:
    case 5:
    case 6:
    case 9:
        return M;
    case 3:
    case 8:
        return M | I8;
    case 10:
        return M | I32;
    }
    return BAD;
}

/* The map of EVEX, whose fixed bits are 0 in its first byte and 1 in its second; 0: wrong. Map 4, of APX, has other
 * rules. */
static u8 evex_map(const u8 *payload) {
    u8 map = payload[0] & 7;
    return payload[0] & 8 || !(payload[1] & 4) ? 0 : map;
}

static u8 legacy_0f_opcode(Scan *s) {
    u8 opcode = s->bytes[++s->at];
    s->map = 1;
    if (map_0f[opcode] != ESCAPE)
        return map_0f[opcode];
    s->map = 0xff;
    s->at++;
    return opcode == 0x38 ? M : M | I8;
}

/* Goes to the last opcode byte; the facts of it. AMD 3, 1.2.6: 8F begins XOP where the map's number is at least 8; else
 * it is pop, whose ModRM.reg must be 0. */
static u8 find_opcode(Scan *s) {
    const u8 *opcode = s->bytes + s->at;
    if (map_one_byte[*opcode] != ESCAPE)
        return map_one_byte[*opcode];
    u8 map = opcode[1] & 0x1f;
    switch (*opcode) {
    case 0x0f:
        return legacy_0f_opcode(s);
    case 0x62:
        return vector_opcode(s, evex_map(opcode + 1), 4);
    case 0x8f:
        return map >= 8 ? vector_opcode(s, map, 3) : opcode[1] & 0x38 ? BAD : M;
    case 0xc4:
        return vector_opcode(s, map <= 3 ? map : 0, 3);
    case 0xc5:
        return vector_opcode(s, 1, 2);
    }
    return BAD;
}

/* ModRM, SIB and displacement. SDM 2A, 2.2.1.6: mod 0, rm 5 is relative to rip, whatever REX.B; a SIB base of 5 with
 * mod 0 is a disp32 without base. */
static void skip_operand(Scan *s) {
    static const u8 after_modrm[3][8] = {{0, 0, 0, 0, 1, 4, 0, 0}, {1, 1, 1, 1, 2, 1, 1, 1}, {4, 4, 4, 4, 5, 4, 4, 4}};
    const u8 *modrm = s->bytes + s->at;
    s->modrm_at = s->at++;
    if (*modrm >= 0xc0)
        return;
    u8 form = *modrm & 0xc7;
    s->disp_at = form == 5 ? s->at : 0;
    s->at = (u8)(s->at + after_modrm[form >> 6][form & 7] + (form == 4 && (modrm[1] & 7) == 5 ? 4 : 0));
}

/* Facts of the one-byte map's groups, ModRM known. */
static u8 settle_one_byte(u8 opcode, u8 modrm) {
    u8 reg = modrm >> 3 & 7;
    switch (opcode) {
    case 0x8e:
        return reg == 5 ? SHAPE_OTHER : reg == 1 || reg > 5 ? BAD : SHAPE_PLAIN; /* mov to a segment register */
    case 0xc6:
    case 0xc7: { /* mov; xabort and xbegin */
        u8 immediate = opcode == 0xc6 ? I8 : IZ;
        return reg == 0 ? immediate : modrm == 0xf8 ? immediate | SHAPE_OTHER : BAD;
    }
    case 0xf6:
        return reg < 2 ? I8 : SHAPE_PLAIN; /* test */
    case 0xf7:
        return reg < 2 ? IZ : SHAPE_PLAIN;
    case 0xfe:
        return reg < 2 ? SHAPE_PLAIN : BAD;
    }
    static const u8 group5[8] = {
        SHAPE_PLAIN, SHAPE_PLAIN, SHAPE_CALL_INDIRECT, SHAPE_OTHER, SHAPE_JMP_INDIRECT, SHAPE_OTHER, SHAPE_PLAIN, BAD,
    };
    return group5[reg];
}

/* Group 7: descriptor tables, and what has been put into its register forms. Only what always faults in user mode is a
 * trap: vmcall and vmmcall may reach a hypervisor, monitor and mwait can be allowed. */
static u8 settle_0f01(u8 modrm, u8 rep) {
    switch (modrm) {
    case 0xc0:          /* enclv */
    case 0xc2 ... 0xc6: /* vmlaunch, vmresume, vmxoff, pconfig, wrmsrns */
    case 0xca ... 0xcb: /* clac, stac */
    case 0xcc ... 0xcf: /* encls; of TDX with prefix 66 */
    case 0xd1:          /* xsetbv */
    case 0xd8:          /* vmrun */
    case 0xda ... 0xdf: /* vmload, vmsave, stgi, clgi, skinit, invlpga */
    case 0xfe ... 0xff: /* invlpgb, tlbsync */
        return SHAPE_TRAP;
    case 0xd7: /* enclu */
    case 0xf8: /* swapgs */
        return SHAPE_OTHER;
    case 0xec:
        return rep == 0xf3 ? SHAPE_OTHER : SHAPE_PLAIN; /* uiret */
    }
    u8 reg = modrm >> 3 & 7;
    bool memory = modrm < 0xc0;
    bool privileged = reg == 6 || (memory && (reg == 2 || reg == 3 || reg == 7)); /* lmsw; lgdt, lidt, invlpg */
    return privileged ? SHAPE_TRAP : SHAPE_PLAIN;
}

/* Facts of the 0F map's groups, ModRM and prefixes known. */
static u8 settle_0f(const Scan *s, u8 opcode, u8 modrm) {
    u8 reg = modrm >> 3 & 7;
    switch (opcode) {
    case 0x00:
        return reg == 2 || reg == 3 ? SHAPE_TRAP : reg > 5 ? BAD : SHAPE_PLAIN; /* lldt, ltr */
    case 0x01:
        return settle_0f01(modrm, s->rep);
    case 0x78: /* vmread; SSE4a's extrq and insertq, two bytes of immediate */
        return s->rep == 0xf3 ? BAD : s->rep || s->operand16 ? I16 : SHAPE_TRAP;
    case 0x79:
        return s->rep == 0xf3 ? BAD : s->rep || s->operand16 ? SHAPE_PLAIN : SHAPE_TRAP;
    case 0xae: /* rdgsbase, wrgsbase */
        return s->rep == 0xf3 && modrm >= 0xc0 && (reg == 1 || reg == 3) ? SHAPE_OTHER : SHAPE_PLAIN;
    case 0xb8:
        return s->rep == 0xf3 ? SHAPE_PLAIN : BAD; /* popcnt */
    }
    return BAD;
}

/* By operand size (4, 2, 8 bytes), but MOFFS by address size. */
static u8 immediate_size(const Scan *s, u8 facts) {
    static const u8 sizes[8][3] = {
        [I8 >> 4] = {1, 1, 1}, [I16 >> 4] = {2, 2, 2},   [I32 >> 4] = {4, 4, 4},   [IZ >> 4] = {4, 2, 4},
        [IV >> 4] = {4, 2, 8}, [ENTER >> 4] = {3, 3, 3}, [MOFFS >> 4] = {8, 8, 8},
    };
    u8 class = facts & IMMEDIATE;
    if (class == MOFFS && s->address32)
        return 4;
    return sizes[class >> 4][s->rex & 8 ? 2 : s->operand16];
}

/* The value that ends the instruction, where the kind has one. */
static void set_immediate(Shape *shape, const u8 *bytes, u8 size) {
    if (shape->kind == SHAPE_RET && size == 2) {
        memcpy(&shape->immediate, bytes, 2);
    } else if (shape->kind >= SHAPE_JCC && shape->kind <= SHAPE_COUNTED) {
        i32 offset = (i8)bytes[0];
        if (size == 4)
            memcpy(&offset, bytes, 4);
        shape->target = offset;
    }
}

bool shape_of(const u8 *bytes, size_t size, Shape *shape) {
    u8 window[WINDOW] = {0};
    Scan s = {.bytes = bytes};
    if (size < WINDOW)
        s.bytes = memcpy(window, bytes, size);
    skip_prefixes(&s);
    if (s.at == SHAPE_BYTES)
        return false;
    u8 facts = find_opcode(&s);
    s.opcode_at = s.at++;
    if (facts & M)
        skip_operand(&s);
    u8 opcode = s.bytes[s.opcode_at];
    if ((facts & KIND) == GROUP) {
        u8 modrm = s.bytes[s.modrm_at];
        facts = s.map == 0 ? settle_one_byte(opcode, modrm) : settle_0f(&s, opcode, modrm);
    }
    u8 kind = facts & KIND, immediate = immediate_size(&s, facts), length = (u8)(s.at + immediate);
    if (kind == BAD || length > SHAPE_BYTES || length > size)
        return false;
    *shape = (Shape){
        .length = length,
        .kind = s.gs ? SHAPE_OTHER : kind,
        .rex = s.rex,
        .opcode = opcode,
        .opcode_at = s.opcode_at,
        .modrm_at = s.modrm_at,
        .disp_at = s.disp_at,
        .address32 = s.address32,
        .vector = s.vector,
    };
    set_immediate(shape, s.bytes + s.at, immediate);
    return true;
}
