/* cpu.c: facts of the riscv64 CPU that runs this. */
#include "host/host.h"

const LatheHost host_this = LATHE_HOST_RISCV64;

/* Code is made for what every machine has that Linux distributions run on (rv64gc), so it is the same for all of them. */
size_t host_cpu_facts(u8 facts[HOST_CPU_FACTS]) {
    (void)facts;
    return 0;
}

/* A vdso is run as guest code where guest and host are of one kind, which no guest on this host is taken for. */
bool host_has_plain_vdso(void) {
    return false;
}
