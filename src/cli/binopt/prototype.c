/* prototype.c: see prototype.h. */
#include "cli/binopt/prototype.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binopt/config/config.h"

typedef struct TypeName {
    const char *name;
    BinoptType type;
} TypeName;

/* If a type has several names, the first is the one that is printed. */
static const TypeName names[] = {
    {"void", BINOPT_TY_VOID},
    {"int8", BINOPT_TY_INT8},
    {"int16", BINOPT_TY_INT16},
    {"int32", BINOPT_TY_INT32},
    {"int64", BINOPT_TY_INT64},
    {"uint8", BINOPT_TY_UINT8},
    {"uint16", BINOPT_TY_UINT16},
    {"uint32", BINOPT_TY_UINT32},
    {"uint64", BINOPT_TY_UINT64},
    {"float", BINOPT_TY_FLOAT},
    {"double", BINOPT_TY_DOUBLE},
    {"ptr", BINOPT_TY_PTR},
    {"noalias", BINOPT_TY_PTR_NOALIAS},
    {"char", BINOPT_TY_INT8},
    {"signed char", BINOPT_TY_INT8},
    {"unsigned char", BINOPT_TY_UINT8},
    {"bool", BINOPT_TY_UINT8},
    {"_Bool", BINOPT_TY_UINT8},
    {"short", BINOPT_TY_INT16},
    {"unsigned short", BINOPT_TY_UINT16},
    {"int", BINOPT_TY_INT32},
    {"unsigned", BINOPT_TY_UINT32},
    {"unsigned int", BINOPT_TY_UINT32},
    {"long", BINOPT_TY_INT64},
    {"long long", BINOPT_TY_INT64},
    {"unsigned long", BINOPT_TY_UINT64},
    {"unsigned long long", BINOPT_TY_UINT64},
    {"size_t", BINOPT_TY_UINT64},
    {"ssize_t", BINOPT_TY_INT64},
    {"int8_t", BINOPT_TY_INT8},
    {"int16_t", BINOPT_TY_INT16},
    {"int32_t", BINOPT_TY_INT32},
    {"int64_t", BINOPT_TY_INT64},
    {"uint8_t", BINOPT_TY_UINT8},
    {"uint16_t", BINOPT_TY_UINT16},
    {"uint32_t", BINOPT_TY_UINT32},
    {"uint64_t", BINOPT_TY_UINT64},
};

static bool complain(const char *what, const char *text, const char *why) {
    fprintf(stderr, "lathe: %s: '%s' %s\n", what, text, why);
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- types */

static bool next_word(const char **at, const char *end, const char **word, size_t *len) {
    while (*at < end && isspace((u8) * *at))
        ++*at;
    *word = *at;
    while (*at < end && !isspace((u8) * *at) && **at != '*')
        ++*at;
    if (*at < end && *at == *word)
        ++*at; /* skips the star */
    *len = (size_t)(*at - *word);
    return *len;
}

static bool find_name(const char *name, BinoptType *type) {
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(names[i].name, name)) {
            *type = names[i].type;
            return true;
        }
    return false;
}

/* A type is words with single blanks between them, without qualifiers. Any type with a star is a pointer. */
static bool parse_type(const char *at, const char *end, BinoptType *type) {
    char plain[64] = "";
    bool pointer = false, alone = false;
    const char *word;
    size_t len, used = 0;
    while (next_word(&at, end, &word, &len)) {
        bool qualifier = (len == 5 && !strncmp(word, "const", 5)) || (len == 8 && !strncmp(word, "volatile", 8));
        alone |= pointer && len == 8 && !strncmp(word, "restrict", 8);
        pointer |= *word == '*';
        if (pointer || qualifier)
            continue;
        if (used + len + 2 > sizeof(plain))
            return false;
        used += (size_t)snprintf(plain + used, sizeof(plain) - used, "%s%.*s", used ? " " : "", (int)len, word);
    }
    *type = alone ? BINOPT_TY_PTR_NOALIAS : BINOPT_TY_PTR;
    return pointer ? used > 0 : find_name(plain, type);
}

static bool parse_params(const char *at, const char *end, Prototype *p) {
    BinoptType only;
    if (parse_type(at, end, &only) && only == BINOPT_TY_VOID)
        return true;
    while (at <= end && p->count < PROTOTYPE_MAX_PARAMS) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        BinoptType *type = &p->params[p->count++];
        if (!parse_type(at, comma ? comma : end, type) || !*type)
            return false;
        at = comma ? comma + 1 : end + 1;
    }
    return at > end;
}

bool prototype_parse(const char *text, Prototype *p) {
    *p = (Prototype){0};
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    bool whole = open && close && close > open && close[1 + strspn(close + 1, " ")] == '\0';
    bool empty = whole && open + 1 + strspn(open + 1, " ") == close;
    if (whole && parse_type(text, open, &p->ret) && (empty || parse_params(open + 1, close, p)))
        return true;
    return complain("--type", text, "is not the type of a function, such as 'int(int, double *)'");
}

