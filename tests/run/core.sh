#!/bin/sh
# core.sh LATHE COREFILES: core files of a guest of this machine's kind, as gdb reads those of a native process: where it was, its registers, its memory, and why it has died. COREFILES
# is built from guest/corefiles.c. The kernel has to write core files to the current directory, or cannot be asked to here.
lathe=$(realpath "$1")
program=$(realpath "$2")
. "$(dirname "$0")/../check.sh"
command -v gdb >/dev/null || gdb() { gdb-multiarch "$@"; }
case $(cat /proc/sys/kernel/core_pattern) in
core | core.%p) ;;
*) skip_all "core files go elsewhere: $(cat /proc/sys/kernel/core_pattern)" ;;
esac
ulimit -c unlimited 2>/dev/null || skip_all "there may be no core files here"

# seen COMMAND...: what gdb says of the core file of that run, without addresses, which differ.
seen() {
    rm -f core*
    "$@" >/dev/null 2>&1
    status=$?
    gdb -q -batch -ex 'printf "died of %d, code %d\n", $_siginfo.si_signo, $_siginfo.si_code' -ex 'bt' -ex 'frame function fail' -ex 'info locals' \
        -ex 'print $xmm0.v2_double[0]' -ex 'x/i $pc' -ex 'print progress' -ex 'info sharedlibrary' "$program" core* 2>&1 |
        sed -n -E '/^(died|#|[a-z]+ = |\$|=>|0x)/{s/0x[0-9a-f]{5,}/ADDRESS/g;p}' | grep -v 'in \?\?'
    echo "status $status"
}

for how in read write divide illegal break jump abort; do
    what="$how"
    seen "$program" $how >expected
    says expected '^died of'
    tiers="auto opt"
    case $how in read | write) tiers=auto ;; esac # at accesses to memory, optimised code has no exact state
    for tier in $tiers; do # vector registers of optimised code are not where the kernel looks
        what="$how, --tier=$tier"
        seen "$lathe" run --tier=$tier --cache=none "$program" $how >out
        : >err
        [ $tier = opt ] && sed -i '/^\$1 = /d' out expected
        same out expected
    done
done
finish
