#!/bin/sh
# images.sh LATHE GUESTS: images: a second run has all code of the first one, in both tiers, after forks and with handlers; what has
# changed, is damaged or left behind does no harm. GUESTS has the source hot.c.
lathe=$(realpath "$1")
guests=$(realpath "$2")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none LATHE_HOT_AFTER=2

library() {
    echo "unsigned spin(unsigned n) { unsigned h = 1; while (n--) h = (h ^ n) * $1; return h; }" |
        gcc -O2 -shared -fPIC -x c - -o "$2"
}

mkdir libs
library 16777619u libs/libspin.so &&
    gcc -w -O2 "$guests/hot.c" -o plain && gcc -w -O2 -DHANDLER "$guests/hot.c" -o handler &&
    gcc -w -O2 -DLIBRARY "$guests/hot.c" -Llibs -lspin -Wl,-rpath,"$dir/libs" -o linked || exit 1
for program in plain handler linked; do
    ./$program >expected-$program || exit 1
done
settle plain handler linked

images() {
    for pack in "$LATHE_CACHE"/*.pack; do
        [ -e "$pack" ] && [ "$(od -An -c -N8 "$pack" | tr -d ' ')" = lhe-img1 ] && echo "$pack"
    done
}

# warm WHAT PROGRAM [OPTION...]: runs it until it has optimised code from an image, and asks for no more. On a busy machine that takes some runs: what
# is hot is not seen at once, and a server may have its answer after the program's end.
warm() {
    warm_what=$1 warm_program=$2
    shift 2
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        expect 0 "$warm_what" run "$@" --stats=json "./$warm_program"
        same out "expected-$warm_program"
        [ "$(figure from_image)" -gt 0 ] && [ "$(figure translated)" = 0 ] && break
    done
}

# --------------------------------------------------------------------------------------------------------------- both tiers
for program in plain handler linked; do
    expect 0 "$program" run --stats=json ./$program
    same out expected-$program
    counts from_image -eq 0
    warm "$program again" $program
    counts from_image -gt 0
    counts translated -eq 0
    counts quick_blocks -lt 50
done
expect 0 "quick code only" run --tier=quick --stats=json ./plain
same out expected-plain
expect 0 "quick code only, again" run --tier=quick --stats=json ./plain
same out expected-plain
counts quick_blocks -eq 0
counts from_image -eq 0
expect 0 "optimised code only" run --tier=opt --stats=json ./plain 1000000
counts translated -gt 100
cp out expected-opt
expect 0 "optimised code only, again" run --tier=opt --stats=json ./plain 1000000
same out expected-opt
counts from_image -gt 100
counts translated -eq 0
counts from_cache -eq 0
expect 0 "without a cache" run --cache=none --stats=json ./plain
counts from_image -eq 0

# ------------------------------------------------------------------------------------------------- fork, exec, end by a fault
./plain 3000000 fork exec >expected-fork
for time in first second third; do
    expect 0 "$time fork and exec" run ./plain 3000000 fork exec
    same out expected-fork
done
export LATHE_CACHE="$dir/cache-exec"
expect 0 "exec" run --tier=quick /bin/sh -c 'exec /bin/true'
expect 0 "what exec left" run --tier=quick --stats=json /bin/sh -c 'exec /bin/true'
what="what exec left"
is "$(sed -n 's/.*"quick_blocks": \([0-9]*\).*/\1/p' err | head -n 1)" -lt 50
export LATHE_CACHE="$dir/cache-children"
for time in first second third; do
    expect 0 "children of a shell, $time" run --tier=quick --stats=json /bin/sh -c '(exit 3); (exit 4); exit 0'
done
what="children leave their code, too"
is "$(sed -n 's/.*"quick_blocks": \([0-9]*\).*/\1/p' err | sort -n | tail -n 1)" -lt 8
export LATHE_CACHE="$dir/cache-fault"
expect 139 "a fault" run --tier=quick ./plain 1000 fork exec fault
is "$(images)" != ""
export LATHE_CACHE="$dir/cache"

# ------------------------------------------------------------------------------------------------------------ what is wrong
expect 0 "the library before" run --stats=json ./linked
counts from_image -gt 0
library 3u libs/new.so && mv libs/new.so libs/libspin.so || exit 1
./linked >expected-changed
expect 0 "another library" run --stats=json ./linked
same out expected-changed
expect 0 "another library again" run ./linked
same out expected-changed

# So much code of a file that is no more makes a run begin all code anew; the next one has an image again.
export LATHE_CACHE="$dir/cache-large"
large() {
    echo ".globl many; many: .rept 110000; .balign 16; lea $1(%rdi), %rax; ret; .endr; .type many, @object; .size many, . - many" >many.s &&
        gcc -shared -Wl,-z,noexecstack many.s -o libs/new.so && mv libs/new.so libs/libmany.so
}
cat >calls.c <<END
#include <stdio.h>
extern char many[];
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 110000; i++)
        sum += ((unsigned long (*)(unsigned long))(many + 16L * i))(sum);
    printf("%lu\\n", sum);
}
END
large 1 && gcc -w -fPIC calls.c -Llibs -lmany -Wl,-rpath,"$dir/libs" -o calls && settle calls libs/libmany.so || exit 1
for n in 1 2; do
    ./calls >expected-calls
    for time in first second third; do
        expect 0 "much code, $n, $time" run --tier=quick --stats=json ./calls
        same out expected-calls
    done
    counts renewals -eq 0
    counts quick_blocks -lt 50
    large 2 && settle libs/libmany.so
