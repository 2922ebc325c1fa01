/* stats.c: see stats.h. */
#include "cli/explore/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Is it {"name": number, …} and nothing else, so that it can become a part of other JSON as it is? */
static bool is_figures(const char *text) {
    if (*text++ != '{')
        return false;
    for (;; text++) {
        int size = 0;
        unsigned long number;
        if (sscanf(text, " \"%*[a-z0-9_]\": %lu%n", &number, &size) != 1 || !size)
            return false;
        text += size;
        if (*text != ',')
            return !strcmp(text, "}");
    }
}

char *stats_read(const char *path) {
    FILE *in = fopen(path, "r");
    if (!in) {
        fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    char *line = NULL, *found = NULL;
    size_t room = 0;
    while (getline(&line, &room, in) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (!is_figures(line))
            continue;
        free(found);
        found = strdup(line);
    }
    free(line);
    fclose(in);
    if (!found)
        fprintf(stderr, "lathe: %s: it has no statistics as 'lathe run --stats=json' prints them\n", path);
    return found;
}
