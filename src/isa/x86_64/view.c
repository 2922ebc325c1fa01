/* view.c: see view.h. Which row of the tables (view_tables.h) an instruction has, and what its own registers, address and target are. */
#include "isa/x86_64/view.h"

#include "isa/x86_64/facts.h"
#include "isa/x86_64/view_tables.h"

/* The fields of an instruction that is encoded in one of four ways. */
typedef struct Fields {
    u8 pp, length;
    bool w, b, masked, zeroing;
    u8 r, x, base; /* the highest bits of ModRM.reg, SIB's index, and ModRM.rm or SIB's base: 8 or 0 */
    u8 vvvv;       /* as a register's number, EVEX's V' with it */
} Fields;

static Fields legacy_fields(const Scan *s) {
    return (Fields){
        .pp = s->rep ? s->rep == 0xf3 ? 2 : 3 : s->operand16,
        .w = s->rex & 8,
        .r = s->rex & 4 ? 8 : 0,
        .x = s->rex & 2 ? 8 : 0,
        .base = s->rex & 1 ? 8 : 0,
    };
}

/* SDM 2A, 2.3.5 and 2.7.1; AMD 3, 1.8: bits of registers are inverted. VEX's form of two bytes has only R of them. */
static Fields vector_fields(const Scan *s) {
    const u8 *first = s->bytes + s->payload_at, *second = s->bytes[s->payload_at - 1] == 0xc5 ? first : first + 1;
    bool is_short = first == second;
    Fields f = {
        .pp = *second & 3,
        .length = *second >> 2 & 1,
        .w = !is_short && *second & 0x80,
        .r = *first & 0x80 ? 0 : 8,
        .x = is_short || *first & 0x40 ? 0 : 8,
        .base = is_short || *first & 0x20 ? 0 : 8,
        .vvvv = ~*second >> 3 & 15,
    };
    if (space_is_evex(s->space)) {
        u8 third = first[2];
        f.length = third >> 5 & 3;
        f.b = third & 0x10;
        f.masked = third & 7;
        f.zeroing = third & 0x80;
        f.vvvv |= third & 8 ? 0 : 16;
    }
    return f;
}

static bool is_memory(const Scan *s) {
    return s->modrm_at && s->bytes[s->modrm_at] < 0xc0;
}

static u32 modrm_reg(const Scan *s) {
    return s->modrm_at ? s->bytes[s->modrm_at] >> 3 & 7 : 0;
}

/* KEY_RM of memory. */
static u32 kind_of_address(const Scan *s) {
    u8 form = s->bytes[s->modrm_at] & 0xc7;
    return form == 5 ? 5 : (form & 7) == 4 ? 4 : 0;
}

static u32 key_of(const Scan *s, const Fields *f) {
    bool legacy = s->space < SPACE_VEX;
    u32 rm = !s->modrm_at ? 0 : is_memory(s) ? kind_of_address(s) : s->bytes[s->modrm_at] & 7u;
    return (u32)(s->modrm_at && !is_memory(s)) << KEY_REGISTER | (u32)f->pp << KEY_PP |
           (u32)s->operand16 << KEY_OPERAND16 | (u32)f->w << KEY_W |
           (u32)(legacy && s->address32 && !s->modrm_at) << KEY_ADDRESS32 | (u32)f->length << KEY_LENGTH |
           (u32)f->b << KEY_B | (u32)f->masked << KEY_MASKED | (u32)f->zeroing << KEY_ZEROING |
           modrm_reg(s) << KEY_REG | rm << KEY_RM | (u32)(legacy && !s->modrm_at && f->base) << KEY_REX_B;
}

static u16 follow(u16 at, u32 key) {
    while (at >= VIEW_NODE)
        at = view_node[at - VIEW_NODE].next[key >> view_node[at - VIEW_NODE].bit & 1];
    return at;
}

/* ------------------------------------------------------------------------------------------------------------- registers */

static u8 field_number(const Scan *s, const Fields *f, u32 field) {
    switch (field) {
    case FIELD_REG:
        return (u8)(modrm_reg(s) | f->r);
    case FIELD_RM:
        return (u8)((s->bytes[s->modrm_at ? s->modrm_at : s->opcode_at] & 7) | f->base);
    default:
        return f->vvvv;
    }
}

