/* options.h: the options of a subcommand as a table, which serves for parsing and for --help alike.
 *
 *     typedef struct Settings { bool loud; int speed; const char *output; } Settings;
 *     static const Option table[] = {
 *         {"loud",  NULL,        "say everything",  OPTION_FLAG,   offsetof(Settings, loud)},
 *         {"speed", "slow|fast", "how fast",        OPTION_CHOICE, offsetof(Settings, speed)},
 *         {"o",     "FILE",      "write to FILE",   OPTION_TEXT,   offsetof(Settings, output)},
 *         {0},
 *     };
 *
 * accepts --loud, --speed=fast, --speed fast, -o FILE, -oFILE. A name of one letter takes one dash, others two. `--`
 * ends the options. --help (and -h) is understood by every command.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/base.h"

typedef enum OptionKind {
    OPTION_FLAG,    /* bool: becomes true */
    OPTION_TEXT,    /* const char *: the argument */
    OPTION_NUMBER,  /* u64: decimal, or hexadecimal with 0x */
    OPTION_CHOICE,  /* int: the index of the alternative in `argument`, which is "first|second|..." */
    OPTION_MAYBE,   /* likewise, but may stand without argument, which means the first */
    OPTION_LIST,    /* OptionList: all arguments, in the order given */
    OPTION_HEADING, /* not an option: `help` is a heading of the list */
} OptionKind;

typedef struct Option {
    const char *name;
    const char *argument; /* as --help shows it; NULL: none */
    const char *help;
    OptionKind kind;
    size_t offset; /* of the target in the settings structure */
} Option;

typedef VEC(const char *) OptionList;

typedef struct OptionSet {
    const char *command;  /* as typed, for messages: "lathe lift" */
    const char *usage;    /* lines of forms, without the command's name */
    const char *about;    /* a sentence or two */
    const Option *table;  /* ends with a zero row */
    bool stop_at_operand; /* what follows the first operand is not parsed, as in `lathe run PROG -x` */
} OptionSet;

typedef enum ParseResult { PARSE_OK, PARSE_HELP, PARSE_ERROR } ParseResult;

/* Parses argv[1...] into *settings. Moves the operands to argv[1...] and stores their number in *argc. PARSE_HELP: help
 * was asked for and printed. PARSE_ERROR: a message was printed. */
ParseResult options_parse(const OptionSet *set, int *argc, char **argv, void *settings);

/* Does the same with the environment, and has to be called first: LATHE_STRICT_FP stands for --strict-fp, and so on.
 * Flags, and options that may stand without argument, also take 0 and 1. Options of one letter have no variable. */
ParseResult options_environment(const OptionSet *set, void *settings);

void options_help(const OptionSet *set);

/* Prints "lathe lift: <message>" and a hint on stderr. Returns the exit status for wrong usage, 2. */
int options_misuse(const OptionSet *set, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many letters must be changed to turn one word into the other, for "did you mean". */
size_t options_distance(const char *a, const char *b);

#endif
