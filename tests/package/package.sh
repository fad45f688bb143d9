#!/bin/sh
# package.sh BUILD CONSUMER SCRATCH MPICC LIBDIR PROGRAM...: installs BUILD, in which these programs are, and builds
# CONSUMER against what was installed.
set -eu
build=$1 consumer=$2 scratch=$3 mpicc=$4 libdir=$5
shift 5
rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"

# first_of PROGRAM: liblaple must be the first library that the loader asks for an MPI symbol.
first_of() {
    first=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(lib\(laple\|mpich\|mpi\)\.so[^]]*\)\].*/\1/p' | head -n 1)
    case $first in
        liblaple*) ;;
        *) echo "$1 meets ${first:-no MPI library} first, not liblaple"; exit 1 ;;
    esac
}

# with_cmake PROJECT LANGUAGE: builds PROJECT, whose program is called as its folder, with only this language.
with_cmake() {
    cmake -S "$1" -B "$scratch/cmake-$2" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DLANGUAGE="$2" --no-warn-unused-cli > "$scratch/configure.log"
    cmake --build "$scratch/cmake-$2" > "$scratch/build.log"
    first_of "$scratch/cmake-$2/$(basename "$1")"
}
with_cmake "$consumer" C
with_cmake "$consumer" CXX
if command -v gfortran > "$scratch/gfortran"; then with_cmake "${consumer}_fortran" Fortran; fi
cmake -S "$consumer" -B "$scratch/cmake-none" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DLANGUAGE=NONE > "$scratch/configure.log" 2>&1 &&
    { echo "a project without a language finds LaPle"; exit 1; }
grep -q "enable one of them" "$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }

export PKG_CONFIG_PATH="$scratch/prefix/$libdir/pkgconfig"
# shellcheck disable=SC2046  # flags are words
"$mpicc" $(pkg-config --cflags laple) "$consumer/main.c" "$consumer/app.c" -o "$scratch/with-pkg-config" \
    $(pkg-config --libs laple)
first_of "$scratch/with-pkg-config"
# shellcheck disable=SC2046
"$mpicc" $(pkg-config --cflags laple) "$consumer/direct.c" -o "$scratch/direct" $(pkg-config --libs laple)
LD_LIBRARY_PATH="$scratch/prefix/$libdir" "$scratch/direct"
# shellcheck disable=SC2046
"$mpicc" "$consumer/main.c" "$consumer/app.c" -o "$scratch/static" $(pkg-config --libs laple-static)
nm "$scratch/static" | grep -q " T MPI_Bcast$" || { echo "laple-static.pc does not link LaPle's MPI_Bcast"; exit 1; }
readelf -d "$scratch/static" | grep -q "liblaple" && { echo "laple-static.pc links the shared library"; exit 1; }
for file in "$@" "$libdir/liblaple.so" "$libdir/liblaple_deep.so" "$libdir/liblaple_profile.so" "$libdir/liblaple.a" include/laple/laple.h \
    share/laple/grid/wan4x4.json share/doc/laple/README.md share/doc/laple/docs/model.schema.json share/doc/laple/docs/settings.md; do
    [ -e "$scratch/prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done

"$(dirname "$0")/../citations" "$scratch/prefix/share/doc/laple" --links > "$scratch/links" || { cat "$scratch/links"; exit 1; }
"$mpicc" "$scratch/prefix/share/doc/laple/examples/pipelined_cg.c" -o "$scratch/pipelined_cg" -lm -Wno-stringop-overflow

# Where shells look for them, and what they answer.
bash -c '. "$1"; COMP_WORDS=(laple-grid run --place); COMP_CWORD=2; _laple_grid; [ "${COMPREPLY[*]}" = --placement ]' - \
    "$scratch/prefix/share/bash-completion/completions/laple-grid" || { echo "bash does not complete --place"; exit 1; }
bash -c '. "$1"; COMP_WORDS=(laple-grid do); COMP_CWORD=1; _laple_grid; [ "${COMPREPLY[*]}" = "down doctor" ]' - \
    "$scratch/prefix/share/bash-completion/completions/laple-grid" || { echo "bash does not complete do"; exit 1; }

# What was installed can be taken away, and nothing of it is left. What a developer has installed from this folder stays.
if ! grep -qv -e "^$scratch/" -e "^$" "$build/installed.txt"; then
    cmake --build "$build" --target uninstall > "$scratch/uninstall.log"
    left=$(find "$scratch/prefix" ! -type d)
    [ -z "$left" ] || { echo "uninstall has left $left"; exit 1; }
fi
