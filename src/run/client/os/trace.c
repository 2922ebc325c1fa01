/* trace.c: --strace: the guest's system calls, one line each, as people know them from strace.
 *
 * A line is written when the call has returned, because only then is the data there that the call has read. Calls that do not return are
 * written before they are made, and a failed exec is written once more. Addresses come from the guest and may be bad, so guest memory is
 * never read directly.
 */
#include <linux/limits.h>
#include <linux/sched.h>

#include "host_context.h"
#include "run/client/core/events.h"
#include "run/client/core/open.h"
#include "run/client/memory/space.h"
#include "run/client/os/calls.h"
#include "run/client/os/syscall.h"
#include "run/client/os/trace_names.h"

enum { LINE_BYTES = 6144, BYTES_SHOWN = 40, LIST_SHOWN = 8 };

typedef struct Line {
    char text[LINE_BYTES];
    size_t len;
} Line;

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
    put(l, value < 0x100 ? "%ld" : "0x%lx", value);
}

static void put_names(Line *l, u64 value, const NameSet *set) {
    if (set->one_of)
        put_choice(l, value, set->names);
    else
        put_flags(l, value, set->names, set->none);
}

static void put_open_flags(Line *l, u64 guest) {
    static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
    u64 flags = host_open_flags(guest);
    put(l, "%s", modes[flags & O_ACCMODE]);
    if (flags & ~(u64)O_ACCMODE) {
        put(l, "|");
        put_flags(l, flags & ~(u64)O_ACCMODE & ~(u64)O_LARGEFILE, names_of_open, "O_LARGEFILE");
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

static void put_quoted(Line *l, const u8 *bytes, size_t size, bool more) {
    put(l, "\"");
    for (size_t i = 0; i < size; i++)
        put_character(l, bytes[i]);
    put(l, more ? "\"..." : "\"");
}

static void put_pointer(Line *l, u64 v) {
    if (v)
        put(l, "0x%lx", v);
    else
        put(l, "NULL");
}

/* Writes the first of `size` bytes. */
static void put_bytes(Line *l, u64 addr, u64 size) {
    u8 bytes[BYTES_SHOWN];
    size_t got = addr ? guest_read(addr, bytes, size < sizeof(bytes) ? size : sizeof(bytes)) : 0;
    if (!addr || (!got && size))
        put_pointer(l, addr);
    else
        put_quoted(l, bytes, got, size > got);
}

/* Writes a string up to its NUL, whole if it is not longer than a path can be. */
static void put_string(Line *l, u64 addr) {
    u8 text[PATH_MAX];
    size_t got = addr ? guest_read(addr, text, sizeof(text)) : 0, size = strnlen((const char *)text, got);
    if (!got)
        put_pointer(l, addr);
    else
        put_quoted(l, text, size, size == got);
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
        put_string(l, at[i]);
    }
    put(l, "]");
}

static void put_signal(Line *l, u64 sig) {
    const char *name = name_of_signal(sig);
    if (name)
        put(l, "%s", name);
    else
        put(l, "SIGRT_%d", (int)sig - 32);
}

/* Here the exit signal is a member of its own, and not in the lowest byte of the flags. */
static void put_clone_args(Line *l, u64 addr) {
    struct clone_args args = {0};
    if (guest_read(addr, &args, sizeof(args)) < offsetof(struct clone_args, set_tid)) {
        put_pointer(l, addr);
        return;
    }
    put(l, "{flags=");
    put_names(l, args.flags, names_of_letter('c'));
    put(l, ", exit_signal=");
    put_signal(l, args.exit_signal);
    put(l, ", stack=0x%lx, stack_size=0x%lx}", (u64)args.stack, (u64)args.stack_size);
}

/* ----------------------------------------------------------------------------------------------------- whole lines */

static void put_name_or_text(Line *l, char kind, u64 v) {
    const NameSet *set = names_of_letter(kind);
    if (set)
        put_names(l, v, set);
    else if (kind == 'g')
        put_signal(l, v);
    else if (kind == 's')
        put_string(l, v);
    else if (kind == 'A')
        put_list(l, v);
    else if (kind == 'k')
        put_clone_args(l, v);
    else
        put(l, "0x%lx", v);
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
    else if (sys_failed(result) && name_of_error(error))
        put(l, " = -1 %s", name_of_error(error));
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
