/* options.c: the options of a tool: --tool=NAME,key=value,…. */
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

enum { OPTIONS_MOST = 64 };

typedef struct ToolOption {
    const char *key, *value;
    bool asked; /* the tool knows it */
} ToolOption;

typedef struct ToolOptions {
    ToolOption at[OPTIONS_MOST];
    u32 count;
    char text[sizeof(((Options *)0)->tool_options)];
} ToolOptions;

static ToolOptions options;

static void add(char *text) {
    char *equals = strchr(text, '=');
    if (options.count == OPTIONS_MOST)
        die("the tool has more than %d options", OPTIONS_MOST);
    if (equals)
        *equals = 0;
    options.at[options.count++] = (ToolOption){text, equals ? equals + 1 : "", false};
}

void tool_options_init(void) {
    memcpy(options.text, the.opt.tool_options, sizeof(options.text));
    for (char *at = options.text, *next; at && *at; at = next) {
        next = strchr(at, ',');
        if (next)
            *next++ = 0;
        add(at);
    }
}

const char *tool_unknown_option(void) {
    for (u32 i = 0; i < options.count; i++)
        if (!options.at[i].asked)
            return options.at[i].key;
    return NULL;
}

/* The last one counts, as with options of programs. */
const char *lathe_option(const char *key) {
    const char *value = NULL;
    for (u32 i = 0; i < options.count; i++)
        if (!strcmp(options.at[i].key, key)) {
            options.at[i].asked = true;
            value = options.at[i].value;
        }
    return value;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

uint64_t lathe_option_number(const char *key, uint64_t otherwise) {
    const char *text = lathe_option(key);
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
        lathe_fail("the option %s=%s is no number", key, text);
    return number;
}
