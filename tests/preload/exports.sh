#!/bin/sh
# exports.sh NM LIBRARY: fails on any exported symbol but MPI_*, mpi_* and laple_*.
set -eu
stray=$("$1" -D --defined-only "$2" | awk '{ print $3 }' | grep -vE '^(MPI_|mpi_|laple_)' || true)
if [ -n "$stray" ]; then
    echo "exported, but should not be:"
    echo "$stray"
    exit 1
fi
for symbol in MPI_Bcast MPI_Reduce MPI_Allreduce MPI_Barrier MPI_Bcast_c MPI_Reduce_c MPI_Allreduce_c \
    mpi_barrier_f08_ laple_version; do
    "$1" -D --defined-only "$2" | awk '{ print $3 }' | grep -qx "$symbol" || { echo "not exported: $symbol"; exit 1; }
done
