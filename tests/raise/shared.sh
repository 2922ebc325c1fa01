#!/bin/bash
# shared.sh LATHE: native programs that use a raised library do as with the native one: one of our own, and zlib if it is there.
lathe=$(realpath "${1:?}")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

complain() {
    echo "FAIL: $*"
    failed=1
}

same() { # NAME COMMAND…: with the libraries in native, and in raised
    name=$1
    shift
    LD_LIBRARY_PATH=native timeout 60 "$@" >native.out 2>&1
    echo "status $?" >>native.out
    LD_LIBRARY_PATH=raised timeout 60 "$@" >raised.out 2>&1
    echo "status $?" >>raised.out
    cmp -s native.out raised.out && return
    complain "$name: with the raised library it differs:"
    diff native.out raised.out | head -n 6
}

mkdir native raised
cat >library.c <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int library_variable = 5;
static __thread int calls;
static __attribute__((constructor)) void begin(void) { library_variable += 10; }
static __attribute__((destructor)) void end(void) { printf("end %d\n", library_variable); }
int library_count(void) { return ++calls; }
double library_mean(int n, ...) {
    va_list list;
    double sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum / n;
}
long library_each(const int *values, int n, int (*visit)(int value, void *user), void *user) {
    long total = 0;
    for (int i = 0; i < n; i++)
        total += visit(values[i], user);
    return total;
}
static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
void library_sort(char **words, size_t n) { qsort(words, n, sizeof(*words), compare); }
long double library_third(long double x) { return x / 3; }
struct Pair { long a; double b; } library_pair(int n) { return (struct Pair){n + library_count(), n / 2.0}; }
C
cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
extern int library_variable;
int library_count(void);
double library_mean(int n, ...);
long library_each(const int *values, int n, int (*visit)(int value, void *user), void *user);
void library_sort(char **words, size_t n);
long double library_third(long double x);
struct Pair { long a; double b; } library_pair(int n);
static int visit(int value, void *user) {
    *(int *)user += library_count(); /* back into the library */
    return value * 2;
}
static void *work(void *unused) {
    int values[] = {1, 2, 3}, user = 0;
    long total = 0;
    for (int i = 0; i < 100; i++)
        total += library_each(values, 3, visit, &user);
    printf("%ld %d %d\n", total, user, library_count());
    return unused;
}
int main(void) {
    char *words[] = {"zeta", "alpha", "mu"};
    pthread_t threads[3];
    library_variable++;
    library_sort(words, 3);
    struct Pair pair = library_pair(3);
    printf("%s %s %g %.4Lf %ld %g\n", words[0], words[2], library_mean(3, 1.0, 2.0, 4.5), library_third(10), pair.a, pair.b);
    work(NULL);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
        pthread_join(threads[i], NULL);
    }
    return library_variable;
}
C
gcc -w -O2 -shared -fPIC library.c -o native/libours.so && gcc -w -O2 program.c -o program -Lnative -lours -pthread || exit 2
for level in 1 2; do
    "$lathe" raise -O$level native/libours.so -o raised/libours.so || complain "the library is refused"
    same "-O$level" ./program
done
strip native/libours.so && "$lathe" raise native/libours.so -o raised/libours.so || complain "the stripped library is refused"
same stripped ./program

zlib=$(/sbin/ldconfig -p | sed -n 's|.*libz\.so\.1 (.*x86-64.*=> ||p' | head -n 1)
if [ -n "$zlib" ]; then
    cp "$zlib" native/libz.so.1
    "$lathe" raise "$zlib" -o raised/libz.so.1 || complain "zlib is refused"
    cat >zlib.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int compress2(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size, int level);
int uncompress(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size);
unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned size);
int main(int argc, char **argv) {
    enum { SIZE = 1 << 20 };
    unsigned char *from = malloc(SIZE), *to = malloc(2 * SIZE), *back = malloc(SIZE);
    FILE *file = fopen(argv[1], "r");
    unsigned long size = fread(from, 1, SIZE, file);
    for (int level = 0; level < 10; level++) {
        unsigned long packed = 2 * SIZE, unpacked = SIZE;
        int status = compress2(to, &packed, from, size, level), other = uncompress(back, &unpacked, to, packed);
        printf("%d %d %lu %lx %d\n", status, other, packed, crc32(0, to, packed), unpacked == size && !memcmp(from, back, size));
    }
    return 0;
}
C
    gcc -w -O2 zlib.c -o zlib native/libz.so.1 || exit 2
    same zlib ./zlib /bin/sh
    nm -D raised/libz.so.1 2>/dev/null | grep -q ' T deflate' || complain "the raised library has lost its symbols"
fi
[ $failed = 0 ] && echo "raised libraries do as the native ones"
exit $failed