done
export LATHE_CACHE="$dir/cache"

for at in 40 200 5000 60000 200000; do
    for image in $(images); do
        chmod u+w "$image"
        patch "$image" $at '\0125\0252\0125'
    done
    expect 0 "damage at $at" run ./plain
    same out expected-plain
done
# An image that has passed its checksum is marked by the nanoseconds of its time, and checked again after the next start of the system.
rm -f cache/*
warm "an image to mark" plain
image=$(images | head -n 1)
marked=$(stat -c %.9Y "$image")
touch -d "@1000.${marked#*.}" "$image"
expect 0 "an old image" run ./plain
same out expected-plain
what="an old image is checked and marked"
is "$(stat -c %.9Y "$image" | cut -d. -f2)" = "${marked#*.}"
is "$(stat -c %Y "$image")" -gt 1000
cp "$image" whole
for at in 5000 60000 $(($(stat -c %s "$image") - 4000)); do
    cp whole "$image"
    patch "$image" $at '\0125\0252\0125'
    touch -d "@1000.${marked#*.}" "$image"
    expect 0 "old damage at $at" run --stats=json ./plain
    same out expected-plain
    counts from_image -eq 0
    expect 0 "after damage at $at" run --stats=json ./plain
    same out expected-plain
    counts quick_blocks -lt 50
done
for image in $(images); do
    chmod u+w "$image"
    truncate -s 70000 "$image"
done
expect 0 "cut images" run ./plain
same out expected-plain
rm -f cache/*
expect 0 "a new image" run ./plain
what="nobody writes to an image"
is "$(stat -c %a "$(images | head -n 1)")" = 400
expect 0 "of others" chmod 666 "$(images | head -n 1)"
expect 0 "a file that others may write" run --stats=json ./plain
same out expected-plain
counts from_image -eq 0

# ---------------------------------------------------------------------------------------------------- what is left behind
rm -f cache/*
expect 0 "an image" run --tier=quick ./plain 1000
image=$(images)
rm "$image"
touch -d '2 minutes ago' "$image.new" cache/0123456789abcdef0123456789abcdef.pack.new
echo "not ours" >cache/notes.new
expect 0 "beside a dead writer" run --tier=quick ./plain 1000
what="what a dead writer left"
is "$(find cache -name '*.pack.new')" = ""
is "$(images)" = "$image"
is -e cache/notes.new
rm "$image"
touch "$image.new"
expect 0 "beside a writer" run --tier=quick ./plain 1000
is "$(images)" = ""
rm -f cache/*

# ------------------------------------------------------------------------------------------------------------------- bounds
expect 0 "no room" env LATHE_CACHE_SIZE=0 "$lathe" run --tier=quick ./plain 1000
is "$(images)" = ""
mkdir -p cache
for n in 0 1 2 3; do
    head -c 400K /dev/urandom >"cache/${n}123456789abcdef0123456789abcdef.pack"
    touch -d "$((9 - n)) days ago" "cache/${n}123456789abcdef0123456789abcdef.pack"
done
expect 0 "little room" env LATHE_CACHE_SIZE=1 "$lathe" run --tier=quick ./plain 1000
what="the least used go first"
is ! -e cache/0123456789abcdef0123456789abcdef.pack
is ! -e cache/1123456789abcdef0123456789abcdef.pack
is -e cache/3123456789abcdef0123456789abcdef.pack

# Where nothing may be executed, code is copied.
mkdir noexec
if mount -t tmpfs -o noexec,mode=700 none noexec 2>/dev/null; then
    clean_up() {
        umount "$dir/noexec"
    }
    warm "a cache of no programs" plain --cache=noexec
    counts from_image -gt 0
    counts translated -eq 0
else
    skip "a cache of no programs" "no file system can be mounted here: that needs root"
fi
finish
