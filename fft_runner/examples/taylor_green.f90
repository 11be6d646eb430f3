!> Taylor-Green vortex by Navier-Stokes in rotational form and RK4, without aliases by the 2/3 rule or, for argument 3/2, by
!! products on 3/2 as many points; the energy at t = 0.1 is checked.
!!     mpirun -n 4 taylor_green_fortran [3/2]
program taylor_green
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n = 32, steps = 10
    real(c_double), parameter :: nu = 0.000625_c_double, step = 0.01_c_double, reach(4) = [0._c_double, .5_c_double, &
        .5_c_double, 1._c_double], weight(4) = [1, 2, 2, 1]/6._c_double, h = 2*acos(-1._c_double)/n
    type(pencilfft_plan) :: plan, padded ! the second with the points of the products
    type(pencilfft_walk) :: at
    real(c_double), pointer :: u(:, :, :, :), w(:, :, :, :), start(:, :, :, :) ! (z, y, x, component)
    complex(c_double_complex), pointer :: v_hat(:, :, :, :), w_hat(:, :, :, :), sum_hat(:, :, :, :)
    complex(c_double_complex), allocatable :: begin(:, :, :, :)
    real(c_double), allocatable :: k(:, :, :, :), square(:, :, :) ! waves of the modes
    real(c_double) :: scaling, padded_scaling, energy, total, cut
    integer :: rank, ierror, grid(2), i, points

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    points = merge(3*n/2, n, command_argument_count() > 0)
    cut = merge(n/2._c_double, n/3._c_double, points > n)
    call need(pencilfft_plan_create([n, n, n], 0, 0, MPI_COMM_WORLD, plan, type="r2c", fields=3))
    grid = pencilfft_grid(plan) ! on which spectra are divided alike
    call need(pencilfft_plan_create([n, n, n], grid(1), grid(2), MPI_COMM_WORLD, padded, type="r2c", fields=3, &
                                    padded=[points, points, points]))
    call need(pencilfft_scale(plan, scaling))
    call need(pencilfft_scale(padded, padded_scaling))
    call need(pencilfft_array(plan, pencilfft_input, start))
    call need(pencilfft_array(padded, pencilfft_input, u))
    call need(pencilfft_array(padded, pencilfft_input, w))
    call need(pencilfft_array(padded, pencilfft_output, v_hat))
    call need(pencilfft_array(padded, pencilfft_output, w_hat))
    call need(pencilfft_array(padded, pencilfft_output, sum_hat))
    call take_waves()
    call take_vortex()

    call need(pencilfft_transform(plan, pencilfft_direction_forward, start, sum_hat))
    allocate (begin(size(sum_hat, 1), size(sum_hat, 2), size(sum_hat, 3), 3))
    do i = 0, 4*steps - 1
        if (mod(i, 4) == 0) then
            begin = sum_hat
            v_hat = begin
        else
            v_hat = begin + reach(mod(i, 4) + 1)*step*v_hat
        end if
        call change(v_hat)
        sum_hat = sum_hat + weight(mod(i, 4) + 1)*step*v_hat
    end do
    call need(pencilfft_transform(plan, pencilfft_direction_backward, sum_hat, start))
    energy = sum((start/scaling)**2)/2/real(n, c_double)**3
    call MPI_Allreduce(energy, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,i0,a,f14.12)', "taylor_green_fortran: ", n, "^3, energy ", total
    call need(pencilfft_plan_destroy(plan))
    call need(pencilfft_plan_destroy(padded))
    call MPI_Finalize(ierror)
    if (.not. abs(total - 0.124953117517_c_double) <= 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "taylor_green_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> Write du/dt for v over it: v x curl(v), without its gradient part, and the viscous term.
    subroutine change(v)
        complex(c_double_complex), pointer, intent(in) :: v(:, :, :, :)
        complex(c_double_complex), pointer :: force(:, :, :, :)
        complex(c_double_complex) :: viscous(size(v, 1), size(v, 2), size(v, 3), 3)
        complex(c_double_complex) :: along(size(v, 1), size(v, 2), size(v, 3))
        integer :: a
        do a = 1, 3
            viscous(:, :, :, a) = nu*square*v(:, :, :, a)
            w_hat(:, :, :, a) = (0, 1)*(k(:, :, :, next(a))*v(:, :, :, next(a + 1)) - &
                                        k(:, :, :, next(a + 1))*v(:, :, :, next(a)))/scaling
        end do
        v = v/scaling
        call need(pencilfft_transform(padded, pencilfft_direction_backward, v, u))
        call need(pencilfft_transform(padded, pencilfft_direction_backward, w_hat, w))
        call cross(u, w)
        force => w_hat
        call need(pencilfft_transform(padded, pencilfft_direction_forward, u, force))
        along = sum(k*force, 4)/merge(square, 1._c_double, square > 0)
        do a = 1, 3
            v(:, :, :, a) = -viscous(:, :, :, a) + merge(scaling/padded_scaling, 0._c_double, maxval(abs(k), 4) < cut)* &
                            (force(:, :, :, a) - k(:, :, :, a)*along)
        end do
    end subroutine

    !> The axis behind an axis.
    pure integer function next(axis)
        integer, intent(in) :: axis
        next = mod(axis, 3) + 1
    end function

    !> Write a x b over a.
    subroutine cross(a, b)
        real(c_double), intent(inout) :: a(:, :, :, :)
        real(c_double), intent(in) :: b(:, :, :, :)
        real(c_double) :: one(3), other(3)
        integer :: i, j, l
        do l = 1, size(a, 3)
            do j = 1, size(a, 2)
                do i = 1, size(a, 1)
                    one = a(i, j, l, :)
                    other = b(i, j, l, :)
                    a(i, j, l, :) = one([2, 3, 1])*other([3, 1, 2]) - one([3, 1, 2])*other([2, 3, 1])
                end do
            end do
        end do
    end subroutine

    subroutine take_waves()
        integer :: s(4), i
        s = shape(v_hat)
        allocate (k(s(1), s(2), s(3), 3))
        i = 0
        call need(pencilfft_walk_begin(plan, pencilfft_output, at))
        do while (pencilfft_walk_next(at))
            if (at%field > 0) cycle
            k(1 + mod(i, s(1)), 1 + mod(i/s(1), s(2)), 1 + i/s(1)/s(2), :) = at%waves
            i = i + 1
        end do
        square = sum(k**2, 4)
    end subroutine

    subroutine take_vortex()
        integer :: s(4), i
        real(c_double) :: x(3), value
        s = shape(start)
        i = 0
        call need(pencilfft_walk_begin(plan, pencilfft_input, at))
        do while (pencilfft_walk_next(at))
            x = h*at%index
            value = merge(sin(x(1))*cos(x(2)), -cos(x(1))*sin(x(2)), at%field == 0)*cos(x(3))
            start(1 + mod(i, s(1)), 1 + mod(i/s(1), s(2)), 1 + mod(i/s(1)/s(2), s(3)), at%field + 1) = &
                merge(value, 0._c_double, at%field < 2)
            i = i + 1
        end do
    end subroutine
end program
