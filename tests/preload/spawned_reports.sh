#!/bin/sh
# spawned_reports.sh MPIEXEC LIBRARIES MAP PROGRAM: each of the four worlds of `spawned` writes a report of its own.
set -eu
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
"$1" -genv LD_PRELOAD "$2" -genv LAPLE_TOPOLOGY "$3" -genv LAPLE_ALGORITHM ^native \
    -genv LAPLE_REPORT "$directory/report" -n 4 "$4"
cat "$directory/report"
for file in "$directory"/report.spawned-*; do
    grep -q "^barrier" "$file" && echo "report of a spawned world"
done
