/* What the C library has in other ways on other machines: formats of wide characters, events of epoll, constants of <fenv.h>, stat in callbacks, locks for reading and
 * writing, and an array of variable arguments with one more behind it. */
#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <fenv.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static int print_list(wchar_t *to, size_t size, const wchar_t *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vswprintf(to, size, format, list);
    va_end(list);
    return n;
}

static void wide(int argc) {
    wchar_t text[200], word[20] = L"";
    char narrow[400];
    int n = swprintf(text, 200, L"%d %f %ls %s %.3Lf %lld %g %d %d %d \u00e4%c|%5.2f", argc, 1.5, L"wide", "narrow",
                     2.25L, 3LL, 4.5, 5, 6, 7, 'x', 8.125);
    printf("%d %zu\n", n, wcslen(text));
    for (int i = 0; text[i]; i++)
        putchar(text[i] < 128 ? (int)text[i] : '?');
    printf(" %d\n", print_list(text, 200, L"%2$d %1$s %3$g", "first", 2, 3.5));
    wcstombs(narrow, text, sizeof(narrow));
    puts(narrow);
    int a = 0;
    double d = 0;
    n = swscanf(L"17 2.5 word", L"%d %lf %19ls", &a, &d, word);
    printf("%d %d %g %d\n", n, a, d, wcscmp(word, L"word"));
}

static void polling(void) {
    int ends[2], more[2], poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x1122334455667788}, found[4];
    if (pipe(ends) || pipe(more))
        return;
    epoll_ctl(poll, EPOLL_CTL_ADD, ends[0], &event);
    event.data.u64 = 77;
    epoll_ctl(poll, EPOLL_CTL_ADD, more[0], &event);
    printf("%d\n", epoll_wait(poll, found, 4, 0));
    if (write(ends[1], "x", 1) != 1 || write(more[1], "y", 1) != 1)
        return;
    int n = epoll_wait(poll, found, 4, -1);
    unsigned long sum = 0;
    for (int i = 0; i < n; i++)
        sum += found[i].data.u64 + found[i].events;
    printf("%d %lx\n", n, sum);
    epoll_ctl(poll, EPOLL_CTL_DEL, ends[0], NULL);
    n = epoll_pwait(poll, found, 4, -1, NULL);
    printf("%d %lu\n", n, (unsigned long)found[0].data.u64);
    errno = 0;
    printf("%d %d\n", epoll_wait(poll, found, 0, 0), errno == EINVAL);
}

static volatile double one = 1, three = 3, none = 0;

static void rounding(void) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++) {
        int result = fesetround(modes[i]);
        printf("%d %d %.0f %.0f\n", result, fegetround() == modes[i], nearbyint(one * 2.5), nearbyint(-one * 2.5));
    }
    fesetround(FE_TONEAREST);
    printf("%d\n", fesetround(12345) != 0);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_OVERFLOW | FE_INVALID);
    printf("%d %d\n", fetestexcept(FE_ALL_EXCEPT) == (FE_OVERFLOW | FE_INVALID | (fetestexcept(FE_INEXACT))),
           fetestexcept(FE_DIVBYZERO));
    feclearexcept(FE_INVALID);
    printf("%d %d\n", fetestexcept(FE_INVALID), fetestexcept(FE_OVERFLOW) == FE_OVERFLOW);
}

static long bytes;
static int files;

static int visit(const char *path, const struct stat *st, int kind, struct FTW *place) {
    if (kind == FTW_F) {
        bytes += st->st_size;
        files++;
        printf("%s %o %d\n", path + place->base, (unsigned)st->st_mode & 0777, place->level);
    }
    return 0;
}

static int count(const char *path, const struct stat *st, int kind) {
    (void)path;
    files += kind == FTW_F && st->st_size == 5;
    return 0;
}

static void walk(void) {
    char dir[] = "/tmp/differing-XXXXXX", path[100];
    if (!mkdtemp(dir))
        return;
    snprintf(path, sizeof(path), "%s/file", dir);
    FILE *f = fopen(path, "w");
    fputs("five\n", f);
    fclose(f);
    chmod(path, 0640);
    nftw(dir, visit, 4, FTW_PHYS);
    ftw(dir, count, 4);
    printf("%ld %d\n", bytes, files);
    unlink(path);
    rmdir(dir);
}

static pthread_rwlock_t standing = PTHREAD_RWLOCK_INITIALIZER;

static void *read_locked(void *lock) {
    int result = pthread_rwlock_tryrdlock(lock);
    if (result == 0)
        pthread_rwlock_unlock(lock);
    return (void *)(long)result;
}

static void lock(pthread_rwlock_t *lock) {
    pthread_t thread;
    void *result;
    pthread_rwlock_rdlock(lock);
    pthread_create(&thread, NULL, read_locked, lock);
    pthread_join(thread, &result);
    pthread_rwlock_unlock(lock);
    printf("%ld ", (long)result);
    pthread_rwlock_wrlock(lock);
    pthread_create(&thread, NULL, read_locked, lock);
    pthread_join(thread, &result);
    pthread_rwlock_unlock(lock);
    printf("%d\n", (long)result == EBUSY);
}

static void start(void) {
    char *environment[] = {"SAYS=environment", NULL};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execle("/bin/sh", "sh", "-c", "echo $SAYS $0 $1 $2 $3", "a", "b", "c", "d", "e", NULL, environment);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_rwlock_t own;
    wide(argc);
    polling();
    rounding();
    walk();
    pthread_rwlock_init(&own, NULL);
    lock(&own);
    lock(&standing);
    pthread_rwlock_destroy(&own);
    start();
    fflush(stdout);
    program_invocation_name = "differing";
    error_at_line(0, ENOENT, "file", 7, "%s %d %g", "text", argc, 1.5);
    return 0;
}
