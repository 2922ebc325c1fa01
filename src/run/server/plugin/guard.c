/* guard.c: see plugin.h. A plugin's crash ends this process, as LLVM's would; but the client must not ask another server then, which would crash likewise, or go on without the plugin's code.
 * So a handler of the signals sends a last message, with what was prepared for it before. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/protocol/message.h"
#include "run/server/plugin/plugin.h"

enum { STACK_BYTES = 64 << 10, TEXT_SIZE = 1024 };

/* The handlers use this. */
static struct {
    int out; /* the client's descriptor */
    bool begun;
    volatile sig_atomic_t inside;
    char where[TEXT_SIZE];
    char stack[STACK_BYTES]; /* the plugin may have used up the usual one */
} guard;

/* With functions that a handler may call. If the message is lost, the client sees the end of the connection. */
static void tell(const char *why) {
    char message[sizeof(MessageHeader) + 2 * TEXT_SIZE];
    size_t where = strlen(guard.where), len = strlen(why);
    len = len < TEXT_SIZE ? len : TEXT_SIZE;
    MessageHeader header = message_header(S_PLUGIN, guard.where, where, why, len);
    memcpy(message, &header, sizeof(header));
    memcpy(message + sizeof(header), guard.where, where);
    memcpy(message + sizeof(header) + where, why, len);
    ssize_t told = write(guard.out, message, sizeof(header) + where + len);
    (void)told;
}

static void crashed(int sig) {
    const char *name = sigabbrev_np(sig);
    char why[64] = "it has crashed: SIG";
    strncat(why, name ? name : "?", sizeof(why) - strlen(why) - 1);
    tell(why);
    _exit(1);
}

/* LLVM calls exit for some errors. */
static void exited(void) {
    if (guard.begun)
        tell(guard.inside ? "it has called exit" : "the server has ended");
}

void plugin_guard_begin(int out) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    guard.out = out;
    guard.begun = true;
    sigaltstack(&(stack_t){.ss_sp = guard.stack, .ss_size = sizeof(guard.stack)}, NULL);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &(struct sigaction){.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND}, NULL);
    atexit(exited);
}

void plugin_guard_end(void) {
    guard.begun = false;
    guard.inside = false;
}

void plugin_guard_set(PluginPlace place) {
    guard.inside = false;
    if (place.pc)
        snprintf(guard.where, sizeof(guard.where), "%s: %s, at the code at %llx: ", place.path, place.what,
                 (unsigned long long)place.pc);
    else
        snprintf(guard.where, sizeof(guard.where), "%s: %s: ", place.path, place.what);
    guard.inside = place.inside;
}

bool plugin_guard_limit(void) {
    if (guard.inside)
        tell("it takes too much time or memory");
    return guard.inside;
}

void plugin_guard_fail(const char *why) {
    char line[TEXT_SIZE];
    guard.inside = false;
    snprintf(line, sizeof(line), "%s", why);
    for (char *end; (end = strchr(line, '\n'));)
        *end = end[1] ? ' ' : 0;
    tell(line);
    _exit(1);
}
