/* options.c: the options of a tool: --tool=NAME,key=value,…. */
#include "tool/library/library.h"

enum { OPTIONS_MOST = 64 };

typedef struct ToolOption {
    u32 tool; /* the number of the one that it was given to */
    const char *key, *value;
    bool asked; /* the tool knows it */
} ToolOption;

typedef struct ToolOptions {
    const char *names[TOOLS_MAX];
    u32 tool_count;
    ToolOption at[OPTIONS_MOST];
    u32 count;
    ToolOption known[OPTIONS_MOST]; /* what tools have asked for when the program began; without values */
    u32 known_count;
    bool checked; /* the program has begun */
    char text[TOOL_OPTIONS_SIZE];
} ToolOptions;

static ToolOptions options;

static ToolOption *find(ToolOption *list, u32 count, u32 tool, const char *key) {
    for (u32 i = 0; i < count; i++)
        if (list[i].tool == tool && !strcmp(list[i].key, key))
            return &list[i];
    return NULL;
}

static void add(char *text) {
    char *equals = strchr(text, '=');
    if (options.count == OPTIONS_MOST)
        die("the tool has more than %d options", OPTIONS_MOST);
    if (equals)
        *equals = 0;
    if (find(options.at, options.count, options.tool_count, text))
        die("--tool=%s: the option '%s' is given twice", options.names[options.tool_count - 1], text);
    options.at[options.count++] = (ToolOption){options.tool_count, text, equals ? equals + 1 : "", false};
}

/* Cuts a text at the first `divider`, and returns what is behind it; NULL: there is none. */
static char *cut(char *text, char divider) {
    char *at = strchr(text, divider);
    if (at)
        *at++ = 0;
    return at;
}

/* NAME,key=value,… */
static void add_tool(char *text) {
    char *next = cut(text, ',');
    if (options.tool_count == TOOLS_MAX)
        die("there are more than %d tools", TOOLS_MAX);
    options.names[options.tool_count++] = text;
    for (char *at = next; at && *at; at = next) {
        next = cut(at, ',');
        add(at);
    }
}

void tool_options_init(const char *text) {
    size_t len = strlen(text);
    if (len >= sizeof(options.text))
        die("the options of tools are too long");
    memcpy(options.text, text, len + 1);
    for (char *at = options.text, *next; at; at = next) {
        next = cut(at, TOOL_OPTIONS_DIVIDER);
        add_tool(at);
    }
}

/* The keys that a tool knows, divided by commas. */
static void list_known(u32 tool, char *text, size_t size) {
    size_t len = 0;
    *text = 0;
    for (u32 i = 0; i < options.known_count; i++)
        if (options.known[i].tool == tool && len < size - 1)
            len += format_text(text + len, size - len, len ? ", %s" : "%s", options.known[i].key);
}

static _Noreturn void refuse(const ToolOption *o) {
    char known[512];
    list_known(o->tool, known, sizeof(known));
    if (*known)
        lathe_fail_of(0, "%s has no option '%s'; it knows %s", options.names[o->tool - 1], o->key, known);
    lathe_fail_of(0, "%s has no option '%s', nor any other", options.names[o->tool - 1], o->key);
}

void tool_options_check(void) {
    for (u32 i = 0; i < options.count; i++)
        if (!options.at[i].asked)
            refuse(&options.at[i]);
    options.checked = true;
}

const char *tool_own_name(u32 number) {
    return number - 1 < options.tool_count ? options.names[number - 1] : NULL;
}

const char *tool_name(u32 number) {
    return options.tool_count > 1 ? tool_own_name(number) : NULL;
}

/* Later questions, which threads may ask at the same time, are not noted. */
static void note_known(u32 tool, const char *key) {
    if (!options.checked && options.known_count < OPTIONS_MOST && !find(options.known, options.known_count, tool, key))
        options.known[options.known_count++] = (ToolOption){.tool = tool, .key = key};
}

const char *lathe_option_of(unsigned tool, const char *key) {
    ToolOption *o = find(options.at, options.count, tool, key);
    note_known(tool, key);
    if (!o)
        return NULL;
    o->asked = true;
    return o->value;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

uint64_t lathe_option_number_of(unsigned tool, const char *key, uint64_t otherwise) {
    const char *text = lathe_option_of(tool, key);
    if (!text)
        return otherwise;
    u64 base = !strncmp(text, "0x", 2) ? 16 : 10, number = 0;
    const char *p = text + (base == 16 ? 2 : 0);
    bool good = *p;
    for (; *p; p++) {
        u64 digit = (u64)digit_of(*p);
        good &= digit < base && number <= (UINT64_MAX - digit) / base;
        number = number * base + digit;
    }
    if (!good)
        lathe_fail_of(tool, "the option %s=%s is no number", key, text);
    return number;
}
