/* sys.h: the kernel, and what a libc would give: system calls, a lock, text.
 *
 * Every sys_* call returns what the kernel returns: a result, or a negative errno. Structures and constants are the
 * kernel's own (<linux/…>, <asm/…>); libc's headers for the same things must not be mixed in, because their types
 * differ. The functions of <string.h> that base.h declares exist too: memcpy memmove memset memcmp memchr strlen
 * strnlen strcmp strncmp strchr strrchr strstr.
 */
#ifndef RUN_CLIENT_SYS_H
#define RUN_CLIENT_SYS_H

#include <asm/errno.h>
#include <asm/fcntl.h>
#include <asm/mman.h>
#include <asm/poll.h>
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/time.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <stdarg.h>

#include "base/base.h"
#include "host_call.h"

enum { PAGE = 4096 };

/* only some machines' headers have it; guests of these ask for it on any host */
#ifndef MAP_32BIT
#define MAP_32BIT 0x40
#endif

/* part of the kernel's interface, but in none of its headers */
#define X_OK 1

/* <linux/stat.h> leaves these out where it sees a libc */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFLNK 0120000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define S_ISUID 0004000
#define S_ISGID 0002000
#define S_IXUSR 0000100
#define S_IWGRP 0000020
#define S_IXGRP 0000010
#define S_IWOTH 0000002
#define S_IXOTH 0000001
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)

static inline u64 page_down(u64 x) {
    return x & -(u64)PAGE;
}

static inline u64 page_up(u64 x) {
    return (x + PAGE - 1) & -(u64)PAGE;
}

/* True if this result of a system call is an error. Addresses near the top of the address space are not errors. */
static inline bool sys_failed(i64 result) {
    return (u64)result > (u64)-4096;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static inline i64 sys_mmap(u64 addr, u64 size, u32 prot, u32 flags, int fd, u64 off) {
    return sys6(__NR_mmap, addr, size, prot, flags, (u64)(i64)fd, off);
}

static inline i64 sys_munmap(u64 addr, u64 size) {
    return sys2(__NR_munmap, addr, size);
}

static inline i64 sys_mprotect(u64 addr, u64 size, u32 prot) {
    return sys3(__NR_mprotect, addr, size, prot);
}

static inline i64 sys_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr) {
    return sys5(__NR_mremap, addr, size, new_size, flags, new_addr);
}

static inline i64 sys_madvise(u64 addr, u64 size, int advice) {
    return sys3(__NR_madvise, addr, size, (u64)advice);
}

static inline i64 sys_memfd_create(const char *name, u32 flags) {
    return sys2(__NR_memfd_create, (u64)name, flags);
}

