!> Laplacian of a periodic function, computed on whole lines with the library's transposes alone, without its FFTs.
!!     mpirun -n 4 transposes_fortran
!! In layout stride1 the first index of each pencil is its undivided axis, so one subroutine serves all three.
!! Second derivative by a differentiation matrix: L. N. Trefethen, Spectral Methods in MATLAB, 2000, (3.12).
program transposes
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [32, 24, 28] ! even, for that matrix
    real(c_double), parameter :: two_pi = 6.283185307179586_c_double
    type(pencilfft_plan) :: plan
    type(c_ptr) :: u, total, u_y, total_y, u_x, total_x
    real(c_double), allocatable :: u_kept(:, :, :) ! a transpose loses u
    real(c_double) :: error, mine
    integer :: ranks, rank, ierror, dims(2)

    call MPI_Init(ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierror)

    ! Real numbers in all pencils, and no axis is transformed.
    call need(pencilfft_plan_create(n, dims(2), dims(1), MPI_COMM_WORLD, plan, type="dct", skip="xyz", layout="stride1"))
    u = buffer()
    u_y = buffer()
    u_x = buffer()
    total = buffer()
    total_y = buffer()
    total_x = buffer()

    call fill(array(u, pencilfft_z_pencil), array(total, pencilfft_z_pencil))
    u_kept = array(u, pencilfft_z_pencil)
    call add_second_derivative(array(u, pencilfft_z_pencil), array(total, pencilfft_z_pencil))
    call need(pencilfft_transpose(plan, pencilfft_row, pencilfft_direction_forward, u, u_y))
    call need(pencilfft_transpose(plan, pencilfft_row, pencilfft_direction_forward, total, total_y))
    call add_second_derivative(array(u_y, pencilfft_y_pencil), array(total_y, pencilfft_y_pencil))
    call need(pencilfft_transpose(plan, pencilfft_column, pencilfft_direction_forward, u_y, u_x))
    call need(pencilfft_transpose(plan, pencilfft_column, pencilfft_direction_forward, total_y, total_x))
    call add_second_derivative(array(u_x, pencilfft_x_pencil), array(total_x, pencilfft_x_pencil))
    call need(pencilfft_transpose(plan, pencilfft_column, pencilfft_direction_backward, total_x, total_y))
    call need(pencilfft_transpose(plan, pencilfft_row, pencilfft_direction_backward, total_y, total))
    mine = maxval(abs(array(total, pencilfft_z_pencil) + 14*u_kept)) ! each sine and cosine gives its wave number squared

    call need(pencilfft_plan_destroy(plan))
    call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a,es8.1)', "transposes_fortran: largest error", error
    call MPI_Finalize(ierror)
    if (.not. error < 1e-11_c_double) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "transposes_fortran: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    function buffer() result(memory)
        type(c_ptr) :: memory
        call need(pencilfft_alloc(plan, memory))
    end function

    !> The buffer as this rank's array in a pencil; its whole axis first.
    function array(memory, pencil) result(a)
        type(c_ptr), intent(in) :: memory
        integer(c_int), intent(in) :: pencil
        real(c_double), pointer :: a(:, :, :)
        call c_f_pointer(memory, a, pencilfft_shape(plan, pencil))
    end function

    subroutine fill(a, zero)
        real(c_double), intent(out) :: a(:, :, :), zero(:, :, :)
        type(pencilfft_box) :: box
        real(c_double) :: p(3)
        integer :: i, j, k
        call need(pencilfft_box_mine(plan, pencilfft_z_pencil, box))
        do k = 1, size(a, 3)
            do j = 1, size(a, 2)
                do i = 1, size(a, 1)
                    p = two_pi*(box%offset + [k, j, i] - 1)/n ! x, y, z of a(z, y, x)
                    a(i, j, k) = sin(p(1))*cos(2*p(2))*sin(3*p(3))
                end do
            end do
        end do
        zero = 0
    end subroutine

    !> total = total + second derivative of f along the first index, which is whole.
    subroutine add_second_derivative(f, total)
        real(c_double), intent(in) :: f(:, :, :)
        real(c_double), intent(inout) :: total(:, :, :)
        real(c_double) :: matrix(size(f, 1), size(f, 1))
        integer :: m, i, k
        m = size(f, 1)
        do k = 1, m
            do i = 1, m
                matrix(i, k) = -(-1)**abs(k - i)/(2*sin((k - i)*two_pi/m/2)**2)
            end do
            matrix(k, k) = -(real(m, c_double)**2 + 2)/12
        end do
        do k = 1, size(f, 3)
            total(:, :, k) = total(:, :, k) + matmul(matrix, f(:, :, k))
        end do
    end subroutine
end program transposes
