#!/bin/bash
# objects.sh LATHE GUEST HOST: object files of GUEST raised for HOST, linked with each other and with compiled ones by the host's C compiler, make a program that does what
# the compiled ones do. What cannot be raised is refused with a sentence and without a file.
lathe=$(realpath "${1:?}") guest=${2:?} host=${3:?}
. "$(dirname "$0")/begin.sh"

cat >shared.h <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { long a, b; };
struct shape { const struct methods *methods; int size; };
struct methods { int (*area)(const struct shape *, int); const char *name; };
extern int counter, numbers[100], common_one;
extern const struct methods square, line;
extern double (*chosen)(double);
int counted(int n);
double halved(double x);
double twice(double x);
struct pair swapped(struct pair p);
int nine(int a, int b, int c, int d, int e, int f, int g, int h);
int areas(const struct shape *shapes, int count);
int sorted(int *list, int count, int (*compare)(const void *, const void *));
const char *kind(int n);
extern int optional(int n) __attribute__((weak));
C
cat >one.c <<'C'
#include "shared.h"
int counter = 3, numbers[100] = {1, 2, 3};
static int started;
static const char *const names[] = {"zero", "one", "two", "three"};
double (*chosen)(double) = twice;
__attribute__((constructor)) static void start(void) { started = 7; }
__attribute__((weak)) int counted(int n) { return counter += n + started; }
__attribute__((visibility("hidden"))) int hidden_one(int n) { return n * counter; }
double twice(double x) { return 2 * x; }
struct pair swapped(struct pair p) { return (struct pair){p.b, p.a}; }
static int square_area(const struct shape *s, int n) { return s->size * s->size + n; }
const struct methods square = {square_area, "square"};
const char *kind(int n) {
    switch (n) {
    case 0: return "nothing";
    case 1: return "something";
    case 2: return names[2];
    case 3: return "triple";
    case 4: return "four";
    case 5: return names[3];
    case 6: return "six of them";
    }
    return "many";
}
C
cat >two.c <<'C'
#include "shared.h"
int common_one;
static int line_area(const struct shape *s, int n) { return s->size - n; }
const struct methods line = {line_area, "line"};
double halved(double x) { return chosen(x) / 4; }
int nine(int a, int b, int c, int d, int e, int f, int g, int h) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h; }
int areas(const struct shape *shapes, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += shapes[i].methods->area(&shapes[i], i);
        fprintf(stdout, "%s %d\n", shapes[i].methods->name, sum);
    }
    numbers[77] = sum;
    common_one++;
    return sum + (optional ? optional(sum) : 0);
}
static int backwards(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
int sorted(int *list, int count, int (*compare)(const void *, const void *)) {
    qsort(list, (size_t)count, sizeof(int), compare ? compare : backwards);
    return compare ? compare(&list[0], &list[count - 1]) : list[0];
}
C
cat >main.c <<'C'
#include "shared.h"
int hidden_one(int n);
static int forwards(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static double negative(double x) { return -x; }
int main(void) {
    struct shape shapes[] = {{&square, 3}, {&line, 9}, {&square, 5}};
    int list[] = {5, 3, 9, 1, 7};
    struct pair p = swapped((struct pair){4, 5});
    printf("%d ", counted(1));
    printf("%d %g %ld %ld\n", hidden_one(2), halved(3), p.a, p.b);
    chosen = negative;
    printf("%g %d\n", halved(8), nine(1, 2, 3, 4, 5, 6, 7, 8));
    int sum = areas(shapes, 3);
    printf("%d %d %d\n", sum, numbers[77], common_one);
    printf("%d", sorted(list, 5, forwards));
    int first = sorted(list, 5, NULL);
    printf(" %d %d\n", first, list[4]);
    for (int i = 0; i < 8; i++)
        printf("%s ", kind(i));
    printf("%d\n", counter + numbers[2]);
    return counter & 63;
}
C
# only for the own machine: what is passed in other ways than in registers to a function that no header declares
cat >own.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include "shared.h"
static jmp_buf place;
static int sum(int count, ...) {
    va_list list;
    double all = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        all += i & 1 ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return (int)all;
}
int (*const sums)(int, ...) = sum;
long double longer(long double x, struct pair p) { return x * (long double)p.a + (long double)p.b; }
struct big { int n[20]; };
struct big filled(struct big b, int n) { b.n[n] = n; return b; }
void leave(int n) { longjmp(place, n); }
int come_back(void (*f)(int)) {
    int n = setjmp(place);
    if (!n)
        f(5);
    return n;
}
static void *thread(void *p) { *(int *)p += 1; return p; }
int threads(void) {
    pthread_t t[4];
    int n[4] = {1, 2, 3, 4}, all = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, thread, &n[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        all += n[i];
    }
    return all;
}
C
cat >own-main.c <<'C'
#include "shared.h"
extern int (*const sums)(int, ...);
struct big { int n[20]; };
long double longer(long double x, struct pair p);
struct big filled(struct big b, int n);
void leave(int n);
int come_back(void (*f)(int)), threads(void);
int main(void) {
    struct big b = filled((struct big){{1, 2, 3}}, 7);
    printf("%d %Lg %d %d %d %d\n", sums(4, 1, 2.5, 3, 4.5), longer(1.5L, (struct pair){4, 5}), b.n[1], b.n[7], come_back(leave), threads());
    return 0;
}
C

run() { # MACHINE PROGRAM
    local machine=$1
    shift
    if [ "$machine" = "$(uname -m)" ]; then "./$1"; else "qemu-$machine" -L "/usr/$machine-linux-gnu" "./$1"; fi >"$1.out" 2>&1
    echo "status $?" >>"$1.out"
}

raised() { # SOURCE FLAGS…: SOURCE-raised.o. For another machine, debug information has prototypes of optimised code, or it is said that they are plain.
    local source=$1 plain=
    shift
    "$guest-linux-gnu-gcc" -w "$@" -c $source.c -o $source.o || exit 2
    case "$*" in *-g*) ;; *) [ "$guest" = "$host" ] || plain=--plain-calls ;; esac
    "$lathe" raise $plain --target="$host" $source.o -o $source-raised.o >message 2>&1 || complain "$source.o of $guest, $*: $(cat message)"
}

