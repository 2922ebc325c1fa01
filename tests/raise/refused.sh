#!/bin/bash
# refused.sh LATHE: what cannot be raised is refused with a sentence, status 1 and no file; damaged files never crash it; what stops at run
# time says where.
lathe=$(realpath "${1:?}")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

complain() {
    echo "FAIL: $*"
    failed=1
}

refuse() { # TEXT FILE: the message has the text
    "$lathe" raise "$2" -o out >message 2>&1
    status=$?
    [ $status = 1 ] || complain "$2: status $status instead of 1: $(cat message)"
    grep -q "$1" message || complain "$2: no '$1' in: $(cat message)"
    [ ! -e out ] || complain "$2: there is a file"
}

cat >contexts.c <<'C'
#include <ucontext.h>
int main(void) {
    ucontext_t c;
    return getcontext(&c);
}
C
echo 'int main(void) { return 0; }' >plain.c
gcc -O1 contexts.c -o contexts && gcc plain.c -o plain && gcc -static plain.c -o static && gcc -shared -fPIC plain.c -o lib.so || exit 2
refuse 'uses getcontext' contexts
refuse 'statically linked' static
refuse 'no entry' lib.so
refuse 'not an ELF file' plain.c
refuse 'No such file' missing

cat >specifications.cpp <<'C'
#include <exception>
#include <new>
void thrower(int n);
inline void inner(int n) throw(int, std::bad_alloc) { thrower(n); }
void outer(int n) throw(int, std::bad_exception) { inner(n); inner(n + 1); }
__attribute__((noinline)) void thrower(int n) { if (n == 1) throw 1; if (n == 2) throw 2.5; }
int main(int argc, char **) { outer(argc - 1); }
C
g++ -std=c++14 -w -O2 specifications.cpp -o specifications || exit 2
refuse 'two exception specifications' specifications

# A jump to a place that no table tells of.
cat >goto.c <<'C'
int main(int argc, char **argv) {
    static const short places[] = {0, &&second - &&first, &&third - &&first};
    if (argc == 1) return 3;
    goto *(&&first + places[argc]);
first:
    return 4;
second:
    return argv[0][0];
third:
    return argv[1][0];
}
C
gcc -O1 goto.c -o goto || exit 2
"$lathe" raise goto -o raised --report >report || complain "goto is refused"
grep -q 'computed jump' report || complain "the report does not tell of a computed jump"
./raised
[ $? = 3 ] || complain "goto does not end with 3"
./raised x 2>message
[ $? = 132 ] || complain "goto does not trap"
grep -q 'raised code stopped at 0x' message || complain "nothing is said where goto stops: $(cat message)"

# Each damaged file is raised, or refused.
for i in $(seq 1 12); do
    python3 - "$i" <<'P'
import random, sys
random.seed(int(sys.argv[1]))
data = bytearray(open("plain", "rb").read())
for _ in range(40):
    data[random.choice([random.randrange(len(data)), random.randrange(64, 2000)])] = random.randrange(256)
open("damaged", "wb").write(data[: random.choice([len(data), random.randrange(64, len(data))])])
P
    timeout 60 "$lathe" raise damaged -o damaged.out >message 2>&1
    status=$?
    [ $status -le 1 ] || complain "damaged file $i: status $status: $(tail -n 2 message)"
done
[ $failed = 0 ] && echo "what cannot be raised is refused"
exit $failed
