!> 2DECOMP&FFT 2 (https://github.com/2decomp-fft/2decomp-fft), in double precision; its x is our z. It works on
!! MPI_COMM_WORLD.
!> POOL: versions with a pool of memory, which must hold complex numbers for c2c.
module peer
    use, intrinsic :: iso_c_binding
    use decomp_2d
    use decomp_2d_constants
    use decomp_2d_fft
    implicit none

    type, bind(C) :: peer_array
        type(c_ptr) :: data
        integer(c_int64_t) :: start(3), extent(3), stride(3)
    end type

    complex(mytype), allocatable, target :: first(:, :, :), last(:, :, :)
    real(mytype), allocatable, target :: real_first(:, :, :)
    integer :: kind = 0 ! 0: c2c, 1: r2c, 2: c2r

contains

    integer(c_int) function peer_make(n, grid, type, fortran_comm, in, out) bind(C)
        integer(c_int), intent(in) :: n(3), grid(2)
        character(kind=c_char), intent(in) :: type(4)
        integer(c_int), value :: fortran_comm
        type(peer_array), intent(inout) :: in, out
        integer :: begin(3), end_(3), extent(3), rows, columns

        peer_make = 1
        if (mytype /= c_double) return
        select case (type(1)//type(2)//type(3))
        case ("c2c"); kind = 0
        case ("r2c"); kind = 1
        case ("c2r"); kind = 2
        case default; return
        end select
        rows = grid(1) ! it may change them
        columns = grid(2)
#ifdef POOL
        call decomp_2d_init(n(3), n(2), n(1), rows, columns, complex_pool=kind == 0)
#else
        call decomp_2d_init(n(3), n(2), n(1), rows, columns)
#endif
        call decomp_2d_fft_init(PHYSICAL_IN_X)
        if (kind == 0) then
            allocate (first(xsize(1), xsize(2), xsize(3)), last(zsize(1), zsize(2), zsize(3)))
            call set(in, xstart, xsize, c_loc(first))
            call set(out, zstart, zsize, c_loc(last))
        else
            call decomp_2d_fft_get_size(begin, end_, extent)
            allocate (real_first(xsize(1), xsize(2), xsize(3)), last(extent(1), extent(2), extent(3)))
            if (kind == 1) then
                call set(in, xstart, xsize, c_loc(real_first))
                call set(out, begin, extent, c_loc(last))
            else
                call set(out, xstart, xsize, c_loc(real_first))
                call set(in, begin, extent, c_loc(last))
            end if
        end if
        peer_make = 0
    end function

    subroutine set(a, begin, extent, data)
        type(peer_array), intent(inout) :: a
        integer, intent(in) :: begin(3), extent(3)
        type(c_ptr), intent(in) :: data
        a%data = data
        a%start = begin(3:1:-1) - 1
        a%extent = extent(3:1:-1)
        a%stride = [integer(c_int64_t) :: int(extent(1), c_int64_t)*extent(2), extent(1), 1]
    end subroutine

    subroutine peer_run() bind(C)
        select case (kind)
        case (0); call decomp_2d_fft_3d(first, last, DECOMP_2D_FFT_FORWARD)
        case (1); call decomp_2d_fft_3d(real_first, last)
        case (2); call decomp_2d_fft_3d(last, real_first)
        end select
    end subroutine
end module
