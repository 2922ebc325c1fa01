/* foreign_calls.c: the host's numbers of a guest's system calls: see isa/foreign.h. */
#include <sys/syscall.h>

#include "isa/foreign.h"

/* In the order of guest_call_numbers. */
static const long host_numbers[] = {
#define CALL(name, x86_64, generic) SYS_##name,
#include "isa/foreign_calls.def"
#undef CALL
};

long guest_system_call(long number) {
    for (size_t i = 0; i < ARRAY_LEN(host_numbers); i++)
        if (guest_call_numbers[i] == number)
            return host_numbers[i];
    return -1;
}