same() { # NAME PROGRAM
    run "$host" "$2"
    cmp -s right.out "$2.out" || { complain "$1 differs:"; diff right.out "$2.out" | head -n 5; }
}

"$guest-linux-gnu-gcc" -w one.c two.c main.c -o right && run "$guest" right
for flags in -O0 '-O2 -g -fPIC' '-O2 -g -ffunction-sections -fcommon'; do
    raised one $flags
    raised two $flags
    "$host-linux-gnu-gcc" -w main.c one-raised.o two-raised.o -lm -o both && same "two raised objects ($flags)" both
done
"$host-linux-gnu-gcc" -w main.c one.c two-raised.o -lm -o mixed && same 'a raised and a compiled object' mixed
raised main -O2 -g
"$host-linux-gnu-gcc" -w main-raised.o one-raised.o two.c -lm -o mixed && same 'a raised main' mixed
[ "$(nm -g --defined-only one-raised.o | awk '{print $3}' | sort)" = "$(nm -g --defined-only one.o | awk '{print $3}' | sort)" ] ||
    complain "the raised object has other symbols: $(nm -g --defined-only one-raised.o | tr '\n' ' ')"

if [ "$guest" = "$host" ]; then
    gcc -w own.c own-main.c -o right -pthread && run "$guest" right
    for flags in -O0 -O2; do
        raised own $flags
        gcc own-main.c own-raised.o -pthread -o own && same "arguments in memory, setjmp and threads ($flags)" own
    done
    gcc -shared -fPIC one-raised.o two-raised.o -o libboth.so && gcc -w main.c -DSHARED -fPIC one-raised.o two-raised.o -shared -o libmain.so ||
        complain 'no shared library can be linked'
fi

# Structs by value and in memory, by debug information: raised and compiled functions call each other.
cat >structs.h <<'C'
#include <stdio.h>
struct big { long n[5]; };
struct mixed { int a; float b; char text[30]; };
struct two { double x, y; };
struct small { short a; unsigned char b[3]; };
struct one { double f; };
struct big own_big(int n, struct small s), other_big(int n, struct small s);
struct mixed own_mixed(double f), other_mixed(double f);
double own_two(int n, struct two t, struct one o), other_two(int n, struct two t, struct one o);
int negative(int n, unsigned u, long l);
enum __attribute__((packed)) kind { FEW = 1, MANY = 200 };
enum kind next_kind(enum kind k);
C
cat >structs.c <<'C'
#include "structs.h"
struct big own_big(int n, struct small s) { return (struct big){{n, s.a, s.b[0], s.b[2], n * 2L}}; }
struct mixed own_mixed(double f) { return (struct mixed){(int)f, (float)f / 2, "own"}; }
double own_two(int n, struct two t, struct one o) { return n * t.x - t.y + o.f; }
void calls(int n) {
    struct big b = other_big(n, (struct small){-n, {1, 2, n}});
    struct mixed m = other_mixed(n * 1.5f);
    printf("%ld %ld %ld %ld %ld\n", b.n[0], b.n[1], b.n[2], b.n[3], b.n[4]);
    printf("%d %g %s %g %d\n", m.a, m.b, m.text, other_two(n, (struct two){n * 0.25, n}, (struct one){n * 8.5f}), negative(-n, -n, -n));
    printf("%d\n", next_kind((enum kind)(n + 196)));
}
C
sed 's/own_/other_/; /^void/,$d' structs.c >others.c
cat >structs-main.c <<'C'
#include "structs.h"
void calls(int n);
enum kind next_kind(enum kind k) { return k == 199 ? MANY : FEW; }
int negative(int n, unsigned u, long l) { return (n < 0) + 2 * (u > 5) + 4 * (l < 0); }
int main(void) {
    struct big b = own_big(7, (struct small){-5, {6, 7, 8}});
    struct mixed m = own_mixed(4.5f);
    calls(3);
    printf("%ld %ld %ld %ld %ld %d %g %s %g\n", b.n[0], b.n[1], b.n[2], b.n[3], b.n[4], m.a, m.b, m.text, own_two(3, (struct two){4, 5}, (struct one){0.5f}));
    return 0;
}
C
"$guest-linux-gnu-gcc" -w structs.c others.c structs-main.c -o right && run "$guest" right
for flags in '-O1 -g' '-O3 -g'; do
    raised structs $flags
    "$host-linux-gnu-gcc" -w -O2 structs-raised.o others.c structs-main.c -lm -o structs && same "structs ($flags)" structs
