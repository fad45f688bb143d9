/* SPDX-License-Identifier: BSD-3-Clause */
/* LaPle's C interface. A program does not need it to use LaPle: it only tells what was done. */
#ifndef LAPLE_LAPLE_H
#define LAPLE_LAPLE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest name that laple_algorithm_used() writes, its final '\0' included. */
#define LAPLE_MAX_ALGORITHM_NAME 64

/* "0.1.0". Static memory; may be called before MPI_Init. */
const char* laple_version(void);

/* Writes into `name` (LAPLE_MAX_ALGORITHM_NAME bytes) the algorithm of the last MPI_Bcast, MPI_Reduce,
 * MPI_Allreduce, MPI_Barrier, MPI_Allgather(v), MPI_Gather(v), MPI_Scatter(v), MPI_Alltoall(v, w),
 * MPI_Reduce_scatter(_block), MPI_Scan or MPI_Exscan that this process called on `comm`: "native" where MPI's
 * own was called, "none" before the first call. Local. Returns MPI_SUCCESS, or MPI_ERR_ARG when `name` is
 * NULL.
 */
int laple_algorithm_used(MPI_Comm comm, char* name);

/* Writes into `cluster` the number of the cluster, 0 ..., to which `rank` of `comm` belongs as LaPle sees it;
 * clusters are numbered by their smallest rank. 0 for every rank before the first collective on `comm`
 * and where no topology is known. Local. Returns MPI_SUCCESS, or MPI_ERR_RANK or MPI_ERR_ARG. */
int laple_cluster_of_rank(MPI_Comm comm, int rank, int* cluster);

#ifdef __cplusplus
}
#endif

#endif /* LAPLE_LAPLE_H */
