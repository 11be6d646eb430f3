!> Gradient, divergence, Laplacian and its inverse by spectra, on the periodic cube [0, 2 pi)^3. Each result is checked.
!!     mpirun -n 4 operators_fortran
program operators
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [48, 40, 36]
    real(c_double), parameter :: two_pi = 6.283185307179586_c_double
    complex(c_double_complex), parameter :: i_unit = (0, 1)
    type(pencilfft_plan) :: plan
    type(pencilfft_box) :: box
    real(c_double), pointer :: f(:, :, :)
    complex(c_double_complex), pointer :: f_hat(:, :, :), result(:, :, :)
    complex(c_double_complex), allocatable :: slopes(:, :, :, :) ! (z, y, x, axis)
    real(c_double), allocatable :: x(:), y(:), z(:) ! wavenumbers of even derivatives
    real(c_double), allocatable :: x1(:), y1(:), z1(:) ! and of odd ones: 0 for the wave with two points a period
    real(c_double) :: scaling, error, mine
    integer :: rank, ierror, axis

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan, type="r2c"))
    call need(pencilfft_array(plan, pencilfft_input, f))      ! f(z, y, x)
    call need(pencilfft_array(plan, pencilfft_output, f_hat)) ! f_hat(z, y, x)
    call need(pencilfft_array(plan, pencilfft_output, result))
    call need(pencilfft_scale(plan, scaling))
    call need(pencilfft_box_mine(plan, pencilfft_output, box))
    x = waves(1)
    y = waves(2)
    z = waves(3)
    x1 = odd(x, n(1))
    y1 = odd(y, n(2))
    z1 = odd(z, n(3))

    f = wave(0)
    call need(pencilfft_transform(plan, pencilfft_direction_forward, f, f_hat))
    allocate (slopes(size(f_hat, 1), size(f_hat, 2), size(f_hat, 3), 3))
    call gradient(f_hat, slopes)
    call divergence(slopes, result)
    mine = difference(0, -14.0_c_double)
    do axis = 1, 3
        result = slopes(:, :, :, axis)
        mine = max(mine, difference(axis, 1.0_c_double))
    end do
    call laplacian(f_hat, result)
    mine = max(mine, difference(0, -14.0_c_double))
    call inverse_laplacian(f_hat, result)
    mine = max(mine, difference(0, -1/14.0_c_double))

    call need(pencilfft_plan_destroy(plan))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "operators_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "operators_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> The waves of this rank's modes along an axis.
    function waves(axis)
        integer, intent(in) :: axis
        real(c_double), allocatable :: waves(:)
        integer(c_int64_t) :: i
        waves = [(pencilfft_waves(plan, axis, i), i=box%offset(axis), box%offset(axis) + box%extent(axis) - 1)]
    end function

    pure function odd(waves, extent)
        real(c_double), intent(in) :: waves(:)
        integer, intent(in) :: extent
        real(c_double) :: odd(size(waves))
        odd = merge(0.0_c_double, waves, 2*nint(abs(waves)) == extent)
    end function

    subroutine gradient(a, slopes)
        complex(c_double_complex), intent(in) :: a(:, :, :)
        complex(c_double_complex), intent(out) :: slopes(:, :, :, :)
        integer :: i, j
        do j = 1, size(a, 3)
            do i = 1, size(a, 2)
                slopes(:, i, j, 1) = i_unit*x1(j)*a(:, i, j)
                slopes(:, i, j, 2) = i_unit*y1(i)*a(:, i, j)
                slopes(:, i, j, 3) = i_unit*z1*a(:, i, j)
            end do
        end do
    end subroutine

    subroutine divergence(v, total)
        complex(c_double_complex), intent(in) :: v(:, :, :, :)
        complex(c_double_complex), intent(out) :: total(:, :, :)
        integer :: i, j
        do j = 1, size(total, 3)
            do i = 1, size(total, 2)
                total(:, i, j) = i_unit*(x1(j)*v(:, i, j, 1) + y1(i)*v(:, i, j, 2) + z1*v(:, i, j, 3))
            end do
        end do
    end subroutine

    subroutine laplacian(a, second)
        complex(c_double_complex), intent(in) :: a(:, :, :)
        complex(c_double_complex), intent(out) :: second(:, :, :)
        integer :: i, j
        do j = 1, size(a, 3)
            do i = 1, size(a, 2)
                second(:, i, j) = -(x(j)**2 + y(i)**2 + z**2)*a(:, i, j)
            end do
        end do
    end subroutine

    !> The result has mean 0.
    subroutine inverse_laplacian(a, u)
        complex(c_double_complex), intent(in) :: a(:, :, :)
        complex(c_double_complex), intent(out) :: u(:, :, :)
        real(c_double) :: squares(size(a, 1))
        integer :: i, j
        do j = 1, size(a, 3)
            do i = 1, size(a, 2)
                squares = x(j)**2 + y(i)**2 + z**2
                u(:, i, j) = merge(-a(:, i, j)/max(squares, 1.0_c_double), (0.0_c_double, 0.0_c_double), squares > 0)
            end do
        end do
    end subroutine

    !> sin(x) cos(2y) sin(3z) on this rank's points, or its derivative along an axis 1 to 3.
    function wave(derivative)
        integer, intent(in) :: derivative
        real(c_double), allocatable :: wave(:, :, :)
        type(pencilfft_box) :: points
        integer :: i, j, k
        call need(pencilfft_box_mine(plan, pencilfft_input, points))
        allocate (wave(points%extent(3), points%extent(2), points%extent(1)))
        do k = 1, size(wave, 3)
            do j = 1, size(wave, 2)
                do i = 1, size(wave, 1)
                    wave(i, j, k) = product(factors(derivative, int(points%offset + [k, j, i] - 1)))
                end do
            end do
        end do
    end function

    !> The three factors of `wave` at a point.
    pure function factors(derivative, point)
        integer, intent(in) :: derivative, point(3)
        real(c_double) :: factors(3)
        real(c_double), parameter :: k(3) = [1, 2, 3], phase(3) = [0, 1, 0] ! a cosine is a quarter of a period ahead
        integer :: axis
        do axis = 1, 3
            factors(axis) = sin(two_pi*(k(axis)*point(axis)/n(axis) + (phase(axis) + merge(1, 0, axis == derivative))/4))
            if (axis == derivative) factors(axis) = factors(axis)*k(axis)
        end do
    end function

    !> The largest difference of the array of `result` to `factor` times `wave`.
    real(c_double) function difference(derivative, factor)
        integer, intent(in) :: derivative
        real(c_double), intent(in) :: factor
        call need(pencilfft_transform(plan, pencilfft_direction_backward, result, f))
        difference = maxval(abs(f/scaling - factor*wave(derivative)))
    end function
end program operators
