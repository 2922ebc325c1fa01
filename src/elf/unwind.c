/* unwind.c: functions from .eh_frame, which even stripped programs keep: one FDE per contiguous piece of code.
 *
 * The section is found through its loaded index (PT_GNU_EH_FRAME), so no section headers are needed, or by its header
 * where there is no index, as in some static programs. libdw walks the entries; it leaves the addresses inside an FDE
 * encoded as the CIE's augmentation says.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include "elf/parts.h"

/* The guest memory of .eh_frame, up to the end of its segment's contents. */
typedef struct Section {
    const u8 *bytes;
    u64 addr, size;
} Section;

/* A place in the section; reading stops with ok = false at `end`. */
typedef struct Cursor {
    const u8 *at, *end;
    u64 addr; /* of `at` */
    bool ok;
} Cursor;

static u64 take(Cursor *c, unsigned bytes) {
    u64 v = 0;
    if (!c->ok || (size_t)(c->end - c->at) < bytes) {
        c->ok = false;
        return 0;
    }
    memcpy(&v, c->at, bytes);
    c->at += bytes;
    c->addr += bytes;
    return v;
}

/* A number of the encoding's format, without what it is relative to. LEB128 is not used for code addresses. */
static u64 take_number(Cursor *c, u8 encoding) {
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return take(c, 8);
    case DW_EH_PE_udata4:
        return take(c, 4);
    case DW_EH_PE_sdata4:
        return (u64)(i32)take(c, 4);
    case DW_EH_PE_udata2:
        return take(c, 2);
    case DW_EH_PE_sdata2:
        return (u64)(i16)take(c, 2);
    default:
        c->ok = false;
        return 0;
    }
}

static u64 take_address(Cursor *c, u8 encoding) {
    u64 here = c->addr, v = take_number(c, encoding);
    switch (encoding & 0xf0) {
    case DW_EH_PE_absptr:
        return v;
    case DW_EH_PE_pcrel:
        return v + here;
    default:
        c->ok = false;
        return 0;
    }
}

static bool find_by_index(const ElfFile *elf, Section *s) {
    const u8 *hdr = elf->eh_frame_hdr ? elf_contents(elf, elf->eh_frame_hdr, 12) : NULL;
    if (!hdr || hdr[0] != 1)
        return false;
    Cursor c = {.at = hdr + 4, .end = hdr + 12, .addr = elf->eh_frame_hdr + 4, .ok = true};
    s->addr = take_address(&c, hdr[1]);
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

/* How the FDEs of a CIE encode code addresses: the 'R' of its augmentation, plain pointers without one. */
static u8 fde_encoding(const Dwarf_CIE *cie) {
    const char *a = cie->augmentation;
    const u8 *data = cie->augmentation_data;
    size_t left = cie->augmentation_data_size;
    if (!a || a[0] != 'z')
        return DW_EH_PE_absptr;
    for (a++; *a && left; a++) {
        if (*a == 'R')
            return data[0];
        size_t used = *a == 'L' ? 1 : 0;
        if (*a == 'P') {
            Cursor c = {.at = data + 1, .end = data + left, .ok = true};
            take_number(&c, data[0]);
            used = (size_t)(c.at - data);
        }
        data += used;
        left -= used;
    }
    return DW_EH_PE_absptr;
}

static void add_fde(ElfFile *elf, const Section *s, const Dwarf_FDE *fde, u8 encoding) {
    if (!fde->start || fde->start < s->bytes || fde->end > s->bytes + s->size)
        return;
    Cursor c = {.at = fde->start, .end = fde->end, .addr = s->addr + (u64)(fde->start - s->bytes), .ok = true};
    Symbol sym = {.rank = UINT8_MAX};
    sym.addr = take_address(&c, encoding);
    sym.size = take_number(&c, encoding);
    const Segment *code = elf_segment(elf, sym.addr);
    if (c.ok && code && code->executable && sym.size && sym.size <= code->end - sym.addr)
        VEC_PUSH(&elf->symbols, sym);
}

void elf_load_unwind(ElfFile *elf) {
    Section s;
    if (!find_by_index(elf, &s) && !find_by_header(elf, &s))
        return;
    Elf_Data data = {.d_buf = (void *)s.bytes, .d_size = s.size, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT};
    Map64 encodings = {0}; /* by the offset of a CIE */
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    for (Dwarf_Off off = 0; dwarf_next_cfi(elf->map, &data, true, off, &next, &entry) == 0 && next > off; off = next) {
        u32 encoding;
        if (dwarf_cfi_cie_p(&entry))
            map64_set(&encodings, off, fde_encoding(&entry.cie));
        else if (map64_get(&encodings, entry.fde.CIE_pointer, &encoding))
            add_fde(elf, &s, &entry.fde, (u8)encoding);
    }
    map64_free(&encodings);
}
