/* library.c: what the C library is handed that machines have in different ways: variable arguments, structs, flags, pointers to its own functions. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int trace(char *to, size_t size, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int needed = vsnprintf(NULL, 0, format, list);
    int n = vsnprintf(to, size, format, again);
    va_end(again);
    va_end(list);
    return needed == n ? n : -1;
}

static void formats(int argc) {
    char text[300];
    /* More of both kinds than there are registers for. */
    printf("%d %f %ld %g %s %e %c %.3f %x %5.1f %u %.2f %lld %g %d %g %s %g %d %g\n", argc, 1.5, -2L, 2.5, "three", 3.5,
           'x', 4.25, 0xbeef, 5.5, 6u, 6.5, 7LL, 7.5, 8, 8.5, "nine", 9.5, 10, 10.5);
    printf("%*d|%-*d|%.*f|%+d|% d|%05d|%%|%n", 6, argc, 4, 2, 3, 1.23456, 5, 6, 7, &argc);
    printf("%d\n", argc);
    printf("%2$s %1$d %3$.2f %1$d\n", 5, "positions", 2.5);
    printf("%Lf %d %.3Le %g %Lg\n", 1.25L, 2, -3.5e100L, 4.5, (long double)argc / 3);
    printf("%hhd %hd %zu %jd %td %p\n", (char)-1, (short)-2, (size_t)3, (intmax_t)-4, (ptrdiff_t)5, NULL);
    errno = ENOENT;
    printf("%m %a %s\n", 0.5, "end");
    int n = trace(text, sizeof(text), "%s %d %g %Lg %d %d %d %g", "list", 1, 2.5, 3.25L, 4, 5, 6, 7.5);
    printf("%d %s\n", n, text);
    fprintf(stderr, "%s %d\n", "to stderr", 3);
    snprintf(text, 8, "%s", "cut off here");
    puts(text);
}

static void scans(void) {
    int a = 0, b = 0;
    long c = 0;
    float f = 0;
    double d = 0;
    char word[20] = "", set[20] = "";
    int n = sscanf("12 -7 99 1.5 2.25 hello abc]x 3", "%d %*d %d %f %lf %19s %19[]abc]%n", &a, &b, &f, &d, word, set,
                   (int *)&c);
    printf("%d: %d %d %g %g %s %s %d\n", n, a, b, f, d, word, set, (int)c);
    char *end;
    long first = strtol("-123xyz", &end, 10);
    printf("%ld %lu %g %s\n", first, strtoul("ffff", NULL, 16), strtod("2.5e3", NULL), end);
}

static void files(void) {
    struct stat st, link;
    char name[] = "/tmp/lathe-library-XXXXXX";
    int fd = mkstemp(name);
    if (write(fd, "some bytes", 10) != 10)
        puts("no write");
    fchmod(fd, 0640);
    int ok = fstat(fd, &st) == 0 && stat(name, &link) == 0;
    printf("%d %ld %o %d %d %d\n", ok, (long)st.st_size, st.st_mode, (int)st.st_nlink, st.st_ino == link.st_ino,
           st.st_mtime == link.st_mtime && st.st_uid == getuid());
    close(fd);
    printf("%d %d\n", open(name, O_RDONLY | O_DIRECTORY), errno == ENOTDIR);
    printf("%d\n", open("/tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) >= 0);
    fd = open(name, O_RDWR | O_APPEND);
    printf("%d\n", (fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_DIRECT)) == (O_RDWR | O_APPEND));
    FILE *file = fopen(name, "r");
    char text[20] = "";
    printf("%s %d\n", fgets(text, sizeof(text), file), feof(file));
    fclose(file);
    unlink(name);
    printf("%d %d\n", stat(name, &st), errno == ENOENT);
}

static void options(void) {
    char *args[] = {"program", "-a", "-n", "5", "rest", "--long=7", NULL};
    static const struct option longs[] = {{"long", required_argument, NULL, 'l'}, {0}};
    int c;
    while ((c = getopt_long(6, args, "an:", longs, NULL)) != -1)
        printf("%c %s ", c, optarg ? optarg : "-");
    printf("%d %s\n", optind, args[optind]);
}

static int by_key(const void *a, const void *b, void *key) {
    return (*(const int *)a > *(const int *)b ? 1 : -1) * *(int *)key;
}

/* The library's own functions through pointers. */
static double (*const functions[])(double) = {sqrt, floor, fabs, exp};
typedef int (*Printer)(const char *, ...);

int main(int argc, char **argv) {
    (void)argv;
    formats(argc);
    scans();
    files();
    options();
    int v[] = {5, 3, 9, 1}, down = -1;
    qsort_r(v, 4, sizeof(int), by_key, &down);
    div_t d = div(17, -5);
    ldiv_t l = ldiv(1234567890123, 1000);
    printf("%d %d %d %d %d %d %ld %ld\n", v[0], v[1], v[2], v[3], d.quot, d.rem, l.quot, l.rem);
    for (int i = 0; i < 4; i++)
        printf("%.6f ", functions[i](2.25 * argc));
    Printer print = printf;
    size_t (*length)(const char *) = strlen;
    print("%zu %g %d\n", length("through pointers"), 0.5, -3);
    time_t when = 86400 * 365;
    struct tm tm;
    char text[40];
    strftime(text, sizeof(text), "%Y-%m-%d", gmtime_r(&when, &tm));
    printf("%s %d %g %g %ld\n", text, abs(-argc), fmod(7.5, 2), hypot(3, 4), lround(2.5));
    return fflush(stdout);
}
