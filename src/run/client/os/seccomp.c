/* seccomp.c: see seccomp.h.
 *
 * A filter is never changed. A thread points to the newest of its filters, and each filter to the one installed before it. Threads and
 * their children share filters, so each filter counts its users: threads, and filters that were installed after it. Installing a filter,
 * and whatever else changes which filters a thread has, is done under the arena's lock; a thread reads its own filters without it.
 *
 * When a filter kills a thread or process, the host's kernel does it: the client installs a filter of its own that kills. Missing:
 * SECCOMP_RET_USER_NOTIF is refused as by a kernel before 5.0, and SECCOMP_RET_TRACE finds no tracer. */
#include "run/client/os/seccomp.h"

#include <linux/capability.h>
#include <linux/prctl.h>

#include "host_context.h"
#include "run/client/code/image.h"
#include "run/client/code/translated.h"
#include "run/client/core/events.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/os/bpf.h"
#include "run/client/os/calls.h"
#include "run/client/os/process.h"
#include "run/client/os/signal/signal.h"
#include "run/client/tool/tool.h"

enum {
    INSNS_MAX = (1 << 18) / sizeof(struct sock_filter),
    INSNS_PER_FILTER = 4
}; /* what the kernel allows, and adds for each */
enum { ERRNO_MAX = 4095, SIGSYS_BY_FILTER = 1 /* si_code */, PIPE_USUAL = 64 << 10 };

typedef struct Filter {
    struct Filter *before;
    u32 users, count;
    struct sock_filter program[];
} Filter;

/* -------------------------------------------------------------------------------------------------------------- filters */

static size_t size_of(u32 count) {
    return sizeof(Filter) + count * sizeof(struct sock_filter);
}

static void hold(Filter *f) {
    if (f)
        __atomic_fetch_add(&f->users, 1, __ATOMIC_RELAXED);
}

static void release(Filter *f) {
    while (f && __atomic_sub_fetch(&f->users, 1, __ATOMIC_ACQ_REL) == 0) {
        Filter *before = f->before;
        sys_pages_free(f, size_of(f->count));
        f = before;
    }
}

/* The new filter has one user. */
static Filter *new_filter(u32 count) {
    Filter *f = sys_pages(size_of(count));
    if (f)
        f->users = 1, f->count = count;
    return f;
}

/* True if `f` is `last` or was installed before it. */
static bool is_before(const Filter *f, const Filter *last) {
    while (last && last != f)
        last = last->before;
    return last == f;
}

/* ----------------------------------------------------------------------------------------------------------- installing */

