/* functions.c: which functions of the files are to be translated, and what of them the cache has.
 *
 * Functions are what symbols, unwind tables and pointers tell of, and whatever the code of one refers to. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

typedef VEC(u64) Offsets;

/* -------------------------------------------------------------------------------------------------------- functions */

FunctionState file_state(const AheadFile *f, u64 off) {
    u32 state = FUNCTION_UNKNOWN;
    map64_get(&f->known, off, &state);
    return (FunctionState)state;
}

u32 file_heat(const AheadFile *f, u64 off) {
    u32 heat = 0;
    map64_get(&f->heat, off, &heat);
    return heat;
}

void file_want(AheadFile *f, u64 off) {
    if (off >= f->end - f->base || file_state(f, off) != FUNCTION_UNKNOWN || !elf_is_code(f->elf, f->low + off))
        return;
    map64_set(&f->known, off, FUNCTION_WAITING);
    VEC_PUSH(&f->regions.at[off >> REGION_BITS].waiting, off);
    f->open++;
}

/* The symbols of an object that are defined elsewhere; NULL: it is none that makes sense. */
static const Elf64_Sym *symbols_of(const u8 *object, size_t size, size_t *count, const char **names,
                                   size_t *names_size) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)object;
    if (size < sizeof(*h) || h->e_shoff > size || h->e_shnum > (size - h->e_shoff) / sizeof(Elf64_Shdr))
        return NULL;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(object + h->e_shoff);
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i], *texts = s->sh_link < h->e_shnum ? &sections[s->sh_link] : s;
        if (s->sh_type != SHT_SYMTAB || s->sh_offset > size || s->sh_size > size - s->sh_offset ||
            texts->sh_offset > size || !texts->sh_size || texts->sh_size > size - texts->sh_offset ||
            object[texts->sh_offset + texts->sh_size - 1])
            continue;
        *count = s->sh_size / sizeof(Elf64_Sym);
        *names = (const char *)object + texts->sh_offset;
        *names_size = texts->sh_size;
        return (const Elf64_Sym *)(object + s->sh_offset);
    }
    return NULL;
}

void file_want_references(AheadFile *f, const void *object, size_t size) {
    size_t count = 0, names_size = 0;
    const char *names;
    const Elf64_Sym *symbols = symbols_of(object, size, &count, &names, &names_size);
    for (size_t i = 1; symbols && i < count; i++) {
        unsigned long long off;
        if (symbols[i].st_shndx == SHN_UNDEF && symbols[i].st_name < names_size &&
            sscanf(names + symbols[i].st_name, FUNCTION_NAME, &off) == 1)
            file_want(f, off);
    }
}

