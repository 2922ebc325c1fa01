/* kind.c: which client runs a program: there is one for each kind of guest, in the folder of this one. That for guests of the host's own kind is lathe-client where Lathe's
 * commands run, and named like all others elsewhere. */
#include <linux/elf.h>

#include "run/client/core/client.h"
#include "run/client/core/guest.h"

/* The ELF header of the client's own program, which names the host's machine. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static const char *name_of(u16 machine) {
    switch (machine) {
#define ISA(folder, name, number, ...)                                                                                 \
    case number:                                                                                                       \
        return #folder;
#include "isa/isas.def"
#undef ISA
    default:
        return NULL;
    }
}

/* Replaces the name of the client in `path` by that of another one. Returns false if there is none. */
static bool beside(char *path, size_t size, const char *name) {
    char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
    size_t len = format_text(path + dir, size - dir, name ? "lathe-client-%s" : "lathe-client", name);
    return len + 1 < size - dir && !sys_access(path, 0);
}

u16 kind_host_machine(void) {
    return __ehdr_start.e_machine;
}

/* Each kind of guest has its own sysroot: one that was given for another kind is not used. */
bool kind_choose(u16 machine, Options *o) {
    const char *name = name_of(machine);
    bool host = machine == kind_host_machine();
    if (!name)
        return false;
    if (machine == guest_facts.machine)
        return true;
    *o->sysroot = 0;
    if (!host)
        format_text(o->sysroot, sizeof(o->sysroot), "/usr/%s-linux-gnu", name);
    if (!host && sys_access(o->sysroot, 0))
        *o->sysroot = 0;
    return beside(o->client_path, sizeof(o->client_path), name) ||
           (host && beside(o->client_path, sizeof(o->client_path), NULL));
}

const char *client_file(const char *path) {
    bool found = !sys_access(path, X_OK) || strcmp(path, the.opt.client_path);
    return found ? path : "/proc/self/exe";
}

const char *client_command(const Options *o, const char ***list) {
    if (!*o->emulator)
        return client_file(o->client_path);
    *--*list = o->emulator;
    return o->emulator;
}
