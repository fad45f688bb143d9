#!/bin/sh
# deb.sh BUILD SCRATCH MPIEXEC PROGRAM: makes Debian packages of BUILD, unpacks them, and runs PROGRAM with what is in them.
set -eu
build=$1 scratch=$2 mpiexec=$3 program=$4
rm -rf "$scratch"
mkdir -p "$scratch/root"
(cd "$build" && cpack -B "$scratch" > "$scratch/cpack.log" 2>&1) || { cat "$scratch/cpack.log"; exit 1; }
# CMake's own lists name files in /usr, which are another installation's if they are there at all.
rm -f "$build"/install_manifest_*.txt
for package in "$scratch"/*.deb; do
    dpkg-deb --field "$package" Depends | grep -q libmpich || { echo "$package depends on no MPI"; exit 1; }
    dpkg-deb --extract "$package" "$scratch/root"
done
libraries=$(dirname "$(find "$scratch/root" -name liblaple.so.0)")
for file in bin/laple-run include/laple/laple.h share/laple/grid/wan4x4.json \
    share/doc/laple/copyright share/doc/liblaple0/changelog.gz share/doc/liblaple-dev/copyright \
    share/bash-completion/completions/laple-run share/doc/laple/examples/pi.py; do
    [ -e "$scratch/root/usr/$file" ] || { echo "not in a package: $file"; exit 1; }
done
[ -n "$(find "$scratch/root/usr/share/zsh" -name _laple)" ] || { echo "not in a package: completion for zsh"; exit 1; }
# What the library package has serves by the name that job scripts preload.
mkdir "$scratch/alone"
dpkg-deb --extract "$scratch"/liblaple0_*.deb "$scratch/alone"
preload=$scratch/alone/${libraries#"$scratch/root/"}/liblaple.so
LD_PRELOAD=$preload ldd "$program" | grep -q "$preload" || { echo "liblaple0 has no liblaple.so to preload"; exit 1; }
"$scratch/root/usr/bin/laple-run" --report "$mpiexec" -n 2 "$program" 2> "$scratch/report"
grep -q "LaPle [0-9].*MPI" "$scratch/report" || { cat "$scratch/report"; exit 1; }
echo "packages work"
