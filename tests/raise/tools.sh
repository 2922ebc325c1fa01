#!/bin/sh
# tools.sh LATHE PROGRAMS TOOLS: tools that were compiled into raised programs tell what they tell of the program under `lathe run`, and the program does as before.
lathe=$(realpath "${1:?}") programs=${2:?} tools=${3:?}
. "$(dirname "$0")/begin.sh"
export XDG_CACHE_HOME="$dir/cache"

build() { # COMPILER-FLAGS NAME
    gcc $1 -w -o "native-$2" "$programs/$2.c" -lm -pthread || complain "$2 does not compile"
}

run() { # PROGRAM OUTPUT: functions of libraries are looked up when it begins, as in raised programs
    LD_BIND_NOW=1 timeout 60 "$@" >"$out" 2>"$out.err"
    echo "status $?" >>"$out"
}

# All that happens in the program's own code is the same, event by event.
same() { # COMPILER-FLAGS NAME
    build "$1" "$2"
    "$lathe" raise --tool="$tools/everything.c",out=raised.txt "native-$2" -o raised || { complain "$2 $1"; return; }
    out=run.out run "$lathe" run --tool="$tools/everything.c",out=run.txt -- "./native-$2"
    out=raised.out run ./raised
    cmp run.out raised.out || complain "$2 $1: the program does something else"
    sort run.txt >run.sorted
    sort raised.txt >raised.sorted
    grep -q '^[1-9][0-9]* instructions' run.txt && cmp run.sorted raised.sorted || {
        complain "$2 $1: the tool is told something else"
        diff run.sorted raised.sorted | head -n 10
    }
}

for name in ints calls tables gotos library; do
    same -O2 "$name"
done
same -O0 calls
same '-O2 -no-pie -fno-pie' tables

# The tools that come with Lathe.
build -O2 ints
"$lathe" raise --tool=inscount native-ints -o counted && ./counted >/dev/null 2>counted.err
LD_BIND_NOW=1 "$lathe" run --tool="$tools/own.c" -- ./native-ints 2>own.err >/dev/null
cmp own.err counted.err || complain "inscount: $(cat counted.err) instead of $(cat own.err)"
"$lathe" raise --tool=inscount --tool=bbcount,top=2,out=blocks.txt --tool=align --tool=opcodemix,out=mix.txt \
    --tool=coverage,out=covered native-ints -o all && ./all >/dev/null 2>all.err || true
head -n 1 all.err | cmp - counted.err || complain "inscount among others: $(head -n 1 all.err)"
grep -q '^[0-9]* of [0-9]* loads and [0-9]* of [0-9]* stores are not aligned$' all.err || complain "align: $(cat all.err)"
grep -q '(.*/all)$' blocks.txt && [ "$(grep -c ' 0x' blocks.txt)" = 2 ] || complain "bbcount: $(cat blocks.txt)"
[ "$(head -n 1 mix.txt)" = "$(cat counted.err)" ] && grep -q ' mov$' mix.txt || complain "opcodemix: $(head -n 3 mix.txt)"
grep -aq '^BB Table: [1-9]' covered || complain "coverage"

