/* options.c: see options.h. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define HELP_COLUMN 29
#define WORD_MAX 32

static const Option *find(const OptionSet *set, const char *name, size_t len) {
    for (const Option *o = set->table; o->help; o++)
        if (o->kind != OPTION_HEADING && strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    return NULL;
}

static int unknown(const OptionSet *set, const char *dashes, const char *name, size_t len) {
    char word[WORD_MAX];
    snprintf(word, sizeof(word), "%.*s", (int)len, name);
    const Option *best = NULL;
    size_t least = 3; /* words that differ more are not suggested */
    for (const Option *o = set->table; o->help; o++) {
        size_t distance = o->kind == OPTION_HEADING || len < 2 ? least : options_distance(o->name, word);
        if (distance < least) {
            least = distance;
            best = o;
        }
    }
    if (best)
        return options_misuse(set, "unknown option %s%s (did you mean --%s?)", dashes, word, best->name);
    return options_misuse(set, "unknown option %s%s", dashes, word);
}

/* The index of `value` among "a|b|c", or -1. */
static int choose(const char *alternatives, const char *value) {
    size_t len = strlen(value);
    int index = 0;
    for (const char *at = alternatives;; index++) {
        size_t width = strcspn(at, "|");
        if (width == len && !strncmp(at, value, len))
            return index;
        if (!at[width])
            return -1;
        at += width + 1;
    }
}

static bool number(const char *text, u64 *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* `value` is NULL only if the option takes none. */
static bool assign(const OptionSet *set, const Option *o, const char *value, void *settings) {
    void *target = (char *)settings + o->offset;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)target = value;
        return true;
    case OPTION_NUMBER:
        if (number(value, target))
            return true;
        options_misuse(set, "--%s: '%s' is no number", o->name, value);
        return false;
    case OPTION_CHOICE:
    case OPTION_MAYBE:
        *(int *)target = choose(o->argument, value);
        if (*(int *)target >= 0)
            return true;
        options_misuse(set, "--%s: '%s' is not one of %s", o->name, value, o->argument);
        return false;
    case OPTION_LIST:
        VEC_PUSH((OptionList *)target, value);
        return true;
    case OPTION_HEADING:
        break;
    }
    CHECK(false, "headings are not found as options");
    return false;
}

/* Parses the option at argv[*i], whose argument may be argv[*i + 1]. */
static bool parse_one(const OptionSet *set, int argc, char **argv, int *i, void *settings) {
    bool is_long = argv[*i][1] == '-';
    const char *name = argv[*i] + (is_long ? 2 : 1);
    size_t len = is_long ? strcspn(name, "=") : 1;
    const Option *o = is_long == (len > 1) ? find(set, name, len) : NULL;
    if (!o) {
        unknown(set, is_long ? "--" : "-", name, len);
        return false;
    }
    const char *value = name[len] ? name + len + is_long : NULL;
    if (!o->argument) {
        if (value)
            options_misuse(set, "--%s takes no argument", o->name);
        return !value && assign(set, o, NULL, settings);
    }
    if (!value && o->kind == OPTION_MAYBE) {
        *(int *)((char *)settings + o->offset) = 0;
        return true;
    }
    if (!value && *i + 1 < argc)
        value = argv[++*i];
    if (!value)
        options_misuse(set, "%s%s needs an argument: %s", is_long ? "--" : "-", o->name, o->argument);
    return value && assign(set, o, value, settings);
}

static void name_variable(const Option *o, char *variable, size_t size) {
    snprintf(variable, size, "LATHE_%s", o->name);
    for (char *c = variable; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((u8)*c);
}

/* The environment variable `variable` has this value. */
static bool assign_variable(const OptionSet *set, const Option *o, const char *variable, const char *value,
                            void *settings) {
    bool plain = o->kind == OPTION_FLAG || o->kind == OPTION_MAYBE, one = !strcmp(value, "1");
    if (!*value || (plain && !strcmp(value, "0")))
        return true;
    if (o->kind == OPTION_FLAG && !one) {
        options_misuse(set, "%s: '%s' is neither 0 nor 1", variable, value);
        return false;
    }
    if (o->kind == OPTION_MAYBE && one) {
        *(int *)((char *)settings + o->offset) = 0;
        return true;
    }
    return assign(set, o, value, settings);
}

static void print_option(const Option *o) {
    if (o->kind == OPTION_HEADING) {
        printf("\n%s\n", o->help);
        return;
    }
    bool is_long = strlen(o->name) > 1;
    bool maybe = o->kind == OPTION_MAYBE;
    const char *join = !o->argument ? "" : maybe ? "[=" : is_long ? "=" : " ";
    int width =
        printf("  %s%s%s%s%s", is_long ? "--" : "-", o->name, join, o->argument ? o->argument : "", maybe ? "]" : "");
    if (width > HELP_COLUMN - 2)
        printf("\n%*s%s\n", HELP_COLUMN, "", o->help);
    else
        printf("%*s%s\n", HELP_COLUMN - width, "", o->help);
}

static void print_usage(const OptionSet *set) {
    const char *lead = "usage:";
    for (const char *at = set->usage; *at; lead = "      ") {
        int width = (int)strcspn(at, "\n");
        printf("%s %s %.*s\n", lead, set->command, width, at);
        at += width + (at[width] == '\n');
    }
}

size_t options_distance(const char *a, const char *b) {
    size_t row[WORD_MAX + 1], len = strlen(b);
    if (len > WORD_MAX)
        return len;
    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < shift ? change : shift;
        }
    }
    return row[len];
}

int options_misuse(const OptionSet *set, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", set->command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry '%s --help'.\n", set->command);
    va_end(args);
    return 2;
}

void options_help(const OptionSet *set) {
    print_usage(set);
    printf("\n%s\n", set->about);
    if (set->table->kind != OPTION_HEADING)
        printf("\n");
    for (const Option *o = set->table; o->help; o++)
        print_option(o);
}

ParseResult options_environment(const OptionSet *set, void *settings) {
    for (const Option *o = set->table; o->help; o++) {
        char variable[WORD_MAX + sizeof("LATHE_")];
        if (o->kind == OPTION_HEADING || strlen(o->name) == 1)
            continue;
        name_variable(o, variable, sizeof(variable));
        const char *value = getenv(variable);
        if (value && !assign_variable(set, o, variable, value, settings))
            return PARSE_ERROR;
    }
    return PARSE_OK;
}

ParseResult options_parse(const OptionSet *set, int *argc, char **argv, void *settings) {
    int operands = 0;
    bool only_operands = false;
    for (int i = 1; i < *argc; i++) {
        if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
            argv[1 + operands++] = argv[i];
            only_operands |= set->stop_at_operand;
        } else if (!strcmp(argv[i], "--")) {
            only_operands = true;
        } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            options_help(set);
            return PARSE_HELP;
        } else if (!parse_one(set, *argc, argv, &i, settings)) {
            return PARSE_ERROR;
        }
    }
    *argc = operands;
    return PARSE_OK;
}
