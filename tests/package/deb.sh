#!/bin/sh
# deb.sh BUILD SCRATCH MPIEXEC PROGRAM: makes Debian packages of BUILD, unpacks them, and runs PROGRAM with what is in them.
set -eu
build=$1 scratch=$2 mpiexec=$3 program=$4
rm -rf "$scratch"
mkdir -p "$scratch/root"
(cd "$build" && cpack -B "$scratch" > "$scratch/cpack.log" 2>&1) || { cat "$scratch/cpack.log"; exit 1; }
for package in "$scratch"/*.deb; do
    dpkg-deb --field "$package" Depends | grep -q libmpich || { echo "$package depends on no MPI"; exit 1; }
    dpkg-deb --extract "$package" "$scratch/root"
done
for file in bin/laple-run lib/liblaple.so.0 include/laple/laple.h share/laple/grid/wan4x4.json \
    share/doc/laple/copyright share/doc/liblaple0/changelog.gz share/doc/liblaple-dev/copyright \
    share/bash-completion/completions/laple-run share/doc/laple/examples/pi.py; do
    [ -e "$scratch/root/usr/$file" ] || { echo "not in a package: $file"; exit 1; }
done
"$scratch/root/usr/bin/laple-run" --report "$mpiexec" -n 2 "$program" 2> "$scratch/report"
grep -q "LaPle [0-9].*MPI" "$scratch/report" || { cat "$scratch/report"; exit 1; }
echo "packages work"
