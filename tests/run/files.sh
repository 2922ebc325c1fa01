#!/bin/sh
# files.sh LATHE BIN: `lathe run` of each file that guest/oddities.c writes ends as the file does natively, with the same output; and interpreters of
# scripts in a sysroot. BIN has the guest programs.
lathe=$(realpath "$1")
bin=$(realpath "$2")
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache"

mkdir odd
"$bin/gcc2-oddities" - odd
cd odd || exit 1
count=0
for file in *; do
    [ -f "$file" ] || continue
    count=$((count + 1))
    "$bin/gcc2-oddities" '=' "./$file" "a b" c >../want 2>/dev/null </dev/null
    status=$?
    expect $status "the file $file" run --tier=quick -E ODDITIES=1 "./$file" "a b" c
    same out ../want
    # What exec refuses, or dies of before the program begins, has a line that says why.
    if [ $status -eq 126 ] || [ $status -eq 127 ]; then
        one_line
        says err "^lathe: ./$file: "
    fi
done
what="all files"
is $count -gt 150
cd ..

mkdir -p root/only/there
cp /bin/echo root/only/there/show
printf '#!/only/there/show one two\n' >script
printf '#!./script three\n' >outer
chmod +x script outer
expect 127 "an interpreter that is in the sysroot only" run ./script
expect 0 "an interpreter in the sysroot" run -L root ./script word
says out '^one two ./script word$'
expect 0 "the interpreter of an interpreter in the sysroot" run -L root ./outer word
says out '^one two ./script three ./outer word$'
expect 0 "an interpreter in the sysroot, for a program that starts the script" run -L root sh -c './script word; echo "$?"'
says out '^one two ./script word$'
says out '^0$'
finish
