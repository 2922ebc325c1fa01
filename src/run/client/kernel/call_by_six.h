/* call_by_six.h: system calls with some arguments, by sys6 of hosts where others cost nothing. Included by host_call.h. */
#ifndef RUN_CLIENT_CALL_BY_SIX_H
#define RUN_CLIENT_CALL_BY_SIX_H

static inline i64 sys5(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e) {
    return sys6(number, a, b, c, d, e, 0);
}

static inline i64 sys4(u64 number, u64 a, u64 b, u64 c, u64 d) {
    return sys6(number, a, b, c, d, 0, 0);
}

static inline i64 sys3(u64 number, u64 a, u64 b, u64 c) {
    return sys6(number, a, b, c, 0, 0, 0);
}

/* The last two arguments of clone. */
#define HOST_CLONE_ARGUMENTS(child_tid, tls) (tls), (child_tid)

#endif
