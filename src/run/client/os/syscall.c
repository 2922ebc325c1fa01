/* syscall.c: the guest's system calls.
 *
 * Guest and host have nearly the same ABI and share one address space, so most calls go to the kernel as they are (syscalls.def). This file
 * has the calls that change memory, threads, processes or signals, those that would show the client instead of the guest
 * (/proc/self/exe), and those that would take the client's own descriptors away.
 *
 * If a signal with a handler of the guest arrives before a call, or makes the kernel restart one, its handler runs first: the
 * call answers SYSCALL_RESTART and the guest's pc goes back to its instruction, exactly as the kernel does it.
 */
#include <asm/resource.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "host_context.h"
#include "run/client/code/image.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/core/events.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/watch.h"
#include "run/client/os/proc.h"
#include "run/client/os/process.h"
#include "run/client/os/reach.h"
#include "run/client/os/seccomp.h"
#include "run/client/os/signal/signal.h"
#include "run/client/os/signal/waits.h"
#include "run/client/os/syscall.h"
#include "run/client/tool/tool.h"

/* KERNEL_WRITES: how many bytes behind each argument the kernel is expected to write at most. RELEASES_MAX: how often guarded pages are made writable
 * before a call. */
enum { KERNEL_WRITES = 1 << 16, PATH_BYTES = 4096, RELEASES_MAX = 64 };

static i64 pass(Thread *t, u64 number, const u64 a[6]) {
    return syscall_repeated(t, number, a);
}

/* -------------------------------------------------------------------------------------------------------- memory */

/* Memory with a descriptor (shm_open, memfd_create) is a file of this kind. */
static bool is_in_memory(int fd) {
    enum { TMPFS_TYPE = 0x01021994 };
    struct statfs fs;
    return !sys_fstatfs(fd, &fs) && fs.f_type == TMPFS_TYPE;
}