void prototype_print(FILE *out, const Prototype *p) {
    fprintf(out, "%s(", names[p->ret].name);
    for (u32 i = 0; i < p->count; i++)
        fprintf(out, "%s%s", i ? ", " : "", names[p->params[i]].name);
    fprintf(out, ")");
}

/* -------------------------------------------------------------------------------------------------------------- values */

static bool fits(i64 n, bool negative, BinoptType type) {
    u32 bits = 8 * config_type_bytes(type);
    if (bits == 64)
        return true;
    i64 least = config_type_is_signed(type) ? -((i64)1 << (bits - 1)) : 0;
    return negative ? n >= least : (u64)n < (u64)1 << bits;
}

static bool parse_integer(const char *text, BinoptType type, u64 *bits) {
    char *end;
    bool negative = *text == '-';
    errno = 0;
    u64 n = negative ? (u64)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (end == text || *end || errno || !fits((i64)n, negative, type))
        return false;
    u32 size = config_type_bytes(type);
    *bits = size == 8 ? n : n & (((u64)1 << 8 * size) - 1);
    return true;
}

static bool parse_number(const char *text, BinoptType type, u64 *bits) {
    if (!config_type_is_float(type))
        return parse_integer(text, type, bits);
    char *end;
    double d = strtod(text, &end);
    float f = (float)d;
    *bits = 0;
    memcpy(bits, type == BINOPT_TY_FLOAT ? (void *)&f : (void *)&d, config_type_bytes(type));
    return end != text && !*end;
}

/* The memory is shared, so that this process sees what a child process does to it. */
static bool make_memory(size_t size, TypedValue *v) {
    void *at = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (at == MAP_FAILED)
        return false;
    *v = (TypedValue){(u64)at, at, size};
    return true;
}

static bool read_into(const char *path, TypedValue *v) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && make_memory((size_t)st.st_size, v) &&
              read(fd, v->memory, v->size) == (ssize_t)v->size;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool make_array(const char *list, BinoptType type, TypedValue *v) {
    size_t count = 1, bytes = config_type_bytes(type);
    for (const char *c = list; *c; c++)
        count += *c == ',';
    if (!bytes || !make_memory(count * bytes, v))
        return false;
    for (size_t i = 0; i < count; i++) {
        char one[64];
        int width = (int)strcspn(list, ",");
        u64 bits;
        snprintf(one, sizeof(one), "%.*s", width, list);
        if (!parse_number(one, type, &bits))
            return false;
        memcpy(v->memory + i * bytes, &bits, bytes);
        list += width + (list[width] == ',');
    }
    return true;
}

static bool parse_pointer(const char *text, Loaded *l, TypedValue *v) {
    const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : "";
    char kind[32];
    BinoptType type;
    u64 size;
    if (!colon)
        return parse_integer(text, BINOPT_TY_UINT64, &v->bits);
    snprintf(kind, sizeof(kind), "%.*s", (int)(colon - text), text);
    if (!strcmp(kind, "symbol"))
        return loaded_address(l, rest, &v->bits);
    if (!strcmp(kind, "file"))
        return read_into(rest, v);
    if (!strcmp(kind, "zero"))
        return parse_integer(rest, BINOPT_TY_UINT64, &size) && make_memory(size, v);
    if (!strcmp(kind, "text"))
        return make_memory(strlen(rest) + 1, v) && memcpy(v->memory, rest, strlen(rest) + 1);
    return find_name(kind, &type) && make_array(rest, type, v);
}

bool value_parse(const char *text, BinoptType type, Loaded *l, TypedValue *v) {
    *v = (TypedValue){0};
    bool pointer = config_type_is_pointer(type);
    if (pointer ? parse_pointer(text, l, v) : parse_number(text, type, &v->bits))
        return true;
    char why[64];
    snprintf(why, sizeof(why), "is no value of type %s", names[type].name);
    return complain("value", text, why);
}

void value_print(FILE *out, BinoptType type, u64 bits) {
    float f;
    double d;
    u32 unused = 64 - 8 * config_type_bytes(type);
    memcpy(&f, &bits, sizeof(f));
    memcpy(&d, &bits, sizeof(d));
    if (type == BINOPT_TY_VOID)
        fprintf(out, "nothing");
    else if (type == BINOPT_TY_FLOAT || type == BINOPT_TY_DOUBLE)
        fprintf(out, "%.17g", type == BINOPT_TY_FLOAT ? (double)f : d);
    else if (config_type_is_pointer(type))
        fprintf(out, "0x%lx", bits);
    else if (config_type_is_signed(type))
        fprintf(out, "%ld", (i64)(bits << unused) >> unused);
    else
        fprintf(out, "%lu", bits << unused >> unused);
}