# Copies of the program begin anew, each reports, and so do those that end by _exit(); what vfork makes does not.
cat >forks.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n) {
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(void) {
    int status;
    work(100);
    if (!fork()) {
        work(10);
        _exit(3);
    }
    wait(&status);
    if (!vfork())
        _exit(4);
    wait(&status);
    return status >> 8;
}
END
cat >worked.c <<'END'
#include <lathe/tool.h>
static LatheCounter stores;
static void count(void) { lathe_count(&stores, 1); }
static void report(void) { lathe_print("%lu\n", lathe_total(&stores)); }
LATHE_HOOKS(LATHE_WHERE(LATHE_STORE, count, ((LatheWhere){.symbol = "wo*", .classes = LATHE_CLASS_STORE})), LATHE_ON(LATHE_END, report));
END
gcc -O2 -o forks forks.c
"$lathe" run --tool=./worked.c -- ./forks 2>run.err
status=$?
"$lathe" raise --tool=./worked.c forks -o raised && ./raised 2>raised.err
[ $? = $status ] && cmp run.err raised.err || complain "forks: $(cat raised.err) instead of $(cat run.err)"

# Threads lose nothing.
cat >threads.c <<'END'
#include <pthread.h>
#include <stddef.h>
static void *work(void *unused) {
    volatile long sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += i;
    return unused;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
END
gcc -O2 -pthread -o native-threads threads.c
for tool in "$tools/own.c" "$tools/everything.c,out=-"; do
    LD_BIND_NOW=1 "$lathe" run --tool="$tool" -- ./native-threads 2>&1 | sort >run.err
    "$lathe" raise --tool="$tool" native-threads -o raised && ./raised 2>&1 | sort >raised.err
    cmp run.err raised.err || complain "threads: $(head -n 3 raised.err) instead of $(head -n 3 run.err)"
done

# What a raised program does not have: a sentence, and no file.
refused() { # SENTENCE TOOL PROGRAM OPTIONS…
    sentence=$1 tool=$2 program=$3
    shift 3
    rm -f none
    "$lathe" raise --tool="$tool" "$@" "$program" -o none 2>err && complain "$tool is not refused"
    grep -q "$sentence" err || complain "$tool: $(cat err)"
    [ ! -e none ] || complain "$tool: there is a file"
}
one() { # HOOK
    printf '#include <lathe/tool.h>\nstatic LatheCounter c;\nstatic void f(uint64_t v) { lathe_count(&c, (long)v); }\nLATHE_HOOKS(%s);\n' "$1" >one.c
}
refused "the tool's hook 2 is for LATHE_SYSCALL, which nobody tells" syscalls native-ints
refused 'which nobody tells in a raised program\|which a raised program does not have' memcheck native-ints
one 'LATHE_ON(LATHE_INSN, f, {LATHE_REGISTER, 3})'
refused "hook 1 asks for LATHE_REGISTER, which a raised program does not have" ./one.c native-ints
one 'LATHE_ON(LATHE_FUNCTION, f, {LATHE_ARGUMENT, 0})'
refused "hook 1 asks for LATHE_ARGUMENT" ./one.c native-ints
one 'LATHE_WHERE(LATHE_INSN, f, ((LatheWhere){.from = 4096}), {LATHE_PC})'
refused 'a hook for certain addresses' ./one.c native-ints
printf '#include <lathe/tool.h>\nstatic void f(void) { uint64_t at[4]; lathe_print("%%u", lathe_stack(at, 4)); }\nLATHE_HOOKS(LATHE_ON(LATHE_CALL, f));\n' >stack.c
refused 'the tool calls lathe_stack, which a raised program does not have' ./stack.c native-ints
printf '#include <string.h>\nchar a[4096];\nint main(int argc, char **argv) { __asm__ volatile("rep stosb" :: "D"(a), "c"(4096), "a"(argc) : "memory"); return a[7] - 1; }\n' >repeated.c
gcc -O2 -o repeated repeated.c
refused '0x[0-9a-f]*: the instruction is repeated, or accesses several places, and its stores cannot be told' align ./repeated
"$lathe" raise --tool=inscount repeated -o raised && ./raised 2>/dev/null || complain "repeated instructions are not counted"
gcc -static -O2 -o static threads.c
refused 'tools are for programs that are linked dynamically' inscount static
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    refused 'tools are for programs that are raised for their own machine' inscount native-ints --target=aarch64
fi
# A key that the tool does not know ends the program before it begins.
"$lathe" raise --tool=inscount,nothing=1 native-ints -o raised && ./raised >raised.out 2>err && complain "an unknown option works"
grep -q "inscount has no option 'nothing', nor any other" err && [ ! -s raised.out ] || complain "$(cat err)"
[ $failed = 0 ] && echo "tools in raised programs tell what they tell under lathe run"
exit $failed