static bool may_install(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (sys_prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return true;
    return !sys2(__NR_capget, (u64)&header, (u64)sets) && (sets[0].effective >> CAP_SYS_ADMIN & 1);
}

/* Makes a filter of the guest's struct sock_fprog. It has one user. */
static i64 read_filter(u64 from, Filter **filter) {
    struct sock_fprog program;
    if (guest_read(from, &program, sizeof(program)) != sizeof(program))
        return -EFAULT;
    if (!program.len || program.len > BPF_MAXINSNS)
        return -EINVAL;
    if (!may_install())
        return -EACCES;
    if (!program.filter)
        return -EINVAL;
    Filter *f = new_filter(program.len);
    if (!f)
        return -ENOMEM;
    size_t bytes = f->count * sizeof(struct sock_filter);
    bool there = guest_read((u64)program.filter, f->program, bytes) == bytes;
    if (!there || !bpf_is_valid(f->program, f->count)) {
        release(f);
        return there ? -EINVAL : -EFAULT;
    }
    *filter = f;
    return 0;
}

static bool is_too_much(const Thread *t, const Filter *f) {
    u32 all = f->count;
    for (const Filter *b = t->filter.newest; b; b = b->before)
        all += b->count + INSNS_PER_FILTER;
    return all > INSNS_MAX;
}

/* True if `other` is another thread of the same process. */
static bool is_beside(const Thread *t, const Thread *other) {
    return other != t && other->pid == t->pid;
}

/* A thread of this process that has a filter which this thread does not have, or NULL. */
static const Thread *find_stranger(const Thread *t) {
    for (const Thread *o = the.threads; o; o = o->next)
        if (is_beside(t, o) && o->filter.mode != SECCOMP_MODE_DISABLED &&
            (o->filter.mode != SECCOMP_MODE_FILTER || !is_before(o->filter.newest, t->filter.newest)))
            return o;
    return NULL;
}

/* Another thread uses its new filters from its next call on. */
static void set_filter(Thread *t, Filter *f) {
    Filter *old = t->filter.newest;
    __atomic_store_n(&t->filter.newest, f, __ATOMIC_RELEASE);
    __atomic_store_n(&t->filter.mode, SECCOMP_MODE_FILTER, __ATOMIC_RELEASE);
    release(old);
}

static void share_filters(Thread *t) {
    bool bars = sys_prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
    for (Thread *o = the.threads; o; o = o->next) {
        if (!is_beside(t, o))
            continue;
        hold(t->filter.newest);
        if (bars)
            __atomic_store_n(&o->filter.wants_no_new_privs, true, __ATOMIC_RELAXED);
        set_filter(o, t->filter.newest);
    }
}

/* The caller holds the arena's lock. */
static i64 install(Thread *t, Filter *f, u64 flags) {
    if (t->filter.mode == SECCOMP_MODE_STRICT)
        return -EINVAL;
    const Thread *stranger = flags & SECCOMP_FILTER_FLAG_TSYNC ? find_stranger(t) : NULL;
    if (stranger)
        return flags & SECCOMP_FILTER_FLAG_TSYNC_ESRCH ? -ESRCH : (i64)stranger->tid;
    if (is_too_much(t, f))
        return -ENOMEM;
    f->before = t->filter.newest;
    hold(f->before);
    hold(f);
    set_filter(t, f);
    if (flags & SECCOMP_FILTER_FLAG_TSYNC)
        share_filters(t);
    return 0;
}

static i64 set_filters(Thread *t, u64 flags, u64 args) {
    const u64 known = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW |
                      SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    Filter *f;
    if (flags & ~known)
        return -EINVAL;
    i64 error = read_filter(args, &f);
    if (error)
        return error;
    translated_lock();
    i64 result = install(t, f, flags);
    translated_unlock();
    release(f);
    return result;
}

static i64 set_strict(Thread *t, u64 flags, u64 args) {
    if (flags || args || t->filter.mode == SECCOMP_MODE_FILTER)
        return -EINVAL;
    t->filter.mode = SECCOMP_MODE_STRICT;
    return 0;
}

static i64 is_available(u64 flags, u64 args) {
    u32 action;
    if (flags)
        return -EINVAL;
    if (guest_read(args, &action, sizeof(action)) != sizeof(action))
        return -EFAULT;
    switch (action) {
    case SECCOMP_RET_KILL_PROCESS:
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_TRAP:
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_ALLOW:
        return 0;
    default:
        return -EOPNOTSUPP;
    }
}

i64 seccomp_call(Thread *t, u64 operation, u64 flags, u64 args) {
    switch ((u32)operation) {
    case SECCOMP_SET_MODE_STRICT:
        return set_strict(t, (u32)flags, args);
    case SECCOMP_SET_MODE_FILTER:
        return set_filters(t, (u32)flags, args);
    case SECCOMP_GET_ACTION_AVAIL:
        return is_available((u32)flags, args);
    default:
        return -EINVAL;
    }
}

/* -------------------------------------------------------------------------------------------------------------- running */

/* As a signed number, an action that is more severe is smaller; the kernel compares actions in this way. */
static i32 action_of(u32 answer) {
    return (i32)(answer & SECCOMP_RET_ACTION_FULL);
}

static u32 run_all(const Filter *f, const struct seccomp_data *data) {
    u32 answer = SECCOMP_RET_ALLOW;
    for (; f; f = f->before) {
        u32 one = bpf_run(f->program, data);
        if (action_of(one) < action_of(answer))
            answer = one;
    }
    return answer;
}

/* Lets the kernel kill the thread or process: installs a filter that kills at any call, and makes one. */
static _Noreturn void end_by(Thread *t, u32 action) {
    struct sock_filter stop = BPF_STMT(BPF_RET | BPF_K, action);
    const struct sock_fprog program = {1, &stop};
    if (action != SECCOMP_RET_KILL_THREAD || !process_leave(t))
        image_save(t), tool_end(t);
    sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    sys_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (u64)&program, 0, 0);
    sys_getpid();
    signal_die(SIGSYS);
}

static _Noreturn void end_strictly(Thread *t) {
    if (!process_leave(t))
        tool_end(t);
    sys_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    sys_getpid();
    signal_die(SIGKILL);
}

static i64 trap(Thread *t, const struct seccomp_data *data, u32 reason) {
    SignalInfo info = {
        .number = SIGSYS, .error = (i32)reason, .code = SIGSYS_BY_FILTER, .address = data->instruction_pointer};
    memcpy(info.rest, &data->nr, sizeof(data->nr));
    memcpy(info.rest + sizeof(data->nr), &data->arch, sizeof(data->arch));
    return signal_force(t, &info) ? SYSCALL_NO_RESULT : SYSCALL_RESTART;
}

static bool obey(Thread *t, const struct seccomp_data *data, u32 answer, i64 *result) {
    u32 reason = answer & SECCOMP_RET_DATA;
    switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return true;
    case SECCOMP_RET_ERRNO:
        *result = -(i64)(reason < ERRNO_MAX ? reason : ERRNO_MAX);
        return false;
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF:
        *result = -ENOSYS;
        return false;
    case SECCOMP_RET_TRAP:
        *result = trap(t, data, reason);
        return false;
    case SECCOMP_RET_KILL_THREAD:
        end_by(t, SECCOMP_RET_KILL_THREAD);
    default:
        end_by(t, SECCOMP_RET_KILL_PROCESS);
    }
}

