#!/bin/sh
# explore.sh LATHE MANDIR PROGRAM: what users of `lathe explore` meet on the command line: usage, messages, files.
lathe=$(realpath "$1")
mandir=$(realpath "$2")
program=$(realpath "$3")
. "$(dirname "$0")/../check.sh"

explore() {
    "$lathe" explore "$@"
}

# ------------------------------------------------------------------------------------------------------- usage
documented explore
expect 2 "no file" explore
expect 2 "two files" explore "$program" "$program"
expect 2 "a port and a page" explore --port=80 --html=x "$program"
says err 'takes no --port'
expect 2 "port" explore --port=65536 "$program"
expect 2 "level" explore --opt=most "$program"
expect 2 "targets of a server" explore --target=aarch64 --target=riscv64 "$program"

# ------------------------------------------------------------------------------------------------- broken input
refuses "missing file" '^lathe: none: No such file' explore none
refuses "directory" 'directory' explore "$dir"
echo "no program" >text
refuses "not an ELF" '^lathe: text: not an ELF file' explore --html=out.html text
head -c 5000 "$program" >short
refuses "truncated" '^lathe: short: truncated' explore --html=out.html short
refuses "unknown function" "no function called 'nothing'" explore --function=nothing "$program"
refuses "no code" 'no code at 0x7' explore --function=0x7fffffff0000 "$program"
refuses "unknown host" "there is no 'arm'" explore --target=arm "$program"
refuses "unwritable page" '^lathe: none/out.html: No such file' explore --function=mix --html=none/out.html "$program"
is ! -e out.html
# Without symbols and unwind tables, no function is known; one at an address is shown all the same.
objcopy --strip-all --remove-section=.eh_frame --remove-section=.eh_frame_hdr "$program" bare
start=$("$lathe" lift "$program" --list | sed -n 's/ .* mix$//p')
expect 0 "by address" explore --html=out.html --function="$start" bare
says out.html '"guest_instructions"'

# -------------------------------------------------------------------------------------------------- what was counted
refuses "no counts" '^lathe: none: No such file' explore --hot=none --html=out.html "$program"
refuses "other text" "it is not what 'lathe run --tool=hot,data=FILE' writes" explore --hot=text --html=out.html "$program"
echo "lathe hot 1" >empty
refuses "empty counts" 'nothing in it is of the file' explore --hot=empty --html=out.html "$program"
for line in "1000 4 1" "x 4 1 1 $program" "1000 99999999999 1 1 $program" "1000 1 2 3 $program"; do
    printf 'lathe hot 1\n%s\n' "$line" >wrong
    refuses "wrong counts: $line" 'it is not what' explore --hot=wrong --html=out.html "$program"
done
refuses "no statistics" 'it has no statistics' explore --stats=text --html=out.html "$program"
printf '{"time_us": 1, "script": "</script>"}\n' >wrong
refuses "wrong statistics" 'it has no statistics' explore --stats=wrong --html=out.html "$program"

# ---------------------------------------------------------------------------------------------------------- pages
expect 0 "all functions" explore --html=out.html "$program"
silent out
says out.html '^<!DOCTYPE html>'
says_not out.html 'src=|href=|https?://[^w]' # it needs nothing else; names of XML are http://www…
expect 0 "some functions" explore --html=out.html --function=mix --function=choose --target=aarch64 --target=riscv64 "$program"
says out.html ' aarch64 full": '
says out.html ' riscv64 full": '
finish
