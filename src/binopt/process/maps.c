/* maps.c: see maps.h. */
#include "binopt/process/maps.h"

#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

static bool parse(const char *line, Mapping *m) {
    unsigned long long start, end;
    char perms[8];
    if (sscanf(line, "%llx-%llx %7s", &start, &end, perms) != 3)
        return false;
    *m = (Mapping){start, end, perms[0] == 'r', perms[1] == 'w', perms[2] == 'x', perms[3] == 's'};
    return true;
}

void maps_init(Maps *m) {
    *m = (Maps){0};
    FILE *file = fopen("/proc/self/maps", "re");
    char line[512];
    bool at_start = true; /* a line with a long path may take several reads */
    while (file && fgets(line, sizeof(line), file)) {
        Mapping one;
        if (at_start && parse(line, &one))
            VEC_PUSH(&m->list, one);
        at_start = strchr(line, '\n') != NULL;
    }
    if (file)
        fclose(file);
}

void maps_free(Maps *m) {
    VEC_FREE(&m->list);
}

const Mapping *maps_find(const Maps *m, u64 addr) {
    size_t low = 0, high = m->list.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (addr >= m->list.at[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->list.len && addr >= m->list.at[low].start ? &m->list.at[low] : NULL;
}

bool maps_constant(const Maps *m, u64 addr, u64 size) {
    u64 end = addr + size;
    while (addr < end) {
        const Mapping *at = maps_find(m, addr);
        if (!at || !at->read || at->write || (at->shared && !at->exec))
            return false;
        addr = at->end;
    }
    return size && end >= size;
}

size_t maps_read(u64 addr, void *buf, size_t size) {
    size_t head = PAGE - addr % PAGE;
    if (head > size)
        head = size;
    struct iovec local = {buf, size};
    struct iovec remote[] = {{(void *)addr, head}, {(void *)(addr + head), size - head}};
    ssize_t n = process_vm_readv(getpid(), &local, 1, remote, size > head ? 2 : 1, 0);
    return n > 0 ? (size_t)n : 0;
}
