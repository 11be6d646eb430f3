! The world as Fortran sees it, and known messages, in one of the bindings: -DBINDING=8 for mpi_f08, 90 for the module mpi,
! 77 for mpif.h. Each rank prints lines "RANK AS LAUNCHED: NAME VALUE", for test_place.py. Then each call is a phase, "LEVEL
! NAME 1", for test_traffic.py.
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
  integer :: launched, level = 2, error, p, me, next, before
contains
  subroutine tell(name, number)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    print '(i0,": ",a,1x,i0)', launched, name, number
  end subroutine tell

  subroutine begin(name)
    character(*), intent(in) :: name
    call MPI_Pcontrol(0)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Pcontrol(level)
    call MPI_Pcontrol(1)
    if (me == p - 1) print '(i0,1x,a,1x,i0)', level, name, 1
    level = level + 1
  end subroutine begin

  subroutine look_around()
    integer :: got, key, i, extents(1)
    integer, allocatable :: all(:)
    integer(MPI_ADDRESS_KIND) :: value, bound
    logical :: found, periodic(1)
    COMMUNICATOR :: dup, cart
    STATUS_DECLARED

    call tell('rank', me)
    call MPI_Sendrecv(me, 1, MPI_INTEGER, next, 1, got, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, state, error)
    call tell('ring', got)
    allocate (all(p))
    call MPI_Allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call tell('allgather', merge(1, 0, all(1) == 0 .and. all(p) == p - 1))
    extents = p
    periodic = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, extents, periodic, .true., cart, error)
    call MPI_Comm_rank(cart, got, error)
    call tell('cart', got)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, bound, found, error)
    call tell('tags', merge(1, 0, found .and. bound >= 32767))
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, error)
    value = 100 + me
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, error)
    value = -1
    call MPI_Comm_get_attr(dup, key, value, found, error)
    call tell('attribute of a dup', merge(int(value), -1, found))
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
    call tell('attribute', merge(int(value), -1, found))
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, error)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
    call tell('deleted attribute', merge(1, 0, found))
#if BINDING != 8
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, i, found, error)
    call tell('tags of MPI-1', merge(1, 0, found .and. i == bound))
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, error)
    call MPI_Attr_put(MPI_COMM_WORLD, key, 200 + me, error)
    call MPI_Comm_free(dup, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, error)
    call MPI_Attr_get(dup, key, i, found, error)
    call tell('attribute of MPI-1', merge(i, -1, found))
#endif
  end subroutine look_around
end module cases

program world_of_fortran
  use cases
  implicit none
  integer :: i, world
  integer, dimension(4096) :: a, b, c
  integer, dimension(:), allocatable :: n_of, back, at
  integer(MPI_ADDRESS_KIND) :: bytes, place
  COMMUNICATOR :: comm, ring
  REQUEST :: requests(2)
  WINDOW :: win
  character(80) :: text
  STATUS_DECLARED

  call MPI_Init(error)
  call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  if (text == '') call get_environment_variable('PMI_RANK', text)
  read (text, *) launched
  call MPI_Comm_size(MPI_COMM_WORLD, p, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, world, error)
  me = world
  next = mod(me + 1, p)
  before = mod(me + p - 1, p)
  call MPI_Pcontrol(0)
  call look_around()
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
  call MPI_Cart_create(comm, 1, [p], [.true.], .false., ring, error)
  n_of(1:2) = mod(3*me + 5*[before, next], 4)
  back(1:2) = mod(3*[before, next] + 5*me, 4)
  call begin('Neighbor_alltoallv')
  call MPI_Neighbor_alltoallv(a, n_of, at, MPI_INTEGER, b, back, at, MPI_INTEGER, ring, error)
  call begin('Ineighbor_alltoall')
  call MPI_Ineighbor_alltoall(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, ring, requests(1), error)
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
end program world_of_fortran
