/* cache_client.c: see cache_client.h. Stands in for the parts of the client that store.c uses. */
#include "cache_client.h"

#include <stdio.h>

#include "run/client/code/cache/store.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/key.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/tool/tool.h"

Process the;

enum { OWNED_MAX = 16 };
static struct { u64 start, size; } owned[OWNED_MAX];
static u32 owned_count;

i64 own_map(u64 size, u32 prot, u32 flags, int fd, u64 off) {
    i64 start = sys_mmap(0, page_up(size), prot, flags, fd, off);
    if (sys_failed(start))
        return start;
    CHECK(owned_count < OWNED_MAX, "a module has two mappings");
    owned[owned_count].start = (u64)start;
    owned[owned_count++].size = page_up(size);
    return start;
}

void own_unmap(u64 start, u64 size) {
    for (u32 i = 0; i < owned_count; i++)
        if (owned[i].start == start && owned[i].size == page_up(size)) {
            owned[i] = owned[--owned_count];
            sys_munmap(start, page_up(size));
            return;
        }
    CHECK(false, "what is given back was owned");
}

void *sys_pages(size_t size) {
    i64 pages = own_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(!sys_failed(pages), "out of memory");
    return (void *)pages;
}

void sys_pages_free(void *pages, size_t size) {
    own_unmap((u64)pages, size);
}

size_t format_text(char *buf, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(buf, size, format, args);
    va_end(args);
    CHECK(len >= 0 && (size_t)len < size, "the text fits");
    return (size_t)len;
}

/* Nothing is in one file with the client. */
const PackIdentity *contained_identity(const struct stat *st) {
    (void)st;
    return NULL;
}

const u8 *contained_pack(Key pack, u64 *size) {
    (void)pack, (void)size;
    return NULL;
}

/* There is no tool. */
bool tool_names_in(u64 start, u64 end) {
    (void)start, (void)end;
    return false;
}

/* Nothing of the guest but the module is mapped. */
size_t space_read(u64 addr, void *buf, size_t size, bool *writable) {
    const Module *m = &the.memory.modules[0];
    CHECK(addr >= m->base && addr <= m->end && size <= m->end - addr, "ranges are within the module");
    memcpy(buf, (const void *)addr, size);
    *writable = false;
    return size;
}

/* Both ways of reading are taken. */
int space_prot(u64 addr) {
    const Module *m = &the.memory.modules[0];
    CHECK(addr >= page_down(m->base) && addr < m->end, "only the module is asked about");
    return addr / PAGE % 2 ? PROT_READ | PROT_EXEC : PROT_EXEC;
}

void client_open(const char *cache_dir, Key pack, u8 *image, size_t size) {
    CHECK(strlen(cache_dir) < sizeof(the.opt.cache_dir), "the directory's path is short");
    memcpy(the.opt.cache_dir, cache_dir, strlen(cache_dir) + 1);
    the.memory.modules[0] = (Module){.base = (u64)image, .end = (u64)image + size, .pack = pack};
}

void client_close(void) {
    while (owned_count) {
        owned_count--;
        sys_munmap(owned[owned_count].start, owned[owned_count].size);
    }
    the.memory.modules[0].store = NULL;
}

const void *client_find(u64 off, u32 *size, u32 *insns) {
    Stored facts = {0};
    const void *object = store_find(&the.memory.modules[0], the.memory.modules[0].base + off, &facts);
    *size = facts.object_size, *insns = facts.insns;
    return object;
}

Key client_key(int fd, const CodeConfig *config) {
    return key_of_file(fd, config);
}
