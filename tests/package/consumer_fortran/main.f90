! SPDX-License-Identifier: BSD-3-Clause
program main
    use mpi
    implicit none
    integer :: ierror, value
    call MPI_Init(ierror)
    value = 1
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
end program main
