!> A stand-in for 2DECOMP&FFT 2: what its modules declare of this, by FFTW on the whole array. Pencils of x, with y over p_row and z
!> over p_col, become pencils of z with x over p_row and y over p_col. x is halved where the input is real.
module decomp_2d_constants
    use mpi
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    integer, parameter, public :: mytype = kind(0._real64)
    integer, parameter, public :: DECOMP_2D_FFT_FORWARD = -1
    integer, parameter, public :: PHYSICAL_IN_X = 1
end module

module decomp_2d
    use decomp_2d_constants
    implicit none
    private
    integer, save, public :: nx_global, ny_global, nz_global
    integer, save, dimension(3), public :: xstart, xsize, zstart, zsize
    integer, save :: row, col
    public :: decomp_2d_init, pencil

contains

    subroutine decomp_2d_init(nx, ny, nz, p_row, p_col, periodic_bc, comm, complex_pool)
        integer, intent(in) :: nx, ny, nz
        integer, intent(inout) :: p_row, p_col
        logical, dimension(3), intent(in), optional :: periodic_bc
        integer, intent(in), optional :: comm
        logical, intent(in), optional :: complex_pool
        nx_global = nx
        ny_global = ny
        nz_global = nz
        row = p_row
        col = p_col
        call pencil([nx, ny, nz], 1, xstart, xsize)
        call pencil([nx, ny, nz], 3, zstart, zsize)
    end subroutine

    subroutine pencil(n, along, begin, extent) ! the last parts have one more where n is not a multiple
        integer, intent(in) :: n(3), along
        integer, intent(out) :: begin(3), extent(3)
        integer :: rank, error, at(2), parts(2), axis, next, small
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
        at = [rank/col, mod(rank, col)]
        parts = [row, col]
        next = 1
        do axis = 1, 3
            begin(axis) = 1
            extent(axis) = n(axis)
            if (axis == along) cycle
            small = n(axis)/parts(next)
            extent(axis) = small + merge(1, 0, at(next) >= parts(next) - mod(n(axis), parts(next)))
            begin(axis) = 1 + at(next)*small + max(0, at(next) - (parts(next) - mod(n(axis), parts(next))))
            next = next + 1
        end do
    end subroutine
end module

module decomp_2d_fft
    use decomp_2d_constants
    use decomp_2d
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: decomp_2d_fft_init, decomp_2d_fft_3d, decomp_2d_fft_get_size

    interface decomp_2d_fft_init
        module procedure fft_init_noarg
        module procedure fft_init_arg
    end interface

    interface decomp_2d_fft_3d
        module procedure fft_3d_c2c
        module procedure fft_3d_r2c
        module procedure fft_3d_c2r
    end interface

    interface
        subroutine transform(n, type, in_start, in_extent, in, out_start, out_extent, out) bind(C, name="decomp2d_transform")
            import
            integer(c_int), intent(in) :: n(3), in_start(3), in_extent(3), out_start(3), out_extent(3)
            character(kind=c_char), intent(in) :: type(*)
            type(c_ptr), value :: in, out
        end subroutine
    end interface

contains

    subroutine fft_init_noarg
        call fft_init_arg(PHYSICAL_IN_X)
    end subroutine

    subroutine fft_init_arg(pencil)
        integer, intent(in) :: pencil
        if (pencil /= PHYSICAL_IN_X) error stop "the stand-in begins with pencils of x"
    end subroutine

    subroutine decomp_2d_fft_get_size(istart, iend, isize)
        integer, dimension(3), intent(out) :: istart, iend, isize
        call pencil([nx_global/2 + 1, ny_global, nz_global], 3, istart, isize)
        iend = istart + isize - 1
    end subroutine

    subroutine fft_3d_c2c(in, out, isign)
        complex(mytype), dimension(:, :, :), intent(inout), contiguous, target :: in
        complex(mytype), dimension(:, :, :), intent(out), contiguous, target :: out
        integer, intent(in) :: isign
        if (isign /= DECOMP_2D_FFT_FORWARD) error stop "the stand-in goes forward"
        call transform([nx_global, ny_global, nz_global], "c2c", xstart, xsize, c_loc(in), zstart, zsize, c_loc(out))
    end subroutine

    subroutine fft_3d_r2c(in_r, out_c)
        real(mytype), dimension(:, :, :), intent(inout), contiguous, target :: in_r
        complex(mytype), dimension(:, :, :), intent(out), contiguous, target :: out_c
        integer :: begin(3), last(3), extent(3)
        call decomp_2d_fft_get_size(begin, last, extent)
        call transform([nx_global, ny_global, nz_global], "r2c", xstart, xsize, c_loc(in_r), begin, extent, c_loc(out_c))
    end subroutine

    subroutine fft_3d_c2r(in_c, out_r)
        complex(mytype), dimension(:, :, :), intent(inout), contiguous, target :: in_c
        real(mytype), dimension(:, :, :), intent(out), contiguous, target :: out_r
        integer :: begin(3), last(3), extent(3)
        call decomp_2d_fft_get_size(begin, last, extent)
        call transform([nx_global, ny_global, nz_global], "c2r", begin, extent, c_loc(in_c), xstart, xsize, c_loc(out_r))
    end subroutine
end module
