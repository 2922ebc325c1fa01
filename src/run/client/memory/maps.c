/* maps.c: see maps.h. The kernel writes
 *
 *     7f74eb081000-7f74eb085000 r--p 00000000 fe:00 332383      /usr/lib/libc.so.6
 */
#include "run/client/memory/maps.h"

#include "run/client/core/sys.h"

void maps_begin(MapsReader *r, int fd) {
    r->at = r->len = 0;
    r->fd = fd;
}

bool maps_open(MapsReader *r) {
    maps_begin(r, (int)sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0));
    return r->fd >= 0;
}

void maps_close(MapsReader *r) {
    if (r->fd >= 0)
        sys_close(r->fd);
}

char *maps_next_text(MapsReader *r) {
    for (;;) {
        char *start = r->text + r->at, *end = memchr(start, '\n', r->len - r->at);
        if (end) {
            *end = 0;
            r->at = (u32)(end + 1 - r->text);
            return start;
        }
        memmove(r->text, start, r->len -= r->at);
        r->at = 0;
        i64 n = sys_read(r->fd, r->text + r->len, MAPS_BUFFER - r->len);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return NULL;
        r->len += (u32)n;
    }
}

u64 maps_take_hex(const char **p) {
    u64 n = 0;
    for (;; (*p)++) {
        char c = **p;
        if (c >= '0' && c <= '9')
            n = n << 4 | (u64)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = n << 4 | (u64)(c - 'a' + 10);
        else
            return n;
    }
}

static u64 take_hex(char **p) {
    const char *at = *p;
    u64 n = maps_take_hex(&at);
    *p += at - *p;
    return n;
}

/* Ends the word at *p with a zero and moves *p to the next word. */
static char *take_word(char **p) {
    char *word = *p;
    while (**p && **p != ' ')
        ++*p;
    while (**p == ' ')
        *(*p)++ = 0;
    return word;
}

void maps_parse(char *p, MapsLine *line) {
    line->start = take_hex(&p);
    p += *p == '-';
    line->end = take_hex(&p);
    p += *p == ' ';
    format_text(line->prot, sizeof(line->prot), "%s", take_word(&p));
    line->off = take_hex(&p);
    p += *p == ' ';
    line->origin = p;
    char *inode = strchr(p, ' ');
    p = inode ? inode + 1 : p;
    line->file = inode && strcmp(take_word(&p), "0");
    line->name = p;
}

bool maps_next(MapsReader *r, MapsLine *line) {
    char *text = maps_next_text(r);
    if (text)
        maps_parse(text, line);
    return text;
}
