/* unwind.c: see unwind.h. The format is described in the Linux Standard Base, Core, 10.6 (Exception Frames), and in
 * DWARF 4, 6.4.2. */
#include "binopt/process/unwind.h"

#include "base/process.h"

#include "binopt/process/cfi.h"

/* A structure of libgcc, which has no header for it. */
typedef struct Bases {
    void *text, *data, *function;
} Bases;
extern const void *_Unwind_Find_FDE(void *pc, Bases *bases);
extern void __register_frame(const void *begin);
extern void __deregister_frame(const void *begin);

/* The entry (FDE) of a contiguous piece of code. */
typedef struct UnwindEntry {
    u64 function, size; /* its first address, and its size in bytes */
    u64 code_align;
    i64 data_align;
    u64 handlers;                                      /* where its handlers are described; 0: it has none */
    bool odd;                                          /* it has handlers, but their description is not understood */
    const u8 *initial, *initial_end, *code, *code_end; /* the instructions of the CIE, and those of this entry */
} UnwindEntry;

static u64 read_uleb(const u8 **at) {
    u64 v = 0;
    for (u32 shift = 0;; shift += 7) {
        u8 byte = *(*at)++;
        v |= shift < 64 ? (u64)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return v;
    }
}

static i64 read_sleb(const u8 **at) {
    u64 v = 0;
    for (u32 shift = 0;;) {
        u8 byte = *(*at)++;
        v |= shift < 64 ? (u64)(byte & 0x7f) << shift : 0;
        shift += 7;
        if (!(byte & 0x80))
            return (i64)(byte & 0x40 && shift < 64 ? v | ~(u64)0 << shift : v);
    }
}

static u64 read_number(const u8 **at, u32 bytes) {
    u64 v = 0;
    memcpy(&v, *at, bytes);
    *at += bytes;
    return v;
}

