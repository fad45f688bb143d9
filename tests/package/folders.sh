#!/bin/sh
# folders.sh SOURCE SCRATCH MPICC: in which folders a build is set up to install; nothing is built.
set -eu
source=$1 scratch=$2 mpicc=$3
rm -rf "$scratch"
mkdir -p "$scratch"
build=$scratch/build
(cd "$source" && cmake --preset deb -B "$build" -DMPI_C_COMPILER="$mpicc" -DLAPLE_ANY_MPI=ON \
    -DCMAKE_INSTALL_LIBDIR=/opt/libraries -DCMAKE_INSTALL_INCLUDEDIR=/opt/headers) > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }

grep -q 'PREFIX}/share/zsh/vendor-completions"' "$build/tools/completion/cmake_install.cmake" ||
    { echo "Debian's zsh does not find its completion"; exit 1; }

# Folders may be absolute, and then outside of the prefix.
export PKG_CONFIG_PATH="$build"
flags="$(pkg-config --cflags --libs laple) $(pkg-config --libs laple-static)"
for part in -I/opt/headers -L/opt/libraries /opt/libraries/liblaple.a; do
    case " $flags " in
        *" $part "*) ;;
        *) echo "pkg-config does not say $part: $flags"; exit 1 ;;
    esac
done
echo "folders are right"
