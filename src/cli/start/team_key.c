/* team_key.c: see team_key.h. */
#include "cli/start/team_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_printable(const char *text) {
    for (; *text; text++)
        if (*text <= ' ' || *text >= '\x7f' || *text < 0)
            return false;
    return true;
}

/* Returns NULL, or what is wrong. */
static const char *take(const char *text, size_t size, TeamKey *key) {
    if (size >= sizeof(key->text))
        return "it has more than 255 characters";
    memcpy(key->text, text, size);
    key->text[size] = 0;
    if (strlen(key->text) < TEAM_KEY_LEAST)
        return "it has fewer than 16 characters";
    return is_printable(key->text) ? NULL : "it has other characters than printable ones, or a space";
}

/* Returns NULL, or why the file may not be used: it has to be this user's, or root's. */
static const char *distrust(int fd) {
    struct stat st;
    if (fstat(fd, &st))
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "not a regular file";
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return "it belongs to another user";
    return st.st_mode & (S_IRWXO | S_IWGRP) ? "others can read or write it (chmod o-rwx,g-w)" : NULL;
}

static const char *read_line(int fd, TeamKey *key) {
    char text[TEAM_KEY_SIZE + 1] = {0};
    ssize_t size = read(fd, text, sizeof(text) - 1);
    return size < 0 ? strerror(errno) : take(text, strcspn(text, "\n"), key);
}

static const char *read_file(const char *file, TeamKey *key) {
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strerror(errno);
    const char *wrong = distrust(fd);
    if (!wrong)
        wrong = read_line(fd, key);
    close(fd);
    return wrong;
}

bool team_key_find(const char *file, TeamKey *key, char why[TEAM_KEY_WHY]) {
    const char *given = getenv(TEAM_KEY_VARIABLE), *wrong = NULL;
    *key = (TeamKey){0};
#ifdef LATHE_TLS
    if (file)
        wrong = read_file(file, key);
    else if (given)
        wrong = take(given, strlen(given), key);
#else
    (void)read_file;
    wrong = file || given ? "this build of Lathe has no OpenSSL" : NULL;
#endif
    if (wrong)
        snprintf(why, TEAM_KEY_WHY, "%s: %s", file ? file : TEAM_KEY_VARIABLE, wrong);
    return !wrong;
}
