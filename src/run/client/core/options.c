/* options.c: the options as one word, `key=value,key=value…`. `lathe run` starts the client with it, and so does the client when the guest
 * calls exec:
 *
 *     lathe-client OPTIONS PATH ARGV0 ARGS…
 *
 * Any character of a value may be written as %XX in hexadecimal; a comma and a percent sign must be. A missing key has its default value;
 * an unknown key is an error, because both sides are of one build. `root` is the first process of the run, which --strace does not
 * name.
 */
#include "host/host.h"
#include "run/client/core/client.h"

typedef struct Field {
    const char *key;
    u16 off, size;
    enum { WORD, FLAG, NOT, TEXT } kind;
} Field;

#define FIELD(key, member, kind)                                                                                       \
    { key, offsetof(Options, member), sizeof(((Options *)0)->member), kind }

static const Field fields[] = {
    FIELD("opt", code.opt, WORD),
    FIELD("strict", code.strict_fp, WORD),
    FIELD("tier", asked_tier, WORD),
    FIELD("cpu", cpu, WORD),
    FIELD("strace", strace, FLAG),
    FIELD("follow", no_follow, NOT),
    FIELD("perf", perf, FLAG),
    FIELD("tool-without", tool_without, WORD),
    FIELD("explain", explain, FLAG),
    FIELD("stats", stats, WORD),
    FIELD("sample", sample_us, WORD),
    FIELD("hot", hot_ms, WORD),
    FIELD("after", after_s, WORD),
    FIELD("dump", dump, WORD),
    FIELD("keeper", keeper, WORD),
    FIELD("filters", filters, WORD),
    FIELD("debugger", debugger, WORD),
    FIELD("debugger-state", debugger_state, WORD),
    FIELD("root", first_pid, WORD),
    FIELD("exec", by_guest, FLAG),
    FIELD("space", limits.of[LIMIT_SPACE].soft, WORD),
    FIELD("space-hard", limits.of[LIMIT_SPACE].hard, WORD),
    FIELD("data", limits.of[LIMIT_DATA].soft, WORD),
    FIELD("data-hard", limits.of[LIMIT_DATA].hard, WORD),
    FIELD("build", code.reserved, TEXT),
    FIELD("cache", cache_dir, TEXT),
    FIELD("limit", cache_mib, WORD),
    FIELD("shared", shared, TEXT),
    FIELD("server", server_path, TEXT),
    FIELD("socket", socket, TEXT),
    FIELD("client", client_path, TEXT),
    FIELD("emulator", emulator, TEXT),
    FIELD("sysroot", sysroot, TEXT),
    FIELD("tool", tool, TEXT),
    FIELD("tool-options", tool_options, TEXT),
    FIELD("tools", tools_path, TEXT),
    FIELD("log", log, TEXT),
    FIELD("plugin", plugin, TEXT),
    FIELD("plugin-id", code.plugin, WORD),
};

/* ------------------------------------------------------------------------------------------------------- reading */

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | (c >= 'A' && c <= 'F' ? 0x20 : 0)) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Reads one value up to a comma or the end. Returns NULL if it does not fit or is badly written. */
static const char *read_text(const char *s, char *out, size_t size) {
    size_t n = 0;
    for (; *s && *s != ','; s++) {
        char c = *s;
        if (c == '%') {
            if (hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0)
                return NULL;
            c = (char)(hex_digit(s[1]) << 4 | hex_digit(s[2]));
            s += 2;
        }
        if (n + 1 >= size)
            return NULL;
        out[n++] = c;
    }
    out[n] = 0;
    return s;
}

static bool read_number(const char *s, u64 max, u64 *value) {
    u64 v = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return false;
        u64 digit = (u64)(*s - '0');
        if (v > (max - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = v;
    return true;
}

static const Field *find_field(const char *s, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (strlen(fields[i].key) == len && !memcmp(fields[i].key, s, len))
            return &fields[i];
    return NULL;
}

static const char *read_value(const Field *f, const char *s, Options *o) {
    u8 *place = (u8 *)o + f->off;
    char digits[24];
    u64 v;
    if (f->kind == TEXT)
        return read_text(s, (char *)place, f->size);
    s = read_text(s, digits, sizeof(digits));
    if (!s || !read_number(digits, f->size == sizeof(u64) ? UINT64_MAX : UINT32_MAX, &v))
        return NULL;
    if (f->kind == WORD)
        memcpy(place, &v, f->size);
    else
        *place = (v != 0) == (f->kind == FLAG);
    return s;
}

bool options_parse(const char *s, Options *o) {
    o->code.version = CODE_VERSION;
    o->code.arch = guest_facts.arch;
    o->code.host = host_this;
    o->code.low_vectors = guest_facts.is_hosts;
    /* A weak order costs nothing and is kept from the start; a stronger one only when there is a second thread (tier_share). */
    o->code.memory = guest_facts.memory == MEMORY_WEAK ? MEMORY_WEAK : MEMORY_ALONE;
    while (*s) {
        const char *equals = s;
        while (*equals && *equals != '=' && *equals != ',')
            equals++;
        const Field *f = find_field(s, (size_t)(equals - s));
        if (*equals != '=' || !f)
            return false;
        s = read_value(f, equals + 1, o);
        if (!s)
            return false;
        if (*s == ',')
            s++;
    }
    o->no_cache = !*o->cache_dir;
    if (!o->first_pid)
        o->first_pid = (u32)sys_getpid();
    return true;
}

/* ------------------------------------------------------------------------------------------------------- writing */

typedef struct Out {
    char *at, *end;
} Out;

static void put(Out *o, char c) {
    if (o->at < o->end)
        *o->at++ = c;
}

static void put_text(Out *o, const char *s) {
    static const char digits[] = "0123456789abcdef";
    for (; *s; s++) {
        if (*s == ',' || *s == '%') {
            put(o, '%');
            put(o, digits[(u8)*s >> 4]);
            put(o, digits[(u8)*s & 15]);
        } else {
            put(o, *s);
        }
    }
}

static void put_number(Out *o, u64 v) {
    char digits[24];
    format_text(digits, sizeof(digits), "%lu", v);
    put_text(o, digits);
}

static void put_value(Out *o, const Field *f, const Options *options) {
    const u8 *place = (const u8 *)options + f->off;
    u64 v = 0;
    switch (f->kind) {
    case TEXT:
        put_text(o, (const char *)place);
        break;
    case FLAG:
    case NOT:
        put_number(o, (*place != 0) == (f->kind == FLAG));
        break;
    case WORD:
        memcpy(&v, place, f->size);
        put_number(o, v);
        break;
    }
}

bool options_format(const Options *options, char *text, size_t size) {
    Out o = {text, text + size};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (i)
            put(&o, ',');
        for (const char *k = fields[i].key; *k; k++)
            put(&o, *k);
        put(&o, '=');
        put_value(&o, &fields[i], options);
    }
    bool fits = o.at < o.end;
    put(&o, 0);
    return fits;
}
