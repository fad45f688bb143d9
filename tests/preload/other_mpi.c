/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for an MPI of another make. */
int name_of_other_mpi(void);
int name_of_other_mpi(void) {
    return 5;
}
