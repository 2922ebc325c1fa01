/* layout.h: where things are in this run, in words that hold for other runs, too.
 *
 * An anchor is something that has a place in every run: a loaded file, a region of memory that was declared, what a fixed
 * parameter points to, what a pointer in constant memory points to. Each address that a specialisation was made from is
 * an offset from an anchor. */
#ifndef BINOPT_LLVM_LAYOUT_H
#define BINOPT_LLVM_LAYOUT_H

#include "binopt/llvm/store/store.h"

typedef enum AnchorKind { ANCHOR_FILE, ANCHOR_REGION, ANCHOR_PARAM, ANCHOR_LOADED } AnchorKind;

typedef struct Anchor {
    u32 kind;      /* AnchorKind */
    u32 index;     /* of the region, the parameter, or the Fact that has the pointer */
    u64 name;      /* of a file: a hash of its path */
    u64 base, end; /* in this run; the end of what has none is as far as anyone would go */
} Anchor;

typedef struct Place {
    u32 anchor, reserved;
    u64 off;
} Place;

/* What was read at a place: bytes, or a pointer to another one. */
typedef struct Fact {
    Place at, to;
    u32 size, is_pointer;
    u32 bytes_off; /* in the bytes of all facts */
    u32 read_only; /* nobody could write there: see Depend */
} Fact;

typedef struct Layout {
    VEC(Anchor) anchors;
    VEC(Fact) facts;
    VEC(u8) bytes;
} Layout;

void layout_free(Layout *l);

/* The layout of a specialisation that was just made; false: something is where no anchor is. */
bool layout_make(Layout *l, const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size);

/* Finds the anchors of a layout from an earlier run in this one; false: they are not there, or something that was read then
 * is different now. */
bool layout_find(Layout *l, const BinoptCfg *cfg);

/* The place that an address has, among anchors there are, or of a file. */
bool layout_place(Layout *l, u64 addr, Place *p);

/* The file that has an address: where it begins, and its path. */
bool layout_file(u64 addr, u64 *base, char *path, size_t size);

/* Do both tell of the same things, wherever these are? */
bool layout_same(const Layout *a, const Layout *b);

#endif
