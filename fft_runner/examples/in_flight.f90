!> Two transforms in flight on one communicator, with work and messages of the program meanwhile.
!!     mpirun -n 4 in_flight_fortran
program in_flight
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n = 32, fields = 2
    type(pencilfft_plan) :: plan(fields) ! a plan for each transform in flight
    type(c_ptr) :: memory, memory_hat
    type array
        complex(c_double), pointer :: of(:, :, :)
    end type
    type(array) :: f(fields), f_hat(fields)
    type(pencilfft_box) :: box
    real(c_double), asynchronous :: before(fields), all_before(fields)
    real(c_double) :: after(fields), all_after(fields), worst
    integer :: rank, ierror, request, i, j, x, y, z
    integer(c_int) :: done

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    do i = 1, fields
        call need(pencilfft_plan_create([n, n, n], 0, 0, MPI_COMM_WORLD, plan(i), nonblocking=.true.))
        call need(pencilfft_alloc(plan(i), memory))
        call need(pencilfft_alloc(plan(i), memory_hat))
        call c_f_pointer(memory, f(i)%of, pencilfft_shape(plan(i), pencilfft_input))
        call c_f_pointer(memory_hat, f_hat(i)%of, pencilfft_shape(plan(i), pencilfft_output))
        call need(pencilfft_box_mine(plan(i), pencilfft_input, box))
        do x = 1, size(f(i)%of, 3)
            do y = 1, size(f(i)%of, 2)
                do z = 1, size(f(i)%of, 1)
                    f(i)%of(z, y, x) = cmplx(sin(0.7d0*(box%offset(1) + x + i))*(box%offset(2) + y), &
                                             cos(0.3d0*(box%offset(3) + z - i)), c_double)
                end do
            end do
        end do
    end do

    do i = 1, fields
        call need(pencilfft_start(plan(i), pencilfft_direction_forward, c_loc(f(i)%of), c_loc(f_hat(i)%of)))
    end do
    do i = 1, fields ! the input may be read meanwhile
        before(i) = sum(abs(f(i)%of)**2)
        do j = 1, fields
            call need(pencilfft_progress(plan(j), done))
        end do
    end do
    call MPI_Iallreduce(before, all_before, fields, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    do i = 1, fields
        call need(pencilfft_wait(plan(i)))
        after(i) = sum(abs(f_hat(i)%of)**2)
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)

    call MPI_Allreduce(after, all_after, fields, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    worst = maxval(abs(all_after/real(n, c_double)**3/all_before - 1)) ! Parseval's theorem
    do i = 1, fields
        call need(pencilfft_plan_destroy(plan(i)))
    end do
    if (rank == 0) print '(a,es8.1)', "in_flight_fortran: two transforms at once, largest error of the energy", worst
    call MPI_Finalize(ierror)
    if (.not. worst < 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "in_flight_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine
end program in_flight
