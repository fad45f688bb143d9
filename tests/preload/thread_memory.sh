#!/bin/sh
# thread_memory.sh READELF LIBRARY: fails where the library takes a kilobyte or more of each thread (thread_local): the C
# library takes that from the stacks of the program's threads, and gives none that are not larger.
set -eu
bytes=$(LC_ALL=C "$1" -lW "$2" | awk '$1 == "TLS" { print $6 }')
[ "$((${bytes:-0}))" -lt 1024 ] || { echo "takes $((bytes)) bytes of the stack of each thread"; exit 1; }
