#!/bin/sh
# skip.sh REASON: a test that cannot be run here, because a tool or a library is missing. It stands in the list of tests for all that needs it.
echo "skip: $1"
exit 77
