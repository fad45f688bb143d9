#!/bin/sh
# exports.sh NM LIBRARY PREFIXES [no_messages]: fails on any exported symbol but those, and where those that are called are missing.
# no_messages: and on a point-to-point call.
set -eu
stray=$("$1" -D --defined-only "$2" | awk '{ print $3 }' | grep -vE "^($3)" || true)
if [ -n "$stray" ]; then
    echo "exported, but should not be:"
    echo "$stray"
    exit 1
fi
if [ "${4-}" = no_messages ]; then
    messages=$("$1" -D --defined-only "$2" | awk '{ print $3 }' |
        grep -iE "^P?MPI_([ibsr]*send|m?p?i?recv|i?m?probe|imrecv|psend|wait|test)" || true)
    [ -z "$messages" ] || { echo "exported, but for a profile only: $messages"; exit 1; }
    exit
fi
mpi="MPI_Bcast MPI_Reduce MPI_Allreduce MPI_Barrier MPI_Allgather MPI_Gather MPI_Scatter MPI_Alltoall \
    MPI_Bcast_c MPI_Reduce_c MPI_Allreduce_c MPI_Allgather_c MPI_Gather_c MPI_Scatter_c MPI_Alltoall_c MPI_Finalize MPI_Pcontrol MPI_Comm_free \
    MPI_Iallreduce MPI_Ibcast_c MPI_Ialltoallw MPI_Allreduce_init MPI_Bcast_init_c MPI_Start MPI_Startall MPI_Request_free MPI_Cancel \
    MPI_Op_free MPI_Init MPI_Init_thread"
case $3 in P*) deep=$(for symbol in $mpi; do echo "P$symbol"; done) ;; *) deep= ;; esac
for symbol in $mpi $deep mpi_barrier_f08_ mpi_ibarrier_f08_ mpi_startall_f08_ mpi_finalize_f08_ laple_version; do
    "$1" -D --defined-only "$2" | awk '{ print $3 }' | grep -qx "$symbol" || { echo "not exported: $symbol"; exit 1; }
done
