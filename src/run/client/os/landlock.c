/* landlock.c: a guest that confines itself by Landlock can still start programs under Lathe.
 *
 * exec starts a client's program, which the guest's rules do not know of. So rules are added to the guest's before they become
 * effective: these files may be read and executed. They hold nothing of anybody's. */
#include <linux/landlock.h>

#include "run/client/code/image.h"
#include "run/client/code/translated.h"
#include "run/client/os/signal/waits.h"
#include "run/client/os/syscall.h"

static bool allow(int rules, int fd, u64 access) {
    struct landlock_path_beneath_attr beneath = {.allowed_access = access, .parent_fd = fd};
    return !sys4(__NR_landlock_add_rule, (u64)rules, LANDLOCK_RULE_PATH_BENEATH, (u64)&beneath, 0);
}

/* Only what the rules deal with can be allowed; the rest is. */
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

/* What is translated so far is written to the cache before: later that may be forbidden. */
i64 landlock_restrict(Thread *t, const u64 a[6]) {
    translated_before_confinement(t);
    image_save(t);
    if (!the.opt.no_follow)
        allow_clients((int)a[0]);
    return syscall_repeated(t, __NR_landlock_restrict_self, a);
}
