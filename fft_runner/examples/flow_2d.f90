!> The velocity of a flow of two dimensions from its vorticity: laplace(psi) = -w, (u, v) = (d psi/dy, -d psi/dx), on
!! [0, 2 pi)^2. The spectra are halved along x, u and v are interleaved, and both plans share work memory of the program.
!!     mpirun -n 4 flow_2d_fortran
program flow_2d
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(2) = [96, 80]
    real(c_double), parameter :: two_pi = 6.283185307179586_c_double
    complex(c_double_complex), parameter :: i_unit = (0, 1)
    type(pencilfft_plan) :: scalar, vector
    type(pencilfft_box) :: box
    real(c_double), pointer :: vorticity(:, :, :), velocity(:, :, :, :) ! (y, x, 1), (component, y, x, 1)
    complex(c_double_complex), pointer :: w_hat(:, :, :), v_hat(:, :, :, :)
    real(c_double), allocatable, target :: work(:)
    complex(c_double_complex) :: psi
    real(c_double) :: kx, ky, error, mine
    integer(c_int64_t) :: bytes, more
    integer :: rank, ierror, i, j

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, scalar, type="r2c", order="xy", caller_work=.true.))
    call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, vector, type="r2c", order="xy", caller_work=.true., fields=2, &
                                    interleaved=.true.))
    call need(pencilfft_work_bytes(scalar, 0, bytes))
    call need(pencilfft_work_bytes(vector, 0, more))
    bytes = max(bytes, more)
    allocate (work(bytes/8 + 1))
    call need(pencilfft_set_work(scalar, c_loc(work), bytes))
    call need(pencilfft_set_work(vector, c_loc(work), bytes))
    call need(pencilfft_array(scalar, pencilfft_input, vorticity))
    call need(pencilfft_array(scalar, pencilfft_output, w_hat))
    call need(pencilfft_array(vector, pencilfft_input, velocity))
    call need(pencilfft_array(vector, pencilfft_output, v_hat))
    call need(pencilfft_set_norm(vector, pencilfft_direction_backward, pencilfft_norm_n))

    call need(pencilfft_box_mine(scalar, pencilfft_input, box))
    vorticity(:, :, 1) = exact(3)
    call need(pencilfft_transform(scalar, pencilfft_direction_forward, vorticity, w_hat))
    call need(pencilfft_box_mine(scalar, pencilfft_output, box))
    do j = 1, int(box%extent(1))
        kx = pencilfft_waves(scalar, 1, box%offset(1) + j - 1)
        do i = 1, int(box%extent(2))
            ky = pencilfft_waves(scalar, 2, box%offset(2) + i - 1)
            psi = 0
            if (kx**2 + ky**2 > 0) psi = w_hat(i, j, 1)/(kx**2 + ky**2)
            v_hat(:, i, j, 1) = [i_unit*ky*psi, -i_unit*kx*psi]
        end do
    end do
    call need(pencilfft_transform(vector, pencilfft_direction_backward, v_hat, velocity))
    call need(pencilfft_box_mine(vector, pencilfft_input, box))
    mine = max(maxval(abs(velocity(1, :, :, 1) - exact(1))), maxval(abs(velocity(2, :, :, 1) - exact(2))), 0.0_c_double)

    call need(pencilfft_plan_destroy(scalar))
    call need(pencilfft_plan_destroy(vector))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "flow_2d_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-12_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "flow_2d_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    !> u, v or the vorticity on the points of `box`, from the stream function sin(2x) cos(3y).
    function exact(which)
        integer, intent(in) :: which
        real(c_double), allocatable :: exact(:, :)
        real(c_double) :: x, y
        integer :: i, j
        allocate (exact(box%extent(2), box%extent(1)))
        do j = 1, size(exact, 2)
            x = 2*two_pi*(box%offset(1) + j - 1)/n(1)
            do i = 1, size(exact, 1)
                y = 3*two_pi*(box%offset(2) + i - 1)/n(2)
                if (which == 1) exact(i, j) = -3*sin(x)*sin(y)
                if (which == 2) exact(i, j) = -2*cos(x)*cos(y)
                if (which == 3) exact(i, j) = 13*sin(x)*cos(y)
            end do
        end do
    end function
end program flow_2d