static void add_field(const Scan *s, const Fields *f, const ViewRow *row, u32 field, InsnView *view) {
    u8 role = row->role[field], number = field_number(s, f, field);
    if (role & ROLE_BYTE && !s->rex && !s->payload_at && number >= 4)
        number -= 4;
    u32 bit = (u32)1 << number;
    view->reads |= role & ROLE_READ ? bit : 0;
    view->writes |= role & ROLE_WRITE ? bit : 0;
    view->kills |= role & ROLE_KILL ? bit : 0;
}

static void set_registers(const Scan *s, const Fields *f, const ViewRow *row, InsnView *view) {
    view->reads = row->reads;
    view->writes = row->writes;
    view->kills = row->kills;
    for (u32 i = 0; i < VIEW_FIELDS; i++)
        if (row->role[i])
            add_field(s, f, row, i, view);
}

static void set_flags(const Scan *s, const ViewRow *row, InsnView *view) {
    u8 count_mask = row->flags & ROW_WIDE ? 63 : 31;
    bool by_zero = row->flags & ROW_SHIFTS && !(s->bytes[s->immediate_at] & count_mask);
    view->reads_flags = row->flags & ROW_READS_FLAGS;
    view->writes_flags = row->flags & ROW_WRITES_FLAGS;
    view->kills_flags = row->flags & ROW_KILLS_FLAGS && !by_zero;
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

static u8 segment_of(const Scan *s) {
    return s->segment == 0x64 ? SEG_FS : s->segment == 0x65 ? SEG_GS : SEG_NONE;
}

static i64 read_i32(const u8 *bytes) {
    i32 value;
    memcpy(&value, bytes, 4);
    return value;
}

/* SDM 2A, tables 2-2 and 2-3: no index is 4 without REX.X; no base is 5 without displacement in ModRM. */
static void set_sib(const Fields *f, u8 mod, u8 sib, Operand *at) {
    u8 index = (u8)((sib >> 3 & 7) | f->x);
    at->index = index == 4 ? REG_NONE : index;
    at->scale = (u8)(at->index == REG_NONE ? 1 : 1 << (sib >> 6));
    at->base = (sib & 7) == 5 && mod == 0 ? REG_NONE : (u8)((sib & 7) | f->base);
}

static void set_relative(const Scan *s, u64 pc, Operand *at) {
    at->base = REG_PC;
    at->disp = (i64)(pc + s->length) + read_i32(s->bytes + s->disp_at);
    if (s->address32)
        at->disp = (u32)at->disp;
}

static Operand memory_at(const Scan *s, u8 base, i64 disp) {
    return (Operand){.kind = OPERAND_MEM,
                     .base = base,
                     .index = REG_NONE,
                     .scale = 1,
                     .seg = segment_of(s),
                     .addr_bits = s->address32 ? 32 : 64,
                     .disp = disp};
}

/* The address of ModRM. */
static Operand address_of(const Scan *s, const Fields *f, u64 pc, u8 disp_shift) {
    const u8 *modrm = s->bytes + s->modrm_at, *disp = modrm + 1;
    u8 mod = *modrm >> 6, rm = *modrm & 7;
    Operand at = memory_at(s, (u8)(rm | f->base), 0);
    if (rm == 4)
        set_sib(f, mod, *disp++, &at);
    if (mod == 0 && rm == 5)
        set_relative(s, pc, &at);
    else if (mod == 1)
        at.disp = (i64)(i8)*disp * ((i64)1 << disp_shift);
    else if (mod == 2 || at.base == REG_NONE)
        at.disp = read_i32(disp);
    return at;
}

/* mov of rax and an address that stands where immediates do. */
static Operand absolute_address(const Scan *s) {
    const u8 *bytes = s->bytes + s->immediate_at;
    i64 address;
    memcpy(&address, bytes, 8);
    return memory_at(s, REG_NONE, s->address32 ? read_i32(bytes) : address);
}

static void add_access(InsnView *view, u8 how, u16 bytes, Operand at) {
    at.bits = (u16)(8 * bytes);
    view->access[view->access_count++] = (InsnAccess){how, bytes, at};
}

static void add_operand(const ViewRow *row, Operand at, InsnView *view) {
    if (!row->how)
        return;
    if (row->flags & ROW_POPS && at.base == RSP)
        at.disp += row->bytes;
    add_access(view, row->how, row->bytes, at);
    if (row->flags & ROW_OPEN)
        view->access[view->access_count - 1].bytes = 0;
}

static void add_implied(const Scan *s, const Fields *f, const ViewAccess *a, InsnView *view) {
    u8 base = a->base < BASE_FIELD ? a->base : field_number(s, f, a->base - BASE_FIELD);
    Operand at = memory_at(s, base, a->disp);
    at.index = a->index;
    at.seg = a->takes_segment ? at.seg : SEG_NONE;
    at.addr_bits = a->takes_size ? at.addr_bits : 64;
    add_access(view, a->how, a->bytes, at);
}

static void set_accesses(const Scan *s, const Fields *f, const ViewRow *row, u64 pc, InsnView *view) {
    Operand at = {0};
    if (is_memory(s)) {
        at = address_of(s, f, pc, row->disp_shift);
        if (row->how & ACCESS_ELEMENTS)
            at.index = REG_NONE;
        view->reads |=
            (at.base < BASE_FIELD ? (u32)1 << at.base : 0) | (at.index < BASE_FIELD ? (u32)1 << at.index : 0);
    } else if (row->how) {
        at = absolute_address(s);
    }
    if (!(row->flags & ROW_LAST))
        add_operand(row, at, view);
    for (u32 i = 0; i < row->implied_count; i++)
        add_implied(s, f, &view_implied[row->implied + i], view);
    if (row->flags & ROW_LAST)
        add_operand(row, at, view);
}

/* --------------------------------------------------------------------------------------------------------------- control */

static bool is_transfer(u8 flow) {
    return flow == FLOW_JUMP || flow == FLOW_BRANCH || flow == FLOW_CALL;
}

/* Where a direct jump or call goes: its immediate is relative to the instruction's end. */
static u64 target_of(const Scan *s, u64 pc) {
    const u8 *bytes = s->bytes + s->immediate_at;
    i16 word;
    memcpy(&word, bytes, 2);
    u32 size = s->length - s->immediate_at;
    return pc + s->length + (u64)(size == 1 ? (i8)*bytes : size == 2 ? word : read_i32(bytes));
}

/* Is there the instruction with these prefixes? Fields that are not used have to be 0; V' is the index's where that is a vector register.
 * SDM 2A, 2.7.5: there is no zeroing without a mask. */
static bool is_allowed(const Scan *s, const Fields *f, const ViewRow *row) {
    u8 unused = row->flags & ROW_HAS_VVVV ? 0 : row->how & ACCESS_ELEMENTS ? 15 : 31;
    return !(f->vvvv & unused) && (!s->lock || row->flags & ROW_LOCKABLE) && (!f->zeroing || f->masked);
}

bool x86_view(const u8 *bytes, size_t size, u64 pc, InsnView *view) {
    Scan s;
    if (!scan_insn(bytes, size, &s))
        return false;
    Fields f = s.payload_at ? vector_fields(&s) : legacy_fields(&s);
    u8 opcode = s.bytes[s.opcode_at];
    u32 key = key_of(&s, &f);
    u16 number = follow(view_root[s.space][opcode], key);
    const ViewRow *row = &view_row[number];
    if (!number || !is_allowed(&s, &f, row))
        return false;
    view->size = s.length;
    view->flow = row->flow;
    view->indirect = row->flags & ROW_INDIRECT;
    view->target = is_transfer(row->flow) && !view->indirect ? target_of(&s, pc) : 0;
    view->opcode = follow(view_name_root[s.space][opcode], key);
    view->classes = row->classes | (s.lock ? CLASS_ATOMIC : 0);
    view->access_count = 0;
    set_registers(&s, &f, row, view);
    set_flags(&s, row, view);
    set_accesses(&s, &f, row, pc, view);
    view_add_system(view, 0xffff);
    return true;
}

const char *x86_opcode_name(u32 opcode) {
    return opcode < view_name_count ? view_names + view_name_at[opcode] : "?";
}
