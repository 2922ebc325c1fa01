/* address.c: see address.h. */
#include "cache/address.h"

#include <stdio.h>
#include <stdlib.h>

#define PLAIN "redis://"
#define TLS "rediss://"

enum { PORT_USUAL = 6379 };

static bool starts_with(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

bool address_is_one(const char *text) {
    return starts_with(text, PLAIN) || starts_with(text, TLS);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Copies the characters of [at, end) with %XX replaced. Returns false if there are too many, or %XX is badly written. */
static bool decode(const char *at, const char *end, char out[ADDRESS_SIZE]) {
    size_t n = 0;
    for (; at < end; at++) {
        char c = *at;
        if (c == '%') {
            if (end - at < 3 || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
                return false;
            c = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
            at += 2;
        }
        if (!c || n + 1 >= ADDRESS_SIZE)
            return false;
        out[n++] = c;
    }
    out[n] = 0;
    return true;
}

/* Parses a decimal number that ends at `end`. */
static bool parse_number(const char *at, const char *end, u32 max, u32 *value) {
    u64 v = 0;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        v = v * 10 + (u64)(*at - '0');
        if (v > max)
            return false;
    }
    *value = (u32)v;
    return true;
}

/* Parses USER, USER:PASSWORD or :PASSWORD. */
static bool parse_login(const char *at, const char *end, RedisAddress *a) {
    const char *colon = memchr(at, ':', (size_t)(end - at));
    return decode(at, colon ? colon : end, a->user) && (!colon || decode(colon + 1, end, a->password));
}

/* Parses HOST or HOST:PORT. An IPv6 address is in brackets. */
static bool parse_host(const char *at, const char *end, RedisAddress *a) {
    bool bracketed = at < end && *at == '[';
    const char *stop = memchr(at, bracketed ? ']' : ':', (size_t)(end - at));
    if ((bracketed && !stop) || !decode(at + bracketed, stop ? stop : end, a->host) || !*a->host)
        return false;
    const char *rest = stop ? stop + bracketed : end;
    return rest == end || (*rest == ':' && parse_number(rest + 1, end, UINT16_MAX, &a->port) && a->port);
}

const char *address_parse(const char *text, RedisAddress *a) {
    if (!address_is_one(text))
        return "it does not begin with redis:// or rediss://";
    *a = (RedisAddress){.port = PORT_USUAL, .tls = starts_with(text, TLS)};
    const char *at = text + strlen(a->tls ? TLS : PLAIN);
    const char *login = strrchr(at, '@'); /* the last one, because a password may contain others */
    if (login && !parse_login(at, login, a))
        return "user and password are badly written";
    at = login ? login + 1 : at;
    const char *end = at + strcspn(at, "/");
    if (!parse_host(at, end, a))
        return "host and port are badly written";
    if (*end == '/' && end[1] && !parse_number(end + 1, end + strlen(end), UINT16_MAX, &a->db))
        return "the database is not a number";
    return NULL;
}

static void print_encoded(FILE *out, const char *text) {
    for (; *text; text++)
        fprintf(out, (u8)*text <= 0x20 || strchr("%:/@\x7f", *text) ? "%%%02x" : "%c", (u8)*text);
}

bool address_format(const RedisAddress *a, char *text, size_t size) {
    char *made;
    size_t made_size;
    FILE *out = open_memstream(&made, &made_size);
    CHECK(out, "out of memory");
    fputs(a->tls ? TLS : PLAIN, out);
    print_encoded(out, a->user);
    bool bracketed = strchr(a->host, ':');
    fprintf(out, "%s%s%s%s", *a->user ? "@" : "", bracketed ? "[" : "", a->host, bracketed ? "]" : "");
    if (a->port != PORT_USUAL)
        fprintf(out, ":%u", a->port);
    if (a->db)
        fprintf(out, "/%u", a->db);
    CHECK(fclose(out) == 0, "out of memory");
    bool fits = made_size < size;
    if (fits)
        memcpy(text, made, made_size + 1);
    free(made);
    return fits;
}
