!> A step of the flow in a channel, (u - u0)/dt = G + nu laplace(u), between walls at x = -1 and x = 1, where u = 0, periodic
!! in y and z with period 2 pi. G is the pressure gradient. Along y and z by Fourier modes, along x by Chebyshev polynomials
!! on the points cos(pi i/(nx - 1)): a DCT-I beside DFTs. Each mode of y and z is solved by the tau method (C. Canuto et al.,
!! Spectral Methods in Fluid Dynamics, Springer 1988, section 5.1). u0 belongs to a known u, with which the result is
!! compared.
!!     mpirun -n 4 channel_fortran
program channel
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [33, 20, 18], top = n(1) - 1 ! with the points on the walls
    real(c_double), parameter :: pi = acos(-1.0_c_double), dt = 0.1_c_double, nu = 0.05_c_double, pressure = 0.3_c_double
    type(pencilfft_plan) :: plan
    real(c_double), pointer :: f(:, :, :)
    real(c_double), allocatable :: u(:, :, :)
    complex(c_double_complex), pointer :: hat(:, :, :)
    real(c_double) :: error, mine
    integer :: rank, ierror

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

    ! kinds along x, y and z; in layout stride1 the modes along x are neighbours in memory
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan, type="dct1,c2c,r2c", layout="stride1"))
    call need(pencilfft_array(plan, pencilfft_input, f))    ! f(z, y, x)
    call need(pencilfft_array(plan, pencilfft_output, hat)) ! hat(x, y, z)

    allocate (u, mold=f)
    call fill(u, f)
    f = f + dt*pressure
    call need(pencilfft_transform(plan, pencilfft_direction_forward, f, hat))
    call step(hat)
    call need(pencilfft_transform(plan, pencilfft_direction_backward, hat, f))
    mine = maxval(abs(f - u))

    call need(pencilfft_plan_destroy(plan))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "channel_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "channel_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> u, and the u0 from which a step leads to u, at element (i, j, k) of global x, y, z.
    subroutine fill(u, u0)
        real(c_double), intent(out) :: u(:, :, :), u0(:, :, :)
        type(pencilfft_box) :: box
        real(c_double) :: at(3), x, wave
        integer :: i, j, k
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        do k = 1, size(u, 3)
            do j = 1, size(u, 2)
                do i = 1, size(u, 1)
                    at = box%offset + [k, j, i] - 1
                    x = cos(pi*at(1)/top)
                    wave = sin(4*pi*at(2)/n(2))*cos(6*pi*at(3)/n(3))*exp(x)
                    u(i, j, k) = (1 - x**2)*(1 + wave)
                    u0(i, j, k) = u(i, j, k) - dt*(pressure + nu*(-2 + wave*(-1 - 4*x - x**2 - 13*(1 - x**2))))
                end do
            end do
        end do
    end subroutine

    !> The step of every mode along y and z. FFTW's sum counts the modes between the first and the last twice.
    subroutine step(a)
        complex(c_double_complex), intent(inout) :: a(:, :, :)
        type(pencilfft_box) :: box
        real(c_double) :: scaling, ky, kz, times(n(1))
        integer :: j, k
        times = 2
        times([1, n(1)]) = 1
        call need(pencilfft_box_mine(plan, pencilfft_output, box))
        call need(pencilfft_scale(plan, scaling))
        do k = 1, size(a, 3)
            do j = 1, size(a, 2)
                ky = pencilfft_waves(plan, 2, box%offset(2) + j - 1)
                kz = pencilfft_waves(plan, 3, box%offset(3) + k - 1)
                a(:, j, k) = solved(ky**2 + kz**2 + 1/(nu*dt), -a(:, j, k)*times/(scaling*nu*dt))/times
            end do
        end do
    end subroutine

    !> Mode k of the second integral of a series v whose last two modes are left out.
    pure complex(c_double_complex) function integral(k, v)
        integer, intent(in) :: k
        complex(c_double_complex), intent(in) :: v(0:top)
        integral = v(k - 2)*merge(2, 1, k == 2)/(4.0_c_double*k*(k - 1))
        if (k + 2 <= top) integral = integral - v(k)/(2.0_c_double*(k**2 - 1))
        if (k + 4 <= top) integral = integral + v(k + 2)/(4.0_c_double*k*(k + 1))
    end function

    !> The u with u" - decay u = v and u = 0 on both walls, in modes. Even and odd modes are apart: mode k is slope(k) times
    !! mode k - 2, plus rest(k), from the highest down. The lowest follows from the walls, where the modes add up to 0.
    pure function solved(decay, v) result(u)
        real(c_double), intent(in) :: decay
        complex(c_double_complex), intent(in) :: v(0:top)
        complex(c_double_complex) :: u(0:top), rest(0:top + 2), without, rests
        real(c_double) :: slope(0:top + 2), above, pivot, product, total
        integer :: k, lowest
        slope = 0
        rest = 0
        do k = top, 2, -1
            above = merge(decay/(4.0_c_double*k*(k + 1)), 0.0_c_double, k + 4 <= top)
            pivot = 1 + merge(decay/(2.0_c_double*(k**2 - 1)), 0.0_c_double, k + 2 <= top) - above*slope(k + 2)
            slope(k) = decay*merge(2, 1, k == 2)/(4.0_c_double*k*(k - 1))/pivot
            rest(k) = (integral(k, v) + above*rest(k + 2))/pivot
        end do
        do lowest = 0, 1
            product = 1
            total = 1
            without = 0
            rests = 0
            do k = lowest + 2, top, 2
                product = product*slope(k)
                total = total + product
                without = slope(k)*without + rest(k)
                rests = rests + without
            end do
            u(lowest) = -rests/total
            do k = lowest + 2, top, 2
                u(k) = slope(k)*u(k - 2) + rest(k)
            end do
        end do
    end function
end program channel
