/* peek.c: see peek.h. */
#include "run/client/memory/peek.h"

#include "run/client/core/client.h"

/* Used where process_vm_readv is forbidden, as in some containers. */
static size_t read_through_file(u64 addr, void *buf, size_t size) {
    int fd = (int)sys_open("/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    i64 n = sys_pread(fd, buf, size, addr);
    sys_close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* Reads page by page, because the kernel promises partial results only between iovecs. */
size_t peek(u64 addr, void *buf, size_t size) {
    enum { PIECES = 16 };
    size_t done = 0;
    while (done < size) {
        struct iovec remote[PIECES], local = {(u8 *)buf + done, 0};
        u32 count = 0;
        for (u64 at = addr + done, left = size - done; left && count < PIECES; count++) {
            u64 piece = PAGE - at % PAGE;
            piece = piece < left ? piece : left;
            remote[count] = (struct iovec){(void *)at, piece};
            at += piece, left -= piece, local.iov_len += piece;
        }
        i64 n = sys_process_vm_readv((u32)sys_getpid(), &local, 1, remote, count);
        if (n == -EPERM || n == -ENOSYS)
            return done + read_through_file(addr + done, (u8 *)buf + done, size - done);
        if (n <= 0)
            break;
        done += (size_t)n;
        if ((size_t)n < local.iov_len)
            break;
    }
    return done;
}

/* Used where process_vm_writev is forbidden, or is not there: what is read from a pipe is written to by the kernel, too, if that can be done. */
static size_t write_through_pipe(u64 addr, const u8 *buf, size_t size) {
    enum { AT_ONCE = PAGE };
    int ends[2];
    size_t done = 0;
    if (sys_pipe2(ends, O_CLOEXEC)) { /* no descriptor is free; here a bad address is a fault */
        memcpy((void *)addr, buf, size);
        return size;
    }
    while (done < size) {
        size_t piece = size - done < AT_ONCE ? size - done : AT_ONCE;
        i64 n = sys_write(ends[1], buf + done, piece);
        n = n == (i64)piece ? sys_read(ends[0], (void *)(addr + done), piece) : -1;
        done += n > 0 ? (size_t)n : 0;
        if (n != (i64)piece)
            break;
    }
    sys_close(ends[0]);
    sys_close(ends[1]);
    return done;
}

size_t guest_write(u64 addr, const void *buf, size_t size) {
    struct iovec local = {(void *)buf, size}, remote = {(void *)addr, size};
    i64 n = sys6(__NR_process_vm_writev, (u64)sys_getpid(), (u64)&local, 1, (u64)&remote, 1, 0);
    if (n == -EPERM || n == -ENOSYS)
        return write_through_pipe(addr, buf, size);
    return n > 0 ? (size_t)n : 0;
}
