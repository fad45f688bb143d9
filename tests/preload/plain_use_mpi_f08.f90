! SPDX-License-Identifier: BSD-3-Clause
! The program of plain.c through Fortran's binding of this file's name.
program plain
  use mpi_f08
  implicit none
  integer :: rank, size, i, ierror
  integer :: data(10), total(10), sum(10)
  integer, asynchronous :: own(2), sums(2), odd(20), fourth(40)
  type(MPI_Request) :: request, persistent(2)
  type(MPI_Datatype) :: pair
  type(MPI_Comm) :: other
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
  call MPI_Barrier(MPI_COMM_WORLD)
  ! Calls without a buffer reach MPI past the C functions: those that LaPle must see are caught by name.
  call MPI_Ibarrier(MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Allreduce_init(own(1), sums(1), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, persistent(1))
  call MPI_Allreduce_init(own(2), sums(2), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, persistent(2))
  own = 3
  call MPI_Start(persistent(1))
  call MPI_Start(persistent(2))
  call MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE)
  own = 4
  call MPI_Startall(2, persistent)
  call MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE)
  call MPI_Request_free(persistent(1))
  call MPI_Request_free(persistent(2))
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  own = rank
  call MPI_Ibcast(own, 1, pair, 0, MPI_COMM_WORLD, request)
  call MPI_Type_free(pair)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  ! Of a section the binding makes a type, which it frees when the call has started.
  odd = -1
  fourth = -1
  if (rank == 0) then
    odd(1:20:2) = data
    fourth(1:40:4) = 2 * data
  end if
  call MPI_Ibcast(odd(1:20:2), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, persistent(1))
  call MPI_Ibcast(fourth(1:40:4), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, persistent(2))
  call MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE)
  call MPI_Bcast_init(odd(2:20:2), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
  call MPI_Bcast_init(fourth(2:40:4), 10, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, persistent(1))
  if (rank == 0) odd(2:20:2) = 3 * data
  call MPI_Start(request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Request_free(request)
  call MPI_Request_free(persistent(1))
  call MPI_Comm_dup(MPI_COMM_WORLD, other)
  call MPI_Bcast(own, 2, MPI_INTEGER, 0, other)
  call MPI_Comm_free(other)
  right = all(data == [(i, i = 1, 10)]) .and. all(total == size * data) .and. all(sums == 4 * size) .and. all(own == 0)
  right = right .and. all(odd(1:20:2) == data) .and. all(odd(2:20:2) == 3 * data) .and. all(fourth(1:40:4) == 2 * data)
  right = right .and. all(fourth(2:40:4) == -1) .and. other == MPI_COMM_NULL
  if (rank == 0) right = right .and. all(sum == size * data)
  if (.not. right) print '(a)', 'WRONG'
  if (rank == 0 .and. right) print '(a)', 'right'
  call MPI_Finalize(ierror)
end program plain
