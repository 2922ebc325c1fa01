/* hosts.c: the list of hosts. */
#include "host/host.h"

extern const Host host_x86_64;
extern const Host host_aarch64;
extern const Host host_riscv64;

static const Host *const hosts[] = {&host_x86_64, &host_aarch64, &host_riscv64};

const Host *host_own(void) {
#ifdef __x86_64__
    return &host_x86_64;
#else
#error "Lathe does not run on this machine yet: src/host says only how code for it is generated"
#endif
}

const Host *host_find(LatheHost id) {
    if (id == LATHE_HOST_OWN)
        return host_own();
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (hosts[i]->id == id)
            return hosts[i];
    return NULL;
}

const Host *host_of_triple(const char *triple) {
    size_t len = strcspn(triple, "-");
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (strlen(hosts[i]->name) == len && !memcmp(hosts[i]->name, triple, len))
            return hosts[i];
    return len ? NULL : host_own();
}
