/* view.c: what a tool sees of an aarch64 instruction (isa/view.h), by its row and its operands. */
#include "isa/aarch64/encoding.h"
#include "isa/aarch64/field.h"
#include "isa/aarch64/system.h"

_Static_assert((u32)A64_ROW_COUNT <= INSN_OPCODES, "the number of a row is that of its opcode");

/* -------------------------------------------------------------------------------------------------------------- memory */

/* The classes of loads and stores, by bits 29–24 of the word; the manual, C4.1.88. */
typedef enum AccessClass { NO_ACCESS, EXCLUSIVE, ORDERED, LITERAL, PAIR, SINGLE, STRUCTURES, COPY } AccessClass;

static AccessClass class_of(u32 w) {
    if (a64_bits(w, 29, 24) == 8)
        return EXCLUSIVE;
    if (a64_bits(w, 29, 27) == 3 && a64_bits(w, 25, 24) == 1 && a64_bits(w, 11, 10) == 1)
        return COPY;
    if (a64_bits(w, 29, 24) == 0x19)
        return ORDERED;
    if (!(w >> 31) && a64_bits(w, 29, 25) == 6)
        return STRUCTURES;
    switch (a64_bits(w, 29, 27)) {
    case 3:
        return LITERAL;
    case 5:
        return PAIR;
    case 7:
        return SINGLE;
    }
    return NO_ACCESS;
}

/* Of one access. */
static u32 bytes_of(u32 w) {
    bool vector = a64_bits(w, 26, 26);
    u32 size = a64_bits(w, 31, 30);
    switch (class_of(w)) {
    case EXCLUSIVE: /* bit 21 of those that do not swap: a pair, which is one access; of casp, bit 30 is the size */
        if (a64_bits(w, 21, 21) && !a64_bits(w, 23, 23))
            return size & 2 ? 2u << size : 8u << (size & 1);
        return 1u << size;
    case ORDERED:
        return 1u << size;
    case LITERAL:
        return vector ? 4u << size : size == 1 ? 8 : 4;
    case PAIR:
        return vector ? 4u << size : size == 2 ? 8 : 4;
    case SINGLE:
        return 1u << (vector ? a64_bits(w, 23, 23) << 2 | size : size);
    case STRUCTURES: /* add_structures() knows */
    case COPY:       /* and add_copy() */
    case NO_ACCESS:
        return 0;
    }
    return 0;
}

static bool is_atomic(const Insn *in) {
    AccessClass c = class_of(in->word);
    return c == EXCLUSIVE || c == ORDERED ||
           (c == SINGLE && !a64_bits(in->word, 26, 24) && a64_bits(in->word, 21, 21) && !a64_bits(in->word, 11, 10));
}

/* A store that finds its reservation lost does not write. Of atomic operations, only ldapr does not store. */
static u8 how_of(const Insn *in) {
    AccessClass c = class_of(in->word);
    bool loads = a64_use((A64Field)a64_fields[in->row][0]) != USE_READ;
    if (c == EXCLUSIVE && a64_use((A64Field)a64_fields[in->row][0]) == USE_BOTH)
        return ACCESS_READ | ACCESS_WRITE;
    if (c == EXCLUSIVE && a64_fields[in->row][0] == WS)
        return ACCESS_WRITE | ACCESS_MAYBE;
    if (c == SINGLE && is_atomic(in) && !loads)
        return ACCESS_READ | ACCESS_WRITE;
    return loads ? ACCESS_READ : ACCESS_WRITE;
}

static const Operand *memory_of(const Insn *in) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_MEM)
            return &in->op[i];
    return NULL;
}

static void add_access(InsnView *view, u8 how, Operand at, u32 bytes) {
    if (at.base == REG_PC)
        at.base = REG_NONE;
    at.bits = (u16)(8 * bytes);
    view->access[view->access_count++] = (InsnAccess){how, (u16)bytes, at};
}

/* Lists of registers: bit 24 says whether only one element of each is accessed, or the whole. See simd_field.c. */
static void add_structures(const Insn *in, InsnView *view, Operand at) {
    const Operand *list = &in->op[0];
    u32 bytes = (a64_bits(in->word, 24, 24) ? list->scale : list->bits) / 8;
    for (i64 i = 0; i < list->disp; i++, at.disp += bytes)
        add_access(view, a64_bits(in->word, 22, 22) ? ACCESS_READ : ACCESS_WRITE, at, bytes);
}

/* One step, if there is any left to make; backwards it is below the address. */
static void add_copy(const Insn *in, InsnView *view) {
    bool sets = a64_fields[in->row][1] == XN_SET, both = in->row == A64_ROW_cpym || in->row == A64_ROW_cpye;
    bool is_main = in->row == A64_ROW_cpym || in->row == A64_ROW_cpyfm || in->row == A64_ROW_setm;
    u8 how = both ? ACCESS_MAYBE | ACCESS_AROUND : ACCESS_MAYBE;
    Operand at = {.kind = OPERAND_MEM, .scale = 1, .addr_bits = 64, .index = in->op[sets ? 1 : 2].no};
    if (in->flow != FLOW_BRANCH)
        return;
    for (u32 i = 0; i < (sets ? 1 : 2); i++) {
        bool loads = !sets && !i;
        at.base = in->op[loads].no;
        add_access(view, how | (loads ? ACCESS_READ : ACCESS_WRITE), at, is_main ? 16 : 1);
    }
}

