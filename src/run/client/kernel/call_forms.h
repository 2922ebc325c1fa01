/* call_forms.h: system calls with few arguments, by sys3 of the host. Included by host_call.h. */
#ifndef RUN_CLIENT_CALL_FORMS_H
#define RUN_CLIENT_CALL_FORMS_H

static inline i64 sys2(u64 number, u64 a, u64 b) {
    return sys3(number, a, b, 0);
}

static inline i64 sys1(u64 number, u64 a) {
    return sys3(number, a, 0, 0);
}

static inline i64 sys0(u64 number) {
    return sys3(number, 0, 0, 0);
}

/* guard.S: a system call for the guest. SYSCALL_RESTART: it was not made, because a signal has to be delivered before it (*pending). */
enum { SYSCALL_RESTART = -512 };
i64 syscall_guarded(const u64 *pending, u64 number, const u64 args[6]);

#endif
