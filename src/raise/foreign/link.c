/* link.c: the host's C compiler links the program, with its own startup code and the libraries that the program asks for by name. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raise/foreign/foreign.h"

extern char **environ;

typedef VEC(const char *) Words;

static bool write_object(Raise *r, RaiseObject object, char *path) {
    int fd = mkostemps(path, 2, O_CLOEXEC);
    const u8 *at = object.bytes;
    size_t left = object.size;
    ssize_t n = fd < 0 ? -1 : 0;
    while (n >= 0 && left && (n = write(fd, at, left)) > 0) {
        at += n;
        left -= (size_t)n;
    }
    bool ok = n >= 0 || raise_fail(r, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !ok)
        unlink(path);
    return ok;
}

/* Libraries that the machine's C compiler finds by the same name. The dynamic linker is the machine's own. */
static void add_libraries(Raise *r, Words *words) {
    const char *name;
    for (size_t i = 0; (name = elf_dynamic_text(r->elf, DT_NEEDED, i)); i++)
        if (strncmp(name, "ld-linux", 8))
            VEC_PUSH(words, arena_printf(&r->arena, "-l:%s", name));
    VEC_PUSH(words, "-lm"); /* what LLVM makes of instructions may be one of its functions */
}

/* The environment, with messages in English, as explain() knows them. */
static void add_environment(Words *words) {
    VEC_PUSH(words, "LC_ALL=C");
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "LC_ALL=", 7))
            VEC_PUSH(words, *e);
    VEC_PUSH(words, NULL);
}

int foreign_run(const char *const *words, char *message) {
    int pipe_fd[2], status;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    Words environment = {0};
    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], STDERR_FILENO);
    add_environment(&environment);
    int error = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, (char *const *)environment.at);
    VEC_FREE(&environment);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_fd[1]);
    size_t size = 0;
    char byte;
    while (!error && read(pipe_fd[0], &byte, 1) == 1)
        if (size < LINK_MESSAGE_BYTES - 1)
            message[size++] = byte;
    message[size] = 0;
    close(pipe_fd[0]);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Of what a linker says, which symbol is missing. */
static bool explain(Raise *r, const char *message) {
    static const char text[] = "undefined reference to `", library[] = "cannot find -l:";
    const char *at = strstr(message, text), *missing = strstr(message, library);
    if (missing)
        return raise_fail(r, "%s has no library %.*s", r->host->name, (int)strcspn(missing + strlen(library), ": \n"),
                          missing + strlen(library));
    if (at)
        return raise_fail(r, "the libraries of %s have no %.*s", r->host->name, (int)strcspn(at + strlen(text), "'"),
                          at + strlen(text));
    return raise_fail(r, "%s cannot link it: %.*s", r->host->foreign->linker, (int)strcspn(message, "\n"), message);
}

static void add_words(Words *words, const char *const *more) {
    for (; *more; more++)
        VEC_PUSH(words, *more);
}

bool foreign_link_with(Raise *r, RaiseObject object, const char *const *options, const char *const *files,
                       const char *output) {
    char path[] = "/tmp/lathe-raise-XXXXXX.o", message[LINK_MESSAGE_BYTES];
    if (!write_object(r, object, path))
        return false;
    Words words = {0};
    VEC_PUSH(&words, r->host->foreign->linker);
    add_words(&words, options);
    add_words(&words, (const char *const[]){"-o", output, path, NULL});
    add_words(&words, files);
    if (!r->is_object)
        add_libraries(r, &words);
    VEC_PUSH(&words, NULL);
    int status = foreign_run(words.at, message);
    unlink(path);
    VEC_FREE(&words);
    if (status < 0)
        return raise_fail(r, "%s cannot be started: %s", r->host->foreign->linker, strerror(errno));
    return status == 0 || explain(r, message);
}

static const char *place_option(Raise *r, const char *option, u64 place) {
    return arena_printf(&r->arena, "-Wl,%s=0x%lx", option, place);
}

/* Where the new code is if the image stays where it was. */
static u64 behind(const Raise *r) {
    return (r->extent.end + 2 * FOREIGN_PAGE - 1) & -(u64)FOREIGN_PAGE;
}

bool foreign_link(Raise *r, RaiseObject object, const char *const *files, const char *output) {
    /* Virtual functions of libraries may have the addresses of stubs there, which lead on from the beginning then. */
    const char *const movable[] = {"-pie", NULL}, *const fixed[] = {"-no-pie", "-Wl,-z,now",
                                                                    place_option(r, "--section-start=" FOREIGN_SECTION,
                                                                                 r->extent.start),
                                                                    place_option(r, "-Ttext-segment", behind(r)), NULL};
    return foreign_link_with(r, object, r->extent.position_independent ? movable : fixed, files, output);
}
