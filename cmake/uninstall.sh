#!/bin/sh
# uninstall.sh BUILD: removes what "cmake --install BUILD" has written down, and folders of LaPle's own that are empty then.
set -eu
build=$1
fail() { echo "uninstall: $*" >&2; exit 1; }
set -- "$build"/install_manifest*.txt
[ -e "$1" ] || fail "nothing was installed from $build"
for manifest; do
    # CMake ends no last line.
    while IFS= read -r file || [ -n "$file" ]; do
        file=${DESTDIR-}$file
        # rm tells a file that is gone from one that it may not even look for.
        rm -fv -- "$file" || fail "run this as the user who has installed LaPle; what is left is still written down"
        folder=${file%/*}
        while case $folder in */laple*) ;; *) false ;; esac; do
            rmdir -- "$folder" 2> /dev/null || true
            folder=${folder%/*}
        done
    done < "$manifest"
    rm -f -- "$manifest" || fail "run this as the user who has installed LaPle"
done
