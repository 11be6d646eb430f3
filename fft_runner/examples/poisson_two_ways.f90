!> Solve  laplace(u) = f  on the periodic cube [0, 2 pi)^3 as in poisson.f90, in sequence and by schedule two-way: some
!! planes exchange rows before columns, the others columns before rows. Check u, and compare the two speeds.
!!     mpirun -n 4 poisson_two_ways_fortran
program poisson_two_ways
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n = 64, repetitions = 15
    type solver
        type(pencilfft_plan) :: plan
        type(c_ptr) :: f, f_hat, u
        real(c_double) :: seconds(repetitions)
    end type
    type(solver) :: plain, two_ways
    character(:), allocatable :: schedule
    real(c_double) :: error, one, two
    integer :: ranks, rank, ierror, i, dims(2)

    call MPI_Init(ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierror)

    call prepare(plain, "sequence")
    call prepare(two_ways, "two-way")
    do i = 1, repetitions ! in turn, so that both meet the same disturbances
        call solve(plain, plain%seconds(i))
        call solve(two_ways, two_ways%seconds(i))
    end do
    error = max(largest_error(plain), largest_error(two_ways))
    one = median(plain%seconds)
    two = median(two_ways%seconds)
    schedule = pencilfft_schedule_chosen(two_ways%plan)
    if (rank == 0) print '(a,es8.1,a,f0.2,3a,f0.2,a,f5.2,a)', "poisson_two_ways_fortran: largest error", error, &
        "; in sequence ", 1e3*one, " ms, ", schedule, " ", 1e3*two, " ms,", one/two, " times as fast"
    call need(pencilfft_plan_destroy(plain%plan))
    call need(pencilfft_plan_destroy(two_ways%plan))
    call MPI_Finalize(ierror)
    if (.not. error < 1e-13_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "poisson_two_ways_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    subroutine prepare(s, schedule)
        type(solver), intent(out) :: s
        character(*), intent(in) :: schedule
        real(c_double), pointer :: f(:, :, :)
        call need(pencilfft_plan_create([n, n, n], dims(2), dims(1), MPI_COMM_WORLD, s%plan, type="r2c", schedule=schedule))
        call need(pencilfft_alloc(s%plan, s%f))
        call need(pencilfft_alloc(s%plan, s%f_hat))
        call need(pencilfft_alloc(s%plan, s%u))
        call c_f_pointer(s%f, f, pencilfft_shape(s%plan, pencilfft_input)) ! f(z, y, x)
        f = sums_of_waves(s%plan, shape(f), -14._c_double, -17._c_double)
    end subroutine

    !> a sin(x) cos(2 y) sin(3 z) + b cos(4 x) sin(y) on this rank's part of the grid.
    function sums_of_waves(plan, extents, a, b) result(f)
        type(pencilfft_plan), intent(in) :: plan
        integer, intent(in) :: extents(3)
        real(c_double), intent(in) :: a, b
        real(c_double) :: f(extents(1), extents(2), extents(3)), p(3)
        type(pencilfft_box) :: box
        integer :: i, j, k
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        do k = 1, extents(3)
            do j = 1, extents(2)
                do i = 1, extents(1)
                    p = 6.283185307179586_c_double/n*(box%offset + [k, j, i] - 1)
                    f(i, j, k) = a*sin(p(1))*cos(2*p(2))*sin(3*p(3)) + b*cos(4*p(1))*sin(p(2))
                end do
            end do
        end do
    end function

    !> As in sequence, except that the spectrum may have two parts.
    subroutine solve(s, seconds)
        type(solver), intent(in) :: s
        real(c_double), intent(out) :: seconds
        type(pencilfft_part) :: part
        complex(c_double_complex), pointer :: hat(:)
        real(c_double) :: scaling, start
        integer(c_int) :: parts, i
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        start = MPI_Wtime()
        call need(pencilfft_scale(s%plan, scaling))
        call need(pencilfft_forward(s%plan, s%f, s%f_hat))
        call need(pencilfft_parts(s%plan, pencilfft_output, parts))
        do i = 0, parts - 1
            call need(pencilfft_part_mine(s%plan, pencilfft_output, i, part))
            call c_f_pointer(s%f_hat, hat, [part%start + product(part%box%extent)])
            call divide(hat(part%start + 1:), part%box, scaling)
        end do
        call need(pencilfft_backward(s%plan, s%f_hat, s%u))
        seconds = MPI_Wtime() - start
    end subroutine

    subroutine divide(hat, box, scaling)
        complex(c_double_complex), intent(inout) :: hat(0:)
        type(pencilfft_box), intent(in) :: box
        real(c_double), intent(in) :: scaling
        real(c_double) :: wave(3), k2
        integer(c_int64_t) :: x, y, z, at
        do x = 0, box%extent(1) - 1
            do y = 0, box%extent(2) - 1
                do z = 0, box%extent(3) - 1
                    at = sum([x, y, z]*box%stride)
                    wave = real(box%offset + [x, y, z], c_double)
                    where (wave > n/2) wave = wave - n
                    k2 = sum(wave**2)
                    hat(at) = merge(-hat(at)/(max(k2, 1._c_double)*scaling), (0._c_double, 0._c_double), k2 > 0)
                end do
            end do
        end do
    end subroutine

    real(c_double) function largest_error(s) result(worst)
        type(solver), intent(in) :: s
        real(c_double), pointer :: u(:, :, :)
        real(c_double) :: mine
        call c_f_pointer(s%u, u, pencilfft_shape(s%plan, pencilfft_input))
        mine = maxval(abs(u - sums_of_waves(s%plan, shape(u), 1._c_double, 1._c_double)))
        call MPI_Allreduce(mine, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    end function

    !> Median of the slowest rank's seconds.
    real(c_double) function median(mine)
        real(c_double), intent(in) :: mine(repetitions)
        real(c_double) :: slowest(repetitions)
        integer :: i
        call MPI_Allreduce(mine, slowest, repetitions, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
        do i = 1, repetitions/2 ! removes the smallest
            slowest(minloc(slowest)) = huge(slowest)
        end do
        median = minval(slowest)
    end function
end program poisson_two_ways
