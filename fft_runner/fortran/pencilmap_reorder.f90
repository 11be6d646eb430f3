!> libpencilmap_reorder from Fortran: a communicator whose ranks sit where a placement puts them.
!!
!! Machine and grid are texts as in pm_reorder.h. Communicators are integers; with mpi_f08::
!!
!!     type(MPI_Comm) :: placed
!!     status = pm_comm_reorder(MPI_COMM_WORLD%MPI_VAL, "8x8x8 placement=digits:x=r2c4,y=r2c4,z=r2c4", "8x64", &
!!                              placed%MPI_VAL)
module pencilmap_reorder
    use, intrinsic :: iso_c_binding
    implicit none
    private

    !> Return codes: success, a request that cannot be met, a failure of MPI.
    integer(c_int), parameter, public :: pm_success = 0, pm_error = 1, pm_mpi_error = 2

    public :: pm_comm_reorder, pm_reorder_message

    interface
        integer(c_int) function c_comm_reorder(comm, machine, grid, newcomm) bind(C, name="pm_comm_reorder_fortran")
            import
            integer(c_int), value :: comm
            character(kind=c_char), intent(in) :: machine(*), grid(*)
            integer(c_int), intent(out) :: newcomm
        end function
        function c_message() bind(C, name="pm_reorder_message") result(text)
            import
            type(c_ptr) :: text
        end function
        integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Make newcomm, in which rank q*R + p is grid rank q*R + p and runs at its place in the placement. Succeeds on all ranks
    !! or fails on all, with the same message; newcomm is MPI_COMM_NULL then. Collective.
    integer(c_int) function pm_comm_reorder(comm, machine, grid, newcomm) result(status)
        integer, intent(in) :: comm
        character(*), intent(in) :: machine, grid
        integer, intent(out) :: newcomm
        status = c_comm_reorder(comm, trim(machine)//c_null_char, trim(grid)//c_null_char, newcomm)
    end function

    !> The message of the last failure on this process.
    function pm_reorder_message() result(message)
        character(:), allocatable :: message
        character(kind=c_char), pointer :: letters(:)
        type(c_ptr) :: text
        integer :: i
        text = c_message()
        call c_f_pointer(text, letters, [c_strlen(text)])
        allocate (character(size(letters)) :: message)
        do i = 1, size(letters)
            message(i:i) = letters(i)
        end do
    end function
end module
