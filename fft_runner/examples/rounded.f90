!> Exchanges in single precision: the same transform by messages of doubles and of floats, which have half the bytes; the
!! difference is compared with the error that the plan tells.
!!     mpirun -n 4 rounded_fortran
program rounded
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [64, 64, 64]
    type(pencilfft_plan) :: plan, floats
    complex(c_double_complex), pointer :: f(:, :, :), right(:, :, :), near(:, :, :)
    type(pencilfft_box) :: box
    real(c_double) :: most, mine(2), all(2), error
    integer :: rank, ierror, grid(2), i, j, k

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan))
    grid = pencilfft_grid(plan)
    call need(pencilfft_plan_create(n, grid(1), grid(2), MPI_COMM_WORLD, floats, exchange_precision="single"))
    call need(pencilfft_exchange_error(floats, most))
    call need(pencilfft_array(plan, pencilfft_input, f)) ! f(z, y, x)
    call need(pencilfft_array(plan, pencilfft_output, right))
    call need(pencilfft_array(plan, pencilfft_output, near))
    call need(pencilfft_box_mine(plan, pencilfft_input, box))
    do k = 1, size(f, 3)
        do j = 1, size(f, 2)
            do i = 1, size(f, 1)
                f(i, j, k) = cmplx(sin(7._c_double*(box%offset(1) + k)), cos(5._c_double*(box%offset(2) + j) + 3*i), &
                                   c_double_complex)
            end do
        end do
    end do
    call need(pencilfft_transform(plan, pencilfft_direction_forward, f, right))
    call need(pencilfft_transform(floats, pencilfft_direction_forward, f, near))
    mine = [sum(abs(right)**2), sum(abs(near - right)**2)]
    call MPI_Allreduce(mine, all, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    error = sqrt(all(2)/all(1))
    if (rank == 0) print '(2(a,es7.1))', "rounded_fortran: largest error ", error, ", at most ", most
    call need(pencilfft_plan_destroy(plan))
    call need(pencilfft_plan_destroy(floats))
    call MPI_Finalize(ierror)
    if (.not. error <= most) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "rounded_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine
end program
