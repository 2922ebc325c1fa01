#!/bin/sh
# manual.sh PAGES TOOLPAGES HEADER...: liblathe's manual page has every function of its headers, and all pages, those of tools too, are read by man without a complaint.
pages=$(realpath "$1")
tool_pages=$(realpath "$2")
shift 2
headers=$(realpath "$@")
. "$(dirname "$0")/../check.sh"

what="liblathe.3"
for name in $(sed -n 's/^LATHE_API .*[ *]\(lathe_[a-z0-9_]*\)(.*/\1/p' $headers); do
    says "$pages/liblathe.3" "^\.Fn $name "
done
for page in "$pages"/*.[13] "$tool_pages"/lathe-tool-*.7; do
    expect 0 "$(basename "$page")" man --warnings -l "$page"
    silent err
    says out '^NAME'
done
finish
