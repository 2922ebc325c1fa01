#!/bin/bash
# quick.sh EMIT LATHE REPLAY [OPTION...]: samples of fuzz-emit, with its options, as quick code.
set -o pipefail
emit=$1 lathe=$2 replay=$3
shift 3
"$emit" "$@" | "$lathe" run --tier=quick "$replay"
