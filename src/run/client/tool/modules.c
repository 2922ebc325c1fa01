/* modules.c: LATHE_MODULE and LATHE_MODULE_END: parts of files that are mapped so that they can be executed, and that are not any more. */
#include "run/client/memory/maps.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

typedef struct Part {
    u64 start, end, off;
    char *name;
} Part;

/* What the tool was told of; the list has no order. */
typedef struct Modules {
    LatheLock lock;
    LatheVector parts; /* of Part */
} Modules;

static Modules modules = {.parts = LATHE_VECTOR(Part)};

static bool are_watched(void) {
    return tool_watches(LATHE_MODULE) || tool_watches(LATHE_MODULE_END);
}

static void tell(LatheEvent event, const Part *p) {
    tool_call(event, &(ToolEvent){.address = p->start, .bytes = p->end - p->start, .offset = p->off, .name = p->name});
}

/* The piece of a part that is in [start, end), with its own copy of the name. */
static Part piece_of(const Part *p, u64 start, u64 end) {
    u64 first = p->start > start ? p->start : start;
    Part piece = {first, p->end < end ? p->end : end, p->off + (first - p->start), NULL};
    piece.name = lathe_alloc(strlen(p->name) + 1);
    memcpy(piece.name, p->name, strlen(p->name));
    return piece;
}

static void add_piece(const Part *p, u64 start, u64 end) {
    if (p->start < end && p->end > start) {
        Part piece = piece_of(p, start, end);
        *(Part *)lathe_vector_add(&modules.parts) = piece;
    }
}

/* ------------------------------------------------------------------------------------------------------------- the end */

/* Takes out of the list what is in [start, end), a piece at a time; false: there is nothing left. The caller frees its name. */
static bool take_piece(u64 start, u64 end, Part *piece) {
    Part *all = modules.parts.at;
    size_t i = 0;
    while (i < modules.parts.count && (all[i].start >= end || all[i].end <= start))
        i++;
    if (i == modules.parts.count)
        return false;
    Part whole = all[i];
    all[i] = all[--modules.parts.count];
    add_piece(&whole, 0, start);
    add_piece(&whole, end, ~(u64)0);
    *piece = piece_of(&whole, start, end);
    lathe_free(whole.name);
    return true;
}

static void end_parts(u64 start, u64 end) {
    for (;;) {
        Part piece;
        lathe_lock(&modules.lock);
        bool more = take_piece(start, end, &piece);
        lathe_unlock(&modules.lock);
        if (!more)
            return;
        tell(LATHE_MODULE_END, &piece);
        lathe_free(piece.name);
    }
}

/* -------------------------------------------------------------------------------------------------------- the beginning */

/* Is a part among those that the tool knows? They are told whole, so its first byte says it. If not, it is as long as nothing of it is. */
static bool is_known(Part *p) {
    const Part *all = modules.parts.at;
    for (size_t i = 0; i < modules.parts.count; i++) {
        if (p->start >= all[i].start && p->start < all[i].end) {
            p->end = p->end < all[i].end ? p->end : all[i].end;
            return true;
        }
        if (all[i].start > p->start && all[i].start < p->end)
            p->end = all[i].start;
    }
    return false;
}

/* Tells those pieces of a part that the tool does not know. */
static void begin_part(Part part) {
    for (u64 end = part.end; part.start < end;) {
        part.end = end;
        lathe_lock(&modules.lock);
        bool known = is_known(&part);
        if (!known)
            add_piece(&part, part.start, part.end);
        lathe_unlock(&modules.lock);
        if (!known)
            tell(LATHE_MODULE, &part);
        part.off += part.end - part.start;
        part.start = part.end;
    }
}

/* The parts of a mapping that the guest may execute: for the host, which executes no code of files, there is no difference. */
static void begin_parts(const MapsLine *line, u64 from, u64 to) {
    u64 start, end;
    u32 prot;
    from = line->start > from ? line->start : from;
    to = line->end < to ? line->end : to;
    for (u64 at = from; at < to && space_next(at, &start, &end, &prot) && start < to; at = end) {
        start = start < from ? from : start;
        end = end < to ? end : to;
        if (prot & PROT_EXEC)
            begin_part((Part){start, end, line->off + (start - line->start), (char *)line->name});
    }
}

static void find_parts(u64 start, u64 end) {
    MapsLine line;
    MapsReader *reader = sys_pages(page_up(sizeof(MapsReader)));
    if (!reader)
        return;
    for (bool more = maps_open(reader); more && maps_next(reader, &line);)
        if (line.file)
            begin_parts(&line, start, end);
    maps_close(reader);
    sys_pages_free(reader, page_up(sizeof(MapsReader)));
}

/* Can the guest execute anything there? Most that is mapped it cannot, and that is known without the kernel's list. */
static bool is_executable(u64 start, u64 end) {
    u64 from, to;
    u32 prot;
    for (u64 at = start; at < end && space_next(at, &from, &to, &prot) && from < end; at = to)
        if (prot & PROT_EXEC)
            return true;
    return false;
}

void tool_executable(u64 start, u64 size) {
    if (are_watched() && is_executable(start, start + size))
        find_parts(start, start + size);
}

void tool_not_executable(u64 start, u64 size) {
    if (are_watched())
        end_parts(start, start + size);
}

void tool_unmapped(u64 start, u64 size) {
    if (!tool_exists() && !the.opt.perf)
        return;
    tool_not_executable(start, size);
    tool_symbols_forget(start, start + size);
    tool_lines_forget(start, start + size);
}

void tool_modules(void) {
    Part *all = modules.parts.at;
    for (size_t i = 0; i < modules.parts.count; i++)
        lathe_free(all[i].name);
    lathe_vector_clear(&modules.parts);
    if (are_watched())
        find_parts(0, ~(u64)0);
}
