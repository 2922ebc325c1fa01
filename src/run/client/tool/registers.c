/* registers.c: the program's registers, and arguments of its functions, for functions of a tool that are called with the whole state in the Thread. */
#include "run/client/memory/peek.h"
#include "run/client/tool/tool.h"

static GuestCpu *cpu(void) {
    return &thread_self()->cpu;
}

uint64_t lathe_register(unsigned number) {
    return guest_register(cpu(), number);
}

void lathe_set_register(unsigned number, uint64_t value) {
    guest_set_register(cpu(), number, value);
}

uint64_t lathe_arg(unsigned index) {
    u32 reg = guest_argument_register(index);
    u64 value = 0;
    if (reg < GUEST_REGISTERS)
        return guest_register(cpu(), reg);
    lathe_read_guest(&value, guest_stack_argument(cpu(), index), sizeof(value));
    return value;
}

void lathe_set_arg(unsigned index, uint64_t value) {
    u32 reg = guest_argument_register(index);
    if (reg < GUEST_REGISTERS)
        guest_set_register(cpu(), reg, value);
    else
        guest_write(guest_stack_argument(cpu(), index), &value, sizeof(value));
}

uint64_t lathe_returned(void) {
    return guest_result(cpu());
}

void lathe_set_returned(uint64_t value) {
    guest_set_result(cpu(), value);
}