done

# Functions that are chosen when the program begins, called and by address.
cat >chosen.c <<'C'
static int plain(int n) { return n + 1; }
static int twice(int n) { return 2 * n; }
static int (*choose_plain(void))(int) { return plain; }
static int (*choose_twice(void))(int) { return twice; }
static int first(int n) __attribute__((ifunc("choose_plain")));
static int second(int n) __attribute__((ifunc("choose_twice")));
int (*const chosen_ones[])(int) = {second, first};
int both(int n) { return first(n) * 100 + second(n); }
C
cat >chosen-main.c <<'C'
#include <stdio.h>
int both(int n);
extern int (*const chosen_ones[])(int);
int main(void) {
    printf("%d %d %d\n", both(3), chosen_ones[0](4), chosen_ones[1](4));
    return 0;
}
C
"$guest-linux-gnu-gcc" -w chosen.c chosen-main.c -o right && run "$guest" right
raised chosen -O1 -g -fPIC
"$host-linux-gnu-gcc" -w chosen-main.c chosen-raised.o -lm -o chosen && same 'functions that are chosen' chosen

refuse() { # TEXT FILE
    rm -f out
    "$lathe" raise --target="$host" "$2" -o out >message 2>&1
    status=$?
    [ $status = 1 ] || complain "$2: status $status instead of 1: $(cat message)"
    grep -q "$1" message || complain "$2: no '$1' in: $(cat message)"
    [ ! -e out ] || complain "$2: there is a file"
}

echo 'extern __thread int other; int f(void) { return other; }' >tls.c
"$guest-linux-gnu-gcc" -c tls.c -o tls.o || exit 2
refuse 'a thread-local variable of another file' tls.o
: >empty.c
"$guest-linux-gnu-gcc" -c empty.c -o empty.o && refuse 'no function can be read' empty.o
"$guest-linux-gnu-gcc" -r -nostdlib one.o -o stripped.o && "$guest-linux-gnu-strip" stripped.o && refuse 'without symbols\|laid\|lay it out\|no function' stripped.o
sed 's/^static int first/int first/' chosen.c >offers.c
"$guest-linux-gnu-gcc" -w -O1 -g -fPIC -c offers.c -o offers.o && refuse 'the function first is chosen by the processor' offers.o
if [ "$guest" != x86_64 ]; then # there it is told of the processor
    sed 's/choose_plain(void))(int) {/choose_plain(long can))(int) { if (can < 0) return twice;/' chosen.c >told.c
    "$guest-linux-gnu-gcc" -w -O1 -g -fPIC -c told.c -o told.o && refuse '0x[0-9a-f]*: what chooses a function .* looks at what the processor can do' told.o
fi
if [ "$guest" = x86_64 ]; then
    echo 'int list[4]; int f(long i) { return list[i]; }' >fixed.c
    gcc -O1 -fno-pie -c fixed.c -o fixed.o && refuse 'position-independent' fixed.o
    echo 'void g(int); void f(int n) { try { g(n); } catch (int k) { g(k); } }' >catches.cpp
    g++ -c catches.cpp -o catches.o && refuse 'exceptions' catches.o
