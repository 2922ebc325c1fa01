#!/bin/sh
# perf.sh LATHE DEBUGGED [PAUSES]: the files of --perf: which functions they name, in code of all tiers; what was there before; and what Debian's perf makes of them, if
# it is there. DEBUGGED is built from guest/debugged.c, for any guest, PAUSES from guest/pauses.c, for this machine: it is run with all tiers, and under perf.
lathe=$(realpath "$1")
debugged=$(realpath "$2")
pauses=${3:+$(realpath "$3")}
. "$(dirname "$0")/../check.sh"

# runs STATUS WHAT COMMAND...: as expect does. The files are then map and dump here.
runs() {
    ends=$1
    name=$2
    shift 2
    expect "$ends" "$name" sh -c 'echo $$ >process; [ ! -x before ] || ./before; exec "$@"' sh "$@"
    process=$(cat process)
    rm -f map dump
    mv "/tmp/perf-$process.map" map
    mv "/tmp/jit-$process.dump" dump
}

# Lines of a map: where it begins, its size, the name.
well_formed() {
    is "$(grep -cEv '^[0-9a-f]+ [0-9a-f]+ [^ ].*$' map)" -eq 0
    is "$(stat -c %a map dump | tr '\n' ' ')" = "600 600 "
    is "$(head -c 4 dump)" = DTiJ
}

for tier in ${pauses:+quick opt auto}; do
    runs 7 "--tier=$tier" "$lathe" run --perf --tier=$tier --cache=none "$pauses" 0 20
    silent err
    well_formed
    says map ' f11$'
    says map ' f22$'
    what="the names in the dump of --tier=$tier"
    holds grep -qa f22 dump
done
runs 7 "a dynamic program" "$lathe" run --perf "$debugged" calls
well_formed
says map ' leaf$'
says map ' main$'
says map ' (ld-linux.*\+0x[0-9a-f]+|_dl_.*)$'
expect 7 "without --perf" sh -c 'echo $$ >process; exec "$@"' sh "$lathe" run "$debugged" calls
holds test ! -e "/tmp/perf-$(cat process).map" -a ! -e "/tmp/jit-$(cat process).dump"

# ------------------------------------------------------------------------------------------------------------ what was there before
echo precious >victim
cat >before <<END
#!/bin/sh
ln -s "$dir/victim" "/tmp/perf-\$PPID.map"
ln -s "$dir/victim" "/tmp/jit-\$PPID.dump"
END
chmod +x before
runs 7 "links" "$lathe" run --perf "$debugged" calls
says map ' leaf$'
is "$(cat victim)" = precious
printf '#!/bin/sh\necho "1 1 old" >"/tmp/perf-$PPID.map"\n' >before
runs 7 "a file of a former process" "$lathe" run --perf "$debugged" calls
says map ' leaf$'
says_not map ' old$'
printf '#!/bin/sh\nmkdir "/tmp/perf-$PPID.map"\n' >before
expect 7 "something that stays" sh -c 'echo $$ >process; ./before; exec "$@"' sh "$lathe" run --perf "$debugged" calls
says err '^lathe: .*--perf: /tmp/perf-[0-9]*.map: cannot be made'
rmdir "/tmp/perf-$(cat process).map"
rm before

# ----------------------------------------------------------------------------------------------------------------------------- perf
# Debian's perf may be of another version than the kernel, or have no permission.
if [ -z "$pauses" ]; then
    :
elif perf record -e cpu-clock -k mono -o try.data true >/dev/null 2>&1; then
    for tier in quick auto; do
        expect 7 "perf record, --tier=$tier" perf record -e cpu-clock -k mono -o perf.data \
            sh -c 'echo $$ >process; exec "$@"' sh "$lathe" run --perf --tier=$tier --cache=none "$pauses" 0 32 300000
        expect 0 "perf report" perf report -i perf.data --stdio --sort=symbol
        says out '\[\.\] f[1-8][1-8]( |$)'
        expect 0 "perf inject" perf inject --jit -i perf.data -o jit.data
        hot=$(perf report -i jit.data --stdio --sort=symbol 2>/dev/null | sed -n 's/.*\[\.\] \(f[1-8][1-8]\)\( .*\)*$/\1/p' | head -n 1)
        expect 0 "perf annotate $hot" perf annotate -i jit.data --stdio -s "$hot"
        says out "<$hot>:"
        says out 'imul? '
        rm "/tmp/perf-$(cat process).map" "/tmp/jit-$(cat process).dump"
    done
else
    skip "perf report and annotate" "perf is not there, or may not be used (Debian: apt-get install linux-perf)"
fi

finish
