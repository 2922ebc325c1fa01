#!/bin/bash
# libraries.sh LATHE HOST: libraries that the other machine does not have are raised along with a program, which then does what it does natively.
lathe=$(realpath "${1:?}") host=${2:?}
. "$(dirname "$0")/begin.sh"

cat >deep.c <<'C'
#include <stdio.h>
static __thread int calls = 5; /* by a module and a place in it */
__thread int shared_calls = 70;
const char *deep_names[] = {"zero", "one", "two"};
__attribute__((constructor)) static void begin(void) { puts("deep begins"); }
__attribute__((destructor)) static void end(void) { puts("deep ends"); }
int deep(int n) { return n * 2 + calls++; }
int overridden(void) { return 1; }
int ask(void) { return overridden(); }
C
cat >near.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int deep(int);
extern __thread int shared_calls;
static __thread int own = 900;
static __thread int *own_pointer;
int near_variable = 11;
int *near_pointer = &near_variable;
static int twice(int x) { return 2 * x; }
int (*near_hook)(int) = twice; /* a word with a function's address that changes */
int near_use_hook(int x) { return near_hook(x); }
__attribute__((constructor)) static void begin(void) { puts("near begins"); }
__attribute__((destructor)) static void end(void) { puts("near ends"); }
int near(int n) {
    own_pointer = &own;
    return deep(n) + *near_pointer + ++*own_pointer + shared_calls++;
}
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void near_sort(int *v, int n) { qsort(v, n, sizeof(*v), compare); }
void near_each(const int *v, int n, void (*f)(int, double), double x) { for (int i = 0; i < n; i++) f(v[i], x); }
__attribute__((weak)) int near_weak(void) { return 3; }
static int slow(int x) { return x + 1000; }
static int quick(int x) { return x + 2000; }
static int (*choose(void))(int) { __builtin_cpu_init(); return __builtin_cpu_supports("avx512f") < 0 ? slow : quick; }
int near_chosen(int) __attribute__((ifunc("choose"))); /* the processor decides */
int near_chooses(int n) { return near_chosen(n); }
int near_ask(void) { return near_weak(); }
C
cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
int near_chosen(int), near_chooses(int);
int (*chosen)(int) = near_chosen;
extern int near_variable, (*near_hook)(int);
extern const char *deep_names[3];
int near(int), deep(int), ask(void), near_ask(void), near_use_hook(int);
void near_sort(int *, int), near_each(const int *, int, void (*)(int, double), double);
extern int missing(void) __attribute__((weak));
__thread long mine = 12345;
extern __thread int shared_calls;
int overridden(void) { return 2; }
static int thrice(int x) { return 3 * x; }
static void show(int n, double x) { printf("%d %.2f\n", n, x * n); }
__attribute__((constructor)) static void begin(void) { puts("program begins"); }
__attribute__((destructor)) static void end(void) { puts("program ends"); }
static void *thread(void *argument) {
    mine++;
    printf("%d %ld %d\n", near(3), mine, shared_calls);
    return NULL;
}
int main(void) {
    int v[] = {5, 3, 9, -2};
    pthread_t t;
    printf("%d\n", near_use_hook(7));
    near_hook = thrice;
    printf("%d %d\n", near_use_hook(7), near_variable++);
    printf("%d %d %d %s\n", near(1), near(2), deep(4), deep_names[2]);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    near_sort(v, 4);
    near_each(v, 4, show, 0.25);
    printf("%d %d %d %ld\n", ask(), near_ask(), missing != NULL, mine);
    printf("%d %d %d\n", near_chosen(1), near_chooses(2), chosen(3));
    return 3;
}
C
gcc -O1 -w -shared -fPIC deep.c -o libdeep.so && gcc -O1 -w -shared -fPIC near.c -L. -ldeep -o libnear.so || exit 2
LD_LIBRARY_PATH=. gcc -O1 -w program.c -L. -lnear -ldeep -pthread -Wl,-rpath,'$ORIGIN' -Wl,-z,lazy -o lazy || exit 2
LD_LIBRARY_PATH=. gcc -O2 -w -fno-plt program.c -L. -lnear -ldeep -pthread -Wl,-rpath-link,. -o now || exit 2

gcc -O2 -w -shared -fPIC near.c -L. -ldeep -Wl,-z,pack-relative-relocs -o libpacked.so || exit 2
LD_LIBRARY_PATH=. gcc -O2 -w program.c -L. -lpacked -ldeep -pthread -Wl,-z,pack-relative-relocs -o packed || exit 2
readelf -d packed libpacked.so | grep -c '(RELR)' | grep -q 2 || complain "there are no packed relocations"

LD_LIBRARY_PATH=. ./now >expected
echo "status $?" >>expected
export LD_LIBRARY_PATH=.
for program in lazy now packed; do
    "$lathe" raise --target="$host" --report "$program" -o raised >report || { complain "$program cannot be raised"; continue; }
    grep -q '^library libdeep.so *addresses from 0x' report || complain "the report does not name libdeep.so: $(cat report)"
    LD_LIBRARY_PATH= "qemu-$host" -L "/usr/$host-linux-gnu" ./raised >seen 2>&1
    echo "status $?" >>seen
    cmp -s expected seen || complain "$program raised with its libraries: $(diff expected seen)"
done

