/* landing.c: what becomes of exceptions, from the tables of landing pads that .eh_frame leads to (.gcc_except_table).
 *
 * The table of a function has three parts: for each range of calls, its landing pad and the first of its actions; the actions, which are linked
 * lists of numbers; and the types that these numbers stand for, counted backwards from their end. A positive number is a type that is caught, a
 * negative one a list of types that may pass, and 0 stands for code that has to run in any case. */
#include <dwarf.h>

#include "elf/cursor.h"
#include "elf/parts.h"

/* A function's table. */
typedef struct Table {
    const ElfFile *elf;
    u64 pads;       /* landing pads are counted from here */
    Cursor calls;   /* the ranges, up to the actions */
    Cursor actions; /* up to the end of the segment */
    u8 call_encoding, type_encoding;
    u64 types;      /* the address behind the types */
    const u8 *base; /* with `base_addr`: the segment's contents */
    u64 base_addr, bytes;
} Table;

static Cursor cursor_at(const Table *t, u64 addr) {
    u64 off = addr - t->base_addr;
    if (off > t->bytes)
        return (Cursor){0};
    return (Cursor){.at = t->base + off, .end = t->base + t->bytes, .addr = addr, .ok = true};
}

static bool open_table(const ElfFile *elf, const ElfUnwind *u, Table *t) {
    const Segment *s = elf_segment(elf, u->table);
    if (!s || u->table - s->start >= s->byte_count)
        return false;
    *t = (Table){.elf = elf, .pads = u->addr, .base = s->bytes, .base_addr = s->start, .bytes = s->byte_count};
    Cursor c = cursor_at(t, u->table);
    u8 encoding = (u8)cursor_take(&c, 1);
    if (encoding != DW_EH_PE_omit)
        t->pads = cursor_address(&c, encoding);
    t->type_encoding = (u8)cursor_take(&c, 1);
    if (t->type_encoding != DW_EH_PE_omit) {
        u64 distance = cursor_unsigned(&c);
        t->types = c.addr + distance;
    }
    t->call_encoding = (u8)cursor_take(&c, 1);
    u64 size = cursor_unsigned(&c);
    t->calls = t->actions = c;
    cursor_skip(&t->actions, size);
    t->calls.end = t->actions.at;
    return t->actions.ok;
}