/* The next one to be taken from a region is its last: those that are known at the beginning come by rising address. */
static int by_falling(const void *a, const void *b) {
    const u64 *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Pointers into the middle of functions are for files_prepare_inner. */
static void want_all(AheadFile *f) {
    const ElfFunction *functions;
    ElfPointers pointers = {0};
    size_t count = elf_functions(f->elf, &functions);
    for (size_t i = 0; i < count; i++)
        file_want(f, functions[i].addr - f->low);
    elf_code_pointers(f->elf, &pointers);
    for (size_t i = 0; i < pointers.len; i++)
        if (!elf_function_around(f->elf, pointers.at[i].to))
            file_want(f, pointers.at[i].to - f->low);
    VEC_FREE(&pointers);
}

static void sort_regions(AheadFile *f) {
    for (size_t i = 0; i < f->regions.len; i++)
        if (f->regions.at[i].waiting.len)
            qsort(f->regions.at[i].waiting.at, f->regions.at[i].waiting.len, sizeof(u64), by_falling);
}

/* ----------------------------------------------------------------------------------------------------- guest memory */

size_t file_memory(const AheadFile *f, u64 addr, void *buf, size_t size, bool *writable) {
    u8 page[ELF_PAGE];
    size_t done = 0;
    *writable = false;
    while (done < size) {
        u64 at = addr + done - f->base + f->low, start = at & -(u64)ELF_PAGE;
        bool may_write;
        if (!elf_read_page(f->elf, start, page, &may_write))
            break;
        size_t n = ELF_PAGE - (at - start);
        n = n < size - done ? n : size - done;
        memcpy((u8 *)buf + done, page + (at - start), n);
        *writable |= may_write;
        done += n;
    }
    return done;
}

static size_t read_constant(void *user, u64 addr, void *buf, size_t size) {
    bool writable;
    size_t n = file_memory(user, addr, buf, size, &writable);
    return writable ? 0 : n;
}

/* -------------------------------------------------------------------------------------------------------- the cache */

/* A pack as it is now, mapped; NULL: there is none. */
static const u8 *map_pack(const char *dir, Key pack, size_t *size) {
    char path[PATH_MAX], name[PACK_NAME_SIZE];
    struct stat st;
    pack_name(pack, name);
    int len = snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = len < (int)sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0;
    void *data = ours ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    *size = data == MAP_FAILED ? 0 : (size_t)st.st_size;
    return data == MAP_FAILED ? NULL : data;
}

static bool fits(AheadFile *f, const PackRecord *r) {
    u64 hash = PACK_HASH_START;
    if (!pack_is_intact(f->pack, r) || (r->base && r->base != f->base))
        return false;
    for (u32 i = 0; i < r->range_count; i++)
        if (!pack_hash_guest(&hash, f->base + pack_ranges(r)[i].start, f->base + pack_ranges(r)[i].end, read_constant,
                             f))
            return false;
    return hash == r->guest_hash;
}

/* What has code is done; what that refers to may have none. */
static void take_cached(AheadFile *f, const AheadPlan *plan) {
    size_t size, at = 0;
    const u8 *data = map_pack(plan->cache_dir, f->pack, &size);
    for (const PackRecord *r; data && (r = pack_next(data, size, &at));)
        if (file_state(f, r->off) == FUNCTION_UNKNOWN && r->off < f->end - f->base && fits(f, r)) {
            map64_set(&f->known, r->off, FUNCTION_DONE);
            f->had++;
        }
    at = 0;
    for (const PackRecord *r; !plan->profile && data && (r = pack_next(data, size, &at));)
        if (file_state(f, r->off) == FUNCTION_DONE && r->object_size)
            file_want_references(f, pack_object(r), r->object_size);
    if (data)
        munmap((void *)data, size);
}

/* What the runs of a configuration had in their pack. */
static void want_seen(AheadFile *f, const AheadPlan *plan, const CodeConfig *config) {
    size_t size, at = 0;
    const u8 *data = map_pack(plan->cache_dir, pack_key(&f->identity, config), &size);
    for (const PackRecord *r; data && (r = pack_next(data, size, &at));)
        file_want(f, r->off);
    if (data)
        munmap((void *)data, size);
}

u64 file_count_kept(const AheadFile *f, const AheadPlan *plan) {
    size_t size, at = 0;
    u64 count = 0;
    Map64 counted = {0};
    u32 seen;
    const u8 *data = map_pack(plan->cache_dir, f->pack, &size);
    for (const PackRecord *r; data && (r = pack_next(data, size, &at));)
        if (file_state(f, r->off) == FUNCTION_DONE && !map64_get(&counted, r->off, &seen)) {
            map64_set(&counted, r->off, 1);
            count++;
        }
    map64_free(&counted);
    if (data)
        munmap((void *)data, size);
    return count;
}

/* ------------------------------------------------------------------------------------------ the middle of functions */

/* Offsets in the file that translations were made from; a bit for each 4 bytes. */
static u8 *map_sources(const AheadFile *f, const AheadPlan *plan) {
    u64 image = f->end - f->base;
    size_t size, at = 0;
    u8 *bits = mem_new(image / 32 + 1);
    const u8 *data = map_pack(plan->cache_dir, f->pack, &size);
    for (const PackRecord *r; data && (r = pack_next(data, size, &at));)
        for (u32 i = 0; i < r->range_count; i++)
            for (u64 off = pack_ranges(r)[i].start; off < pack_ranges(r)[i].end && off < image; off += 4)
                bits[off / 32] |= (u8)(1 << off / 4 % 8);
    if (data)
        munmap((void *)data, size);
    return bits;
}

static int by_rising(const void *a, const void *b) {
    return by_falling(b, a);
}

/* Offsets of all functions that are known, by rising offset. */
static Offsets list_known(const AheadFile *f) {
    Offsets known = {0};
    for (size_t i = 0; i < f->known.cap; i++)
        if (f->known.slot[i].used && f->known.slot[i].value != FUNCTION_UNKNOWN)
            VEC_PUSH(&known, f->known.slot[i].key);
    if (known.len)
        qsort(known.at, known.len, sizeof(u64), by_rising);
    return known;
}

/* Does a translation begin in the middle of the guest's function that has this place? */
static bool is_divided(const AheadFile *f, const Offsets *known, u64 place) {
    const ElfFunction *around = elf_function_around(f->elf, place);
    if (!around)
        return false;
    u64 start = around->addr - f->low;
    size_t low = 0, high = known->len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (known->at[mid] <= start)
            low = mid + 1;
        else
            high = mid;
    }
    return low < known->len && known->at[low] < start + around->size;
}

