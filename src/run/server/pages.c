/* pages.c: the client's guest memory, fetched by pages and kept as long as it cannot have changed.
 *
 * Pages of a module are kept: a file's code does not change while it is mapped, and a module's pack key says which file it is. Pages that
 * the guest may write to, and pages outside modules, are requested again for each request. */
#include "run/server/server.h"

enum { PAGE = 4096, AHEAD = 4 };

typedef struct Page {
    u64 addr;
    u32 size; /* number of bytes that could be read; 0: the page is not mapped */
    bool writable;
    bool lasting; /* it belongs to a module and cannot change */
    u8 bytes[PAGE];
} Page;

/* A module whose pages are kept. */
typedef struct Kept {
    u64 base, end;
    u32 changes;
    Key pack;
} Kept;

struct Pages {
    Connection *connection;
    Map64 index; /* page address -> index in pages, + 1; 0: forgotten */
    VEC(Page *) pages;
    VEC(Kept) modules;
    TranslateMessage request;
    bool lost;
};

Pages *pages_new(Connection *c) {
    Pages *p = mem_new(sizeof(Pages));
    p->connection = c;
    return p;
}

static void forget_all(Pages *p, bool lasting_too, u64 start, u64 end) {
    size_t kept = 0;
    for (size_t i = 0; i < p->pages.len; i++) {
        Page *page = p->pages.at[i];
        bool drop = (!page->lasting || lasting_too) && page->addr >= start && page->addr < end;
        map64_set(&p->index, page->addr, drop ? 0 : (u32)kept + 1);
        if (drop)
            mem_free(page);
        else
            p->pages.at[kept++] = page;
    }
    p->pages.len = kept;
}

void pages_free(Pages *p) {
    forget_all(p, true, 0, ~(u64)0);
    VEC_FREE(&p->pages);
    VEC_FREE(&p->modules);
    map64_free(&p->index);
    mem_free(p);
}

static bool overlaps(const Kept *k, u64 base, u64 end) {
    return k->base < end && base < k->end;
}

/* A module at the place of an earlier one replaces it. */
static void note_module(Pages *p, const TranslateMessage *request) {
    size_t kept = 0;
    bool known = false;
    for (size_t i = 0; i < p->modules.len; i++) {
        Kept k = p->modules.at[i];
        bool same = k.base == request->base && k.end == request->end && k.changes == request->changes &&
                    !memcmp(&k.pack, &request->pack, sizeof(Key));
        known |= same;
        if (!same && overlaps(&k, request->base, request->end))
            forget_all(p, true, k.base, k.end);
        else
            p->modules.at[kept++] = k;
    }
    p->modules.len = kept;
    if (!known)
        VEC_PUSH(&p->modules, ((Kept){request->base, request->end, request->changes, request->pack}));
}

/* Code of a file that the guest may write to by now is asked for as that of no file: what was kept of the file is old. */
static void forget_module_of(Pages *p, u64 pc) {
    for (size_t i = 0; i < p->modules.len; i++)
        if (pc >= p->modules.at[i].base && pc < p->modules.at[i].end)
            forget_all(p, true, p->modules.at[i].base, p->modules.at[i].end);
}

void pages_begin(Pages *p, const TranslateMessage *request) {
    p->request = *request;
    if (request->base)
        note_module(p, request);
    else
        forget_module_of(p, request->pc);
    forget_all(p, false, 0, ~(u64)0);
}

static void add_page(Pages *p, u64 addr, const u8 *bytes, u32 size, bool writable) {
    Page *page = mem_new(sizeof(Page));
    page->addr = addr;
    page->size = size;
    page->writable = writable;
    page->lasting = !writable && addr >= p->request.base && addr < p->request.end && p->request.base;
    memcpy(page->bytes, bytes, size);
    VEC_PUSH(&p->pages, page);
    map64_set(&p->index, addr, (u32)p->pages.len);
}

/* Requests several pages at once. A short answer ends at the first byte that cannot be read. If the guest may write to
 * some of the pages, each is requested by itself, to know which. */
static bool fetch(Pages *p, u64 addr, u32 count) {
    MemRequest ask = {.addr = addr, .size = count * PAGE};
    MessageHeader header;
    MemReply reply;
    if (!connection_send(p->connection, S_MEMREQ, &ask, sizeof(ask), NULL, 0) ||
        !connection_receive(p->connection, &header) || header.type != C_MEMBUF || header.size < sizeof(reply))
        return false;
    memcpy(&reply, p->connection->buffer, sizeof(reply));
    if (reply.size > ask.size || header.size != sizeof(reply) + reply.size)
        return false;
    if (reply.writable && count > 1)
        return fetch(p, addr, 1);
    const u8 *bytes = p->connection->buffer + sizeof(reply);
    for (u32 off = 0; off < reply.size || off == 0; off += PAGE) {
        u32 left = reply.size - off;
        add_page(p, addr + off, bytes + off, left < PAGE ? left : PAGE, reply.writable);
    }
    return true;
}

static u32 pages_ahead(const Pages *p, u64 addr) {
    u32 n = 1;
    u32 i;
    while (n < AHEAD && addr + n * PAGE < p->request.end && !(map64_get(&p->index, addr + n * PAGE, &i) && i))
        n++;
    return n;
}

static Page *page_at(Pages *p, u64 addr) {
    u32 i = 0;
    if (map64_get(&p->index, addr, &i) && i)
        return p->pages.at[i - 1];
    if (p->lost || !fetch(p, addr, pages_ahead(p, addr))) {
        p->lost = true;
        return NULL;
    }
    return map64_get(&p->index, addr, &i) && i ? p->pages.at[i - 1] : NULL;
}

/* Inside a module, pages that the guest may write to are not read, because they hold no constants. Elsewhere (a JIT's
 * memory) such pages contain code. */
size_t pages_read(void *pages, u64 addr, void *buf, size_t size) {
    Pages *p = pages;
    size_t done = 0;
    while (done < size) {
        u64 at = addr + done, start = at & ~(u64)(PAGE - 1);
        Page *page = page_at(p, start);
        if (!page || (page->writable && p->request.base) || at - start >= page->size)
            break;
        size_t n = page->size - (at - start);
        n = n < size - done ? n : size - done;
        memcpy((u8 *)buf + done, page->bytes + (at - start), n);
        done += n;
        if (page->size < PAGE)
            break;
    }
    return done;
}

bool pages_lost(const Pages *p) {
    return p->lost;
}

Connection *pages_connection(const Pages *p) {
    return p->connection;
}