# Exceptions, virtual functions and types of a library of C++.
cat >shape.h <<'C'
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>
struct Bad { int code; explicit Bad(int c) : code(c) {} virtual ~Bad() = default; };
struct Shape { std::string name; virtual ~Shape(); virtual std::string describe() const; };
void each(const std::vector<int> &v, const std::function<void(int)> &f);
C
cat >shape.cpp <<'C'
#include "shape.h"
#include <cstdio>
Shape::~Shape() { printf("gone %s\n", name.c_str()); }
std::string Shape::describe() const { if (name.empty()) throw Bad(7); return "shape " + name; }
void each(const std::vector<int> &v, const std::function<void(int)> &f) {
    for (int x : v)
        try { f(x); } catch (const std::out_of_range &e) { printf("the library caught %s\n", e.what()); }
}
C
cat >shapes.cpp <<'C'
#include "shape.h"
#include <cstdio>
#include <memory>
struct Round : Shape { std::string describe() const override { return "round " + Shape::describe(); } };
int main() {
    std::vector<std::unique_ptr<Shape>> all;
    all.push_back(std::make_unique<Round>());
    all.push_back(std::make_unique<Shape>());
    all[0]->name = "disc";
    for (auto &s : all)
        try { puts(s->describe().c_str()); } catch (const Bad &b) { printf("bad %d\n", b.code); }
    try {
        each({1, 2, 3}, [](int x) { if (x == 2) throw std::out_of_range("two"); if (x == 3) throw x; printf("%d\n", x); });
    } catch (int x) { printf("the program caught %d\n", x); }
}
C
g++ -O2 -w -fPIC -shared shape.cpp -o libshape.so && g++ -O2 -w shapes.cpp -L. -lshape -o shapes || exit 2
./shapes >expected || exit 2
"$lathe" raise --target="$host" shapes -o raised || complain "shapes is refused"
"qemu-$host" -L "/usr/$host-linux-gnu" ./raised >seen 2>&1
cmp -s expected seen || complain "a library of C++: $(diff expected seen)"

# What dlsym() finds: variables everywhere; functions where they can be called without a prototype.
cat >finds.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    printf("%d\n", dlsym(RTLD_DEFAULT, "no such symbol") == NULL);
    printf("%d\n", *(FILE **)dlsym(RTLD_DEFAULT, "stdout") == stdout);
    fflush(stdout);
    int (*f)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "abs");
    printf("%d\n", f(-3));
    return 0;
}
C
gcc -O1 -w finds.c -o finds && "$lathe" raise --target="$host" finds -o raised || complain "finds is refused"
"qemu-$host" -L "/usr/$host-linux-gnu" ./raised >seen 2>&1
[ "$(head -n 2 seen | tr -d '\n')" = 11 ] || complain "dlsym() finds: $(cat seen)"
case $host in
riscv64) grep -q 'stopped at .*: dlsym() has found a function' seen ;;
*) grep -q '^3$' seen ;;
esac || complain "a function that dlsym() finds: $(cat seen)"

mv libdeep.so elsewhere.so
rm -f raised
"$lathe" raise --target="$host" now -o raised 2>message && complain "raised without a library"
grep -q 'needs a library that is not found.*: libdeep.so' message || complain "a library that is not there: $(cat message)"
[ ! -e raised ] || complain "there is a file, although: $(cat message)"
mkdir -p root/usr/lib && mv elsewhere.so root/usr/lib/libdeep.so
"$lathe" raise --target="$host" -L root now -o raised || complain "-L does not find the library"

# With a damaged library, the program is raised, or refused.
cp libnear.so whole.so
for i in $(seq 1 10); do
    python3 - "$i" <<'P'
import random, sys
random.seed(int(sys.argv[1]))
data = bytearray(open("whole.so", "rb").read())
for _ in range(20):
    data[random.choice([random.randrange(len(data)), random.randrange(64, 2500)])] = random.randrange(256)
open("libnear.so", "wb").write(data)
P
    timeout 60 "$lathe" raise -O0 --target="$host" -L root lazy -o damaged.out >message 2>&1
    status=$?
    [ $status -le 1 ] || complain "damaged library $i: status $status: $(tail -n 2 message)"
done
cp whole.so libnear.so

# A variable is to be copied that has no symbol.
python3 - <<'P' || exit 2
import struct
data = bytearray(open("lazy", "rb").read())
copies = [o for o in range(64, len(data) - 16, 8) if struct.unpack_from("<I", data, o + 8)[0] == 5 and 0 < struct.unpack_from("<I", data, o + 12)[0] < 100
          and 0x3000 < struct.unpack_from("<Q", data, o)[0] < 0x6000]
struct.pack_into("<I", data, copies[0] + 12, 0xffffff)
open("nameless", "wb").write(data)
P
"$lathe" raise --target="$host" -L root nameless -o raised 2>message && complain "a relocation without a symbol is raised"
grep -q 'a relocation has no symbol' message || complain "a relocation without a symbol: $(cat message)"

# What cannot be raised of a library is said with its name.
echo 'int __nss_configure_lookup(char *, char *); int strange(void) { return __nss_configure_lookup("a", "b"); }' >strange.c
echo 'int strange(void); int main(void) { return strange(); }' >plain.c
gcc -shared -fPIC strange.c -o libstrange.so && gcc plain.c -L. -lstrange -o plain || exit 2
rm -f raised
"$lathe" raise --target="$host" plain -o raised 2>message && complain "a function of the C library without a prototype is called"
grep -q 'libstrange.so, 0x[0-9a-f]*: it calls __nss_configure_lookup' message || complain "whose fault it is: $(cat message)"
[ ! -e raised ] || complain "there is a file, although: $(cat message)"
exit $failed
