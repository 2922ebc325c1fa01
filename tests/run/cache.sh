#!/bin/sh
# cache.sh LATHE MAKER MANDIR: `lathe cache`, and what `lathe run` does before the program runs: its options, the program's place,
# messages and exit statuses. The client is played by a script that prints its arguments. MAKER DIR makes a pack in DIR.
lathe=$(realpath "$1")
maker=$(realpath "$2")
mandir=$(realpath "$3")
. "$(dirname "$0")/../check.sh"

# ------------------------------------------------------------------------------------------------------------- lathe cache

cache=$dir/cache
expect 0 "no directory yet" "$lathe" cache --cache="$cache"
says out '^0 packs, 0 records, 0 bytes$'
"$maker" "$cache" && "$maker" "$cache" || exit 1
echo "keep me" >"$cache/notes.txt"
expect 0 "show" "$lathe" cache --cache="$cache" show
says out '^0123456789abcdeffedcba9876543210\.pack  20.* 12 records .*KiB$'
says out '^1 packs, 12 records, .* KiB$'
patch "$cache/0123456789abcdeffedcba9876543210.pack" 64 X
expect 0 "a damaged record" env LATHE_CACHE="$cache" "$lathe" cache
says out ' 11 records .*\(1 damaged\)$'
expect 0 "clear" "$lathe" cache clear --cache "$cache"
says out '^removed 1 packs, .*KiB$'
what="clear removes packs only"
is "$(ls "$cache")" = notes.txt
expect 0 "path" env XDG_CACHE_HOME=/x "$lathe" cache path
says out '^/x/lathe$'
expect 0 "path in HOME" env -u XDG_CACHE_HOME HOME=/y "$lathe" cache path
says out '^/y/\.cache/lathe$'
expect 0 "a relative XDG_CACHE_HOME" env XDG_CACHE_HOME=x HOME=/y "$lathe" cache path
says out '^/y/\.cache/lathe$'
expect 1 "no cache" "$lathe" cache --cache=none
one_line
expect 1 "not a directory" "$lathe" cache --cache=/dev/null
one_line
expect 2 "unknown verb" "$lathe" cache shwo
expect 2 "two verbs" "$lathe" cache show clear

# --------------------------------------------------------------------------------------------------------------- lathe run

parts=$dir/parts
mkdir "$parts" "$dir/bin" "$dir/bin2" "$dir/root"
cat >"$parts/lathe-client" <<'END'
#!/bin/sh
echo "options $1"
echo "path $2"
shift 2
for word; do
    echo "arg $word"
done
env | sed 's/^/env /'
END
printf '#!/bin/sh\n' >"$parts/lathe-server"
printf '#!/bin/sh\n' >"$dir/bin/prog"
printf '#!/bin/sh\n' >"$dir/bin2/prog"
printf 'text\n' >"$dir/bin/text"
mkdir "$dir/bin/folder"
chmod +x "$parts/lathe-client" "$parts/lathe-server" "$dir/bin/prog" "$dir/bin2/prog"
export LATHE_LIBEXEC="$parts" HOME="$dir" XDG_RUNTIME_DIR="$dir/none" PATH="$dir/bin:$dir/bin2:$PATH"
unset XDG_CACHE_HOME

expect 0 "defaults" "$lathe" run prog -x --stats=json -- y
says out '^options tier=0,cpu=0,opt=2,strict=0,strace=0,follow=1,perf=0,tool-without=0,explain=0,stats=0,dump=0,limit=1024,'
says out ",cache=$dir/\\.cache/lathe,"
says out ",server=$parts/lathe-server,socket=,client=$parts/lathe-client,emulator=,sysroot=,tool=,tool-options=,tools=,log=,plugin=,plugin-id=0\$"
says out "^path $dir/bin/prog\$"
is "$(grep '^arg' out | tr '\n' ' ')" = 'arg prog arg -x arg --stats=json arg -- arg y '
expect 0 "all options" "$lathe" run --opt=quick --strict-fp --strace --no-follow --perf --sample-every=250 --hot-after=8 --compile-after=5 --stats=json --dump=obj,lift \
    --cache=none -L "$dir/root" -E A=1 -EB=2=3 -U HOME -0 name -- prog
says out '^options tier=0,cpu=0,opt=1,strict=1,strace=1,follow=0,perf=1,tool-without=0,explain=0,stats=2,dump=5,limit=1024,sample=250,hot=8,after=5,debugger=0,build=[0-9a-f]{15},cache=,'
says out ",sysroot=$dir/root,tool=,tool-options=,tools=,log=,plugin=,plugin-id=0\$"
says out '^arg name$'
says out '^env A=1$'
says out '^env B=2=3$'
says_not out '^env HOME='
expect 0 "variables" env LATHE_OPT=quick LATHE_STRACE=1 LATHE_STATS=1 LATHE_NO_FOLLOW=0 LATHE_STRICT_FP= LATHE_CACHE=none \
    "$lathe" run --opt=full prog
says out '^options tier=0,cpu=0,opt=2,strict=0,strace=1,follow=1,perf=0,tool-without=0,explain=0,stats=1,dump=0,limit=1024,sample=0,hot=0,after=0,debugger=0,build=[0-9a-f]{15},cache=,'
expect 0 "odd characters" "$lathe" run --cache='/a,b%c	d' prog
says out ',cache=/a%2cb%25c%09d,'
expect 0 "a relative directory" "$lathe" run --cache=here prog
says out ",cache=$dir/here,"
expect 0 "the translator changed" "$lathe" run prog
before=$(sed -n 's/.*,build=\([^,]*\).*/\1/p' out)
echo : >>"$parts/lathe-server"
expect 0 "the translator changed" "$lathe" run prog
says_not out "build=$before"
expect 0 "a path" "$lathe" run "$dir/bin2/prog"
says out "^path $dir/bin2/prog\$"

expect 127 "not in PATH" "$lathe" run no-such-program
says err '^lathe: no-such-program: not found$'
one_line
expect 127 "no such file" "$lathe" run ./no-such-program
one_line
expect 127 "an empty name" "$lathe" run ''
one_line
expect 126 "not executable" "$lathe" run text
says err '^lathe: text: not executable$'
one_line
expect 126 "a directory" "$lathe" run "$dir/bin/folder"
one_line
rm "$dir/bin/prog"
expect 0 "the second directory" "$lathe" run prog
says out "^path $dir/bin2/prog\$"
expect 0 "the second directory, after one without permission" sh -c "touch $dir/bin/prog; $lathe run prog"
says out "^path $dir/bin2/prog\$"
expect 2 "no program" "$lathe" run
expect 2 "unknown option" "$lathe" run --stat prog
says err 'did you mean --stats'
expect 2 "what to dump" "$lathe" run --dump=lift,all prog
expect 2 "no assignment" "$lathe" run -E A prog
expect 2 "a variable with nonsense" env LATHE_STRACE=maybe "$lathe" run prog
expect 1 "no sysroot" "$lathe" run -L /no/such/directory prog
one_line
long=/$(printf '%0300d' 0)
expect 1 "a long path" "$lathe" run --cache="$long" prog
one_line

documented run
documented cache

finish
