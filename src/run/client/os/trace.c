/* trace.c: --strace: the guest's system calls, one line each, as people know them from strace.
 *
 * A line is written when the call has returned, because only then is the data there that the call has read. Calls that do not return are
 * written before they are made, and a failed exec is written once more. Addresses come from the guest and may be bad, so guest memory is
 * never read directly.
 */
#include "host_context.h"
#include "run/client/core/events.h"
#include "run/client/memory/space.h"
#include "run/client/os/calls.h"
#include "run/client/os/syscall.h"

enum { LINE_BYTES = 1024, STRING_SHOWN = 40, LIST_SHOWN = 8, ERRNOS = 134 };

typedef struct Line {
    char text[LINE_BYTES];
    size_t len;
} Line;

typedef struct Name {
    u64 value;
    const char *name;
} Name;

#define N(x)                                                                                                           \
    { x, #x }

// clang-format off
static const Name open_flags[] = {
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
    {0x100, "CLONE_VM"}, {0x200, "CLONE_FS"}, {0x400, "CLONE_FILES"}, {0x800, "CLONE_SIGHAND"}, {0x4000, "CLONE_VFORK"},
    {0x10000, "CLONE_THREAD"}, {0x80000, "CLONE_SETTLS"}, {0x100000, "CLONE_PARENT_SETTID"},
    {0x200000, "CLONE_CHILD_CLEARTID"}, {0x1000000, "CLONE_CHILD_SETTID"}, {SIGCHLD, "SIGCHLD"}, {0},
};
static const Name fcntl_commands[] = {
    N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK), N(F_SETLKW), N(F_DUPFD_CLOEXEC), {0},
};
static const Name whences[] = {{0, "SEEK_SET"}, {1, "SEEK_CUR"}, {2, "SEEK_END"}, {3, "SEEK_DATA"}, {4, "SEEK_HOLE"}, {0}};
static const Name hows[] = {N(SIG_BLOCK), N(SIG_UNBLOCK), N(SIG_SETMASK), {0}};

static const char *const signal_names[] = {
    "0", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU",
    "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
};

