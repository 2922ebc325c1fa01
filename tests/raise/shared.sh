#!/bin/bash
# shared.sh LATHE: native programs that use a raised library do as with the native one: two of our own, one with C++ exceptions, and zlib if it is there.
lathe=$(realpath "${1:?}")
. "$(dirname "$0")/begin.sh"

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

# C++: exceptions of the library in the program, of the program in and through the library; in threads, too.
cat >throwing.h <<'C'
struct Own { int value; };
int library_alive();
void library_throw(int n);
int library_call(void (*callback)(int), int n);
int library_deep(void (*callback)(int), int depth);
C
cat >throwing.cpp <<'C'
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include "throwing.h"
static __thread int alive;
struct Guard {
    Guard() { alive++; }
    ~Guard() { alive--; }
};
int library_alive() { return alive; }
void library_throw(int n) {
    Guard guard;
    if (n == 1) throw std::runtime_error("one of the library");
    if (n == 2) throw Own{n * 7};
    if (n == 3) throw std::string("three");
}
int library_call(void (*callback)(int), int n) {
    Guard guard;
    std::vector<int> values(10, n);
    try {
        callback(n);
    } catch (const std::logic_error &e) {
        std::printf("library: %s\n", e.what());
        return -values[3];
    }
    return values[4];
}
int library_deep(void (*callback)(int), int depth) {
    Guard guard;
    if (!depth) {
        callback(2);
        return 0;
    }
    return 1 + library_deep(callback, depth - 1);
}
C
cat >catching.cpp <<'C'
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include "throwing.h"
static void callback(int n) {
    if (n == 4) throw std::logic_error("four of the program");
    if (n == 5) throw 5L;
    library_throw(n);
}
static void work() {
    for (int n = 0; n < 6; n++) {
        try {
            std::printf("call %d: %d\n", n, library_call(callback, n));
        } catch (const std::runtime_error &e) {
            std::printf("program: %s\n", e.what());
        } catch (const Own &own) {
            std::printf("program: %d\n", own.value);
        } catch (const std::string &text) {
            std::printf("program: %s\n", text.c_str());
        } catch (long value) {
            std::printf("program: %ld\n", value);
        }
        std::printf("alive %d\n", library_alive());
    }
    try {
        library_deep(callback, 1000);
    } catch (const Own &own) {
        std::printf("deep: %d %d\n", own.value, library_alive());
    }
    for (int i = 0; i < 1000; i++)
        try {
            library_throw(2);
        } catch (const Own &) {
        }
    std::printf("end %d\n", library_alive());
}
int main() {
    work();
    std::thread(work).join();
}
C
g++ -w -O2 -shared -fPIC throwing.cpp -o native/libthrowing.so && g++ -w -O2 catching.cpp -o catching -Lnative -lthrowing -pthread || exit 2
"$lathe" raise native/libthrowing.so -o raised/libthrowing.so || complain "the library with exceptions is refused"
same exceptions ./catching
"$lathe" raise catching -o both || complain "the program with exceptions is refused"
LD_LIBRARY_PATH=raised timeout 60 ./both >raised.out 2>&1
echo "status $?" >>raised.out
cmp -s native.out raised.out || complain "raised, with the raised library, the program differs: $(diff native.out raised.out | head -n 6)"

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
