/* layout.c: see layout.h. */
#include "binopt/llvm/store/layout.h"

#include <link.h>
#include <stdio.h>

#include "binopt/process/maps.h"
#include "binopt/process/segment.h"
#include "cache/pack.h"

enum { PAGE = 4096, NEAR_BYTES = 1 << 20, MAX_LOAD = 64 };

/* --------------------------------------------------------------------------------------------------------------- files */

typedef struct FileSearch {
    u64 addr, name; /* one of the two is not 0 */
    u64 base, end;
    char path[256];
} FileSearch;

static u64 name_of(const char *path) {
    return pack_hash(PACK_HASH_START, path, strlen(path)) | 1;
}

static int look_at_file(struct dl_phdr_info *info, size_t size, void *user) {
    FileSearch *s = user;
    u64 start = ~(u64)0, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        u64 first = info->dlpi_addr + p->p_vaddr;
        start = first < start ? first : start;
        end = first + p->p_memsz > end ? first + p->p_memsz : end;
    }
    if (s->name ? name_of(info->dlpi_name) != s->name : s->addr < start || s->addr >= end)
        return 0;
    s->base = start & ~(u64)(PAGE - 1);
    s->end = end;
    snprintf(s->path, sizeof(s->path), "%s", info->dlpi_name);
    return 1;
}

bool layout_file(u64 addr, u64 *base, char *path, size_t size) {
    FileSearch s = {.addr = addr};
    if (!dl_iterate_phdr(look_at_file, &s))
        return false;
    *base = s.base;
    snprintf(path, size, "%s", *s.path ? s.path : "/proc/self/exe");
    return true;
}

/* -------------------------------------------------------------------------------------------------------------- places */

static bool place_at(const Layout *l, size_t i, u64 addr, Place *p) {
    *p = (Place){.anchor = (u32)i, .off = addr - l->anchors.at[i].base};
    return true;
}

/* Anchors that have an end come before those that have none; among the latter the nearest is chosen. */
static bool place_known(const Layout *l, u64 addr, Place *p) {
    const Anchor *best = NULL;
    for (size_t i = 0; i < l->anchors.len; i++) {
        const Anchor *a = &l->anchors.at[i];
        if (addr < a->base || addr >= a->end)
            continue;
        if (a->kind == ANCHOR_FILE || a->kind == ANCHOR_REGION)
            return place_at(l, i, addr, p);
        best = !best || a->base > best->base ? a : best;
    }
    return best && place_at(l, (size_t)(best - l->anchors.at), addr, p);
}

bool layout_place(Layout *l, u64 addr, Place *p) {
    if (place_known(l, addr, p) && l->anchors.at[p->anchor].kind <= ANCHOR_REGION)
        return true;
    FileSearch s = {.addr = addr};
    if (!dl_iterate_phdr(look_at_file, &s))
        return place_known(l, addr, p);
    VEC_PUSH(&l->anchors, ((Anchor){.kind = ANCHOR_FILE, .name = name_of(s.path), .base = s.base, .end = s.end}));
    return place_at(l, l->anchors.len - 1, addr, p);
}

/* The place of a pointer's target, with a new anchor if that memory has none. Returns false if the pointer leads
 * nowhere. */
static bool place_pointer(Layout *l, u64 addr, AnchorKind kind, size_t index, Place *p) {
    u8 byte;
    if (layout_place(l, addr, p))
        return true;
    if (addr < PAGE || !maps_read(addr, &byte, 1))
        return false;
    VEC_PUSH(&l->anchors, ((Anchor){.kind = kind, .index = (u32)index, .base = addr, .end = addr + NEAR_BYTES}));
    return place_at(l, l->anchors.len - 1, addr, p);
}

/* -------------------------------------------------------------------------------------------------------------- making */

static bool add_fact(Layout *l, u64 addr, const u8 *bytes, u32 size, bool read_only) {
    Fact f = {.size = size, .bytes_off = (u32)l->bytes.len, .read_only = read_only};
    u64 pointer;
    if (!layout_place(l, addr, &f.at))
        return false;
    if (size == sizeof(pointer)) {
        memcpy(&pointer, bytes, sizeof(pointer));
        f.is_pointer = place_pointer(l, pointer, ANCHOR_LOADED, l->facts.len, &f.to);
    }
    VEC_RESERVE(&l->bytes, size);
    memcpy(l->bytes.at + l->bytes.len, bytes, size);
    l->bytes.len += size;
    VEC_PUSH(&l->facts, f);
    return true;
}

/* Gets the pointer that contains these bytes. Returns false if they are not part of one. */
static bool pointer_around(Layout *l, u64 addr, u32 size, u64 *pointer) {
    Place p;
    u64 start = addr & ~(u64)7;
    return addr + size <= start + 8 && maps_read(start, pointer, 8) == 8 && layout_place(l, *pointer, &p);
}

/* A part of a pointer, or a vector of pointers, differs from run to run although it leads to the same place, so whole
 * pointers are recorded. */
static bool add_facts(Layout *l, u64 addr, const u8 *bytes, u32 size, bool read_only) {
    u64 pointer;
    if (size < 8 && pointer_around(l, addr, size, &pointer))
        return add_fact(l, addr & ~(u64)7, (u8 *)&pointer, 8, read_only);
    if (addr % 8 || size % 8 || size > MAX_LOAD)
        return add_fact(l, addr, bytes, size, read_only);
    for (u32 at = 0; at < size; at += 8)
        if (!add_fact(l, addr + at, bytes + at, 8, read_only))
            return false;
    return true;
}

