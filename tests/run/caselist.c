/* caselist.c: reading lists of commands; see caselist.h. */
#include "caselist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (f && getdelim(&text, &size, 0, f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* Without the space at both ends. */
static char *trim(char *s) {
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        *--end = 0;
    return s;
}

static bool read_case(CaseList *list, char *line) {
    char *needs = strchr(line, '|'), *command = needs ? strchr(needs + 1, '|') : NULL;
    if (!command)
        return false;
    *needs++ = *command++ = 0;
    bool quick = *line == '+';
    Case c = {.name = trim(line + quick), .needs = trim(needs), .command = trim(command), .quick = quick};
    VEC_PUSH(&list->cases, c);
    return *c.name && *c.command;
}

bool caselist_read(CaseList *list, const char *path) {
    int number = 0;
    *list = (CaseList){.text = read_file(path)};
    if (!list->text) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    for (char *next = list->text, *line; (line = strsep(&next, "\n"));) {
        number++;
        line = trim(line);
        if (!*line || *line == '#')
            continue;
        if (*line == '=') {
            VEC_PUSH(&list->prepare, trim(line + 1));
        } else if (!read_case(list, line)) {
            fprintf(stderr, "%s:%d: not 'name | needs | command'\n", path, number);
            return false;
        }
    }
    return true;
}

void caselist_free(CaseList *list) {
    VEC_FREE(&list->cases);
    VEC_FREE(&list->prepare);
    free(list->text);
}

static bool in_path(const char *name) {
    const char *path = getenv("PATH");
    char *dirs = strdup(path ? path : ""), *next = dirs, *dir;
    bool found = false;
    while (!found && (dir = strsep(&next, ":"))) {
        char file[4096];
        found = snprintf(file, sizeof(file), "%s/%s", dir, name) < (int)sizeof(file) && access(file, X_OK) == 0;
    }
    free(dirs);
    return found;
}

const char *case_lacks(const Case *c) {
    static char name[100];
    for (const char *at = c->needs; *at;) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof(name), "%.*s", (int)len, at);
        if (len && !in_path(name))
            return name;
        at += len + (at[len] == ' ');
    }
    return NULL;
}

char **case_argv(const Case *c, const char *prefix) {
    size_t prefix_len = strlen(prefix), size = strlen(c->command) + prefix_len + 1;
    char **argv = mem_new(sizeof(char *) * (size / 2 + 4) + size), *words = (char *)(argv + size / 2 + 4), *word;
    int argc = 0;
    if (strpbrk(c->command, "|&;<>()$`\\\"'*?[]#~={}!")) {
        argv[argc++] = "sh";
        argv[argc++] = "-c";
        argv[argc++] = strcpy(words, c->command);
        return argv;
    }
    memcpy(words, prefix, prefix_len);
    strcpy(words + prefix_len, c->command);
    while ((word = strsep(&words, " ")))
        if (*word)
            argv[argc++] = word;
    return argv;
}
