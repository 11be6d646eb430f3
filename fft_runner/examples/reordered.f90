!> A communicator whose ranks sit where a placement puts them, from Fortran. Use it like any other communicator.
!!     mpirun -n 4 reordered_fortran "2x2 placement=digits:x=r2,y=c2 where=assumed:yxt" 2x2
program reordered
    use mpi
    use pencilmap_reorder
    implicit none
    character(200) :: machine, grid
    integer :: rank, old, placed, status, ierr

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, old, ierr)
    call get_command_argument(1, machine)
    call get_command_argument(2, grid)
    status = pm_comm_reorder(MPI_COMM_WORLD, machine, grid, placed)
    if (status /= pm_success) then
        if (old == 0) print '(a)', "reordered_fortran: "//pm_reorder_message()
        call MPI_Finalize(ierr)
        stop 1
    end if
    call MPI_Comm_rank(placed, rank, ierr)
    print '(2(a, i0))', "reordered_fortran: rank ", old, " is grid rank ", rank
    call MPI_Comm_free(placed, ierr)
    call MPI_Finalize(ierr)
end program
