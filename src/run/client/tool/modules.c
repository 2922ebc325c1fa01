/* modules.c: LATHE_MODULE: files that are mapped so that they can be executed. */
#include "run/client/memory/maps.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/tool/tool.h"

static void tell(u64 start, u64 size, u64 off, const char *name) {
    tool_call(LATHE_MODULE, &(ToolEvent){.address = start, .bytes = size, .offset = off, .name = name});
}

void tool_module(u64 start, u64 size, u64 off) {
    LatheSymbol symbol;
    if (!tool_watches(LATHE_MODULE))
        return;
    lathe_symbol(start, &symbol);
    tell(start, size, off, symbol.file);
}

/* The parts of a mapping that the guest may execute: for the host, which executes no code of files, there is no difference. */
static void tell_parts(const MapsLine *line) {
    u64 start, end;
    u32 prot;
    for (u64 at = line->start; at < line->end && space_next(at, &start, &end, &prot) && start < line->end; at = end) {
        start = start < line->start ? line->start : start;
        end = end < line->end ? end : line->end;
        if (prot & PROT_EXEC)
            tell(start, end - start, line->off + (start - line->start), line->name);
    }
}

void tool_modules(void) {
    MapsLine line;
    MapsReader *reader = tool_watches(LATHE_MODULE) ? sys_pages(page_up(sizeof(MapsReader))) : NULL;
    if (!reader)
        return;
    for (bool more = maps_open(reader); more && maps_next(reader, &line);)
        if (line.file)
            tell_parts(&line);
    maps_close(reader);
    sys_pages_free(reader, page_up(sizeof(MapsReader)));
}