fi
# Without debug information nobody knows what others pass.
if [ "$guest" != "$host" ]; then
    "$guest-linux-gnu-gcc" -w -O1 -fPIC -c structs.c -o silent.o || exit 2
    refuse '0x[0-9a-f]*: it calls [a-z_]*, of which no header and no debug information tells what it takes; .*--plain-calls' silent.o
    echo 'int f(int n) { return n + 1; }' >alone.c
    "$guest-linux-gnu-gcc" -O1 -c alone.c -o alone.o && refuse '0x[0-9a-f]*: no debug information tells what the function f takes' alone.o
    known() { # TEXT: of the C on standard input, with debug information
        cat >known.c
        "$guest-linux-gnu-gcc" -w -fPIC -O1 -g -c known.c -o known.o || exit 2
        refuse "$1" known.o
    }
    known 'it calls other, whose arguments or result are of a kind that cannot be handed over' <<'C'
struct mixed { long n; double x; };
int other(struct mixed m);
int f(int n) { return other((struct mixed){n, n}) + 1; }
C
    known 'it calls other.* variable arguments' <<'C'
int other(int n, ...);
int f(int n) { return other(n, 5, 6) + 1; }
C
    known 'the function f has arguments or a result that machines pass in different ways' <<'C'
struct two { float x, y; };
float f(struct two t) { return t.x - t.y; }
C
    known 'the function f has arguments or a result that machines pass in different ways' <<'C'
union one { double x; };
double f(union one u) { return u.x * 2; }
C
    known 'the function f has arguments or a result that machines pass in different ways' <<'C'
union three { struct { double x, y, z; } named; double all[3]; };
union three f(int n) { return (union three){{n, n, n}}; }
C
    known 'the function f has arguments or a result that machines pass in different ways' <<'C'
#include <stdarg.h>
int f(int n, va_list list) { return n + va_arg(list, int); }
C
    known 'it calls other, whose arguments or result are of a kind that cannot be handed over' <<'C'
#include <stdarg.h>
int other(va_list list);
static va_list kept;
int f(int n) { return other(kept) + n; }
C
    known 'it calls index, which a header declares with other types' <<'C'
double index(double x);
double f(int n) { return index(n) + 1; }
C
    known 'the function index has arguments or a result that machines pass in different ways' <<'C'
struct mixed { long n; double x; };
int index(struct mixed m) { return m.n + (int)m.x; }
C
    if [ "$guest" = riscv64 ]; then
        known 'the function f has arguments or a result that machines pass in different ways' <<'C'
double f(float x) { return x * 2; }
C
    elif [ "$host" = riscv64 ]; then
        known 'the function f has arguments or a result that machines pass in different ways' <<'C'
float f(double x) { return x * 2; }
C
    fi
fi
# What another machine would pass elsewhere, and no header tells of: refused where it shows.
odd() { # TEXT: of the C on standard input, at two levels
    cat >odd.c
    for level in -O0 -O2; do
        "$guest-linux-gnu-gcc" -w -fPIC $level -c odd.c -o odd.o || exit 2
        refuse "$1" odd.o
    done
}
if [ "$guest" = x86_64 ] && [ "$guest" != "$host" ]; then
    odd '0x[0-9a-f]*: it calls other with what seem to be variable arguments' <<'C'
int other(int n, ...);
int f(int n, double x) { return other(n, n + 1, x); }
C
    odd '0x[0-9a-f]*: it calls a function by its address with what seem to be variable arguments' <<'C'
int f(int (*other)(int n, ...), int n) { return other(n, n + 1) + 1; }
C
    odd '0x[0-9a-f]*: the function f seems to take variable arguments' <<'C'
#include <stdarg.h>
double f(int n, ...) {
    va_list list;
    va_start(list, n);
    double sum = 0;
    while (n--)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}
C
    odd '0x[0-9a-f]*: the function f seems to take a struct by value' <<'C'
struct big { long n[3]; };
long f(struct big b, int i) { return b.n[0] + b.n[2] * i; }
C
    odd '0x[0-9a-f]*: the function f seems to take a struct by value, a long double' <<'C'
double f(long double x) { return x * 2; }
C
    odd '0x[0-9a-f]*: the function f seems to take .* or very many' <<'C'
int f(int a, int b, int c, int d, int e, int f, int g, int h, int i) { return a + b + c + d + e + f + g + h + i; }
C
fi
for bytes in 20 64 100 500 1000 2000; do
    head -c $bytes one.o >short.o
    "$lathe" raise --target="$host" short.o -o out >message 2>&1
    [ $? = 1 ] || complain "an object file of $bytes bytes: $(cat message)"
done
rm -f out
for i in $(seq 20); do
    size=$(stat -c %s two.o)
    { head -c $((i * size / 21)) two.o; printf '\377\377\377\377'; tail -c +$((i * size / 21 + 5)) two.o; } >damaged.o
    timeout 60 "$lathe" raise --target="$host" damaged.o -o out >message 2>&1
    [ $? -le 1 ] || complain "a damaged object file: status $?: $(cat message)"
done
[ $failed = 0 ] && echo "object files of $guest raised for $host do as they did"
exit $failed
