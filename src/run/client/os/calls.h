/* calls.h: the system calls by name: those that all guests have (syscalls.def) and those of this guest alone
 * (guest_calls.def in its folder, which also has the numbers). */
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
#include "run/client/os/syscalls.def"
    CALLS,
} Call;

Call call_of(u64 number); /* by the guest's number; CALL_NONE: it has no such call */
u64 call_host(Call call); /* the host's number of this call */
const char *call_name(Call call);

/* A system call that the guest makes. */
typedef struct GuestCall {
    Call call;
    u32 arch; /* AUDIT_ARCH_*: the architecture that the number belongs to, for filters */
    u64 number;
    u64 a[6];
} GuestCall;

/* Makes the call, with filters, --strace and tools, and gives its result to the guest; or moves pc back if the guest has to make the call again. */
void call_make(Thread *t, GuestCall *c);
/* Makes a call of syscalls.def as its row says, and returns the result. guest/NAME/calls.c uses this with changed arguments. */
i64 call_do(Thread *t, Call call, const u64 a[6]);
const char *call_format(Call call); /* the letters of its arguments; see syscalls.def */

/* guest/NAME/calls.c: the calls that only this guest has. */
typedef i64 CallFunction(Thread *t, const u64 a[6]);
#define PASS(name, text)
#define CONFINE(name, text)
#define OWN(name, text)
#define RANGE(name, text)
#define REFUSE(name, text, error)
#define GUEST(id, name, text) CallFunction guest_##id;
#include "run/client/os/syscalls.def"

#endif
