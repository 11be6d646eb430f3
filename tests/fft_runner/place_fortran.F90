! The world as Fortran sees it, in one of the bindings: -DBINDING=8 for mpi_f08, 90 for the module mpi, 77 for mpif.h.
! Each rank prints lines "RANK AS LAUNCHED: NAME VALUE".
module cases
#if BINDING == 8
  use mpi_f08
#define COMMUNICATOR type(MPI_Comm)
#define STATUS_DECLARED type(MPI_Status) :: state
#elif BINDING == 90
  use mpi
#endif
#ifndef COMMUNICATOR
#define COMMUNICATOR integer
#define STATUS_DECLARED integer :: state(MPI_STATUS_SIZE)
#endif
  implicit none
#if BINDING == 77
  include 'mpif.h'
#endif
  integer :: launched, error
contains
  subroutine tell(name, number)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    print '(i0,": ",a,1x,i0)', launched, name, number
  end subroutine tell
end module cases

program place_fortran
  use cases
  implicit none
  integer :: p, me, got, next, before, key, i, extents(1)
  integer, allocatable :: all(:)
  integer(MPI_ADDRESS_KIND) :: value, bound
  logical :: found, periodic(1)
  character(80) :: text
  COMMUNICATOR :: dup, cart
  STATUS_DECLARED

  call MPI_Init(error)
  call get_environment_variable('OMPI_COMM_WORLD_RANK', text)
  if (text == '') call get_environment_variable('PMI_RANK', text)
  read (text, *) launched
  call MPI_Comm_size(MPI_COMM_WORLD, p, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call tell('rank', me)
  next = mod(me + 1, p)
  before = mod(me + p - 1, p)
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
  call MPI_Finalize(error)
end program place_fortran
