/* layout.h: where things are in this run, in terms that are valid in other runs, too.
 *
 * An anchor is something that exists in every run at some address: a loaded file, a declared region of memory, the memory that a fixed
 * parameter points to, the memory that a pointer in constant memory points to. Each address that a specialisation depends on is an
 * offset from an anchor. */
#ifndef BINOPT_LLVM_LAYOUT_H
#define BINOPT_LLVM_LAYOUT_H

#include "binopt/llvm/store/store.h"

typedef enum AnchorKind { ANCHOR_FILE, ANCHOR_REGION, ANCHOR_PARAM, ANCHOR_LOADED } AnchorKind;

typedef struct Anchor {
    u32 kind;      /* AnchorKind */
    u32 index;     /* of the region, the parameter, or the Fact that contains the pointer */
    u64 name;      /* for a file: a hash of its path */
    u64 base, end; /* in this run; if the end is not known, it is far behind the base */
} Anchor;

typedef struct Place {
    u32 anchor, reserved;
    u64 off;
} Place;

/* What was read at a place: bytes, or a pointer to another place. */
typedef struct Fact {
    Place at, to;
    u32 size, is_pointer;
    u32 bytes_off; /* offset in the bytes of all facts */
    u32 read_only; /* it could not be written to: see Depend */
} Fact;

typedef struct Layout {
    VEC(Anchor) anchors;
    VEC(Fact) facts;
    VEC(u8) bytes;
} Layout;

void layout_free(Layout *l);

/* The layout of a specialisation that was just made. Returns false if something is not near any anchor. */
bool layout_make(Layout *l, const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size);

/* Finds the anchors of a layout from an earlier run in this one. Returns false if they do not exist, or memory that was
 * read then has another content now. */
bool layout_find(Layout *l, const BinoptCfg *cfg);

/* The place of an address, relative to an anchor that exists, or to a file. */
bool layout_place(Layout *l, u64 addr, Place *p);

/* The file that contains an address: its beginning and its path. */
bool layout_file(u64 addr, u64 *base, char *path, size_t size);

/* True if both are about the same things, wherever these are. */
bool layout_same(const Layout *a, const Layout *b);

#endif