/* Adds the files to which anything in the object seems to be an address, since files can move. Wrong guesses do no
 * harm. */
static void add_files(Layout *l, const u8 *object, size_t size) {
    Place p;
    for (size_t at = 0; at + sizeof(u64) <= size; at++) {
        u64 word;
        memcpy(&word, object + at, sizeof(word));
        if (word >> 32 && !(word >> 47))
            layout_place(l, word, &p);
    }
}

bool layout_make(Layout *l, const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size) {
    *l = (Layout){0};
    Place p;
    for (size_t i = 0; i < cfg->regions.len; i++)
        VEC_PUSH(&l->anchors, ((Anchor){.kind = ANCHOR_REGION,
                                        .index = (u32)i,
                                        .base = cfg->regions.at[i].start,
                                        .end = cfg->regions.at[i].end}));
    if (!layout_place(l, cfg->function, &p))
        return false;
    for (size_t i = 0; i < cfg->params.len; i++)
        if (cfg->params.at[i].fixed)
            place_pointer(l, cfg->params.at[i].value, ANCHOR_PARAM, i, &p);
    for (size_t i = 0; i < depends->list.len; i++) {
        const Depend *d = &depends->list.at[i];
        if (!add_facts(l, d->addr, depends->bytes.at + d->off, d->size, d->read_only))
            return false;
    }
    add_files(l, object, size);
    return true;
}

void layout_free(Layout *l) {
    VEC_FREE(&l->anchors);
    VEC_FREE(&l->facts);
    VEC_FREE(&l->bytes);
}

/* ------------------------------------------------------------------------------------------------------------- finding */

static u64 address_of(const Layout *l, const Place *p) {
    return l->anchors.at[p->anchor].base + p->off;
}

static bool find_file(Anchor *a) {
    FileSearch s = {.name = a->name};
    bool found = dl_iterate_phdr(look_at_file, &s);
    a->base = s.base;
    a->end = s.end;
    return found;
}

/* Anchors that pointers lead to come after the anchors that contain the pointers. */
static bool find_anchor(Layout *l, Anchor *a, const BinoptCfg *cfg) {
    switch ((AnchorKind)a->kind) {
    case ANCHOR_FILE:
        return find_file(a);
    case ANCHOR_REGION:
        a->base = a->index < cfg->regions.len ? cfg->regions.at[a->index].start : 0;
        break;
    case ANCHOR_PARAM:
        a->base = a->index < cfg->params.len ? cfg->params.at[a->index].value : 0;
        break;
    case ANCHOR_LOADED: {
        const Place *at = a->index < l->facts.len ? &l->facts.at[a->index].at : NULL;
        if (!at || &l->anchors.at[at->anchor] >= a ||
            maps_read(address_of(l, at), &a->base, sizeof(a->base)) < sizeof(a->base))
            return false;
        break;
    }
    }
    return a->base != 0;
}

static bool is_fact(const Layout *l, const Fact *f) {
    u8 now[256];
    if (f->read_only && !segment_is_read_only(address_of(l, &f->at), f->size))
        return false;
    if (f->is_pointer) {
        u64 pointer;
        return maps_read(address_of(l, &f->at), &pointer, sizeof(pointer)) == sizeof(pointer) &&
               pointer == address_of(l, &f->to);
    }
    for (u32 done = 0; done < f->size;) {
        u32 size = f->size - done < sizeof(now) ? f->size - done : (u32)sizeof(now);
        if (maps_read(address_of(l, &f->at) + done, now, size) < size ||
            memcmp(now, l->bytes.at + f->bytes_off + done, size))
            return false;
        done += size;
    }
    return true;
}

bool layout_find(Layout *l, const BinoptCfg *cfg) {
    for (size_t i = 0; i < l->anchors.len; i++)
        if (!find_anchor(l, &l->anchors.at[i], cfg))
            return false;
    for (size_t i = 0; i < l->facts.len; i++)
        if (!is_fact(l, &l->facts.at[i]))
            return false;
    return true;
}

static bool same_place(const Place *a, const Place *b) {
    return a->anchor == b->anchor && a->off == b->off;
}

static bool same_fact(const Layout *a, const Fact *f, const Layout *b, const Fact *g) {
    if (!same_place(&f->at, &g->at) || f->size != g->size || f->is_pointer != g->is_pointer ||
        f->read_only != g->read_only)
        return false;
    return f->is_pointer ? same_place(&f->to, &g->to)
                         : !memcmp(a->bytes.at + f->bytes_off, b->bytes.at + g->bytes_off, f->size);
}

bool layout_same(const Layout *a, const Layout *b) {
    if (a->anchors.len != b->anchors.len || a->facts.len != b->facts.len)
        return false;
    for (size_t i = 0; i < a->anchors.len; i++) {
        const Anchor *x = &a->anchors.at[i], *y = &b->anchors.at[i];
        if (x->kind != y->kind || x->index != y->index || x->name != y->name || x->base % PAGE != y->base % PAGE)
            return false;
    }
    for (size_t i = 0; i < a->facts.len; i++)
        if (!same_fact(a, &a->facts.at[i], b, &b->facts.at[i]))
            return false;
    return true;
}