static inline i64 sys_process_vm_readv(u32 pid, const struct iovec *local, u64 locals, const struct iovec *remote,
                                       u64 remotes) {
    return sys6(__NR_process_vm_readv, pid, (u64)local, locals, (u64)remote, remotes, 0);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static inline i64 sys_openat(int dir, const char *path, u32 flags, u32 mode) {
    return sys4(__NR_openat, (u64)(i64)dir, (u64)path, flags, mode);
}

static inline i64 sys_open(const char *path, u32 flags, u32 mode) {
    return sys_openat(AT_FDCWD, path, flags, mode);
}

static inline i64 sys_close(int fd) {
    return sys1(__NR_close, (u64)fd);
}

static inline i64 sys_close_range(u32 first, u32 last, u32 flags) {
    return sys3(__NR_close_range, first, last, flags);
}

static inline i64 sys_read(int fd, void *buf, u64 size) {
    return sys3(__NR_read, (u64)fd, (u64)buf, size);
}

static inline i64 sys_pread(int fd, void *buf, u64 size, u64 off) {
    return sys4(__NR_pread64, (u64)fd, (u64)buf, size, off);
}

static inline i64 sys_write(int fd, const void *buf, u64 size) {
    return sys3(__NR_write, (u64)fd, (u64)buf, size);
}

static inline i64 sys_pwrite(int fd, const void *buf, u64 size, u64 off) {
    return sys4(__NR_pwrite64, (u64)fd, (u64)buf, size, off);
}

static inline i64 sys_readv(int fd, const struct iovec *iov, u64 count) {
    return sys3(__NR_readv, (u64)fd, (u64)iov, count);
}

static inline i64 sys_writev(int fd, const struct iovec *iov, u64 count) {
    return sys3(__NR_writev, (u64)fd, (u64)iov, count);
}

static inline i64 sys_fstat(int fd, struct stat *st) {
    return sys2(__NR_fstat, (u64)fd, (u64)st);
}

static inline i64 sys_stat(const char *path, struct stat *st) {
    return sys4(__NR_newfstatat, (u64)AT_FDCWD, (u64)path, (u64)st, 0);
}

static inline i64 sys_fstatat(int dir, const char *path, struct stat *st) {
    return sys4(__NR_newfstatat, (u64)(i64)dir, (u64)path, (u64)st, 0);
}

static inline i64 sys_fstatfs(int fd, struct statfs *fs) {
    return sys2(__NR_fstatfs, (u64)fd, (u64)fs);
}

static inline i64 sys_lseek(int fd, i64 off, int whence) {
    return sys3(__NR_lseek, (u64)fd, (u64)off, (u64)whence);
}

static inline i64 sys_ftruncate(int fd, u64 size) {
    return sys2(__NR_ftruncate, (u64)fd, size);
}

static inline i64 sys_access(const char *path, int mode) {
    return sys3(__NR_faccessat, (u64)AT_FDCWD, (u64)path, (u64)mode);
}

static inline i64 sys_readlink(const char *path, char *buf, u64 size) {
    return sys4(__NR_readlinkat, (u64)AT_FDCWD, (u64)path, (u64)buf, size);
}

static inline i64 sys_readlinkat(int dir, const char *path, char *buf, u64 size) {
    return sys4(__NR_readlinkat, (u64)(i64)dir, (u64)path, (u64)buf, size);
}

static inline i64 sys_unlink(const char *path) {
    return sys3(__NR_unlinkat, (u64)AT_FDCWD, (u64)path, 0);
}

static inline i64 sys_rename(const char *from, const char *to) {
    return sys5(__NR_renameat2, (u64)AT_FDCWD, (u64)from, (u64)AT_FDCWD, (u64)to, 0);
}

static inline i64 sys_mkdir(const char *path, u32 mode) {
    return sys3(__NR_mkdirat, (u64)AT_FDCWD, (u64)path, mode);
}

static inline i64 sys_chmod(const char *path, u32 mode) {
    return sys3(__NR_fchmodat, (u64)AT_FDCWD, (u64)path, mode);
}

static inline i64 sys_fchmod(int fd, u32 mode) {
    return sys2(__NR_fchmod, (u64)fd, mode);
}

static inline i64 sys_fcntl(int fd, int command, u64 arg) {
    return sys3(__NR_fcntl, (u64)fd, (u64)command, arg);
}

static inline i64 sys_flock(int fd, int operation) {
    return sys2(__NR_flock, (u64)fd, (u64)operation);
}

static inline i64 sys_ioctl(int fd, u64 request, u64 arg) {
    return sys3(__NR_ioctl, (u64)fd, request, arg);
}

static inline i64 sys_dup2(int fd, int as) {
    return fd == as ? sys_fcntl(fd, F_GETFD, 0) < 0 ? -EBADF : as : sys3(__NR_dup3, (u64)fd, (u64)as, 0);
}

static inline i64 sys_dup3(int fd, int as, u32 flags) {
    return sys3(__NR_dup3, (u64)fd, (u64)as, flags);
}

static inline i64 sys_pipe2(int fds[2], u32 flags) {
    return sys2(__NR_pipe2, (u64)fds, flags);
}

static inline i64 sys_socketpair(int family, int type, int protocol, int fds[2]) {
    return sys4(__NR_socketpair, (u64)family, (u64)type, (u64)protocol, (u64)fds);
}

static inline i64 sys_sendto(int fd, const void *buf, u64 size, u32 flags) {
    return sys6(__NR_sendto, (u64)fd, (u64)buf, size, flags, 0, 0);
}

/* timeout in milliseconds */
static inline i64 sys_poll(struct pollfd *fds, u64 count, int timeout) {
    struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000};
    return sys5(__NR_ppoll, (u64)fds, count, timeout < 0 ? 0 : (u64)&limit, 0, 0);
}

/* -------------------------------------------------------------------------------------------- processes and signals */

static inline _Noreturn void sys_exit_group(int status) {
    for (;;)
        sys1(__NR_exit_group, (u64)status);
}

static inline i64 sys_getpid(void) {
    return sys0(__NR_getpid);
}

static inline i64 sys_gettid(void) {
    return sys0(__NR_gettid);
}

