!> Solve laplace(u) = f between walls at x = 0 and x = 1, where u = 0, periodic in y and z with period 2 pi. Along y and z by
!! transforms, along x by second differences: a tridiagonal system for each mode. u is a cubic in x, so that they are exact.
!!     mpirun -n 4 poisson_walls_fortran
program poisson_walls
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [47, 40, 36] ! inner points along x
    real(c_double), parameter :: step = 1/(n(1) + 1.0_c_double), two_pi = 6.283185307179586_c_double
    type(pencilfft_plan) :: plan
    type(pencilfft_box) :: box
    real(c_double), pointer :: f(:, :, :)
    complex(c_double_complex), pointer :: f_hat(:, :, :)
    real(c_double), allocatable :: u(:, :, :), kz(:)
    real(c_double) :: scaling, error, mine
    integer :: rank, ierror, j
    integer(c_int64_t) :: i

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan, type="r2c", skip="x"))
    call need(pencilfft_array(plan, pencilfft_input, f))      ! f(z, y, x)
    call need(pencilfft_array(plan, pencilfft_output, f_hat)) ! f_hat(z, y, x), with all x
    call need(pencilfft_scale(plan, scaling))
    allocate (u, mold=f)
    call fill(u, f)

    call need(pencilfft_transform(plan, pencilfft_direction_forward, f, f_hat))
    f_hat = f_hat*step**2/scaling
    call need(pencilfft_box_mine(plan, pencilfft_output, box))
    allocate (kz(box%extent(3)))
    kz(:) = [(pencilfft_waves(plan, 3, i), i=box%offset(3), box%offset(3) + box%extent(3) - 1)]
    do j = 1, size(f_hat, 2)
        call solve_tridiagonal(-2 - step**2*(pencilfft_waves(plan, 2, box%offset(2) + j - 1)**2 + kz**2), f_hat(:, j, :))
    end do
    call need(pencilfft_transform(plan, pencilfft_direction_backward, f_hat, f))

    mine = maxval(abs(f - u))
    call need(pencilfft_plan_destroy(plan))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "poisson_walls_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "poisson_walls_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> Solve v(:, i - 1) + diagonal * v(:, i) + v(:, i + 1) = v(:, i) of before, in place (Thomas's algorithm).
    subroutine solve_tridiagonal(diagonal, v)
        real(c_double), intent(in) :: diagonal(:)
        complex(c_double_complex), intent(inout) :: v(:, :)
        real(c_double) :: pivot(size(v, 1), size(v, 2))
        integer :: last, i
        last = size(v, 2)
        pivot(:, 1) = diagonal
        do i = 2, last
            pivot(:, i) = diagonal - 1/pivot(:, i - 1)
            v(:, i) = v(:, i) - v(:, i - 1)/pivot(:, i - 1)
        end do
        v(:, last) = v(:, last)/pivot(:, last)
        do i = last - 1, 1, -1
            v(:, i) = (v(:, i) - v(:, i + 1))/pivot(:, i)
        end do
    end subroutine

    !> The solution and its Laplacian on this rank's points.
    subroutine fill(u, f)
        real(c_double), intent(out) :: u(:, :, :), f(:, :, :)
        type(pencilfft_box) :: points
        real(c_double) :: x, plane
        integer :: i, j, k
        call need(pencilfft_box_mine(plan, pencilfft_input, points))
        do k = 1, size(f, 3)
            x = (points%offset(1) + k)*step
            do j = 1, size(f, 2)
                do i = 1, size(f, 1)
                    plane = sin(2*two_pi*(points%offset(2) + j - 1)/n(2))*cos(3*two_pi*(points%offset(3) + i - 1)/n(3))
                    u(i, j, k) = (x - x**3)*plane
                    f(i, j, k) = -6*x*plane - 13*u(i, j, k)
                end do
            end do
        end do
    end subroutine
end program poisson_walls
