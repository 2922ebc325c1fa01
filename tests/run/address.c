/* address.c: addresses of shared caches, as people write them. */
#include <stdio.h>

#include "cache/address.h"

typedef struct Case {
    const char *text, *host, *user, *password;
    u32 port, db;
    const char *shown; /* without password */
} Case;

// clang-format off
static const Case good[] = {
    {"redis://h",                       "h",       "",     "",      6379, 0, "redis://h"},
    {"redis://h/",                      "h",       "",     "",      6379, 0, "redis://h"},
    {"redis://h:6379/0",                "h",       "",     "",      6379, 0, "redis://h"},
    {"redis://h:7/12",                  "h",       "",     "",      7,   12, "redis://h:7/12"},
    {"rediss://h.example:65535",        "h.example", "",   "",      65535, 0, "rediss://h.example:65535"},
    {"redis://:secret@h",               "h",       "",     "secret", 6379, 0, "redis://h"},
    {"redis://me:secret@h/3",           "h",       "me",   "secret", 6379, 3, "redis://me@h/3"},
    {"redis://me@h",                    "h",       "me",   "",      6379, 0, "redis://me@h"},
    {"redis://:a@b/c:d@h:1/2",          "h",       "",     "a@b/c:d", 1,  2, "redis://h:1/2"},
    {"redis://m%40e:%3a%2F%25@h",       "h",       "m@e",  ":/%",   6379, 0, "redis://m%40e@h"},
    {"redis://[::1]:7000/1",            "::1",     "",     "",      7000, 1, "redis://[::1]:7000/1"},
    {"redis://[fe80::2]",               "fe80::2", "",     "",      6379, 0, "redis://[fe80::2]"},
};
static const char *const bad[] = {
    "", "redis:", "redis:/h", "http://h", "redis://", "redis:///1", "redis://:6379", "redis://h:", "redis://h:0", "redis://h:65536",
    "redis://h:x", "redis://h/x", "redis://h/1/2", "redis://h/65536", "redis://[::1", "redis://[::1]7", "redis://%4:x@h", "redis://:%00@h",
};
// clang-format on

static bool is_right(const Case *c) {
    RedisAddress a, again;
    char shown[ADDRESS_SIZE];
    if (address_parse(c->text, &a) || strcmp(a.host, c->host) || strcmp(a.user, c->user) ||
        strcmp(a.password, c->password) || a.port != c->port || a.db != c->db || a.tls != (c->text[5] == 's'))
        return false;
    if (!address_format(&a, shown, sizeof(shown)) || strcmp(shown, c->shown) || address_parse(shown, &again))
        return false;
    memset(a.password, 0, sizeof(a.password));
    return !strcmp(a.host, again.host) && !strcmp(a.user, again.user) && a.port == again.port && a.db == again.db;
}

int main(void) {
    int failed = 0;
    RedisAddress a;
    char longest[400], small[8];
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!is_right(&good[i]) && ++failed)
            printf("FAIL: %s\n", good[i].text);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!address_parse(bad[i], &a) && ++failed)
            printf("FAIL: '%s' is taken\n", bad[i]);
    snprintf(longest, sizeof(longest), "redis://%0300d", 0);
    if ((!address_parse(longest, &a) || address_parse("redis://host", &a) ||
         address_format(&a, small, sizeof(small))) &&
        ++failed)
        printf("FAIL: what does not fit\n");
    printf("%zu addresses, %d failed\n", ARRAY_LEN(good) + ARRAY_LEN(bad) + 2, failed);
    return failed != 0;
}
