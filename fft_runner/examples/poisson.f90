!> Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 with real-complex transforms, and check u.
!!     mpirun -n 4 poisson_fortran
program poisson
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [48, 40, 36]
    real(c_double), parameter :: step(3) = 6.283185307179586_c_double/n
    type(pencilfft_plan) :: plan
    real(c_double), pointer :: f(:, :, :)
    real(c_double), allocatable :: u(:, :, :)
    complex(c_double_complex), pointer :: hat(:, :, :)
    real(c_double) :: error, mine
    integer :: rank, ierror

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan, type="r2c")) ! the library chooses the grid
    call need(pencilfft_array(plan, pencilfft_input, f, first=0))    ! f(z, y, x), global indices from 0 on
    call need(pencilfft_array(plan, pencilfft_output, hat, first=0)) ! hat(z, y, x)

    allocate (u, mold=f)
    call fill()
    call need(pencilfft_transform(plan, pencilfft_direction_forward, f, hat))
    call divide()
    call need(pencilfft_transform(plan, pencilfft_direction_backward, hat, f))
    mine = maxval(abs(f - u))

    call need(pencilfft_plan_destroy(plan))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "poisson_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-13_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "poisson_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> The solution and its Laplacian.
    subroutine fill()
        real(c_double) :: p(3)
        integer :: i, j, k
        do k = lbound(f, 3), ubound(f, 3)
            do j = lbound(f, 2), ubound(f, 2)
                do i = lbound(f, 1), ubound(f, 1)
                    p = step*[k, j, i]
                    u(i, j, k) = sin(p(1))*cos(2*p(2))*sin(3*p(3)) + cos(4*p(1))*sin(p(2))
                    f(i, j, k) = -14*sin(p(1))*cos(2*p(2))*sin(3*p(3)) - 17*cos(4*p(1))*sin(p(2))
                end do
            end do
        end do
    end subroutine

    subroutine divide()
        real(c_double) :: wave(3), scaling
        integer :: i, j, k, axis
        integer(c_int64_t) :: at(3)
        call need(pencilfft_scale(plan, scaling))
        do k = lbound(hat, 3), ubound(hat, 3)
            do j = lbound(hat, 2), ubound(hat, 2)
                do i = lbound(hat, 1), ubound(hat, 1)
                    at = [k, j, i]
                    wave = [(pencilfft_waves(plan, axis, at(axis)), axis=1, 3)]
                    hat(i, j, k) = -hat(i, j, k)/(max(sum(wave**2), 1.0_c_double)*scaling) ! f has the mean 0
                end do
            end do
        end do
    end subroutine
end program poisson
