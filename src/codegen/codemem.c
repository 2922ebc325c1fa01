/* codemem.c: see codemem.h. */
#include "codegen/codemem.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

/* Address space only; pages are committed when touched. Where address space is limited, less is tried. */
#define LARGEST ((u64)1 << 29)
#define SMALLEST ((u64)1 << 22)

#define CODE_ALIGN 16 /* functions start on 16 bytes as everywhere else */

/* Linux from 6.3 wants to be told that the file will be executed; older ones do not know the flag. */
static int open_file(u64 size) {
    int fd = memfd_create("lathe-code", MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0)
        fd = memfd_create("lathe-code", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void unmap(void *at, u64 size) {
    if (at != MAP_FAILED)
        munmap(at, size);
}

/* The executable view and the data are one range of addresses, so that they stay in reach of each other. */
static bool map_views(CodeMem *m, int fd, u64 size) {
    void *write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    u8 *range = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *run = MAP_FAILED;
    if (write != MAP_FAILED && range != MAP_FAILED)
        run = mmap(range, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0);
    if (run == MAP_FAILED) {
        unmap(write, size);
        unmap(range, 2 * size);
        return false;
    }
    *m = (CodeMem){.code_write = write, .code_run = run, .data = range + size, .size = size};
    return true;
}

static bool try_size(CodeMem *m, u64 size) {
    int fd = open_file(size);
    if (fd < 0)
        return false;
    bool ok = map_views(m, fd, size);
    close(fd);
    return ok;
}

static bool take(u64 *used, u64 limit, u64 bytes, u64 align, u64 *at) {
    *at = (*used + align - 1) & ~(align - 1);
    if (*at > limit || bytes > limit - *at)
        return false;
    *used = *at + bytes;
    return true;
}

bool codemem_init(CodeMem *m) {
    for (u64 size = LARGEST; size >= SMALLEST; size /= 2)
        if (try_size(m, size))
            return true;
    return false;
}

void codemem_free(CodeMem *m) {
    munmap(m->code_write, m->size);
    munmap(m->code_run, 2 * m->size);
}

bool codemem_alloc(CodeMem *m, u64 code_bytes, u64 data_bytes, u64 align, CodeSpan *span) {
    u64 code, data, code_used = m->code_used, data_used = m->data_used;
    align = align > CODE_ALIGN ? align : CODE_ALIGN;
    if (!take(&code_used, m->size, code_bytes, align, &code) || !take(&data_used, m->size, data_bytes, align, &data))
        return false;
    m->code_used = code_used;
    m->data_used = data_used;
    *span = (CodeSpan){m->code_write + code, m->code_run + code, m->data + data};
    return true;
}