static bool strictly_allows(Call call) {
    return call == CALL_read || call == CALL_write || call == CALL_exit || call == CALL_rt_sigreturn;
}

bool seccomp_allows(Thread *t, const GuestCall *c, i64 *result) {
    if (t->pending_signals) {
        *result = SYSCALL_RESTART;
        return false;
    }
    if (t->filter.mode == SECCOMP_MODE_STRICT && !strictly_allows(c->call))
        end_strictly(t);
    if (t->filter.mode != SECCOMP_MODE_FILTER)
        return true;
    if (__atomic_exchange_n(&t->filter.wants_no_new_privs, false, __ATOMIC_RELAXED))
        sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    struct seccomp_data data = {.nr = (int)c->number, .arch = c->arch, .instruction_pointer = t->cpu.pc};
    memcpy(data.args, c->a, sizeof(data.args));
    return obey(t, &data, run_all(__atomic_load_n(&t->filter.newest, __ATOMIC_ACQUIRE), &data), result);
}

/* ----------------------------------------------------------------------------------------------------- threads and exec */

void seccomp_inherit(Thread *child, const Thread *parent) {
    child->filter.mode = parent->filter.mode;
    child->filter.wants_no_new_privs = parent->filter.wants_no_new_privs;
    child->filter.newest = parent->filter.newest;
    hold(child->filter.newest);
}

void seccomp_forget(Thread *t) {
    release(t->filter.newest);
    t->filter.newest = NULL;
}

static u64 bytes_to_hand_on(const Thread *t) {
    u64 bytes = 0;
    for (const Filter *f = t->filter.newest; f; f = f->before)
        bytes += sizeof(f->count) + f->count * sizeof(struct sock_filter);
    return bytes;
}

/* Writes the filters into a pipe, which needs no file system and has no limit of file sizes. The pipe holds all of
 * them. */
i64 seccomp_hand_on(const Thread *t) {
    enum { SET_PIPE_SIZE = 1031, AWAY = 1000 };
    int ends[2];
    u64 bytes = bytes_to_hand_on(t);
    if (!t->filter.newest)
        return 0;
    i64 error = sys_pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    if (error)
        return error;
    bool ok = bytes <= PIPE_USUAL || sys_fcntl(ends[1], SET_PIPE_SIZE, bytes) >= (i64)bytes;
    for (const Filter *f = t->filter.newest; f && ok; f = f->before)
        ok = sys_write_all(ends[1], &f->count, sizeof(f->count)) &&
             sys_write_all(ends[1], f->program, f->count * sizeof(struct sock_filter));
    i64 fd = ok ? sys_fcntl(ends[0], F_DUPFD, AWAY) : -ENOMEM;
    if (ok && fd < 0) /* RLIMIT_NOFILE is lower than AWAY */
        fd = sys_fcntl(ends[0], F_DUPFD, 3);
    sys_close(ends[0]);
    sys_close(ends[1]);
    return fd;
}

bool seccomp_take_over(Thread *t, int fd) {
    Filter **end = &t->filter.newest;
    u32 count;
    bool ok = true;
    while (ok && sys_read_all(fd, &count, sizeof(count))) {
        ok = count && count <= BPF_MAXINSNS && (*end = new_filter(count)) &&
             sys_read_all(fd, (*end)->program, count * sizeof(struct sock_filter)) &&
             bpf_is_valid((*end)->program, count);
        end = ok ? &(*end)->before : end;
    }
    t->filter.mode = SECCOMP_MODE_FILTER;
    sys_close(fd);
    return ok && t->filter.newest;
}

static bool host_allows(const Filter *f, u64 number) {
    const struct seccomp_data data = {.nr = (int)number, .arch = guest_facts.audit_arch};
    return action_of(run_all(f, &data)) >= action_of(SECCOMP_RET_LOG);
}

/* Installs the oldest filter first. Each is installed by a call that the filters before it allow. */
static void leave(const Filter *f) {
    const struct sock_fprog p = {(u16)f->count, (struct sock_filter *)f->program};
    if (f->before)
        leave(f->before);
    if (host_allows(f->before, __NR_seccomp))
        sys3(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (u64)&p);
    else
        sys_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (u64)&p, 0, 0);
}

i64 seccomp_leave_to_host(const Thread *t) {
    if (!t->filter.newest)
        return 0;
    for (const Filter *f = t->filter.newest; f->before; f = f->before)
        if (!host_allows(f->before, __NR_seccomp) && !host_allows(f->before, __NR_prctl))
            return -EACCES;
    if (!may_install() || !host_allows(t->filter.newest, __NR_execve))
        return -EACCES;
    leave(t->filter.newest);
    return 0;
}

SeccompFacts seccomp_facts(u32 tid) {
    SeccompFacts facts = {0};
    translated_lock();
    for (const Thread *t = the.threads; t; t = t->next) {
        if (t->tid != tid)
            continue;
        facts.mode = t->filter.mode;
        for (const Filter *f = t->filter.newest; f; f = f->before)
            facts.filters++;
    }
    translated_unlock();
    return facts;
}