/* A jump table that the lifter has understood is among the bytes that a translation was made from. But a translation
 * that begins behind the instructions that tell the table's size does not understand it. */
static void want_places(AheadFile *f, const ElfPointers *pointers, const u8 *sources) {
    Offsets known = list_known(f);
    for (size_t i = 0; i < pointers->len; i++) {
        u64 off = pointers->at[i].at - f->low;
        bool used = pointers->at[i].at && off < f->end - f->base && sources[off / 32] >> off / 4 % 8 & 1;
        if (!used || is_divided(f, &known, pointers->at[i].to))
            file_want(f, pointers->at[i].to - f->low);
    }
    VEC_FREE(&known);
}

bool files_prepare_inner(AheadFiles *files, const AheadPlan *plan) {
    bool any = false;
    for (size_t i = 0; i < files->len; i++) {
        AheadFile *f = files->at[i];
        u8 *sources = map_sources(f, plan);
        ElfPointers pointers = {0};
        elf_code_pointers(f->elf, &pointers);
        elf_table_entries(f->elf, &pointers);
        want_places(f, &pointers, sources);
        sort_regions(f);
        any |= f->open;
        VEC_FREE(&pointers);
        mem_free(sources);
    }
    return any;
}

/* -------------------------------------------------------------------------------------------------------- preparing */

static void forget_functions(AheadFile *f) {
    for (size_t i = 0; i < f->regions.len; i++)
        f->regions.at[i].waiting.len = f->regions.at[i].taken = 0;
    map64_free(&f->known);
    map64_free(&f->heat);
    f->known = f->heat = (Map64){0};
    f->open = f->done = f->had = f->no_code = f->given_up = f->insns = 0;
}

void files_prepare(AheadFiles *files, const AheadPlan *plan) {
    for (size_t i = 0; i < files->len; i++) {
        AheadFile *f = files->at[i];
        forget_functions(f);
        f->pack = pack_key(&f->identity, &plan->config);
        if (!plan->renew)
            take_cached(f, plan);
        for (size_t k = 0; plan->profile && k < ARRAY_LEN(plan->seen_by); k++)
            want_seen(f, plan, &plan->seen_by[k]);
        if (!plan->profile)
            want_all(f);
        sort_regions(f);
    }
    if (plan->profile)
        files_want_learned(files, plan, &plan->seen_by[0]);
}
