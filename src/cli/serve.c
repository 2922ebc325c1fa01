/* serve.c: `lathe serve`: starts and ends the server that many programs share. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/daemon.h"
#include "cli/start/programs.h"

typedef struct ServeSettings {
    bool foreground, stop, stdio;
    const char *ssh, *plugin;
    u64 idle, clients;
} ServeSettings;

#define AT(field) offsetof(ServeSettings, field)

// clang-format off
static const Option table[] = {
    {"foreground", NULL,      "do not go to the background",                          OPTION_FLAG,   AT(foreground)},
    {"stop",       NULL,      "end the server that is there",                         OPTION_FLAG,   AT(stop)},
    {"idle",       "SECONDS", "end when there was no client for so long (300)",        OPTION_NUMBER, AT(idle)},
    {"clients",    "N",       "serve at most N at a time (512)",                       OPTION_NUMBER, AT(clients)},
    {"ssh",        "HOST",    "the server for 'lathe run --server=ssh:HOST'",         OPTION_TEXT,   AT(ssh)},
    {"plugin",     "FILE.so[,OPTIONS]", "the server for 'lathe run' with the same --plugin", OPTION_TEXT, AT(plugin)},
    {"stdio",      NULL,      "serve one client on standard input and output",        OPTION_FLAG,   AT(stdio)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe serve",
    .usage = "[--foreground] [--idle=SECONDS] [--clients=N] [--ssh=HOST | --plugin=FILE.so]\n--stop [--ssh=HOST | "
             "--plugin=FILE.so]\n--stdio",
    .about = "Keeps a translation server ready, which every 'lathe run' of this user finds.",
    .table = table,
};

static int fail(const char *what, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", what, why);
    return 1;
}

static int serve_stdio(const char *server) {
    execl(server, "lathe-server", "--stdio", NULL);
    return fail(server, strerror(errno));
}

static int stop(const Daemon *d) {
    pid_t process = daemon_process(d);
    if (!process)
        return fail("serve", "there is no server");
    if (!daemon_stop(d))
        return fail("serve", "the server does not end");
    printf("ended the server (process %d)\n", process);
    return 0;
}

static int start(const Daemon *d, bool foreground) {
    pid_t process = daemon_process(d);
    if (process) {
        printf("there is a server already (process %d)\n", process);
        return foreground;
    }
    if (foreground)
        return daemon_become(d, false);
    bool started = daemon_start(d, false);
    process = daemon_process(d);
    if (process)
        printf("%s (process %d)\n", started ? "serving" : "there is a server already", process);
    return !process;
}

int command_serve(int argc, char **argv) {
    ServeSettings s = {.idle = DAEMON_IDLE_S, .clients = DAEMON_CLIENTS};
    Daemon d;
    PluginFile plugin;
    char server[PATH_MAX];
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc || s.foreground + s.stop + s.stdio > 1)
        return options_misuse(&options, argc ? "what is '%s'?" : "one thing at a time", argv[1]);
    if (!s.idle || s.idle > INT_MAX / 1000 || !s.clients || s.clients > INT_MAX)
        return options_misuse(&options, "a server has at least one second, and one client");
    if (s.ssh && !daemon_is_host(s.ssh))
        return options_misuse(&options, "--ssh: '%s' is no host", s.ssh);
    if (s.plugin && (s.ssh || s.stdio))
        return options_misuse(&options, "--plugin: not for a server of other machines");
    if (!plugin_find(s.plugin, &plugin))
        return 1;
    if (!programs_find("lathe-server", server, sizeof(server)))
        return 1;
    if (s.stdio)
        return serve_stdio(server);
    const char *why = daemon_locate(&d, server, s.ssh, &plugin, !s.stop);
    if (why)
        return fail(d.dir, why);
    d.idle_s = s.idle;
    d.clients = s.clients;
    return s.stop ? stop(&d) : start(&d, s.foreground);
}
