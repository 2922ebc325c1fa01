/* calls.c: see calls.h. */
#include "run/client/os/calls.h"
#include "lathe/tool.h"

static const struct {
    const char *name, *format;
} texts[CALLS] = {
#define PASS(name, text) [CALL_##name] = {#name, text},
#define CONFINE(name, text) [CALL_##name] = {#name, text},
#define OWN(name, text) [CALL_##name] = {#name, text},
#define RANGE(name, text) [CALL_##name] = {#name, text},
#define REFUSE(name, text, error) [CALL_##name] = {#name, text},
#define GUEST(id, name, text) [CALL_##id] = {name, text},
#include "run/client/os/syscalls.def"
};

static const u16 by_number[] = {
#define NUMBER(number, name) [number] = CALL_##name,
#include "guest_numbers.def"
#undef NUMBER
};

static const u16 host_numbers[CALLS] = {
#define NUMBER(number, name) [CALL_##name] = number,
#include "host_numbers.def"
#undef NUMBER
};

Call call_of(u64 number) {
    return number < ARRAY_LEN(by_number) ? (Call)by_number[number] : CALL_NONE;
}

u64 call_host(Call call) {
    return host_numbers[call];
}

const char *call_name(Call call) {
    return texts[call].name;
}

const char *call_format(Call call) {
    return texts[call].format;
}

/* lathe/tool.h */
const char *lathe_syscall_name(uint64_t number) {
    Call call = call_of(number);
    return call == CALL_NONE ? NULL : call_name(call);
}
