#!/bin/bash
# shared-target.sh LATHE GUEST HOST: shared libraries of the machine GUEST raised for HOST do for programs of HOST what the old ones do for programs of GUEST.
lathe=$(realpath "${1:?}") guest=${2:?} host=${3:?}
. "$(dirname "$0")/begin.sh"

cat >near.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int near_count = 3;
const char *near_names[] = {"even", "odd"};
static THREAD int mine = 5;
static int twice(int x) { return 2 * x; }
int (*near_hook)(int) = twice;
__attribute__((constructor)) static void begin(void) { puts("begins"); }
__attribute__((destructor)) static void end(void) { puts("ends"); }
double near_scale(double x, int n) { near_count += n; return x * n + mine++; }
void near_each(int *v, int n, void (*f)(int *, double), double x) { for (int i = 0; i < n; i++) f(v + i, x); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void near_sort(int *v, int n) { qsort(v, n, sizeof(*v), compare); }
int near_use(int x) { return near_hook(x); }
static void *run(void *n) { mine += *(int *)n; return (void *)(long)mine; }
long near_thread(int n) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, &n);
    pthread_join(thread, &result);
    return (long)result;
}
char *near_format(int a, double b) {
    char text[80];
    snprintf(text, sizeof(text), "%d %.3f %s", a, b, near_names[a & 1]);
    return strdup(text);
}
C
cat >near-main.c <<'C'
#include <stdio.h>
extern int near_count, (*near_hook)(int);
extern const char *near_names[];
double near_scale(double, int);
void near_each(int *, int, void (*)(int *, double), double), near_sort(int *, int);
int near_use(int);
long near_thread(int);
char *near_format(int, double);
static void add(int *p, double x) { *p += (int)(x * near_scale(x, 1)); }
static int thrice(int x) { return 3 * x; }
int main(void) {
    int v[] = {5, 3, 9, 1};
    double first = near_scale(2.5, 4);
    printf("%g %d\n", first, near_count);
    near_count = 100;
    near_sort(v, 4);
    near_each(v, 4, add, 1.5);
    printf("%d %d %d %d %d\n", v[0], v[1], v[2], v[3], near_count);
    printf("%d %d ", near_use(7), near_hook(8));
    near_hook = thrice;
    printf("%d\n", near_use(7));
    printf("%ld %s\n", near_thread(30), near_format(3, 2.25));
    near_names[1] = "other";
    puts(near_format(5, 1));
    return 0;
}
C
cat >throws.cpp <<'C'
#include <stdexcept>
#include <string>
#include <vector>
extern "C" int throws(int n) {
    std::vector<std::string> v(n);
    if (n > 2)
        throw std::runtime_error("large: " + std::to_string(n));
    return (int)v.size();
}
extern "C" int catches(int (*f)(int), int n) {
    std::string kept(n, 'x');
    try {
        return f(n);
    } catch (int k) {
        return -k - (int)kept.size();
    }
}
C
cat >throws-main.cpp <<'C'
#include <cstdio>
#include <stdexcept>
extern "C" int throws(int), catches(int (*)(int), int);
static int thrower(int n) {
    if (n > 5) throw n;
    if (n > 3) throw 2.5;
    return n;
}
int main() {
    printf("%d %d %d\n", throws(2), catches(thrower, 1), catches(thrower, 9));
    try {
        throws(7);
    } catch (std::exception &e) {
        printf("%s\n", e.what());
    }
    try {
        catches(thrower, 4);
    } catch (double d) {
        printf("%g\n", d);
    }
}
C

execute() { # MACHINE PROGRAM
    local machine=$1
    shift
    [ "$machine" = "$(uname -m)" ] || set -- "qemu-$machine" -L "/usr/$machine-linux-gnu" "$@"
    timeout 60 "$@"
    echo "status $?"
}

same() { # NAME COMPILER FLAG…: a program with the old library and one with the raised library print the same
    local name=$1 compiler=$2 source
    shift 2
    source=$(ls "$name".c*)
    mkdir -p old new
    "$guest-linux-gnu-$compiler" "$@" -g -w -shared -fPIC "$source" -o "old/lib$name.so" -Wl,-soname,"lib$name.so" || exit 2
    "$lathe" raise --target="$host" "old/lib$name.so" -o "new/lib$name.so" || { complain "$name $*: not raised"; return; }
    for pie in '' '-no-pie -fno-pie'; do # the second has copies of variables
        "$guest-linux-gnu-$compiler" $pie -w "$name-main"* -Lold -l"$name" -pthread -Wl,-rpath,old -o old/main || exit 2
        "$host-linux-gnu-$compiler" $pie -w "$name-main"* -Lnew -l"$name" -pthread -Wl,-rpath,new -o new/main || { complain "$name $*: not linked"; return; }
        execute "$guest" old/main >right 2>&1
        execute "$host" new/main >seen 2>&1
        cmp right seen || complain "$name $* with '$pie': $(diff right seen)"
    done
}

thread=__thread
[ "$guest" = x86_64 ] || thread= # others ask for such variables in a way that cannot be raised
same near gcc -O2 "-DTHREAD=$thread"
same near gcc -O0 "-DTHREAD=$thread"
same throws g++ -O2

refuse() { # TEXT FLAG…: of the C on standard input
    local text=$1
    shift
    cat >refused.c
    "$guest-linux-gnu-gcc" -O1 -shared -fPIC -w "$@" refused.c -o refused.so || exit 2
    "$lathe" raise --target="$host" refused.so -o out >message 2>&1
    [ $? = 1 ] && grep -q "$text" message && [ ! -e out ] || complain "no '$text' in: $(cat message)"
}

echo 'int f(int n) { return n + 1; }' | refuse '0x[0-9a-f]*: no debug information tells what the function f takes'
echo 'int f(int n, ...) { return n + 1; }' | refuse '0x[0-9a-f]*: the function f has arguments or a result that machines pass in different ways' -g
echo '__thread int t; int f(void) { return 1; }' | refuse 'its symbol t is of a kind that cannot be raised' -g
echo 'int f(int n) { return n + 1; }' >plain.c
"$guest-linux-gnu-gcc" -O1 -shared -fPIC plain.c -o plain.so && "$lathe" raise --target="$host" --plain-calls plain.so -o plain-new.so || complain 'plain calls: not raised'
exit $failed
