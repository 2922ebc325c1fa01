#!/bin/sh
# named.sh LATHE BARE KERNEL DEBIAN GUEST: lathe under the name of a kind of guest, as one types it and as the kernel starts it. BARE prints
# its arguments; KERNEL and DEBIAN are the registrations with binfmt_misc.
lathe=$(realpath "$1")
bare=$(realpath "$2")
kernel=$(realpath "$3")
debian=$(realpath "$4")
guest=$5
. "$(dirname "$0")/../../check.sh"
export LATHE_CACHE="$dir/cache"

# ---------------------------------------------------------------------------------------------------------------- the name
LATHE_LIBEXEC=$(dirname "$lathe")/src/run/client
export LATHE_LIBEXEC
ln -s "$lathe" lathe-$guest
ln -s "$lathe" lathe-x86-64
expect 3 "a program by the name of its kind" ./lathe-$guest "$bare" one 'two words'
printf '%s\none\ntwo words\n' "$bare" >want
same out want
expect 2 "the options of lathe run" ./lathe-$guest -0 other -L / -- "$bare" -L
printf 'other\n-L\n' >want
same out want
expect 126 "a program of another kind" ./lathe-$guest /usr/bin/true
says err '^lathe: /usr/bin/true: '
one_line
expect 126 "the same the other way round" ./lathe-x86-64 "$bare"
one_line
expect 0 "the host's kind" ./lathe-x86-64 /usr/bin/true
expect 127 "no program" ./lathe-$guest ./nothing
expect 2 "nothing at all" ./lathe-$guest

# ------------------------------------------------------------------------------------------------------- the registrations
# bytes TEXT: \x7f\x45... as numbers, one in a line
bytes() {
    printf '%s' "$1" | sed 's/\\x/\n/g' | sed -n 's/^[0-9a-f][0-9a-f]$/0x&/p'
}

# matches MAGIC MASK FILE: does the kernel take the file for one of these?
matches() {
    bytes "$1" >magic
    bytes "$2" >mask
    od -An -v -tx1 -w1 -N"$(grep -c . magic)" "$3" | sed 's/ */0x/' >head
    paste magic mask head | while read -r a b c; do
        [ $((a & b)) -eq $((c & b)) ] || exit 1
    done
}
magic=$(cut -d: -f5 "$kernel")
mask=$(cut -d: -f6 "$kernel")
what="the registrations"
is "$(cut -d: -f2,3,4,8 "$kernel")" = "lathe-$guest:M::P"
holds matches "$magic" "$mask" "$bare"
cp "$bare" other
patch other 16 '\0003' # position-independent
holds matches "$magic" "$mask" other
patch other 7 '\0003' # for GNU
holds matches "$magic" "$mask" other
patch other 4 '\0001' # of 32 bits
if matches "$magic" "$mask" other; then fail "32 bits match"; else pass; fi
if matches "$magic" "$mask" /usr/bin/true; then fail "the host's programs match"; else pass; fi
cp "$bare" other
patch other 16 '\0001' # an object file
if matches "$magic" "$mask" other; then fail "object files match"; else pass; fi
is "$(sed -n 's/^magic //p' "$debian")" = "$magic"
is "$(sed -n 's/^mask //p' "$debian")" = "$mask"
is "$(sed -n 's/^interpreter //p' "$debian")" = "$(cut -d: -f7 "$kernel")"

# ----------------------------------------------------------------------------------------------- started by the kernel itself
# In a namespace of our own, as kernels since 6.7 have them for this, so that nobody else's programs are concerned.
mkdir binfmt
sed "s|:[^:]*:P\$|:$dir/lathe-$guest:P|" "$kernel" >line
cat >inside <<'END'
mount -t binfmt_misc binfmt_misc binfmt && cat line >binfmt/register || exit 99
shift
exec "$@"
END
in_namespace() {
    unshare --user --map-root-user --mount sh ./inside -- "$@"
}
if in_namespace true 2>err; then
    expect 2 "a registered program" in_namespace "$bare" word
    printf '%s\nword\n' "$bare" >want
    same out want
    expect 3 "argv[0] of its own" in_namespace bash -c "exec -a name '$bare' --help -x"
    printf 'name\n--help\n-x\n' >want
    same out want
    printf '#!%s argument\n' "$bare" >script
    chmod +x script
    expect 4 "a script that it interprets" in_namespace ./script word
    printf '%s\nargument\n./script\nword\n' "$bare" >want
    same out want
else
    skip "programs that the kernel starts" "no binfmt_misc in a namespace here"
fi
finish
