/* landlocked.c: landlocked DIR... -- COMMAND ARGUMENT...: runs a command that may read and execute everything and write only in these
 * directories, by Linux's Landlock. Status 125: this kernel has no Landlock. */
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    READING = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    EVERYTHING = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1, /* what the first version of Landlock knows */
    STATUS_CANNOT = 125
};

static int refuse(const char *what) {
    perror(what);
    return STATUS_CANNOT;
}

static int allow(int rules, const char *path, unsigned long what) {
    struct landlock_path_beneath_attr beneath = {.allowed_access = what, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (beneath.parent_fd < 0)
        return -1;
    int result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(beneath.parent_fd);
    return result;
}

int main(int argc, char **argv) {
    struct landlock_ruleset_attr attr = {.handled_access_fs = EVERYTHING};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0), i = 1;
    if (rules < 0)
        return refuse("landlock_create_ruleset");
    if (allow(rules, "/", READING))
        return refuse("/");
    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (allow(rules, argv[i], EVERYTHING))
            return refuse(argv[i]);
    if (i + 1 >= argc)
        return fprintf(stderr, "usage: landlocked DIR... -- COMMAND ARGUMENT...\n"), STATUS_CANNOT;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0))
        return refuse("landlock_restrict_self");
    close(rules);
    execvp(argv[i + 1], argv + i + 1);
    return refuse(argv[i + 1]);
}
