/* cpu.c: facts of the aarch64 CPU that runs this. */
#include "host/host.h"

/* A register that tells what instructions there are; Linux lets programs read it. */
#define FACT(name)                                                                                                     \
    ({                                                                                                                 \
        u64 fact_;                                                                                                     \
        __asm__("mrs %0, " #name : "=r"(fact_));                                                                       \
        fact_;                                                                                                         \
    })

const LatheHost host_this = LATHE_HOST_AARCH64;

size_t host_cpu_facts(u8 facts[HOST_CPU_FACTS]) {
    u64 f[] = {FACT(id_aa64isar0_el1), FACT(id_aa64isar1_el1), FACT(id_aa64pfr0_el1)};
    _Static_assert(sizeof(f) <= HOST_CPU_FACTS, "there is room");
    memcpy(facts, f, sizeof(f));
    return sizeof(f);
}

/* A vdso is run as guest code where guest and host are of one kind, which no guest on this host is taken for. */
bool host_has_plain_vdso(void) {
    return false;
}
