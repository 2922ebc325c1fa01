/* calls.h: the system calls there are, by name: those of every Linux (syscalls.def) and those of the guest's (guest_calls.def in its
 * folder, which also has the numbers). */
#ifndef RUN_CLIENT_CALLS_H
#define RUN_CLIENT_CALLS_H

#include "run/client/core/client.h"

typedef enum Call {
    CALL_NONE,
#define PASS(name, text) CALL_##name,
#define CONFINE(name, text) CALL_##name,
#define OWN(name, text) CALL_##name,
#define RANGE(name, text) CALL_##name,
#define REFUSE(name, text, error) CALL_##name,
#define GUEST(id, name, text) CALL_##id,
#include "guest_calls.def"
#include "run/client/os/syscalls.def"
#undef PASS
#undef CONFINE
#undef OWN
#undef RANGE
#undef REFUSE
#undef GUEST
    CALLS,
} Call;

Call call_of(u64 number); /* of the guest's number; CALL_NONE: there is none */
u64 call_host(Call call); /* the host's number for it */
const char *call_name(Call call);

/* A call that the guest makes. */
typedef struct GuestCall {
    Call call;
    u32 arch; /* AUDIT_ARCH_*: whose number it is, for filters */
    u64 number;
    u64 a[6];
} GuestCall;

void call_make(Thread *t,
               const GuestCall *c); /* its result is the guest's, and its instruction is made again where that is due */
i64 call_do(Thread *t, Call call, const u64 a[6]); /* of syscalls.def */
const char *call_format(Call call);                /* of the arguments; see syscalls.def */

/* guest/NAME/calls.c: the guest's own */
typedef i64 CallFunction(Thread *t, const u64 a[6]);
#define PASS(name, text)
#define CONFINE(name, text)
#define OWN(name, text)
#define RANGE(name, text)
#define REFUSE(name, text, error)
#define GUEST(id, name, text) CallFunction guest_##id;
#include "guest_calls.def"
#undef PASS
#undef CONFINE
#undef OWN
#undef RANGE
#undef REFUSE
#undef GUEST

#endif
