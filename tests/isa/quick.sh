#!/bin/sh
# quick.sh -cpu CPU AGENT: in place of qemu, quick code: the agent runs as a guest of $LATHE.
shift 2
exec "${LATHE:?}" run --tier=quick "$@"
