#!/bin/sh
# folders.sh SOURCE SCRATCH MPICC: in which folders a build is set up to install; nothing is built.
set -eu
source=$1 scratch=$2 mpicc=$3
rm -rf "$scratch"
mkdir -p "$scratch"
build=$scratch/build
(cd "$source" && cmake --preset deb -B "$build" -DMPI_C_COMPILER="$mpicc" -DLAPLE_ANY_MPI=ON) > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }

grep -q 'PREFIX}/share/zsh/vendor-completions"' "$build/tools/completion/cmake_install.cmake" ||
    { echo "Debian's zsh does not find its completion"; exit 1; }
echo "folders are right"
