/* strings.c: the C library's string functions at every small alignment and length, against loops of our own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <wchar.h>

static char *page_end; /* nothing is mapped behind */

static size_t length(const char *s) {
    size_t n = 0;
    while (((const volatile char *)s)[n])
        n++;
    return n;
}

static int at_page_end(void) {
    int bad = 0;
    for (size_t n = 0; n < 200; n++) {
        char *s = page_end - n - 1;
        memset(s, 'a', n);
        s[n] = 0;
        bad += strlen(s) != n || length(s) != n;
        bad += strchr(s, 'b') != NULL || strrchr(s, 'a') != (n ? s + n - 1 : NULL);
        bad += memchr(s, 0, n + 1) != s + n;
        bad += strnlen(s, n) != n || strcmp(s, s) != 0;
        bad += rawmemchr(s, 0) != s + n;
    }
    return bad;
}

static int copies(void) {
    int bad = 0;
    static unsigned char from[600], to[600];
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t shift = 0; shift < 17; shift++)
        for (size_t n = 0; n < 300; n += n < 70 ? 1 : 13) {
            memset(to, 0xee, sizeof(to));
            memcpy(to + 20 + shift, from + shift * 3, n);
            for (size_t i = 0; i < sizeof(to); i++)
                bad += to[i] != (i >= 20 + shift && i < 20 + shift + n ? from[shift * 3 + i - 20 - shift] : 0xee);
            memcpy(to, from, sizeof(to));
            memmove(to + 5 + shift, to + 5, n); /* overlapping */
            bad += memcmp(to + 5 + shift, from + 5, n) != 0;
            memcpy(to, from, sizeof(to));
            memmove(to + 5, to + 5 + shift, n);
            bad += memcmp(to + 5, from + 5 + shift, n) != 0;
        }
    return bad;
}

static int comparisons(void) {
    int bad = 0;
    char a[300], b[300];
    for (size_t n = 1; n < 130; n++) {
        memset(a, 'x', n), memset(b, 'x', n);
        a[n] = b[n] = 0;
        bad += strcmp(a, b) != 0 || memcmp(a, b, n) != 0;
        b[n - 1] = 'y';
        bad += strcmp(a, b) >= 0 || memcmp(b, a, n) <= 0 || strncmp(a, b, n - 1) != 0;
        b[n - 1] = (char)0xf0; /* unsigned comparison */
        bad += strcmp(a, b) >= 0;
        b[n - 1] = 'X';
        bad += strcasecmp(a, b) != 0;
    }
    return bad;
}

/* The string instructions themselves. */
static uint64_t instructions(void) {
    static char from[1000], to[1000];
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (char)(i % 251);
    for (size_t n = 0; n < 120; n += 7) {
        void *d = to + n, *s = from + 3;
        size_t c = n;
        __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(c)::"memory");
        h = h * 31 + (uint64_t)((char *)d - to) + (uint64_t)((char *)s - from) + c;
        d = to + 900, s = from + 900, c = n;
        __asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(s), "+c"(c)::"memory");
        h = h * 31 + (uint64_t)((char *)d - to);
        d = to + 300, c = n;
        __asm__ volatile("rep stosq" : "+D"(d), "+c"(c) : "a"(0x0102030405060708 * n) : "memory", "cc");
        d = from, c = sizeof(from);
        __asm__ volatile("repne scasb" : "+D"(d), "+c"(c) : "a"((int)n) : "cc");
        h = h * 31 + c;
        d = to + 2, s = from + 2, c = 500;
        unsigned char less;
        __asm__ volatile("repe cmpsb; setb %3" : "+D"(d), "+S"(s), "+c"(c), "=r"(less)::"cc", "memory");
        h = h * 31 + c + less;
    }
    for (size_t i = 0; i < sizeof(to); i++)
        h = h * 33 + (unsigned char)to[i];
    return h;
}

int main(void) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_NONE);
    page_end = pages + 4096;
    printf("%d %d %d %016llx\n", at_page_end(), copies(), comparisons(), (unsigned long long)instructions());
    char text[] = "the quick brown fox jumps over the lazy dog", *save, *word = strtok_r(text, " ", &save);
    for (; word; word = strtok_r(NULL, " ", &save))
        printf("%s|", word);
    printf("\n%s %zu %zu %s\n", strstr("haystack with a needle in it", "needle"), strspn("aabbcc", "ab"),
           strcspn("hello, world", ","), strpbrk("path/to:file", ":/"));
    char big[5000];
    memset(big, 'z', sizeof(big));
    big[4999] = 0;
    printf("%zu %s %ls %zu\n", strlen(big), strerror(2), L"wide", wcslen(L"sixteen letters?"));
    printf("%ld %lu %g %ld\n", strtol("-0x7f", NULL, 0), strtoul("777", NULL, 8), strtod("1.5e3x", NULL), atol("12ab"));
    return 0;
}
