#!/bin/sh
# uninstall.sh PROJECT SCRATCH: installs PROJECT, which has files and LaPle's "uninstall", and removes it again.
set -eu
project=$1 scratch=$2
build=$scratch/build
rm -rf "$scratch"
mkdir -p "$scratch"
cmake -S "$project" -B "$build" > "$scratch/configure.log"

wrong() { echo "$*"; cat "$scratch/log"; exit 1; }
install_into() { cmake --install "$build" --prefix "$@" > "$scratch/log"; }
uninstall() { cmake --build "$build" --target uninstall > "$scratch/log" 2>&1; }

uninstall && wrong "what was not installed can be removed"

# Packages and staged installations name files of this system that are not theirs.
DESTDIR="$scratch/staged" install_into /usr
for generator in DEB TGZ; do
    (cd "$build" && cpack -G $generator -B "$scratch/packages") > "$scratch/log" || wrong "no package"
done
uninstall && wrong "what is in packages can be removed from this system"
install_into "$scratch/prefix"
DESTDIR="$scratch/staged" uninstall && wrong "uninstall leaves what was staged, and does not say so"
uninstall || wrong "uninstall fails"
[ -z "$(find "$scratch/prefix" ! -type d)" ] || wrong "uninstall leaves $(find "$scratch/prefix")"

# Components, and several places.
install_into "$scratch/one" --component tools
install_into "$scratch/two" --component devel
uninstall || wrong "uninstall fails"
[ -z "$(find "$scratch/one" "$scratch/two" ! -type d)" ] || wrong "uninstall leaves $(find "$scratch/one" "$scratch/two")"

# What others have put beside the files stays, with its folder, whatever a pattern would make of the folder's name.
prefix="$scratch/a [*?b]"
install_into "$prefix"
touch "$prefix/share/doc/laple/of others"
uninstall || wrong "uninstall fails"
[ "$(cd "$prefix" && find share/doc/laple)" = "share/doc/laple
share/doc/laple/of others" ] || wrong "uninstall leaves $(find "$prefix")"

# A folder stands for a file that rm may not remove: it may remove all where root runs this.
prefix=$scratch/prefix
install_into "$prefix"
rm "$prefix/share/doc/laple/CMakeLists.txt"
mkdir "$prefix/share/doc/laple/CMakeLists.txt"
uninstall && wrong "uninstall leaves a file, and does not say so"
grep -q "CMakeLists.txt" "$scratch/log" && grep -q "still written down" "$scratch/log" || wrong "uninstall does not say what is left"
rmdir "$prefix/share/doc/laple/CMakeLists.txt"
uninstall || wrong "uninstall cannot be run again"
[ ! -e "$prefix/share/doc/laple" ] || wrong "uninstall leaves $(find "$prefix")"
echo "uninstall works"