static void set_accesses(const Insn *in, InsnView *view) {
    const Operand *m = memory_of(in);
    bool is_prefetch = a64_fields[in->row][0] == PREFETCH;
    if (in->row == A64_ROW_dc_zva) { /* the whole line */
        add_access(view, ACCESS_WRITE | ACCESS_AROUND, *m, 16);
        view->access[0].bytes = A64_LINE_BYTES;
        return;
    }
    if (class_of(in->word) == COPY) {
        add_copy(in, view);
        return;
    }
    if (!m || is_prefetch || class_of(in->word) == NO_ACCESS)
        return;
    Operand at = *m;
    if (class_of(in->word) == STRUCTURES) {
        add_structures(in, view, at);
        return;
    }
    u32 bytes = bytes_of(in->word);
    add_access(view, how_of(in), at, bytes);
    if (class_of(in->word) == PAIR) {
        at.disp += bytes;
        add_access(view, how_of(in), at, bytes);
    }
}

/* ----------------------------------------------------------------------------------------------------------- registers */

static u32 bit(u8 no) {
    return no < 32 ? (u32)1 << no : 0;
}

static void set_registers(const Insn *in, InsnView *view) {
    u32 kept = 0, i = 0;
    view->writes = (u32)in->writes.word[0];
    for (const u8 *field = a64_fields[in->row]; *field; field++) {
        if (!a64_is_operand((A64Field)*field))
            continue;
        const Operand *op = &in->op[i++];
        A64Use use = a64_use((A64Field)*field);
        if (op->kind == OPERAND_MEM)
            view->reads |= bit(op->base) | bit(op->index);
        if (op->kind != OPERAND_REG || op->cls != A64_CLS_X)
            continue;
        if (use != USE_WRITTEN)
            view->reads |= bit(op->no);
        if (use == USE_BOTH)
            kept |= bit(op->no);
    }
    if (in->row == A64_ROW_xpaclri || in->row == A64_ROW_retaa || in->row == A64_ROW_retab)
        view->reads |= bit(A64_LR);
    view->kills = view->writes & ~kept;
}

static bool sets_all_flags(const Insn *in) {
    switch (in->row) {
    case A64_ROW_rmif:
    case A64_ROW_setf8:
    case A64_ROW_setf16:
    case A64_ROW_cfinv:
        return false;
    default:
        return regset_has(&in->writes, A64_N);
    }
}

static void set_flags(const Insn *in, InsnView *view) {
    view->reads_flags = regset_has(&in->flags, A64_N);
    view->writes_flags = regset_has(&in->writes, A64_N);
    view->kills_flags = sets_all_flags(in);
}

/* ------------------------------------------------------------------------------------------------------------- classes */

static u16 class_of_vectors(const Insn *in) {
    bool any = false;
    for (u32 i = 0; i < in->operand_count; i++)
        any |= in->op[i].kind == OPERAND_REG && in->op[i].cls == A64_CLS_V;
    if (!any)
        return 0;
    bool scalar = in->row >= A64_ROW_fmov && in->row <= A64_ROW_fjcvtzs;
    for (u32 i = 0; i < in->operand_count; i++)
        scalar |=
            in->op[i].cls == A64_CLS_V && in->op[i].bits <= 64 && class_of(in->word) != STRUCTURES && memory_of(in);
    return scalar ? CLASS_FLOAT : CLASS_VECTOR;
}

static u16 classes_of(const Insn *in, const InsnView *view) {
    u16 classes = classes_of_flow((Flow)view->flow) | classes_of_accesses(view->access, view->access_count);
    switch (in->row) {
    case A64_ROW_mrs:
    case A64_ROW_msr:
        return classes | CLASS_SYSTEM;
    case A64_ROW_dmb:
    case A64_ROW_dsb:
    case A64_ROW_dsb_nxs:
    case A64_ROW_isb:
    case A64_ROW_clrex:
        return classes | CLASS_ATOMIC;
    }
    if (is_atomic(in))
        return classes | CLASS_ATOMIC | CLASS_INTEGER;
    u16 vectors = class_of_vectors(in);
    if (vectors)
        return classes | vectors;
    bool integer = view->writes || view->access_count || view->writes_flags;
    return in->flow == FLOW_NEXT && integer ? classes | CLASS_INTEGER : classes;
}

/* isb goes on behind it; that the lifter leaves there is its own affair. */
static Flow flow_of(const Insn *in) {
    return in->row == A64_ROW_isb ? FLOW_NEXT : (Flow)in->flow;
}

bool a64_view(const u8 *bytes, size_t size, u64 pc, InsnView *view) {
    Insn in = {0};
    if (a64_decode(bytes, size, pc, &in) != LATHE_OK)
        return false;
    *view = (InsnView){.size = in.size, .flow = flow_of(&in), .target = in.target, .opcode = (u16)in.row};
    bool transfers = view->flow == FLOW_CALL || view->flow == FLOW_INDIRECT || view->flow == FLOW_RETURN;
    view->indirect = transfers && in.row != A64_ROW_bl;
    set_accesses(&in, view);
    set_registers(&in, view);
    set_flags(&in, view);
    view->classes = classes_of(&in, view);
    view_add_system(view, ~(u32)0);
    return true;
}

const char *a64_opcode_name(u32 opcode) {
    return opcode < A64_ROW_COUNT ? a64_names[opcode] : "?";
}