static const char *const error_names[ERRNOS] = {
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
// clang-format on

/* ---------------------------------------------------------------------------------------------------- small pieces */

__attribute__((format(printf, 2, 3))) static void put(Line *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    l->len += format_args(l->text + l->len, LINE_BYTES - l->len, format, args);
    va_end(args);
}

static void put_flags(Line *l, u64 value, const Name *names, const char *none) {
    bool first = true;
    for (const Name *n = names; n->name; n++) {
        if (!n->value || (value & n->value) != n->value)
            continue;
        put(l, "%s%s", first ? "" : "|", n->name);
        value &= ~n->value;
        first = false;
    }
    if (value)
        put(l, "%s0x%lx", first ? "" : "|", value);
    else if (first)
        put(l, "%s", none);
}

static void put_choice(Line *l, u64 value, const Name *names) {
    for (const Name *n = names; n->name; n++) {
        if (n->value == value) {
            put(l, "%s", n->name);
            return;
        }
    }
    put(l, "%ld", (long)value);
}

static void put_open_flags(Line *l, u64 flags) {
    static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
    put(l, "%s", modes[flags & O_ACCMODE]);
    if (flags & ~(u64)O_ACCMODE) {
        put(l, "|");
        put_flags(l, flags & ~(u64)O_ACCMODE & ~(u64)O_LARGEFILE, open_flags, "O_LARGEFILE");
    }
}

static void put_octal(Line *l, u64 value) {
    char digits[24];
    size_t at = sizeof(digits) - 1;
    for (digits[at] = 0; value; value >>= 3)
        digits[--at] = (char)('0' + (value & 7));
    put(l, "0%s", digits + at);
}

static void put_character(Line *l, u8 c) {
    static const char escaped[] = "\n\t\r\"\\", letters[] = "ntr\"\\";
    const char *e = c ? strchr(escaped, c) : NULL;
    if (e)
        put(l, "\\%c", letters[e - escaped]);
    else if (c >= 0x20 && c < 0x7f)
        put(l, "%c", c);
    else
        put(l, "\\x%02x", c);
}

/* Writes up to `size` bytes, or a string up to its NUL if size is ~0. */
static void put_bytes(Line *l, u64 addr, u64 size) {
    u8 bytes[STRING_SHOWN + 1];
    if (!addr) {
        put(l, "NULL");
        return;
    }
    size_t want = size < sizeof(bytes) ? size : sizeof(bytes), got = guest_read(addr, bytes, want);
    if (!got && size) {
        put(l, "0x%lx", addr);
        return;
    }
    if (size == ~(u64)0)
        size = got = strnlen((const char *)bytes, got);
    put(l, "\"");
    for (size_t i = 0; i < got && i < STRING_SHOWN; i++)
        put_character(l, bytes[i]);
    put(l, got > STRING_SHOWN || size > got ? "\"..." : "\"");
}

static void put_list(Line *l, u64 list) {
    u64 at[LIST_SHOWN + 1];
    size_t n = guest_read(list, at, sizeof(at)) / sizeof(u64);
    put(l, "[");
    for (size_t i = 0; i < n && at[i]; i++) {
        if (i == LIST_SHOWN) {
            put(l, ", ...");
            break;
        }
        put(l, "%s", i ? ", " : "");
        put_bytes(l, at[i], ~(u64)0);
    }
    put(l, "]");
}

static void put_signal(Line *l, u64 sig) {
    if (sig < ARRAY_LEN(signal_names))
        put(l, "%s", signal_names[sig]);
    else
        put(l, "SIGRT_%d", (int)sig - 32);
}

static void put_pointer(Line *l, u64 v) {
    if (v)
        put(l, "0x%lx", v);
    else
        put(l, "NULL");
}

/* ----------------------------------------------------------------------------------------------------- whole lines */

static void put_name_or_text(Line *l, char kind, u64 v) {
    switch (kind) {
    case 'P':
        put_flags(l, v, protections, "PROT_NONE");
        break;
    case 'M':
        put_flags(l, v, map_flags, "0");
        break;
    case 'a':
        put_flags(l, v, access_modes, "F_OK");
        break;
    case 'c':
        put_flags(l, v, clone_flags, "0");
        break;
    case 'F':
        put_choice(l, v, fcntl_commands);
        break;
    case 'W':
        put_choice(l, v, whences);
        break;
    case 'h':
        put_choice(l, v, hows);
        break;
    case 'g':
        put_signal(l, v);
        break;
    case 's':
        put_bytes(l, v, ~(u64)0);
        break;
    case 'A':
        put_list(l, v);
        break;
    default:
        put(l, "0x%lx", v);
        break;
    }
}

/* result: the call's result, which is the number of bytes for buffers that the call has filled. */
static void put_argument(Line *l, const char *format, u32 i, const u64 a[6], i64 result) {
    u64 v = a[i];
    switch (format[i]) {
    case 'd':
        put(l, "%d", (int)v);
        break;
    case 'u':
        put(l, "%lu", v);
        break;
    case 'm':
        put_octal(l, v & 0xffff);
        break;
    case 'p':
    case 'r':
    case 'v':
    case 'V':
    case 'n':
        put_pointer(l, v);
        break;
    case 'f':
        if ((int)v == AT_FDCWD)
            put(l, "AT_FDCWD");
        else
            put(l, "%d", (int)v);
        break;
    case 'o':
        put_open_flags(l, v & UINT32_MAX);
        if ((v & O_CREAT) && !format[i + 1]) {
            put(l, ", ");
            put_octal(l, a[i + 1] & 0xffff);
        }
        break;
    case 'b':
        put_bytes(l, v, a[i + 1]);
        break;
    case 'B':
        if (result < 0)
            put_pointer(l, v);
        else
            put_bytes(l, v, (u64)result);
        break;
    default:
        put_name_or_text(l, format[i], v);
        break;
    }
}

static void put_call(Line *l, const GuestCall *c, i64 result) {
    const u64 *a = c->a;
    u32 pid = (u32)sys_getpid();
    if (pid != the.opt.first_pid)
        put(l, "[pid %u] ", pid);
    if (!c->call) {
        put(l, "syscall_%lu(0x%lx, 0x%lx, 0x%lx, 0x%lx, 0x%lx, 0x%lx)", c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
        return;
    }
    put(l, "%s(", call_name(c->call));
    const char *format = call_format(c->call);
    for (u32 i = 0; i < 6 && format[i]; i++) {
        put(l, "%s", i ? ", " : "");
        put_argument(l, format, i, a, result);
    }
    put(l, ")");
}

static void put_result(Line *l, Call call, i64 result) {
    bool address = call == CALL_mmap || call == CALL_brk || call == CALL_mremap || call == CALL_shmat;
    u64 error = (u64)-result;
    if (result == SYSCALL_RESTART)
        put(l, " = ? (to be restarted after a signal)");
    else if (sys_failed(result) && error < ERRNOS && error_names[error])
        put(l, " = -1 %s", error_names[error]);
    else if (address)
        put(l, " = 0x%lx", (u64)result);
    else
        put(l, " = %ld", (long)result);
}

static void write_line(Line *l) {
    if (l->len + 2 > LINE_BYTES)
        l->len = LINE_BYTES - 2;
    put(l, "\n");
    sys_write_all(the.stats_fd, l->text, l->len);
}

void trace_enter(Thread *t, const GuestCall *c) {
    (void)t;
    Line l = {.len = 0};
    Call call = c->call;
    bool ends = call == CALL_exit || call == CALL_exit_group || call == CALL_rt_sigreturn;
    if (!ends && call != CALL_execve && call != CALL_execveat)
        return;
    put_call(&l, c, 0);
    put(&l, ends ? " = ?" : " ...");
    write_line(&l);
}

void trace_exit(Thread *t, const GuestCall *c, i64 result) {
    (void)t;
    if (result == SYSCALL_NO_RESULT)
        return;
    Line l = {.len = 0};
    put_call(&l, c, result);
    put_result(&l, c->call, result);
    write_line(&l);
}