static inline i64 sys_getuid(void) {
    return sys0(__NR_getuid);
}

static inline i64 sys_geteuid(void) {
    return sys0(__NR_geteuid);
}

static inline i64 sys_setsid(void) {
    return sys0(__NR_setsid);
}

static inline i64 sys_kill(i64 pid, int sig) {
    return sys2(__NR_kill, (u64)pid, (u64)sig);
}

static inline i64 sys_tkill(i64 tid, int sig) {
    return sys2(__NR_tkill, (u64)tid, (u64)sig);
}

static inline i64 sys_tgkill(i64 pid, i64 tid, int sig) {
    return sys3(__NR_tgkill, (u64)pid, (u64)tid, (u64)sig);
}

/* Makes a copy of this process, whose end sends SIGCHLD. */
static inline i64 sys_fork(void) {
    enum { CHILD_ENDED = 17 };
    return sys5(__NR_clone, CHILD_ENDED, 0, 0, 0, 0);
}

/* Only for children that have their own memory or their own stack. */
static inline i64 sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    return sys5(__NR_clone, flags, stack, parent_tid, HOST_CLONE_ARGUMENTS(child_tid, tls));
}

/* A copy of this process whose end sends no signal. Emulators of Linux know only those that send SIGCHLD. */
static inline i64 sys_fork_quietly(u64 flags) {
    i64 child = sys_clone(flags, 0, 0, 0, 0);
    return child == -EINVAL ? sys_fork() : child;
}

static inline i64 sys_execve(const char *path, char *const *argv, char *const *envp) {
    return sys3(__NR_execve, (u64)path, (u64)argv, (u64)envp);
}

static inline i64 sys_wait4(i64 pid, int *status, int options, void *rusage) {
    return sys4(__NR_wait4, (u64)pid, (u64)status, (u64)options, (u64)rusage);
}

/* act and old are four words, as most kernels have them: handler, flags, restorer, mask. */
i64 sys_rt_sigaction(int sig, const void *act, void *old);

static inline i64 sys_rt_sigprocmask(int how, const u64 *set, u64 *old) {
    return sys4(__NR_rt_sigprocmask, (u64)how, (u64)set, (u64)old, 8);
}

static inline i64 sys_sigaltstack(const void *stack, void *old) {
    return sys2(__NR_sigaltstack, (u64)stack, (u64)old);
}

static inline i64 sys_prctl(int option, u64 a, u64 b, u64 c, u64 d) {
    return sys5(__NR_prctl, (u64)option, a, b, c, d);
}

static inline i64 sys_prlimit(u32 resource, const u64 *set, u64 *old) {
    return sys4(__NR_prlimit64, 0, resource, (u64)set, (u64)old);
}

static inline i64 sys_futex(u32 *word, int operation, u32 value, const struct timespec *timeout) {
    return sys6(__NR_futex, (u64)word, (u64)operation, value, (u64)timeout, 0, 0);
}

static inline i64 sys_getrandom(void *buf, u64 size, u32 flags) {
    return sys3(__NR_getrandom, (u64)buf, size, flags);
}

static inline i64 sys_clock_gettime(int clock, struct timespec *t) {
    return sys2(__NR_clock_gettime, (u64)clock, (u64)t);
}

/* --------------------------------------------------------------------------------------------------------- services */

/* A lock between threads; 0 is free. It is not recursive and must not be used in signal handlers. */
void lock(u32 *word);
void unlock(u32 *word);

u64 sys_now_us(void); /* monotonic */

/* Write or read all of it, repeating after signals and short counts. Return false after an error or at the end of the
 * file. */
bool sys_write_all(int fd, const void *buf, size_t size);
bool sys_read_all(int fd, void *buf, size_t size);
bool sys_pread_all(int fd, void *buf, size_t size, u64 off);

/* snprintf without floating point and %n (format.c). The text always ends with NUL. Returns the length of the text in
 * buf, which is cut off if it does not fit. */
size_t format_text(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t format_args(char *buf, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* What a negative errno means, in a few words; one that is not usual in messages of the client, by its number. */
typedef struct ErrorText {
    char text[64];
} ErrorText;
ErrorText sys_error_text(i64 error);

/* Prints "lathe: ", the text and an end of line to stderr, by one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and ends the process with status 127, or 126 if a limit of memory is the reason. If the guest has ended already, prints nothing and keeps
 * the guest's status. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like say, but prints only the text: without "lathe: " before it and an end of line behind it. */
void say_plain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