/* May others see what is written to this mapping, or write to it? A file on a disk that was opened for reading only is nearly always one that nobody writes to. */
static bool is_shared(const u64 a[6]) {
    u32 type = a[3] & MAP_TYPE;
    if (type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
        return false;
    i64 flags = a[3] & MAP_ANONYMOUS ? O_RDWR : sys_fcntl((int)a[4], F_GETFL, 0);
    return a[2] & PROT_WRITE || (flags & O_ACCMODE) != O_RDONLY || is_in_memory((int)a[4]);
}

static i64 own_mmap(Thread *t, const u64 a[6]) {
    (void)t;
    i64 at = space_mmap(a[0], a[1], (u32)a[2], (u32)a[3], (int)a[4], a[5]);
    if (sys_failed(at))
        return at;
    if (is_shared(a))
        translated_share_memory();
    tool_unmapped((u64)at, page_up(a[1]));
    if (a[2] & PROT_EXEC && !(a[3] & MAP_ANONYMOUS))
        tool_executable((u64)at, page_up(a[1]));
    return at;
}

static i64 own_munmap(Thread *t, const u64 a[6]) {
    (void)t;
    i64 r = space_munmap(a[0], a[1]);
    if (!r)
        tool_unmapped(a[0], page_up(a[1]));
    return r;
}

static i64 own_mprotect(Thread *t, const u64 a[6]) {
    (void)t;
    i64 r = space_mprotect(a[0], a[1], (u32)a[2]);
    if (!r && a[2] & PROT_EXEC)
        tool_executable(a[0], page_up(a[1]));
    else if (!r)
        tool_not_executable(a[0], page_up(a[1]));
    return r;
}

/* The guest's processor has no protection keys. */
static i64 own_pkey_mprotect(Thread *t, const u64 a[6]) {
    return (int)a[3] == -1 ? own_mprotect(t, a) : -EINVAL;
}

static i64 own_mremap(Thread *t, const u64 a[6]) {
    (void)t;
    i64 at = space_mremap(a[0], a[1], a[2], (u32)a[3], a[4]);
    if (sys_failed(at))
        return at;
    tool_unmapped(a[0], page_up(a[1]));
    tool_unmapped((u64)at, page_up(a[2]));
    tool_executable(a[0], page_up(a[1]));
    tool_executable((u64)at, page_up(a[2]));
    return at;
}

static i64 own_brk(Thread *t, const u64 a[6]) {
    (void)t;
    return (i64)space_brk(a[0]);
}

static i64 own_shmat(Thread *t, const u64 a[6]) {
    (void)t;
    translated_share_memory();
    return shm_attach((int)a[0], a[1], (u32)a[2]);
}

static i64 own_shmdt(Thread *t, const u64 a[6]) {
    (void)t;
    return shm_detach(a[0]);
}

static i64 own_mlockall(Thread *t, const u64 a[6]) {
    (void)t;
    return limits_lock_all((u32)a[0]);
}

/* A server that is started later would inherit these limits, so a keeper is started first. */
static void before_limit(Thread *t, u32 resource, u64 set) {
    if (set &&
        (resource == RLIMIT_CPU || resource == RLIMIT_FSIZE || resource == RLIMIT_NOFILE || resource == RLIMIT_NPROC))
        translated_before_confinement(t);
}

static i64 own_prlimit64(Thread *t, const u64 a[6]) {
    before_limit(t, (u32)a[1], a[2]);
    return limits_call(t, (int)a[0], (u32)a[1], a[2], a[3]);
}

static i64 own_getrlimit(Thread *t, const u64 a[6]) {
    return a[1] ? limits_call(t, 0, (u32)a[0], 0, a[1]) : -EFAULT;
}

static i64 own_setrlimit(Thread *t, const u64 a[6]) {
    before_limit(t, (u32)a[0], a[1]);
    return a[1] ? limits_call(t, 0, (u32)a[0], a[1], 0) : -EFAULT;
}

/* For the requests that are handed over now, the kernel may write anywhere in the guest's memory, so all guarded pages are made writable. */
static i64 own_io_uring_enter(Thread *t, const u64 a[6]) {
    if (a[1] && the.os.releases < RELEASES_MAX)
        the.os.releases += translated_allow_writes();
    return signal_suspended_ring(t, a);
}

/* ----------------------------------------------------------------------------------------- processes and signals */

static i64 own_fork(Thread *t, const u64 a[6]) {
    (void)a;
    return process_fork(t, SIGCHLD, 0, 0, 0, 0);
}

static i64 own_vfork(Thread *t, const u64 a[6]) {
    (void)a;
    return process_fork(t, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
}

static i64 own_clone(Thread *t, const u64 a[6]) {
    return process_fork(t, a[0], a[1], a[2], a[3], a[4]);
}

static i64 own_clone3(Thread *t, const u64 a[6]) {
    return process_clone3(t, a[0], a[1]);
}

static i64 own_exit_group(Thread *t, const u64 a[6]) {
    process_exit(t, (int)a[0]);
}

static i64 own_exit(Thread *t, const u64 a[6]) {
    return process_exit_thread(t, (int)a[0]);
}

/* The kernel drops a signal if one of the same number is already on its way to the thread. So while a thread sends itself the signal that samples
 * use, it gets no samples. */
static i64 send_to_thread(Thread *t, u64 number, const u64 a[6], u64 tid, u64 sig) {
    bool collides = sig == TIER_SIGNAL && (u32)tid == t->tid;
    if (collides)
        tier_pause(t);
    i64 result = pass(t, number, a);
    if (collides)
        tier_begin(t);
    return result;
}

static i64 own_tkill(Thread *t, const u64 a[6]) {
    return send_to_thread(t, __NR_tkill, a, a[0], a[1]);
}

static i64 own_tgkill(Thread *t, const u64 a[6]) {
    if ((u32)a[0] == t->pid && (u32)a[1] == t->tid)
        signal_end_by_guest(t, (u32)a[2]);
    return send_to_thread(t, __NR_tgkill, a, a[1], a[2]);
}

static i64 own_rt_tgsigqueueinfo(Thread *t, const u64 a[6]) {
    return send_to_thread(t, __NR_rt_tgsigqueueinfo, a, a[1], a[2]);
}

static i64 own_rt_sigaction(Thread *t, const u64 a[6]) {
    return signal_action(t, a[0], a[1], a[2], a[3]);
}

static i64 own_rt_sigreturn(Thread *t, const u64 a[6]) {
    (void)a;
    return signal_return(t);
}

static i64 own_rt_sigprocmask(Thread *t, const u64 a[6]) {
    return signal_procmask(t, a[0], a[1], a[2], a[3]);
}

static i64 own_rt_sigpending(Thread *t, const u64 a[6]) {
    return signal_pending(t, a[0], a[1]);
}

static i64 own_rt_sigtimedwait(Thread *t, const u64 a[6]) {
    return signal_timedwait(t, a[0], a[1], a[2], a[3]);
}

static i64 own_signalfd(Thread *t, const u64 a[6]) {
    return signal_descriptor(t, __NR_signalfd, a);
}

static i64 own_signalfd4(Thread *t, const u64 a[6]) {
    return signal_descriptor(t, __NR_signalfd4, a);
}

static i64 own_rt_sigsuspend(Thread *t, const u64 a[6]) {
    return signal_suspended(t, __NR_rt_sigsuspend, a, 0);
}

static i64 own_ppoll(Thread *t, const u64 a[6]) {
    return signal_suspended(t, __NR_ppoll, a, 3);
}

static i64 own_epoll_pwait(Thread *t, const u64 a[6]) {
    return signal_suspended(t, __NR_epoll_pwait, a, 4);
}

static i64 own_epoll_pwait2(Thread *t, const u64 a[6]) {
    return signal_suspended(t, __NR_epoll_pwait2, a, 4);
}

static i64 own_pselect6(Thread *t, const u64 a[6]) {
    return signal_suspended_by(t, __NR_pselect6, a);
}

static i64 own_io_pgetevents(Thread *t, const u64 a[6]) {
    return signal_suspended_by(t, __NR_io_pgetevents, a);
}

static i64 own_sigaltstack(Thread *t, const u64 a[6]) {
    return signal_altstack(t, a[0], a[1]);
}

static i64 own_seccomp(Thread *t, const u64 a[6]) {
    return seccomp_call(t, a[0], a[1], a[2]);
}

static i64 set_seccomp(Thread *t, u64 mode, u64 filter) {
    if (mode == SECCOMP_MODE_STRICT)
        return seccomp_call(t, SECCOMP_SET_MODE_STRICT, 0, 0);
    return mode == SECCOMP_MODE_FILTER ? seccomp_call(t, SECCOMP_SET_MODE_FILTER, 0, filter) : -EINVAL;
}

static i64 own_prctl(Thread *t, const u64 a[6]) {
    enum { SYSCALL_USER_DISPATCH = 59 };
    switch ((int)a[0]) {
    case PR_SET_SECCOMP:
        return set_seccomp(t, a[1], a[2]);
    case PR_GET_SECCOMP:
        return t->filter.mode;
    case SYSCALL_USER_DISPATCH: /* the kernel would dispatch the client's calls, too */
        return -EINVAL;
    case PR_SET_MM:
        return -EPERM;
    case PR_SET_CHILD_SUBREAPER: /* the client's server processes would become children of the guest */
    case PR_SET_SECUREBITS:
    case PR_CAPBSET_DROP:
        translated_before_confinement(t);
        return pass(t, __NR_prctl, a);
    default:
        return pass(t, __NR_prctl, a);
    }
}

static i64 own_landlock_restrict_self(Thread *t, const u64 a[6]) {
    return landlock_restrict(t, a);
}

/* --------------------------------------------------------------------------------------------------------- paths */

static i64 read_path(u64 addr, char path[PATH_BYTES]) {
    size_t n = guest_read(addr, path, PATH_BYTES);
    if (memchr(path, 0, n))
        return 0;
    return n == PATH_BYTES ? -ENAMETOOLONG : -EFAULT;
}

/* Which argument is the path, for calls that look at a file or execute it, and change nothing; -1 for other calls. */
static int path_argument(Call call) {
    switch (call) {
    case CALL_open:
    case CALL_stat:
    case CALL_lstat:
    case CALL_access:
    case CALL_readlink:
    case CALL_execve:
        return 0;
    case CALL_openat:
    case CALL_newfstatat:
    case CALL_statx:
    case CALL_faccessat:
    case CALL_faccessat2:
    case CALL_readlinkat:
    case CALL_execveat:
        return 1;
    default:
        return -1;
    }
}

/* If the dynamic linker opens a library that is in one file with this client, opens that one, and returns true. */
static bool open_contained(const Thread *t, Call call, const u64 a[6], i64 *fd) {
    char name[PATH_BYTES];
    bool opens = (call == CALL_open || call == CALL_openat) && contained_is_linker(t->cpu.pc);
    int at = opens ? path_argument(call) : -1;
    if (at < 0 || read_path(a[at], name))
        return false;
    *fd = contained_open_library(name, a[at + 1] & O_CLOEXEC);
    return *fd != -ENOENT;
}

/* If the sysroot has the file of an absolute path, replaces the path by the one in the sysroot. */
static bool use_sysroot(Call call, const u64 a[6], u64 changed[6], char path[PATH_BYTES]) {
    char name[PATH_BYTES];
    int at = *the.opt.sysroot ? path_argument(call) : -1;
    if (at < 0 || read_path(a[at], name) || *name != '/')
        return false;
    if (format_text(path, PATH_BYTES, "%s%s", the.opt.sysroot, name) + 1 >= PATH_BYTES || sys_access(path, 0))
        return false;
    memcpy(changed, a, 6 * sizeof(u64));
    changed[at] = (u64)path;
    return true;
}

/* For calls with a path that may lead to a file of /proc about the client. The path is the argument behind dir_at,
 * which has the directory; without a directory dir_at is NOWHERE, and the path is the first argument. The kernel always
 * makes the call first: if it could read the path, so can we. */
enum { NOWHERE = -1 };

static ProcPath find_file(const u64 a[6], int dir_at) {
    return proc_find(dir_at == NOWHERE ? AT_FDCWD : (int)a[dir_at], (const char *)a[dir_at + 1]);
}

/* Makes a call. If the file that it found is /proc/self/exe, which is the client's, makes it again for the guest's
 * file, unless that is in one with the client's. */
static i64 with_exe(Thread *t, u64 number, const u64 a[6], int dir_at) {
    i64 result = pass(t, number, a);
    if (result < 0 || contained_exists() || find_file(a, dir_at).file != PROC_EXE)
        return result;
    u64 again[6];
    memcpy(again, a, sizeof(again));
    again[dir_at + 1] = (u64)the.opt.guest_path;
    return pass(t, number, again);
}

/* The kernel has opened the path as `fd` with these flags; replaces files of /proc by the guest's. With O_NOFOLLOW the
 * guest means the link exe itself. */
static i64 opened(i64 fd, const u64 a[6], int dir_at, u64 flags) {
    if (fd < 0)
        return fd;
    ProcPath found = find_file(a, dir_at);
    if (found.file != PROC_OTHER && found.file != PROC_EXE && !(flags & O_PATH))
        return proc_open(&found, (int)fd, (u32)flags);
    if (found.file != PROC_EXE || flags & O_NOFOLLOW)
        return fd;
    sys_close((int)fd);
    i64 inside = contained_open_self(flags & O_CLOEXEC);
    return inside == -ENOENT ? sys_open(the.opt.guest_path, (u32)flags, 0) : inside;
}

static i64 own_open(Thread *t, const u64 a[6]) {
    return opened(pass(t, __NR_open, a), a, NOWHERE, a[1]);
}

static i64 own_openat(Thread *t, const u64 a[6]) {
    return opened(pass(t, __NR_openat, a), a, 0, a[2]);
}

static i64 own_openat2(Thread *t, const u64 a[6]) {
    i64 fd = pass(t, __NR_openat2, a);
    return fd < 0 ? fd : opened(fd, a, 0, ((const struct open_how *)a[2])->flags);
}

static i64 own_stat(Thread *t, const u64 a[6]) {
    return with_exe(t, __NR_stat, a, NOWHERE);
}

static i64 own_newfstatat(Thread *t, const u64 a[6]) {
    if (a[3] & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return pass(t, __NR_newfstatat, a);
    return with_exe(t, __NR_newfstatat, a, 0);
}

static i64 own_statx(Thread *t, const u64 a[6]) {
    if (a[2] & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return pass(t, __NR_statx, a);
    return with_exe(t, __NR_statx, a, 0);
}

static i64 own_access(Thread *t, const u64 a[6]) {
    return with_exe(t, __NR_access, a, NOWHERE);
}

static i64 own_faccessat(Thread *t, const u64 a[6]) {
    return with_exe(t, __NR_faccessat, a, 0);
}

static i64 own_faccessat2(Thread *t, const u64 a[6]) {
    return with_exe(t, __NR_faccessat2, a, 0);
}

/* Not every kernel has the older form. */
static i64 own_renameat(Thread *t, const u64 a[6]) {
    const u64 without_flags[6] = {a[0], a[1], a[2], a[3]};
    return pass(t, __NR_renameat2, without_flags);
}

/* The kernel first makes the call with a buffer of one byte. If that succeeds, the guest's pointers are good, and
 * afterwards not more than the answer is written. */
static i64 read_link(Thread *t, u64 number, const u64 a[6], int dir_at) {
    int path_at = dir_at + 1;
    u64 probe[6], size = (u64)(int)a[path_at + 2];
    memcpy(probe, a, sizeof(probe));
    if ((i64)size > 1)
        probe[path_at + 2] = 1;
    i64 result = pass(t, number, probe);
    if (result < 0 || find_file(a, dir_at).file != PROC_EXE)
        return result < 0 ? result : pass(t, number, a);
    size_t len = strlen(the.opt.guest_path);
    if (len > size)
        len = size;
    memcpy((void *)a[path_at + 1], the.opt.guest_path, len);
    return (i64)len;
}

static i64 own_readlink(Thread *t, const u64 a[6]) {
    return read_link(t, __NR_readlink, a, NOWHERE);
}

static i64 own_readlinkat(Thread *t, const u64 a[6]) {
    return read_link(t, __NR_readlinkat, a, 0);
}

/* ---------------------------------------------------------------------------------------------------------- exec */

static i64 exec_path(Thread *t, const char *path, u64 argv, u64 envp) {
    const char *file = proc_find(AT_FDCWD, path).file == PROC_EXE ? the.opt.guest_path : path;
    return process_exec(t, file, (char **)argv, (char **)envp);
}

static i64 own_execve(Thread *t, const u64 a[6]) {
    char path[PATH_BYTES];
    i64 error = read_path(a[0], path);
    return error ? error : exec_path(t, path, a[1], a[2]);
}

/* Executes the file behind a descriptor. The file gets a name that is valid after exec, which closes descriptors. */
static i64 exec_descriptor(Thread *t, int fd, u64 argv, u64 envp) {
    char link[32], path[PATH_BYTES];
    struct stat here, there;
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    i64 n = sys_readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return -EBADF;
    path[n] = 0;
    if (!sys_fstat(fd, &here) && !sys_stat(path, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return exec_path(t, path, argv, envp);
    /* The file has no name, so the new program inherits a descriptor. */
    i64 copy = sys_fcntl(fd, F_DUPFD, DESCRIPTOR_AWAY);
    if (copy < 0)
        return copy;
    format_text(path, sizeof(path), "/proc/self/fd/%d", (int)copy);
    i64 error = exec_path(t, path, argv, envp);
    sys_close((int)copy);
    return error;
}

static i64 own_execveat(Thread *t, const u64 a[6]) {
    char path[PATH_BYTES], whole[PATH_BYTES + 64];
    i64 error = read_path(a[1], path);
    if (error)
        return error;
    int dir = (int)a[0];
    if (!*path)
        return a[4] & AT_EMPTY_PATH ? exec_descriptor(t, dir, a[2], a[3]) : -ENOENT;
    if (*path == '/' || dir == AT_FDCWD)
        return exec_path(t, path, a[2], a[3]);
    char link[32], name[PATH_BYTES];
    format_text(link, sizeof(link), "/proc/self/fd/%d", dir);
    i64 n = sys_readlink(link, name, sizeof(name) - 1);
    if (n < 0)
        return -EBADF;
    name[n] = 0;
    if (format_text(whole, sizeof(whole), "%s/%s", name, path) >= PATH_BYTES)
        return -ENAMETOOLONG;
    return exec_path(t, whole, a[2], a[3]);
}

/* --------------------------------------------------------------------------------------- the client's descriptor */

/* The client's descriptors do not exist for the guest. */
static i64 own_close(Thread *t, const u64 a[6]) {
    return (int)a[0] >= 0 && translated_descriptor(t, (int)a[0]) == (int)a[0] ? -EBADF : pass(t, __NR_close, a);
}

static i64 own_dup2(Thread *t, const u64 a[6]) {
    return translated_make_way(t, (int)a[1]) ? pass(t, __NR_dup2, a) : -EMFILE;
}

static i64 own_dup3(Thread *t, const u64 a[6]) {
    return translated_make_way(t, (int)a[1]) ? pass(t, __NR_dup3, a) : -EMFILE;
}

static i64 own_close_range(Thread *t, const u64 a[6]) {
    u32 first = (u32)a[0], last = (u32)a[1];
    i64 error = 0;
    for (int ours; first <= (u32)INT32_MAX && (ours = translated_descriptor(t, (int)first)) >= 0 && (u32)ours <= last &&
                   !error;) {
        if (first < (u32)ours)
            error = sys3(__NR_close_range, first, (u64)ours - 1, a[2]);
        first = (u32)ours + 1;
    }
    return error || first > last ? error : pass(t, __NR_close_range, (u64[6]){first, last, a[2]});
}

/* ----------------------------------------------------------------------------------------------------- the table */

typedef enum Kind { KIND_NONE, KIND_PASS, KIND_CONFINE, KIND_OWN, KIND_RANGE, KIND_REFUSE } Kind;

typedef struct Row {
    u8 kind;
    i16 error;
    Reach reach;
    CallFunction *own;
} Row;

static const Row rows[CALLS] = {
#define PASS(name, text) [CALL_##name] = {KIND_PASS, 0, REACH_OF(text), NULL},
#define CONFINE(name, text) [CALL_##name] = {KIND_CONFINE, 0, REACH_OF(text), NULL},
#define OWN(name, text) [CALL_##name] = {KIND_OWN, 0, REACH_OF(text), own_##name},
#define RANGE(name, text) [CALL_##name] = {KIND_RANGE, 0, REACH_OF(text), NULL},
#define REFUSE(name, text, error) [CALL_##name] = {KIND_REFUSE, -error, {0}, NULL},
#define GUEST(id, name, text) [CALL_##id] = {KIND_OWN, 0, REACH_OF(text), guest_##id},
#include "run/client/os/syscalls.def"
};

/* If paths may lead to other files after the call, the image is written now and not at the end. */
static void before_confinement(Thread *t, Call call, const u64 a[6]) {
    translated_before_confinement(t);
    if (call == CALL_chroot || call == CALL_pivot_root || call == CALL_setns ||
        (call == CALL_unshare && a[0] & CLONE_NEWNS)) {
        image_save(t);
        the.tier.no_image = true;
    }
}

i64 call_do(Thread *t, Call call, const u64 a[6]) {
    const Row *r = &rows[call];
    u64 number = call_host(call), changed[6];
    char path[PATH_BYTES];
    i64 fd;
    if (open_contained(t, call, a, &fd))
        return fd;
    if (use_sysroot(call, a, changed, path))
        a = changed;
    if (t->pending_signals)
        return SYSCALL_RESTART;
    /* Makes the pages that the kernel may write to for this call writable. Otherwise the kernel would fail, do half of
     * the call, or not even report an error. A program that makes code all the time always has pages of code near its
     * arguments; after RELEASES_MAX times this is given up. */
    for (u32 i = 0; i < 6 && the.os.releases < RELEASES_MAX; i++)
        the.os.releases += quick_allow_writes_to(a[i], a[i] + KERNEL_WRITES);
    switch ((Kind)r->kind) {
    case KIND_CONFINE:
        before_confinement(t, call, a);
        return pass(t, number, a);
    case KIND_PASS: {
        i64 result = pass(t, number, a);
        return result == -EFAULT && translated_allow_writes() ? pass(t, number, a) : result;
    }
    case KIND_OWN:
        return r->own(t, a);
    case KIND_RANGE:
        return reach_range(t, call, a);
    case KIND_REFUSE:
        return r->error;
    case KIND_NONE:
        break;
    }
    return -ENOSYS;
}

/* Makes a call with the arguments that the guest gave, which must not reach the client's memory. */
static i64 do_for_guest(Thread *t, Call call, const u64 a[6]) {
    const Reach *r = &rows[call].reach;
    u64 replaced[6];
    if (!reach_any_suspect(r->pointers, a) && !r->vectors && !r->message)
        return call_do(t, call, a);
    ReachCopies copies;
    reach_replace(r->pointers, a, replaced);
    bool copied = reach_begin(r, replaced, &copies);
    i64 result = call_do(t, call, replaced);
    if (copied)
        reach_end(&copies);
    return result;
}

/* The tool may change what is asked for, and the answer. */
static void watch_call(const Thread *t, GuestCall *c) {
    tool_call(LATHE_SYSCALL, &(ToolEvent){.pc = t->cpu.pc, .number = c->number, .arguments = c->a});
}

static i64 watch_result(const Thread *t, GuestCall *c, i64 result) {
    ToolEvent about = {.pc = t->cpu.pc, .number = c->number, .arguments = c->a, .result = result};
    if (result != SYSCALL_RESTART && result != SYSCALL_NO_RESULT)
        tool_call(LATHE_SYSCALL_DONE, &about);
    return about.result;
}

void call_make(Thread *t, GuestCall *c) {
    GuestCpu *cpu = &t->cpu;
    watch_call(t, c);
    if (the.opt.stats) /* counted only on demand, because threads would wait for one another here */
        __atomic_fetch_add(&the.stats.syscalls, 1, __ATOMIC_RELAXED);
    if (the.opt.strace)
        trace_enter(t, c);
    t->process.in_call = true;
    i64 result;
    if (!t->filter.mode || seccomp_allows(t, c, &result))
        result = do_for_guest(t, c->call, c->a);
    t->process.in_call = false; /* before translated_is_given_up */
    result = watch_result(t, c, result);
    if (result == SYSCALL_RESTART)
        cpu->pc -= GUEST_SYSCALL_BYTES;
    else if (result != SYSCALL_NO_RESULT)
        guest_set_result(cpu, (u64)result);
    if (the.opt.strace)
        trace_exit(t, c, result);
    signal_deliver(t);
    if (translated_is_given_up(t))
        translated_run_anew(t); /* no guest state is in the frames that are left behind */
}

void guest_syscall(GuestCpu *cpu) {
    u64 number = guest_number(cpu);
    GuestCall c = {.call = call_of(number), .arch = guest_facts.audit_arch, .number = number};
    guest_arguments(cpu, c.a);
    call_make((Thread *)cpu, &c);
}
