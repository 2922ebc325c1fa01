/* landlock.c: a guest that confines itself by Landlock can still start programs under Lathe.
 *
 * exec starts a client's program file, which the guest's rules do not mention. So before the rules take effect, rules that allow to read
 * and execute the client files are added to them. These files contain no private data. */
#include <linux/landlock.h>

#include "run/client/code/image.h"
#include "run/client/code/translated.h"
#include "run/client/os/signal/waits.h"
#include "run/client/os/syscall.h"

static bool allow(int rules, int fd, u64 access) {
    struct landlock_path_beneath_attr beneath = {.allowed_access = access, .parent_fd = fd};
    return !sys4(__NR_landlock_add_rule, (u64)rules, LANDLOCK_RULE_PATH_BENEATH, (u64)&beneath, 0);
}

/* A rule can only allow accesses that the rule set restricts; accesses that it does not restrict are allowed anyway. */
static void allow_client(int rules, u16 machine) {
    Options options = the.opt;
    i64 fd = kind_choose(machine, &options) ? sys_open(client_file(options.client_path), O_PATH | O_CLOEXEC, 0) : -1;
    if (fd < 0)
        return;
    if (!allow(rules, (int)fd, LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE) &&
        !allow(rules, (int)fd, LANDLOCK_ACCESS_FS_EXECUTE))
        allow(rules, (int)fd, LANDLOCK_ACCESS_FS_READ_FILE);
    sys_close((int)fd);
}

static void allow_clients(int rules) {
#define ISA(folder, name, machine, ...) allow_client(rules, machine);
#include "isa/isas.def"
#undef ISA
}

/* Translations are written to the cache first, because the rules may forbid it later. */
i64 landlock_restrict(Thread *t, const u64 a[6]) {
    translated_before_confinement(t);
    image_save(t);
    if (!the.opt.no_follow)
        allow_clients((int)a[0]);
    return syscall_repeated(t, __NR_landlock_restrict_self, a);
}
