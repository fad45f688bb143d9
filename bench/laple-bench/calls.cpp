// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/calls.hpp"

namespace laple::bench {
namespace {

/// The four entry points of a library.
struct EntryPoints {
    decltype(&MPI_Bcast) bcast;
    decltype(&MPI_Reduce) reduce;
    decltype(&MPI_Allreduce) allreduce;
    decltype(&MPI_Barrier) barrier;
};

constexpr EntryPoints kStock{PMPI_Bcast, PMPI_Reduce, PMPI_Allreduce, PMPI_Barrier};
constexpr EntryPoints kLaple{MPI_Bcast, MPI_Reduce, MPI_Allreduce, MPI_Barrier};

}  // namespace

void run(Library library, const Call& call, MPI_Comm comm) {
    const EntryPoints& mpi = library == Library::stock ? kStock : kLaple;
    const bool doubles = adds_doubles(call.bytes);
    const int count = static_cast<int>(doubles ? call.bytes / sizeof(double) : call.bytes);
    const MPI_Datatype type = doubles ? MPI_DOUBLE : MPI_BYTE;
    const MPI_Op op = doubles ? MPI_SUM : MPI_BXOR;
    switch (call.collective) {
        case Collective::bcast:
            mpi.bcast(call.receive, static_cast<int>(call.bytes), MPI_BYTE, call.root, comm);
            break;
        case Collective::reduce:
            mpi.reduce(call.send, call.receive, count, type, op, call.root, comm);
            break;
        case Collective::allreduce:
            mpi.allreduce(call.send, call.receive, count, type, op, comm);
            break;
        case Collective::barrier:
            mpi.barrier(comm);
            break;
    }
}

}  // namespace laple::bench
