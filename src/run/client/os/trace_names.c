/* trace_names.c: see trace_names.h. The numbers are those of the host's kernel, which most guests share; where a guest's differ, its own
 * part of the client has changed them before a call is printed. */
#include "run/client/os/trace_names.h"

#include <asm/ioctls.h>
#include <linux/fs.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sockios.h>

#include "host_context.h"
#include "run/client/core/client.h"

#define N(x)                                                                                                           \
    { x, #x }

// clang-format off
const Name names_of_open[] = {
    N(O_CREAT), N(O_EXCL), N(O_NOCTTY), N(O_TRUNC), N(O_APPEND), N(O_NONBLOCK), N(O_DIRECTORY), N(O_NOFOLLOW), N(O_CLOEXEC),
    N(O_PATH), N(O_SYNC), N(O_DIRECT), N(O_NOATIME), {0},
};
static const Name protections[] = {N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), N(PROT_GROWSDOWN), {0}};
static const Name map_flags[] = {
    N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_FIXED), N(MAP_ANONYMOUS), N(MAP_DENYWRITE), N(MAP_NORESERVE), N(MAP_STACK),
    N(MAP_GROWSDOWN), N(MAP_POPULATE), N(MAP_HUGETLB), N(MAP_FIXED_NOREPLACE), {0},
};
static const Name access_modes[] = {{4, "R_OK"}, {2, "W_OK"}, {1, "X_OK"}, {0}};
static const Name clone_flags[] = {
    N(CLONE_VM), N(CLONE_FS), N(CLONE_FILES), N(CLONE_SIGHAND), N(CLONE_PIDFD), N(CLONE_PTRACE), N(CLONE_VFORK), N(CLONE_PARENT),
    N(CLONE_THREAD), N(CLONE_NEWNS), N(CLONE_SYSVSEM), N(CLONE_SETTLS), N(CLONE_PARENT_SETTID), N(CLONE_CHILD_CLEARTID),
    N(CLONE_DETACHED), N(CLONE_UNTRACED), N(CLONE_CHILD_SETTID), N(CLONE_NEWCGROUP), N(CLONE_NEWUTS), N(CLONE_NEWIPC),
    N(CLONE_NEWUSER), N(CLONE_NEWPID), N(CLONE_NEWNET), N(CLONE_IO), {0x100000000, "CLONE_CLEAR_SIGHAND"},
    {0x200000000, "CLONE_INTO_CGROUP"}, N(SIGCHLD), {0},
};
static const Name fcntl_commands[] = {
    N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK), N(F_SETLKW), N(F_DUPFD_CLOEXEC), {0},
};
static const Name whences[] = {{0, "SEEK_SET"}, {1, "SEEK_CUR"}, {2, "SEEK_END"}, {3, "SEEK_DATA"}, {4, "SEEK_HOLE"}, {0}};
static const Name at_flags[] = {
    {0x100, "AT_SYMLINK_NOFOLLOW"}, {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"}, {0x1000, "AT_EMPTY_PATH"},
    {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"}, {0},
};
static const Name access_at_flags[] = {{0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_EACCESS"}, {0x1000, "AT_EMPTY_PATH"}, {0}};
static const Name unlink_flags[] = {{0x200, "AT_REMOVEDIR"}, {0}};
static const Name rename_flags[] = {{1, "RENAME_NOREPLACE"}, {2, "RENAME_EXCHANGE"}, {4, "RENAME_WHITEOUT"}, {0}};
static const Name statx_mask[] = {
    {0xfff, "STATX_ALL"}, {0x7ff, "STATX_BASIC_STATS"}, {0x1, "STATX_TYPE"}, {0x2, "STATX_MODE"}, {0x4, "STATX_NLINK"},
    {0x8, "STATX_UID"}, {0x10, "STATX_GID"}, {0x20, "STATX_ATIME"}, {0x40, "STATX_MTIME"}, {0x80, "STATX_CTIME"},
    {0x100, "STATX_INO"}, {0x200, "STATX_SIZE"}, {0x400, "STATX_BLOCKS"}, {0x800, "STATX_BTIME"}, {0x1000, "STATX_MNT_ID"},
    {0x2000, "STATX_DIOALIGN"}, {0},
};
static const Name resources[] = {
    N(RLIMIT_CPU), N(RLIMIT_FSIZE), N(RLIMIT_DATA), N(RLIMIT_STACK), N(RLIMIT_CORE), N(RLIMIT_RSS), N(RLIMIT_NPROC),
    N(RLIMIT_NOFILE), N(RLIMIT_MEMLOCK), N(RLIMIT_AS), N(RLIMIT_LOCKS), N(RLIMIT_SIGPENDING), N(RLIMIT_MSGQUEUE), N(RLIMIT_NICE),
    N(RLIMIT_RTPRIO), N(RLIMIT_RTTIME), {0},
};
static const Name requests[] = {
    N(TCGETS), N(TCSETS), N(TCSETSW), N(TCSETSF), N(TCSBRK), N(TCXONC), N(TCFLSH), N(TIOCSCTTY), N(TIOCGPGRP), N(TIOCSPGRP),
    N(TIOCOUTQ), N(TIOCSTI), N(TIOCGWINSZ), N(TIOCSWINSZ), N(FIONREAD), N(TIOCNOTTY), N(FIONBIO), N(TIOCGSID), N(TIOCGPTN),
    N(TIOCSPTLCK), N(TIOCGPTPEER), N(FIONCLEX), N(FIOCLEX), N(FIOASYNC), N(SIOCGIFCONF), N(SIOCGIFFLAGS), N(SIOCGIFADDR),
    N(SIOCGIFINDEX), N(BLKGETSIZE64), N(BLKSSZGET), N(FICLONE), N(FICLONERANGE), N(FS_IOC_GETFLAGS), N(FS_IOC_SETFLAGS), {0},
};
static const Name hows[] = {N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK), {0}};

static const char *const signal_names[] = {
    "0", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU",
    "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
};

static const char *const error_names[] = {
#define E(name) [name] = #name,
    E(EPERM) E(ENOENT) E(ESRCH) E(EINTR) E(EIO) E(ENXIO) E(E2BIG) E(ENOEXEC) E(EBADF) E(ECHILD) E(EAGAIN)
    E(ENOMEM) E(EACCES) E(EFAULT) E(ENOTBLK) E(EBUSY) E(EEXIST) E(EXDEV) E(ENODEV) E(ENOTDIR) E(EISDIR)
    E(EINVAL) E(ENFILE) E(EMFILE) E(ENOTTY) E(ETXTBSY) E(EFBIG) E(ENOSPC) E(ESPIPE) E(EROFS) E(EMLINK)
    E(EPIPE) E(EDOM) E(ERANGE) E(EDEADLK) E(ENAMETOOLONG) E(ENOLCK) E(ENOSYS) E(ENOTEMPTY) E(ELOOP) E(ENOMSG)
    E(EIDRM) E(ECHRNG) E(EL2NSYNC) E(EL3HLT) E(EL3RST) E(ELNRNG) E(EUNATCH) E(ENOCSI) E(EL2HLT) E(EBADE)
    E(EBADR) E(EXFULL) E(ENOANO) E(EBADRQC) E(EBADSLT) E(EBFONT) E(ENOSTR) E(ENODATA) E(ETIME) E(ENOSR)
    E(ENONET) E(ENOPKG) E(EREMOTE) E(ENOLINK) E(EADV) E(ESRMNT) E(ECOMM) E(EPROTO) E(EMULTIHOP) E(EDOTDOT)
    E(EBADMSG) E(EOVERFLOW) E(ENOTUNIQ) E(EBADFD) E(EREMCHG) E(ELIBACC) E(ELIBBAD) E(ELIBSCN) E(ELIBMAX)
    E(ELIBEXEC) E(EILSEQ) E(ERESTART) E(ESTRPIPE) E(EUSERS) E(ENOTSOCK) E(EDESTADDRREQ) E(EMSGSIZE)
    E(EPROTOTYPE) E(ENOPROTOOPT) E(EPROTONOSUPPORT) E(ESOCKTNOSUPPORT) E(EOPNOTSUPP) E(EPFNOSUPPORT)
    E(EAFNOSUPPORT) E(EADDRINUSE) E(EADDRNOTAVAIL) E(ENETDOWN) E(ENETUNREACH) E(ENETRESET) E(ECONNABORTED)
    E(ECONNRESET) E(ENOBUFS) E(EISCONN) E(ENOTCONN) E(ESHUTDOWN) E(ETOOMANYREFS) E(ETIMEDOUT) E(ECONNREFUSED)
    E(EHOSTDOWN) E(EHOSTUNREACH) E(EALREADY) E(EINPROGRESS) E(ESTALE) E(EUCLEAN) E(ENOTNAM) E(ENAVAIL)
    E(EISNAM) E(EREMOTEIO) E(EDQUOT) E(ENOMEDIUM) E(EMEDIUMTYPE) E(ECANCELED) E(ENOKEY) E(EKEYEXPIRED)
    E(EKEYREVOKED) E(EKEYREJECTED) E(EOWNERDEAD) E(ENOTRECOVERABLE) E(ERFKILL) E(EHWPOISON)
#undef E
};

static const NameSet sets[] = {
    {'P', false, protections, "PROT_NONE"}, {'M', false, map_flags, "0"},    {'a', false, access_modes, "F_OK"},
    {'c', false, clone_flags, "0"},         {'t', false, at_flags, "0"},     {'e', false, access_at_flags, "0"},
    {'R', false, unlink_flags, "0"},        {'N', false, rename_flags, "0"}, {'S', false, statx_mask, "0"},
    {'F', true, fcntl_commands, NULL},      {'W', true, whences, NULL},      {'h', true, hows, NULL},
    {'l', true, resources, NULL},           {'i', true, requests, NULL},
};
// clang-format on

const NameSet *names_of_letter(char letter) {
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (sets[i].letter == letter)
            return &sets[i];
    return NULL;
}

const char *name_of_error(u64 error) {
    return error < ARRAY_LEN(error_names) ? error_names[error] : NULL;
}

const char *name_of_signal(u64 sig) {
    return sig < ARRAY_LEN(signal_names) ? signal_names[sig] : NULL;
}
