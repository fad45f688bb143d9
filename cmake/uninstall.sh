#!/bin/sh
# uninstall.sh RECORD: removes the files that RECORD names, one a line, folders of LaPle's own that are empty then, and RECORD.
set -eu
record=$1
fail() { echo "uninstall: $*" >&2; exit 1; }
[ -z "${DESTDIR-}" ] || fail "what was installed with DESTDIR is not written down: remove $DESTDIR"
[ -e "$record" ] || fail "nothing was installed from this build folder"
while IFS= read -r file; do
    # rm tells a file that is gone from one that it may not even look for.
    rm -fv -- "$file" || fail "run this as the user who has installed LaPle; what is left is still written down"
    folder=${file%/*}
    while case $folder in */laple*) ;; *) false ;; esac; do
        rmdir -- "$folder" 2> /dev/null || true
        folder=${folder%/*}
    done
done < "$record"
rm -f -- "$record"
