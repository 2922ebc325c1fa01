/* unwind.c: functions from .eh_frame, which even stripped programs keep: one FDE per contiguous piece of code.
 *
 * The section is found through its loaded index (PT_GNU_EH_FRAME), so no section headers are needed, or by its header
 * where there is no index, as in some static programs. libdw walks the entries; it leaves the addresses inside an FDE
 * encoded as the CIE's augmentation says.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>

#include "elf/cursor.h"
#include "elf/parts.h"

/* The guest memory of .eh_frame, up to the end of its segment's contents. */
typedef struct Section {
    const u8 *bytes;
    u64 addr, size;
} Section;

static bool find_by_index(const ElfFile *elf, u64 index, Section *s) {
    const u8 *hdr = elf_contents(elf, index, 12);
    if (!hdr || hdr[0] != 1)
        return false;
    Cursor c = {.at = hdr + 4, .end = hdr + 12, .addr = index + 4, .ok = true};
    s->addr = cursor_address(&c, hdr[1]);
    const Segment *seg = elf_segment(elf, s->addr);
    s->bytes = c.ok ? elf_contents(elf, s->addr, 4) : NULL;
    if (!seg || !s->bytes)
        return false;
    s->size = seg->byte_count - (s->addr - seg->start);
    return true;
}

static bool find_by_header(const ElfFile *elf, Section *s) {
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf->libelf, &names) < 0)
        return false;
    while ((section = elf_nextscn(elf->libelf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf->libelf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, ".eh_frame"))
            continue;
        *s = (Section){elf_contents(elf, header.sh_addr, header.sh_size), header.sh_addr, header.sh_size};
        return s->bytes && s->size;
    }
    return false;
}

/* What the FDEs of a CIE share. */
typedef struct Common {
    u8 addresses;    /* how code addresses are encoded: 'R' of its augmentation, plain pointers without one */
    u8 tables;       /* how the address of a function's table of landing pads is: 'L' */
    u64 personality; /* 'P': its address, or with `indirect` that of a pointer to it; 0: none */
    bool indirect;
    u64 code_align;
} Common;

static void read_personality(Common *common, Cursor *c) {
    u8 encoding = (u8)cursor_take(c, 1);
    common->personality = cursor_address(c, encoding & ~DW_EH_PE_indirect);
    common->indirect = encoding & DW_EH_PE_indirect;
}

static Common read_common(const Section *s, const Dwarf_CIE *cie) {
    Common common = {.tables = DW_EH_PE_omit, .code_align = cie->code_alignment_factor};
    const char *a = cie->augmentation;
    const u8 *data = cie->augmentation_data;
    if (!a || a[0] != 'z' || data < s->bytes || data > s->bytes + s->size)
        return common;
    Cursor c = {.at = data,
                .end = data + cie->augmentation_data_size,
                .addr = s->addr + (u64)(data - s->bytes),
                .ok = cie->augmentation_data_size <= (size_t)(s->bytes + s->size - data)};
    for (a++; *a && c.ok; a++) {
        if (*a == 'R')
            common.addresses = (u8)cursor_take(&c, 1);
        else if (*a == 'L')
            common.tables = (u8)cursor_take(&c, 1);
        else if (*a == 'P')
            read_personality(&common, &c);
    }
    return common;
}

/* The table of landing pads, and the instructions of the unwind table, of the function whose addresses were read from `c`. */
static void read_rest(ElfUnwind *u, const Common *common, Cursor *c) {
    u64 size = cursor_unsigned(c);
    Cursor inner = *c;
    if (!c->ok || size > (u64)(c->end - c->at))
        return;
    if (common->tables != DW_EH_PE_omit && size) {
        u64 here = inner.addr, to = cursor_number(&inner, common->tables);
        u->table = inner.ok && to ? to + ((common->tables & 0x70) == DW_EH_PE_pcrel ? here : 0) : 0;
    }
    u->insns = c->at + size;
    u->insn_bytes = (size_t)(c->end - u->insns);
}

static void add_fde(ElfFile *elf, const Section *s, const Dwarf_FDE *fde, const Common *common) {
    if (!fde->start || fde->start < s->bytes || fde->end > s->bytes + s->size)
        return;
    Cursor c = {.at = fde->start, .end = fde->end, .addr = s->addr + (u64)(fde->start - s->bytes), .ok = true};
    Symbol sym = {.rank = UINT8_MAX};
    sym.addr = cursor_address(&c, common->addresses);
    sym.size = cursor_number(&c, common->addresses);
    const Segment *code = elf_segment(elf, sym.addr);
    if (!c.ok || !code || !code->executable || !sym.size || sym.size > code->end - sym.addr)
        return;
    VEC_PUSH(&elf->symbols, sym);
    ElfUnwind u = {.addr = sym.addr,
                   .size = sym.size,
                   .code_align = common->code_align,
                   .personality = common->personality,
                   .indirect = common->indirect};
    read_rest(&u, common, &c);
    VEC_PUSH(&elf->unwind, u);
}

static int by_address(const void *x, const void *y) {
    const ElfUnwind *a = x, *b = y;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void load_section(ElfFile *elf, const Section *s) {
    Elf_Data data = {.d_buf = (void *)s->bytes, .d_size = s->size, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT};
    Map64 by_offset = {0}; /* index in `common` by the offset of a CIE */
    VEC(Common) common = {0};
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    for (Dwarf_Off off = 0; dwarf_next_cfi(elf->map, &data, true, off, &next, &entry) == 0 && next > off; off = next) {
        u32 index;
        if (dwarf_cfi_cie_p(&entry)) {
            map64_set(&by_offset, off, (u32)common.len);
            VEC_PUSH(&common, read_common(s, &entry.cie));
        } else if (map64_get(&by_offset, entry.fde.CIE_pointer, &index)) {
            add_fde(elf, s, &entry.fde, &common.at[index]);
        }
    }
    map64_free(&by_offset);
    VEC_FREE(&common);
}

void elf_load_unwind(ElfFile *elf) {
    Section s;
    bool found = false;
    for (size_t i = 0; i < elf->eh_frame_hdrs.len; i++)
        if (find_by_index(elf, elf->eh_frame_hdrs.at[i], &s)) {
            found = true;
            load_section(elf, &s);
        }
    if (!found && find_by_header(elf, &s))
        load_section(elf, &s);
    if (elf->unwind.len)
        qsort(elf->unwind.at, elf->unwind.len, sizeof(ElfUnwind), by_address);
}
