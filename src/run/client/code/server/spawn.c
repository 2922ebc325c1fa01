/* spawn.c: starts Lathe's own programs beside the guest. The guest must not be able to wait for such a process as its
 * child, so it is a grandchild whose parent has ended. No descriptor of the guest stays open in it. */
#include "run/client/code/server/spawn.h"

#include <linux/wait.h>

#include "run/client/memory/limits.h"
#include "run/client/tool/above.h"

enum { SIG_SETMASK = 2, ENVIRONMENT_MAX = 32 };

/* Passes on only the variables that are meant for Lathe; a LD_PRELOAD of the guest, for example, is not for the server. */
static void choose_environment(char **all, char **out) {
    size_t n = 0;
    for (char **e = all; *e && n + 1 < ENVIRONMENT_MAX; e++)
        if (!strncmp(*e, "LATHE_", 6))
            out[n++] = *e;
    out[n] = NULL;
}

/* If the socket has this number already, because the guest has closed its lower descriptors, it has to stay open over
 * exec. */
static void place_socket(int socket) {
    if (socket == SPAWN_SOCKET)
        sys_fcntl(socket, F_SETFD, 0);
    else
        sys_dup3(socket, SPAWN_SOCKET, 0);
}

void spawn_detach(int socket) {
    place_socket(socket);
    for (int fd = 0; fd < SPAWN_SOCKET; fd++) {
        sys_close(fd);
        sys_open("/dev/null", O_RDWR, 0);
    }
    sys_close_range(SPAWN_SOCKET + 1, ~0u, 0);
    sys_setsid();
    limits_raise_all();
}

void spawn_become(int socket, const char *path, char *const *argv, char **envp) {
    char *chosen[ENVIRONMENT_MAX];
    u64 none = 0;
    spawn_detach(socket);
    sys_rt_sigprocmask(SIG_SETMASK, &none, NULL);
    choose_environment(envp, chosen);
    sys_execve(path, argv, chosen);
    sys_exit_group(127);
}

/* The server's command line. */
typedef struct ServerArguments {
    char *argv[4];
    char plugin[PLUGIN_WORD_SIZE + sizeof("--plugin=")];
} ServerArguments;

static void server_arguments(const char *path, const char *plugin, ServerArguments *a) {
    _Static_assert(SPAWN_SOCKET == 3, "the option has the number");
    format_text(a->plugin, sizeof(a->plugin), "--plugin=%s", plugin);
    a->argv[0] = (char *)path;
    a->argv[1] = "--fd=3";
    a->argv[2] = *plugin ? a->plugin : NULL;
    a->argv[3] = NULL;
}

void spawn_server(int socket, const char *path, const char *plugin, char **envp) {
    ServerArguments a;
    server_arguments(path, plugin, &a);
    spawn_become(socket, path, a.argv, envp);
}

/* The process in between sends no signal when it ends, so only a wait with __WALL finds it. It closes the guest's descriptors before it starts the
 * new process. If the new process still had a file open that the guest has written and closed meanwhile, the guest could not execute the file. */
bool spawn_beside(int socket, const char *path, char *const *argv) {
    i64 child = sys_fork_quietly(0);
    if (child < 0)
        return false;
    if (child == 0) {
        spawn_detach(socket);
        i64 grandchild = sys_fork_quietly(0);
        if (grandchild == 0)
            spawn_become(SPAWN_SOCKET, path, argv, the.envp);
        sys_exit_group(grandchild < 0);
    }
    int status = 0;
    while (sys_wait4(child, &status, __WALL, NULL) == -EINTR)
        ;
    return status == 0;
}

bool spawn_server_beside(int socket) {
    ServerArguments a;
    server_arguments(the.opt.server_path, the.opt.plugin, &a);
    return spawn_beside(socket, the.opt.server_path, a.argv);
}

bool tool_start_helper(int socket) {
    char *argv[] = {the.opt.tools_path, "lines", NULL};
    return spawn_beside(socket, the.opt.tools_path, argv);
}
