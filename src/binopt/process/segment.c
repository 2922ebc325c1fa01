/* segment.c: see segment.h.
 *
 * Files are loaded as private mappings with the permissions of their program headers. Only the part that becomes read-only after relocation,
 * and pages whose permissions a program changes later, are different. The kernel is asked whether a page can be written to now: it refuses
 * to prepare a write to it if not. (A page that can be written to becomes this process's own copy by that, which may happen at any
 * time anyway.) */
#include "binopt/process/segment.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

#include "binopt/process/maps.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, MAX_HEADERS = 32 };

typedef struct Headers {
    u64 base; /* added to the addresses in the file */
    u32 count;
    Elf64_Phdr at[MAX_HEADERS];
} Headers;

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static u64 file_at(u64 addr) {
    struct dl_find_object found;
    return _dl_find_object((void *)addr, &found) ? 0 : (u64)found.dlfo_map_start;
}
#else
static u64 file_at(u64 addr) {
    (void)addr;
    return 0;
}
#endif

/* The first segment of a file usually begins with its header, which the program headers follow. */
static bool read_headers(u64 start, Headers *h) {
    u8 bytes[sizeof(Elf64_Ehdr) + sizeof(h->at)];
    Elf64_Ehdr e;
    size_t size = start ? maps_read(start, bytes, sizeof(bytes)) : 0;
    if (size < sizeof(e) || memcmp(bytes, ELFMAG, SELFMAG))
        return false;
    memcpy(&e, bytes, sizeof(e));
    h->count = e.e_phnum;
    if (h->count > MAX_HEADERS || e.e_phoff > size || h->count * sizeof(*h->at) > size - e.e_phoff)
        return false;
    memcpy(h->at, bytes + e.e_phoff, h->count * sizeof(*h->at));
    for (u32 i = 0; i < h->count; i++)
        if (h->at[i].p_type == PT_LOAD) {
            h->base = start - (h->at[i].p_vaddr & ~(u64)(PAGE - 1));
            return true;
        }
    return false;
}

static const Elf64_Phdr *header_of(const Headers *h, u32 type, u64 addr) {
    for (u32 i = 0; i < h->count; i++)
        if (h->at[i].p_type == type && addr - h->base - h->at[i].p_vaddr < h->at[i].p_memsz)
            return &h->at[i];
    return NULL;
}

/* Older kernels do not know this request and answer with an error for every page, which does not count as a refusal. */
static bool refuses_writes(u64 addr) {
    u64 page = addr & ~(u64)(PAGE - 1);
    return madvise((void *)page, PAGE, MADV_POPULATE_WRITE) && errno == EINVAL &&
           !madvise(NULL, 0, MADV_POPULATE_WRITE);
}

bool segment_is_read_only(u64 addr, u64 size) {
    u64 page = addr & ~(u64)(PAGE - 1);
    while (page < addr + size && refuses_writes(page))
        page += PAGE;
    if (page >= addr + size)
        return true;
    Maps maps;
    maps_init(&maps);
    bool read_only = maps_constant(&maps, addr, size);
    maps_free(&maps);
    return read_only;
}

LoadedSegment segment_find(u64 addr) {
    Headers h;
    const Elf64_Phdr *load, *relro;
    if (!read_headers(file_at(addr), &h) || !(load = header_of(&h, PT_LOAD, addr)))
        return (LoadedSegment){0};
    relro = header_of(&h, PT_GNU_RELRO, addr);
    const Elf64_Phdr *in = relro ? relro : load;
    LoadedSegment s = {h.base + in->p_vaddr, h.base + in->p_vaddr + in->p_memsz, SEGMENT_DATA};
    if (load->p_flags & PF_W && !relro)
        return s;
    if (!refuses_writes(addr))
        return (LoadedSegment){0};
    s.kind = load->p_flags & PF_X ? SEGMENT_CODE : SEGMENT_CONSTANT;
    /* One page was checked; a few others may be different. */
    u64 page = addr & ~(u64)(PAGE - 1);
    s.start = s.start > page ? s.start : page;
    s.end = s.end < page + PAGE ? s.end : page + PAGE;
    return s;
}
