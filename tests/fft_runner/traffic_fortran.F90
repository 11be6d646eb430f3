! Known messages in one of the bindings: -DBINDING=8 for mpi_f08, 90 for the module mpi, 77 for mpif.h. Each call is a phase.
module cases
#if BINDING == 8
  use mpi_f08
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define STATUS_DECLARED type(MPI_Status) :: state
#elif BINDING == 90
  use mpi
#endif
#ifndef COMMUNICATOR
#define COMMUNICATOR integer
#define REQUEST integer
#define WINDOW integer
#define STATUS_DECLARED integer :: state(MPI_STATUS_SIZE)
#endif
  implicit none
#if BINDING == 77
  include 'mpif.h'
#endif
  integer :: level = 2, error, p, me
contains
  subroutine begin(name)
    character(*), intent(in) :: name
    call MPI_Pcontrol(0)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Pcontrol(level)
    call MPI_Pcontrol(1)
    if (me == p - 1) print '(i0,1x,a,1x,i0)', level, name, 1
    level = level + 1
  end subroutine begin
end module cases

program traffic_fortran
  use cases
  implicit none
  integer :: next, before, i, world
  integer, dimension(4096) :: a, b, c
  integer, dimension(:), allocatable :: n_of, back, at
  integer(MPI_ADDRESS_KIND) :: bytes, place
  COMMUNICATOR :: comm
  REQUEST :: requests(2)
  WINDOW :: win
  STATUS_DECLARED

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, p, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, world, error)
  call MPI_Pcontrol(0)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -world, comm, error)
  call MPI_Comm_rank(comm, me, error)
  allocate (n_of(p), back(p), at(p))
  do i = 1, p
    n_of(i) = mod(3*me + 5*(i - 1), 4)
    back(i) = mod(3*(i - 1) + 5*me, 4)
    at(i) = 4*(i - 1)
  end do
  next = mod(me + 1, p)
  before = mod(me + p - 1, p)
  a = 0
  b = 0
  bytes = 4096
  call MPI_Win_create(c, bytes, 4, MPI_INFO_NULL, comm, win, error)

  call begin('Send')
  call MPI_Irecv(b, 6, MPI_INTEGER, before, 0, comm, requests(1), error)
  call MPI_Send(a, 6, MPI_INTEGER, next, 0, comm, error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  call begin('Isend')
  call MPI_Irecv(b, 6, MPI_INTEGER, before, 0, comm, requests(1), error)
  call MPI_Isend(a, 6, MPI_INTEGER, next, 0, comm, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call begin('Sendrecv')
  call MPI_Sendrecv(a, 6, MPI_INTEGER, next, 0, b, 6, MPI_INTEGER, before, 0, comm, state, error)
  call begin('Send_init')
  call MPI_Recv_init(b, 6, MPI_INTEGER, before, 0, comm, requests(1), error)
  call MPI_Send_init(a, 6, MPI_INTEGER, next, 0, comm, requests(2), error)
  call MPI_Startall(2, requests, error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call begin('to_nobody')
  call MPI_Send(a, 6, MPI_INTEGER, MPI_PROC_NULL, 0, comm, error)
  call begin('Bcast')
  call MPI_Bcast(a, 5, MPI_INTEGER, 1, comm, error)
  call begin('Allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, b, 5, MPI_INTEGER, MPI_SUM, comm, error)
  call begin('Gather')
  call MPI_Gather(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, 1, comm, error)
  call begin('Alltoall')
  call MPI_Alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, comm, error)
  call begin('alltoall_in_place')
  call MPI_Alltoall(MPI_IN_PLACE, 5, MPI_INTEGER, b, 5, MPI_INTEGER, comm, error)
  call begin('Alltoallv')
  call MPI_Alltoallv(a, n_of, at, MPI_INTEGER, b, back, at, MPI_INTEGER, comm, error)
  call begin('Ialltoallv')
  call MPI_Ialltoallv(a, n_of, at, MPI_INTEGER, b, back, at, MPI_INTEGER, comm, requests(1), error)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
  call begin('Barrier')
  call MPI_Barrier(comm, error)
  place = 0
  call MPI_Pcontrol(0)
  call MPI_Win_fence(0, win, error)
  call begin('Put')
  call MPI_Put(a, 7, MPI_INTEGER, next, place, 7, MPI_INTEGER, win, error)
  call MPI_Pcontrol(0)
  call MPI_Win_fence(0, win, error)
  call begin('Get')
  call MPI_Get(b, 7, MPI_INTEGER, next, place, 7, MPI_INTEGER, win, error)
  call MPI_Pcontrol(0)
  call MPI_Win_fence(0, win, error)
  call MPI_Win_free(win, error)
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
end program traffic_fortran
