/* cases.c: see cases.h. */
#include "cases.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define BY_HAND "by-hand"

static bool complain(const char *file, int line, const char *message) {
    fprintf(stderr, "%s:%d: %s\n", file, line, message);
    return false;
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    return text;
}

static bool is_case(const char *line) {
    line += strspn(line, " \t\r\n");
    return *line && *line != '#';
}

/* The word that is no state assignment. Removed from the text, because state_parse does not know it. */
static bool take_by_hand(char *expected) {
    char *at = strstr(expected, BY_HAND);
    if (at)
        memset(at, ' ', strlen(BY_HAND));
    return at;
}

static bool parse_case(Case *c, char *text) {
    char *rest = text;
    char *insns = strsep(&rest, "|"), *initial = strsep(&rest, "|"), *expected = strsep(&rest, "|");
    if (!expected || rest)
        return complain(c->file, c->line, "expected 'instructions | initial state | expected changes'");
    c->by_hand = take_by_hand(expected);
    c->insns = trim(insns);
    c->initial = trim(initial);
    c->expected = trim(expected);
    return *c->insns || complain(c->file, c->line, "no instruction");
}

/* The left-open entries (`name=?`) of a column: they are the author's, an update keeps them. */
static void print_open(FILE *f, const char *expected) {
    char *copy = strdup(expected), *rest = copy;
    for (char *word; (word = strsep(&rest, " \t"));) {
        char *equals = strchr(word, '=');
        if (equals && equals[1] == '?')
            fprintf(f, " %s", word);
    }
    free(copy);
}

static void print_case(FILE *f, const char *line, const Case *c, const char *expected) {
    int kept = (int)(strrchr(line, '|') - line);
    fprintf(f, "%.*s|%s%s", kept, line, *expected ? " " : "", expected);
    print_open(f, c->expected);
    fputc('\n', f);
}

static const Case *case_at(const CaseList *list, const char *file, int line, size_t *index) {
    for (; *index < list->len; ++*index)
        if (list->at[*index].line == line && !strcmp(list->at[*index].file, file))
            return &list->at[*index];
    return NULL;
}

static void copy_lines(FILE *from, FILE *to, const char *file, const CaseList *list, const char *const *expected) {
    char *text = NULL;
    size_t cap = 0, index = 0;
    for (int line = 1; getline(&text, &cap, from) > 0; line++) {
        size_t found = index;
        const Case *c = is_case(text) ? case_at(list, file, line, &found) : NULL;
        if (c)
            index = found;
        if (c && expected[index])
            print_case(to, text, c, expected[index]);
        else
            fputs(text, to);
    }
    free(text);
}

bool cases_read(const char *file, CaseList *list, Arena *a) {
    FILE *f = fopen(file, "r");
    if (!f)
        return complain(file, 0, strerror(errno));
    char *text = NULL;
    size_t cap = 0;
    bool ok = true;
    for (int line = 1; getline(&text, &cap, f) > 0; line++) {
        Case c = {.file = file, .line = line};
        if (!is_case(text))
            continue;
        if (parse_case(&c, arena_printf(a, "%s", text)))
            VEC_PUSH(list, c);
        else
            ok = false;
    }
    free(text);
    fclose(f);
    return ok;
}

bool cases_states(const Case *c, State *initial, State *expected, State *ignore) {
    char error[200];
    state_default(initial);
    if (!state_parse(c->initial, initial, NULL, error, sizeof(error)))
        return complain(c->file, c->line, error);
    if (initial->cpu.pc != STATE_CODE || initial->cpu.trap)
        return complain(c->file, c->line, "pc and trap are no initial state");
    *expected = *initial;
    *ignore = (State){0};
    bool traps = strstr(c->expected, "trap=");
    expected->cpu.pc = initial->cpu.pc + (traps ? 0 : c->size);
    return state_parse(c->expected, expected, ignore, error, sizeof(error)) || complain(c->file, c->line, error);
}

bool cases_write(const char *file, const CaseList *list, const char *const *expected) {
    FILE *from = fopen(file, "r");
    char *name = NULL;
    if (!from || asprintf(&name, "%s.new", file) < 0)
        return complain(file, 0, strerror(errno));
    FILE *to = fopen(name, "w");
    if (to)
        copy_lines(from, to, file, list, expected);
    bool ok = to && !fclose(to) && !rename(name, file);
    if (!ok)
        complain(name, 0, strerror(errno));
    fclose(from);
    free(name);
    return ok;
}