/* The size of an encoded pointer (LSB Core, 10.5.1); 0: it has no fixed size. */
static u32 pointer_bytes(u8 encoding) {
    static const u8 bytes[16] = {[0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8};
    return bytes[encoding & 15];
}

/* ---------------------------------------------------------------------------------------------------------------- entries */

typedef struct Augmentation {
    bool any, known;
    u8 code, handlers; /* the encodings of addresses; 0xff: there are no handlers */
} Augmentation;

/* The letters of a CIE's augmentation say which fields follow its length. */
static Augmentation read_augmentation(const char *letters, const u8 **at) {
    Augmentation a = {.any = *letters == 'z', .known = *letters == 'z' || !*letters, .handlers = 0xff};
    if (!a.any)
        return a;
    u64 bytes = read_uleb(at);
    const u8 *data = *at;
    *at += bytes;
    for (const char *c = letters + 1; *c && a.known; c++) {
        u8 encoding = *c == 'R' || *c == 'L' || *c == 'P' ? *data++ : 0;
        if (*c == 'R')
            a.code = encoding;
        else if (*c == 'L')
            a.handlers = encoding;
        else if (*c == 'P')
            data += pointer_bytes(encoding);
        else
            a.known = false; /* S: the frame of a signal handler */
    }
    return a;
}

/* Reads everything of the CIE but its end. Returns false if it is of an unknown kind. */
static bool read_common(const u8 *at, UnwindEntry *e, Augmentation *a) {
    u32 length = (u32)read_number(&at, 4);
    e->initial_end = at + length;
    at += 4;
    u8 version = *at++;
    const char *letters = (const char *)at;
    at += strlen(letters) + 1;
    if (length == 0xffffffff || (version != 1 && version != 3))
        return false;
    e->code_align = read_uleb(&at);
    e->data_align = read_sleb(&at);
    if (version == 1)
        at++;
    else
        read_uleb(&at);
    *a = read_augmentation(letters, &at);
    e->initial = at;
    return a->known && pointer_bytes(a->code);
}

/* The pointer is usually relative to its own place. Zero means that there are no handlers. */
static void find_handlers(u8 encoding, const u8 *at, UnwindEntry *e) {
    enum { RELATIVE = 0x10, SIGNED_4 = 0x0b };
    const u64 place = (u64)at;
    u32 bytes = pointer_bytes(encoding);
    u64 v = bytes ? read_number(&at, bytes) : 0;
    e->odd = !bytes || (v && encoding != 0 && encoding != (RELATIVE | SIGNED_4));
    if (v)
        e->handlers = encoding ? place + (u64)(i64)(i32)v : v;
}

static bool find_entry(u64 pc, UnwindEntry *e) {
    Bases bases;
    Augmentation a;
    const u8 *at = _Unwind_Find_FDE((void *)pc, &bases);
    if (!at)
        return false;
    u32 length = (u32)read_number(&at, 4);
    const u8 *end = at + length, *field = at;
    u32 back = (u32)read_number(&at, 4);
    *e = (UnwindEntry){.function = (u64)bases.function};
    if (length == 0xffffffff || !read_common(field - back, e, &a))
        return false;
    at += pointer_bytes(a.code);
    e->size = read_number(&at, pointer_bytes(a.code));
    if (a.any) {
        u64 bytes = read_uleb(&at);
        const u8 *data = at;
        if (a.handlers != 0xff)
            find_handlers(a.handlers, data, e);
        at += bytes;
    }
    e->code = at;
    e->code_end = end;
    return true;
}

/* -------------------------------------------------------------------------------------------------------------------- rows */

enum { MAX_REMEMBERED = 8 };

typedef struct CfiMachine {
    const UnwindEntry *e;
    u64 at, pc; /* `row` is for the code from `at` on; the wanted row is the last one that is not behind pc */
    UnwindRow row, initial, remembered[MAX_REMEMBERED];
    u32 depth;
    bool lost; /* something was not understood */
} CfiMachine;

static void save(CfiMachine *m, u64 dwarf, i64 off) {
    bool fits = dwarf == CFI_RETURN_ADDRESS ? off == -8 : dwarf < UNWIND_REGS && off == (i16)off;
    m->lost |= !fits;
    if (fits)
        m->row.saved |= 1u << cfi_to_register(dwarf);
    if (fits && dwarf < UNWIND_REGS)
        m->row.off[cfi_to_register(dwarf)] = (i16)off;
}

static void keep(CfiMachine *m, u64 dwarf, const UnwindRow *as) {
    if (dwarf > CFI_RETURN_ADDRESS)
        return;
    u8 r = cfi_to_register(dwarf);
    m->row.saved = (m->row.saved & ~(1u << r)) | (as ? as->saved & 1u << r : 0);
    if (r < UNWIND_REGS)
        m->row.off[r] = as ? as->off[r] : 0;
}

/* The rule is skipped: the caller's stack pointer is known without it. */
static void skip_block(const u8 **at) {
    u64 bytes = read_uleb(at);
    *at += bytes;
}

static void run_other(CfiMachine *m, u8 op, const u8 **at) {
    u64 reg;
    switch (op) {
    case CFA_NOP:
        return;
    case CFA_ADVANCE_1:
    case CFA_ADVANCE_2:
    case CFA_ADVANCE_4:
        m->at += read_number(at, 1u << (op - CFA_ADVANCE_1)) * m->e->code_align;
        return;
    case CFA_OFFSET_EXTENDED:
        reg = read_uleb(at);
        save(m, reg, (i64)read_uleb(at) * m->e->data_align);
        return;
    case CFA_OFFSET_EXTENDED_SF:
        reg = read_uleb(at);
        save(m, reg, read_sleb(at) * m->e->data_align);
        return;
    case CFA_RESTORE_EXTENDED:
        keep(m, read_uleb(at), &m->initial);
        return;
    case CFA_SAME_VALUE:
    case CFA_UNDEFINED: /* for the return address: there is no caller */
        keep(m, read_uleb(at), NULL);
        return;
    case CFA_REMEMBER:
        if (m->depth < MAX_REMEMBERED)
            m->remembered[m->depth++] = m->row;
        else
            m->lost = true;
        return;
    case CFA_RESTORE_STATE:
        if (m->depth)
            m->row = m->remembered[--m->depth];
        else
            m->lost = true;
        return;
    case CFA_DEF_CFA:
    case CFA_DEF_CFA_SF: /* the signed form has the same length */
        read_uleb(at);
        read_uleb(at);
        return;
    case CFA_DEF_CFA_REGISTER:
    case CFA_DEF_CFA_OFFSET:
    case CFA_DEF_CFA_OFFSET_SF:
    case CFA_ARGS_SIZE:
        read_uleb(at);
        return;
    case CFA_DEF_CFA_EXPRESSION:
        skip_block(at);
        return;
    default:
        m->lost = true;
    }
}

static void run(CfiMachine *m, const u8 *at, const u8 *end) {
    while (at < end && m->at <= m->pc && !m->lost) {
        u8 op = *at++, low = op & 0x3f;
        switch (op & 0xc0) {
        case CFA_ADVANCE:
            m->at += low * m->e->code_align;
            break;
        case CFA_OFFSET:
            save(m, low, (i64)read_uleb(&at) * m->e->data_align);
            break;
        case CFA_RESTORE:
            keep(m, low, &m->initial);
            break;
        default:
            run_other(m, op, &at);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- handlers */

/* Reads a number of the table of calls. Returns false if the encoding is not supported. */
static bool read_encoded(u8 encoding, const u8 **at, u64 *v) {
    enum { ULEB = 1 };
    if (encoding != ULEB && (encoding > 15 || !pointer_bytes(encoding)))
        return false;
    *v = encoding == ULEB ? read_uleb(at) : read_number(at, pointer_bytes(encoding));
    return true;
}

/* Looks a call up in the table of calls, by ranges of code (LSB Core, 10.6.3.1, and GCC's language-specific data).
 * Calls that are not in it throw nothing; if they do, the program ends. */
static UnwindKind look_up_call(const UnwindEntry *e, u64 pc) {
    enum { OMITTED = 0xff };
    const u8 *at = (const u8 *)e->handlers;
    if (*at++ != OMITTED) /* the base of the handlers' addresses, if it is not the function */
        return UNWIND_HANDLED;
    if (*at++ != OMITTED)
        read_uleb(&at);
    u8 encoding = *at++;
    u64 bytes = read_uleb(&at), start, size, handler;
    for (const u8 *end = at + bytes; at < end;) {
        if (!read_encoded(encoding, &at, &start) || !read_encoded(encoding, &at, &size) ||
            !read_encoded(encoding, &at, &handler))
            return UNWIND_HANDLED;
        read_uleb(&at);
        if (pc - e->function - start < size)
            return handler ? UNWIND_HANDLED : UNWIND_PASSES;
    }
    return UNWIND_NONE;
}

/* ------------------------------------------------------------------------------------------------------------------ public */

typedef struct EntryQuestion {
    u64 pc;
    UnwindEntry entry;
    bool found;
} EntryQuestion;

static void ask_for_entry(const ProcessFile *file, void *user) {
    EntryQuestion *q = user;
    (void)file;
    q->found = find_entry(q->pc, &q->entry);
}

/* The entry of the code at pc, which is looked up while its file cannot be unloaded. Code that is in no file was made
 * by us, and stays. */
static bool entry_of(u64 pc, UnwindEntry *e) {
    EntryQuestion q = {.pc = pc};
    if (!process_look_at(pc, ask_for_entry, &q))
        ask_for_entry(NULL, &q);
    *e = q.entry;
    return q.found;
}

bool unwind_extent(u64 pc, u64 *start, u64 *end) {
    UnwindEntry e;
    if (!entry_of(pc, &e))
        return false;
    *start = e.function;
    *end = e.function + e.size;
    return true;
}

bool unwind_handles(u64 pc) {
    UnwindEntry e;
    return entry_of(pc, &e) && (e.handlers || e.odd);
}

UnwindKind unwind_call(u64 pc, UnwindRow *row) {
    Bases bases;
    UnwindEntry e;
    if (!find_entry(pc, &e))
        return _Unwind_Find_FDE((void *)pc, &bases) ? UNWIND_HANDLED : UNWIND_NONE;
    UnwindKind kind = e.odd ? UNWIND_HANDLED : e.handlers ? look_up_call(&e, pc) : UNWIND_PASSES;
    if (kind != UNWIND_PASSES)
        return kind;
    CfiMachine m = {.e = &e, .at = e.function, .pc = pc};
    run(&m, e.initial, e.initial_end);
    m.initial = m.row;
    run(&m, e.code, e.code_end);
    *row = m.row;
    bool has_caller = row->saved >> CFI_RETURN_ADDRESS & 1;
    row->saved &= ~(1u << CFI_RETURN_ADDRESS);
    return m.lost ? UNWIND_HANDLED : has_caller ? UNWIND_PASSES : UNWIND_NONE;
}

void unwind_add(const void *tables) {
    if (tables)
        __register_frame(tables);
}

void unwind_remove(const void *tables) {
    if (tables)
        __deregister_frame(tables);
}
