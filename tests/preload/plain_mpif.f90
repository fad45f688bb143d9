! SPDX-License-Identifier: BSD-3-Clause
! The program of plain.c through Fortran's binding of this file's name.
program plain
  implicit none
  include 'mpif.h'
  integer :: rank, size, i, ierror
  integer :: data(10), total(10), sum(10)
  logical :: right
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  data = -1
  if (rank == 1) data = [(i, i = 1, 10)]
  call MPI_Bcast(data, 10, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(data, total, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  sum = data
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, sum, 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  else
    call MPI_Reduce(data, sum, 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  right = all(data == [(i, i = 1, 10)]) .and. all(total == size * data)
  if (rank == 0) right = right .and. all(sum == size * data)
  if (.not. right) print '(a)', 'WRONG'
  if (rank == 0 .and. right) print '(a)', 'right'
  call MPI_Finalize(ierror)
end program plain