/* The range that a call at `at` is in; false: none. */
static bool find_call(const Table *t, u64 function, u64 at, u64 *pad, u64 *action) {
    for (Cursor c = t->calls; c.ok && c.at < c.end;) {
        u64 start = function + cursor_number(&c, t->call_encoding), size = cursor_number(&c, t->call_encoding);
        u64 to = cursor_number(&c, t->call_encoding);
        *action = cursor_unsigned(&c);
        *pad = to ? t->pads + to : 0;
        if (c.ok && at - start < size)
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- types */

/* What is at `addr`, or with `indirect` what the pointer there leads to. */
static bool refer(const ElfFile *elf, u64 addr, bool indirect, ElfReference *to) {
    *to = (ElfReference){.addr = addr};
    if (!indirect || !addr)
        return true;
    return elf_pointer_at(elf, addr, to);
}

static u64 type_bytes(u8 encoding) {
    switch (encoding & 0x0f) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    default:
        return 8;
    }
}

static bool add_type(const Table *t, u64 number, ElfLanding *l) {
    u64 bytes = type_bytes(t->type_encoding);
    if (t->type_encoding == DW_EH_PE_omit || number > t->bytes)
        return false;
    Cursor c = cursor_at(t, t->types - number * bytes), plain = c;
    u64 value = cursor_number(&plain, t->type_encoding & 0x0f);
    u64 addr = value ? cursor_address(&c, t->type_encoding & 0x7f) : 0;
    ElfReference type;
    if (!plain.ok || (value && !c.ok) || !refer(t->elf, addr, t->type_encoding & DW_EH_PE_indirect, &type))
        return false;
    VEC_PUSH(&l->types, type);
    return true;
}

/* The list of types that may pass begins behind all types. */
static bool add_filter(const Table *t, i64 selector, ElfLanding *l) {
    Cursor c = cursor_at(t, t->types + (u64)(-selector - 1));
    u64 number;
    while (c.ok && (number = cursor_unsigned(&c)))
        if (!add_type(t, number, l))
            return false;
    return c.ok;
}

static bool add_clause(const Table *t, i64 selector, ElfLanding *l) {
    ElfClause clause = {.selector = selector, .filter = selector < 0, .first = (u32)l->types.len};
    if (!selector) {
        l->cleanup = true;
        return true;
    }
    if (clause.filter ? !add_filter(t, selector, l) : !add_type(t, (u64)selector, l))
        return false;
    clause.count = (u32)l->types.len - clause.first;
    VEC_PUSH(&l->clauses, clause);
    return true;
}

/* `action`: where its list begins, and 1; 0: it has no clause. */
static bool read_actions(const Table *t, u64 action, ElfLanding *l) {
    enum { MAX_ACTIONS = 1000 };
    if (!action) {
        l->cleanup = true;
        return true;
    }
    Cursor c = t->actions;
    cursor_skip(&c, action - 1);
    for (int i = 0; c.ok && i < MAX_ACTIONS; i++) {
        i64 selector = cursor_signed(&c);
        Cursor here = c;
        i64 next = cursor_signed(&c);
        if (!c.ok || !add_clause(t, selector, l))
            return false;
        if (!next)
            return true;
        c = cursor_at(t, here.addr + (u64)next);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------- pushed arguments */

/* What follows an instruction of the unwind table, by its number: u and s are LEB128, digits bytes, b a block; a an address; 0: it is not known. */
static const char *const operands[] = {
    [DW_CFA_nop] = "",
    [DW_CFA_set_loc] = "8",
    [DW_CFA_advance_loc1] = "1",
    [DW_CFA_advance_loc2] = "2",
    [DW_CFA_advance_loc4] = "4",
    [DW_CFA_offset_extended] = "uu",
    [DW_CFA_restore_extended] = "u",
    [DW_CFA_undefined] = "u",
    [DW_CFA_same_value] = "u",
    [DW_CFA_register] = "uu",
    [DW_CFA_remember_state] = "",
    [DW_CFA_restore_state] = "",
    [DW_CFA_def_cfa] = "uu",
    [DW_CFA_def_cfa_register] = "u",
    [DW_CFA_def_cfa_offset] = "u",
    [DW_CFA_def_cfa_expression] = "b",
    [DW_CFA_expression] = "ub",
    [DW_CFA_offset_extended_sf] = "us",
    [DW_CFA_def_cfa_sf] = "us",
    [DW_CFA_def_cfa_offset_sf] = "s",
    [DW_CFA_val_offset] = "uu",
    [DW_CFA_val_offset_sf] = "us",
    [DW_CFA_val_expression] = "ub",
    [DW_CFA_GNU_window_save] = "",
    [DW_CFA_GNU_args_size] = "u",
};

/* Reads what follows; its last number. */
static u64 take_operands(Cursor *c, const char *kinds) {
    u64 v = 0;
    for (; *kinds; kinds++) {
        if (*kinds == 'b')
            cursor_skip(c, cursor_unsigned(c));
        else if (*kinds == 'u' || *kinds == 's')
            v = cursor_unsigned(c);
        else
            v = cursor_take(c, (unsigned)(*kinds - '0'));
    }
    return v;
}

/* How many bytes of arguments are on the stack at the call that ends at `end`, which the landing pad does not want to see there. */
static u64 pushed_at(const ElfUnwind *u, u64 end) {
    Cursor c = {.at = u->insns, .end = u->insns + u->insn_bytes, .ok = u->insns != NULL};
    u64 at = u->addr, pushed = 0;
    while (c.ok && c.at < c.end && at < end) {
        u8 op = (u8)cursor_take(&c, 1);
        if (op >> 6 == 1)
            at += (op & 0x3f) * u->code_align;
        else if (op >> 6 == 2)
            cursor_unsigned(&c);
        if (op >> 6)
            continue;
        if (op >= ARRAY_LEN(operands) || !operands[op])
            break;
        u64 v = take_operands(&c, operands[op]);
        if (op == DW_CFA_advance_loc1 || op == DW_CFA_advance_loc2 || op == DW_CFA_advance_loc4)
            at += v * u->code_align;
        else if (op == DW_CFA_GNU_args_size && at < end)
            pushed = v;
    }
    return pushed;
}

/* ---------------------------------------------------------------------------------------------------------- public */

static const ElfUnwind *unwind_at(const ElfFile *elf, u64 addr) {
    size_t low = 0, high = elf->unwind.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (elf->unwind.at[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const ElfUnwind *u = low ? &elf->unwind.at[low - 1] : NULL;
    return u && addr - u->addr < u->size ? u : NULL;
}

bool elf_landing(const ElfFile *elf, u64 end, ElfLandingKind *kind, ElfLanding *l) {
    const ElfUnwind *u = unwind_at(elf, end - 1);
    Table t;
    u64 action;
    *l = (ElfLanding){0};
    *kind = ELF_LANDING_NONE;
    if (!u || !u->table || !u->personality)
        return true;
    if (!open_table(elf, u, &t) || !refer(elf, u->personality, u->indirect, &l->personality))
        return false;
    if (!find_call(&t, u->addr, end - 1, &l->pad, &action)) {
        *kind = ELF_LANDING_UNLISTED;
        return true;
    }
    if (!l->pad)
        return true;
    *kind = ELF_LANDING_PAD;
    l->popped_bytes = pushed_at(u, end);
    return elf_is_code(elf, l->pad) && read_actions(&t, action, l);
}

void elf_landing_free(ElfLanding *l) {
    VEC_FREE(&l->clauses);
    VEC_FREE(&l->types);
}

bool elf_has_landings(const ElfFile *elf) {
    for (size_t i = 0; i < elf->unwind.len; i++)
        if (elf->unwind.at[i].table && elf->unwind.at[i].personality)
            return true;
    return false;
}

bool elf_has_catches(const ElfFile *elf) {
    for (size_t i = 0; i < elf->unwind.len; i++) {
        const ElfUnwind *u = &elf->unwind.at[i];
        Table t;
        if (u->table && u->personality && open_table(elf, u, &t) && t.type_encoding != DW_EH_PE_omit)
            return true;
    }
    return false;
}
