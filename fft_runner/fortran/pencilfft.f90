!> libpencilfft from Fortran.
!!
!! Index order: the last index of C is the first of Fortran. A[x][y][z] of pencilfft.h, with z fastest, is a(z, y, x) here.
!! The local part of an array has the shape n(1:3) = pencilfft_shape(plan, array); for pencils::
!!
!!     layout natural   Z, Y and X pencils   (z, y, x)
!!     layout stride1   Z pencil             (z, y, x)      Y pencil  (y, z, x)      X pencil  (x, y, z)
!!
!! box%offset, box%extent and box%stride are still of x, y, z, in this order, and offsets count from 0: element (i, j, k) of
!! a natural pencil is global z = i - 1 + box%offset(3), y = j - 1 + box%offset(2), x = k - 1 + box%offset(1).
!!
!! pencilfft_array makes a buffer as large as a transform needs, as a pointer of that shape; pencilfft_transform takes such
!! arrays. pencilfft_alloc, pencilfft_forward and pencilfft_backward do the same with type(c_ptr).
!! Functions that can fail return 0 (pencilfft_ok) or an error code; pencilfft_message() says why. Several fields follow each
!! other in memory, each contiguous; their common shape is [pencilfft_shape(plan, pencil), fields]. Interleaved fields come
!! first: [fields, pencilfft_shape(plan, pencil)]. With another `order` of the axes array 0 has the first axis of the order
!! whole, and so on; the shapes above are those of order zyx.
module pencilfft
    use, intrinsic :: iso_c_binding
    implicit none
    private

    !> Return codes; pencilfft.h explains each.
    integer(c_int), parameter, public :: pencilfft_ok = 0, pencilfft_bad_call = 1, pencilfft_bad_size = 2, &
        pencilfft_bad_grid = 3, pencilfft_unknown_name = 4, pencilfft_mismatch = 5, pencilfft_too_large = 6, &
        pencilfft_no_memory = 7, pencilfft_fftw_error = 8, pencilfft_mpi_error = 9, pencilfft_not_possible = 10
    !> Direction of an exchange; of a plan both, added up.
    integer(c_int), parameter, public :: pencilfft_direction_forward = 1, pencilfft_direction_backward = 2
    !> Factors of a transform: 1, 1/N, 1/sqrt(N), where N is pencilfft_scale.
    integer(c_int), parameter, public :: pencilfft_norm_none = 0, pencilfft_norm_n = 1, pencilfft_norm_sqrt_n = 2
    !> Arrays of decomposition pencil.
    integer(c_int), parameter, public :: pencilfft_z_pencil = 0, pencilfft_y_pencil = 1, pencilfft_x_pencil = 2
    !> As a number of threads: as many as OpenMP would take.
    integer(c_int), parameter, public :: pencilfft_omp_threads = -1
    !> The input and the output of a forward transform.
    integer(c_int), parameter, public :: pencilfft_input = -2, pencilfft_output = -1
    !> The same after its remap and before its remap, if bricks or other boxes are remapped.
    integer(c_int), parameter, public :: pencilfft_inner_input = -4, pencilfft_inner_output = -3
    !> With a number added: an array before its lines are transformed.
    integer(c_int), parameter, public :: pencilfft_before = 16
    !> Exchanges of decomposition pencil.
    integer(c_int), parameter, public :: pencilfft_row = 0, pencilfft_column = 1
    !> Remaps, as the argument of any function for an exchange.
    integer(c_int), parameter, public :: pencilfft_remap_in = -2, pencilfft_remap_out = -1

    !> The work that a phase measures, in the result of pencilfft_phase_kind.
    integer(c_int), parameter, public :: pencilfft_kind_fft = 0, pencilfft_kind_pack = 1, pencilfft_kind_exchange = 2, &
        pencilfft_kind_unpack = 3, pencilfft_kind_total = 4, pencilfft_kind_wait = 5, pencilfft_kind_hidden = 6
    !> The operation along an axis, in pencilfft_line.
    integer(c_int), parameter, public :: pencilfft_line_none = 0, pencilfft_line_dft = 1, pencilfft_line_r2c = 2, &
        pencilfft_line_cosine = 3, pencilfft_line_sine = 4

    !> No plan has more.
    integer, parameter, public :: pencilfft_max_exchanges = 4, pencilfft_max_phases = 24

    integer(c_int64_t), parameter :: apart = -1 ! in place of the bytes of an array that is not contiguous
    integer, parameter :: longest_name = 2048 ! longer than any valid text: schedule overlap has up to 256 sizes

    !> Part of a rank in one array, of x, y, z; global element (x,y,z) lies at sum (index - offset) * stride.
    type, bind(C), public :: pencilfft_box
        integer(c_int64_t) :: offset(3), extent(3), stride(3)
    end type

    !> Some fields of a box, a part of an array: element (x,y,z) of field f is element start + (f - first_field) *
    !! field_stride + (element within the box) of the buffer. Fields and elements count from 0.
    type, bind(C), public :: pencilfft_part
        type(pencilfft_box) :: box
        integer(c_int64_t) :: start
        integer(c_int) :: first_field, fields
        integer(c_int64_t) :: field_stride
    end type

    !> Times of whole transforms on a grid that "auto" tried, in seconds; spread is the distance of the quartiles. Without
    !! runs the grid was refused or not tried.
    type, bind(C), public :: pencilfft_grid_trial
        integer(c_int) :: R, C, runs
        real(c_double) :: least, median, spread
    end type

    !> The format of an array: bytes of an element and of a real number, fields with their distance (0 if the array has
    !! several parts), and global extents of x, y, z.
    type, bind(C), public :: pencilfft_format
        integer(c_size_t) :: element_bytes, real_bytes
        integer(c_int) :: is_complex, fields
        integer(c_int64_t) :: field_stride, n(3)
    end type

    !> The transform along an axis: its kind, and the number, 1 to 4, of a cosine or sine transform; the points whose modes
    !! are kept, and the points of a line.
    type, bind(C), public :: pencilfft_line
        integer(c_int) :: kind, number
        integer(c_int64_t) :: n, points
    end type

    !> A plan; make it with pencilfft_plan_create.
    type, bind(C), public :: pencilfft_plan ! one pointer, passed by value as C passes it
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> An element of this rank: element `at` of the buffer, its global x, y, z, its waves as from pencilfft_waves, and its
    !! field. All but the waves count from 0. pencilfft_walk_begin and pencilfft_walk_next set the values.
    type, bind(C), public :: pencilfft_walk
        integer(c_int64_t) :: at, index(3)
        real(c_double) :: waves(3)
        integer(c_int) :: field
        type(pencilfft_plan), private :: plan
        integer(c_int), private :: array, parts, next_part, inside, order(3)
        type(pencilfft_part), private :: part
    end type

    !> The halo of an array; make it with pencilfft_halo_create.
    type, bind(C), public :: pencilfft_halo
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> A plan for distributed lines; make it with pencilfft_line_create.
    type, bind(C), public :: pencilfft_line_plan
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    !> A plan for bricks on which distributed lines run directly; make it with pencilfft_brick_lines_create.
    type, bind(C), public :: pencilfft_brick_lines
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    type, bind(C) :: c_handle ! a plan of any kind, or a halo, where C takes its pointer
        type(c_ptr) :: pointer
    end type

    public :: pencilfft_brick_lines_create, pencilfft_brick_lines_destroy, pencilfft_brick_lines_elements
    public :: pencilfft_brick_lines_extent, pencilfft_brick_lines_indices, pencilfft_brick_lines_execute
    public :: pencilfft_brick_lines_exchanges, pencilfft_brick_lines_exchange_name, pencilfft_brick_lines_traffic
    public :: pencilfft_brick_lines_phases, pencilfft_brick_lines_phase_name, pencilfft_brick_lines_phase_seconds
    public :: pencilfft_line_create, pencilfft_line_destroy, pencilfft_line_elements, pencilfft_line_points
    public :: pencilfft_line_indices, pencilfft_line_execute, pencilfft_line_exchanges, pencilfft_line_exchange_name
    public :: pencilfft_line_traffic, pencilfft_line_phases, pencilfft_line_phase_name, pencilfft_line_phase_seconds
    public :: pencilfft_halo_create, pencilfft_halo_destroy, pencilfft_halo_part, pencilfft_halo_exchange
    public :: pencilfft_halo_accumulate, pencilfft_halo_traffic
    public :: pencilfft_plan_create, pencilfft_plan_destroy, pencilfft_box_mine, pencilfft_shape, pencilfft_scale
    public :: pencilfft_exchange_error
    public :: pencilfft_alloc, pencilfft_forward, pencilfft_backward, pencilfft_transpose, pencilfft_message
    public :: pencilfft_parts, pencilfft_part_mine, pencilfft_execute_pair, pencilfft_schedule_chosen
    public :: pencilfft_set_norm, pencilfft_grid_trials, pencilfft_grid_trial_of, pencilfft_order_name
    public :: pencilfft_work_bytes, pencilfft_set_work
    public :: pencilfft_start, pencilfft_start_pair, pencilfft_progress, pencilfft_wait
    public :: pencilfft_plan_text, pencilfft_grid, pencilfft_waves, pencilfft_threads
    public :: pencilfft_exchanges, pencilfft_exchange_stage, pencilfft_exchange_chosen, pencilfft_traffic
    public :: pencilfft_phases, pencilfft_phase_name, pencilfft_phase_seconds
    public :: pencilfft_wisdom_load, pencilfft_wisdom_save, pencilfft_wisdom_forget
    public :: pencilfft_alloc_bytes, pencilfft_alloc_elements, pencilfft_auto_seconds, pencilfft_box_of, pencilfft_bricks
    public :: pencilfft_brick_lines_index, pencilfft_brick_lines_is_all_to_all, pencilfft_line_index
    public :: pencilfft_line_is_all_to_all, pencilfft_decomposition_name, pencilfft_exchange_name, pencilfft_layout_name
    public :: pencilfft_line_algorithm_name, pencilfft_line_order_name, pencilfft_precision_name, pencilfft_rigor_name
    public :: pencilfft_schedule_name, pencilfft_sync_name, pencilfft_type_name, pencilfft_grid_numbers
    public :: pencilfft_exchange_means, pencilfft_execute, pencilfft_format_of, pencilfft_line_of, pencilfft_part_of
    public :: pencilfft_phase_kind, pencilfft_walk_begin, pencilfft_walk_next

    public :: pencilfft_array, pencilfft_transform

    !> A buffer of pencilfft_alloc as `a(:, :, :)` of shape pencilfft_shape(plan, array), or as `a(:, :, :, :)` with the
    !! fields last, or first if they are interleaved. Refused if the type of the elements is not that of the array, or the
    !! array has several parts. Local.
    interface pencilfft_array
        module procedure real_double_array, real_single_array, complex_double_array, complex_single_array, &
            real_double_fields, real_single_fields, complex_double_fields, complex_single_fields
    end interface

    !> A transform in a direction, pencilfft_direction_forward or pencilfft_direction_backward, of contiguous arrays of the
    !! element types of the plan, such as those of pencilfft_array. Others need only hold this rank's part, as
    !! pencilfft_shape tells: nothing outside is touched, and an array of fewer elements is refused; an element, work(k), or
    !! an assumed-size array, work(*), tells no length. from and to may be the same memory under two pointers. Collective.
    interface pencilfft_transform
        module procedure transform_double_reals, transform_double_forth, transform_double_back, transform_double, &
            transform_single_reals, transform_single_forth, transform_single_back, transform_single
    end interface

    abstract interface ! of functions with one call each: gfortran 12 passes the handle of a second call by reference
        type(c_ptr) function name_in_table(i) bind(C)
            import
            integer(c_int), value :: i
        end function
        type(c_ptr) function name_of(handle, number) bind(C)
            import
            type(c_handle), value :: handle
            integer(c_int), value :: number
        end function
        integer(c_int) function of_handle(handle) bind(C)
            import
            type(c_handle), value :: handle
        end function
        integer(c_int) function of_number(handle, number) bind(C)
            import
            type(c_handle), value :: handle
            integer(c_int), value :: number
        end function
        integer(c_int) function number_in(handle, n) bind(C)
            import
            type(c_handle), value :: handle
            integer(c_int), intent(inout) :: n
        end function
        integer(c_int) function traffic_of(handle, exchange, direction, bytes, messages) bind(C)
            import
            type(c_handle), value :: handle
            integer(c_int), value :: exchange, direction
            integer(c_int64_t), intent(out) :: bytes(*), messages(*)
        end function
        integer(c_int) function seconds_of(handle, seconds) bind(C)
            import
            type(c_handle), value :: handle
            real(c_double), intent(out) :: seconds(*)
        end function
    end interface
    procedure(name_of), bind(C, name="pencilfft_brick_lines_exchange_name") :: c_brick_lines_exchange_name
    procedure(name_of), bind(C, name="pencilfft_brick_lines_phase_name") :: c_brick_lines_phase_name
    procedure(name_of), bind(C, name="pencilfft_line_exchange_name") :: c_line_exchange_name
    procedure(name_of), bind(C, name="pencilfft_line_phase_name") :: c_line_phase_name
    procedure(name_of), bind(C, name="pencilfft_phase_name") :: c_phase_name
    procedure(name_of), bind(C, name="pencilfft_exchange_stage") :: c_exchange_stage
    procedure(name_of), bind(C, name="pencilfft_exchange_chosen") :: c_exchange_chosen
    procedure(name_of), bind(C, name="pencilfft_exchange_means") :: c_exchange_means
    procedure(of_handle), bind(C, name="pencilfft_plan_destroy") :: c_plan_destroy
    procedure(of_handle), bind(C, name="pencilfft_line_destroy") :: c_line_destroy
    procedure(of_handle), bind(C, name="pencilfft_brick_lines_destroy") :: c_brick_lines_destroy
    procedure(of_handle), bind(C, name="pencilfft_halo_destroy") :: c_halo_destroy
    procedure(number_in), bind(C, name="pencilfft_exchanges") :: c_exchanges
    procedure(number_in), bind(C, name="pencilfft_phases") :: c_phases
    procedure(traffic_of), bind(C, name="pencilfft_traffic") :: c_traffic
    procedure(seconds_of), bind(C, name="pencilfft_phase_seconds") :: c_phase_seconds
    procedure(number_in), bind(C, name="pencilfft_line_exchanges") :: c_line_exchanges
    procedure(number_in), bind(C, name="pencilfft_line_phases") :: c_line_phases
    procedure(traffic_of), bind(C, name="pencilfft_line_traffic") :: c_line_traffic
    procedure(seconds_of), bind(C, name="pencilfft_line_phase_seconds") :: c_line_phase_seconds
    procedure(number_in), bind(C, name="pencilfft_brick_lines_exchanges") :: c_brick_lines_exchanges
    procedure(number_in), bind(C, name="pencilfft_brick_lines_phases") :: c_brick_lines_phases
    procedure(traffic_of), bind(C, name="pencilfft_brick_lines_traffic") :: c_brick_lines_traffic
    procedure(seconds_of), bind(C, name="pencilfft_brick_lines_phase_seconds") :: c_brick_lines_phase_seconds
    procedure(of_number), bind(C, name="pencilfft_line_is_all_to_all") :: c_line_is_all_to_all
    procedure(of_number), bind(C, name="pencilfft_brick_lines_is_all_to_all") :: c_brick_lines_is_all_to_all
    procedure(of_number), bind(C, name="pencilfft_phase_kind") :: c_phase_kind
    procedure(of_handle), bind(C, name="pencilfft_halo_ranks_fortran") :: c_halo_ranks
    procedure(name_in_table), bind(C, name="pencilfft_decomposition_name") :: c_decomposition_name
    procedure(name_in_table), bind(C, name="pencilfft_exchange_name") :: c_exchange_name
    procedure(name_in_table), bind(C, name="pencilfft_layout_name") :: c_layout_name
    procedure(name_in_table), bind(C, name="pencilfft_order_name") :: c_order_name
    procedure(name_in_table), bind(C, name="pencilfft_line_algorithm_name") :: c_line_algorithm_name
    procedure(name_in_table), bind(C, name="pencilfft_line_order_name") :: c_line_order_name
    procedure(name_in_table), bind(C, name="pencilfft_precision_name") :: c_precision_name
    procedure(name_in_table), bind(C, name="pencilfft_rigor_name") :: c_rigor_name
    procedure(name_in_table), bind(C, name="pencilfft_schedule_name") :: c_schedule_name
    procedure(name_in_table), bind(C, name="pencilfft_sync_name") :: c_sync_name
    procedure(name_in_table), bind(C, name="pencilfft_type_name") :: c_type_name

    interface ! to functions that need no more than their C form
        !> The part of this rank in an array; fails if the array has several parts. Local.
        integer(c_int) function pencilfft_box_mine(plan, array, box) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array
            type(pencilfft_box), intent(out) :: box
        end function
        !> The part of any rank in an array; fails if the array has several parts. Local.
        integer(c_int) function pencilfft_box_of(plan, array, rank, box) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array, rank
            type(pencilfft_box), intent(out) :: box
        end function
        !> A part of any rank, counted from 0. Local.
        integer(c_int) function pencilfft_part_of(plan, array, rank, i, part) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array, rank, i
            type(pencilfft_part), intent(out) :: part
        end function
        !> Element type, fields and extents of an array. Local.
        integer(c_int) function pencilfft_format_of(plan, array, form) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array
            type(pencilfft_format), intent(out) :: form
        end function
        !> The first step of a walk over the elements of this rank in an array, in the order of memory; pencilfft_walk_next
        !! goes to an element. `spectrum` is an array of one dimension in the memory of a buffer::
        !!
        !!     status = pencilfft_walk_begin(plan, pencilfft_output, walk)
        !!     do while (pencilfft_walk_next(walk))
        !!         spectrum(walk%at + 1) = spectrum(walk%at + 1)*factor(walk%waves)
        !!     end do
        integer(c_int) function pencilfft_walk_begin(plan, array, walk) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array
            type(pencilfft_walk), intent(out) :: walk
        end function
        !> The size of a buffer for execute, in elements of the forward output. Local.
        integer(c_int) function pencilfft_alloc_elements(plan, elements) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int64_t), intent(out) :: elements
        end function
        !> The size of a buffer for execute in bytes. Local.
        integer(c_int) function pencilfft_alloc_bytes(plan, bytes) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int64_t), intent(out) :: bytes
        end function
        !> A transform in a direction, pencilfft_direction_forward or pencilfft_direction_backward.
        integer(c_int) function pencilfft_execute(plan, direction, from, to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: direction
            type(c_ptr), value :: from, to
        end function
        !> The index in the line of point i of a rank, both counted from 0. Local.
        integer(c_int) function pencilfft_line_index(plan, array, rank, i, index) bind(C)
            import
            type(pencilfft_line_plan), value :: plan
            integer(c_int), value :: array, rank
            integer(c_int64_t), value :: i
            integer(c_int64_t), intent(out) :: index
        end function
        !> Backward after forward gives the input times `scaling`. Local.
        integer(c_int) function pencilfft_scale(plan, scaling) bind(C)
            import
            type(pencilfft_plan), value :: plan
            real(c_double), intent(out) :: scaling
        end function
        !> The most relative error, in the L2 norm, that exchanges in single precision add to a transform. Local.
        integer(c_int) function pencilfft_exchange_error(plan, error) bind(C)
            import
            type(pencilfft_plan), value :: plan
            real(c_double), intent(out) :: error
        end function
        !> Threads that share the work of a rank. Local.
        integer(c_int) function pencilfft_threads(plan, threads) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), intent(out) :: threads
        end function
        !> A buffer for execute. It belongs to the plan and is freed with the plan. Local.
        integer(c_int) function pencilfft_alloc(plan, buffer) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), intent(out) :: buffer
        end function
        !> Input to output (for pencils: Z to X); from and to may be one buffer.
        integer(c_int) function pencilfft_forward(plan, from, to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), value :: from, to
        end function
        !> Output to input, otherwise as forward.
        integer(c_int) function pencilfft_backward(plan, from, to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), value :: from, to
        end function
        !> The number of parts of an array: two if half of the array goes another way (schedules two-way and opposite).
        integer(c_int) function pencilfft_parts(plan, array, n) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array
            integer(c_int), intent(out) :: n
        end function
        !> A part of this rank, counted from 0. Local.
        integer(c_int) function pencilfft_part_mine(plan, array, i, part) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array, i
            type(pencilfft_part), intent(out) :: part
        end function
        !> A forward transform of one array beside a backward transform of another: at once under schedule opposite.
        integer(c_int) function pencilfft_execute_pair(plan, forward_from, forward_to, backward_from, backward_to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), value :: forward_from, forward_to, backward_from, backward_to
        end function
        !> A transform in flight, of a plan with `nonblocking`; direction is pencilfft_direction_forward or
        !! pencilfft_direction_backward. The arrays belong to the plan until pencilfft_wait, and need the attribute
        !! asynchronous or target. Other plans may be in flight meanwhile, and the program may send its own messages. All
        !! ranks start and wait in the same order. Collective.
        integer(c_int) function pencilfft_start(plan, direction, from, to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: direction
            type(c_ptr), value :: from, to
        end function
        !> The same for a pair.
        integer(c_int) function pencilfft_start_pair(plan, forward_from, forward_to, backward_from, backward_to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), value :: forward_from, forward_to, backward_from, backward_to
        end function
        !> Does the work whose messages have arrived, without waiting; done is 1 if the results of this rank are complete.
        !! Local.
        integer(c_int) function pencilfft_progress(plan, done) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), intent(out) :: done
        end function
        !> Completes what is in flight. Collective.
        integer(c_int) function pencilfft_wait(plan) bind(C)
            import
            type(pencilfft_plan), value :: plan
        end function
        !> The factor of all later transforms in this direction (pencilfft_direction_forward or _backward), applied in the
        !! last pass. Local; the same on all ranks.
        integer(c_int) function pencilfft_set_norm(plan, direction, norm) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: direction, norm
        end function
        !> The bytes of work memory of a plan with `caller_work` for transforms between two arrays, or with in_place = 1 for
        !! transforms in place, too; 0 for other plans. Local.
        integer(c_int) function pencilfft_work_bytes(plan, in_place, bytes) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: in_place
            integer(c_int64_t), intent(out) :: bytes
        end function
        !> Gives the plan this memory, aligned to 16 bytes, until it gets other memory or is destroyed: c_loc of an array
        !! with the attribute target. Plans that do not run at the same time may share memory. Local.
        integer(c_int) function pencilfft_set_work(plan, work, bytes) bind(C)
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), value :: work
            integer(c_int64_t), value :: bytes
        end function
        !> The number of grids that "auto" tried because R and C were 0, and one of them, counted from 0. Local.
        integer(c_int) function pencilfft_grid_trials(plan, trials) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), intent(inout) :: trials
        end function
        integer(c_int) function pencilfft_grid_trial_of(plan, i, trial) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: i
            type(pencilfft_grid_trial), intent(inout) :: trial
        end function
        !> One exchange alone; the contents of `from` are lost.
        integer(c_int) function pencilfft_transpose(plan, exchange, direction, from, to) bind(C)
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: exchange, direction
            type(c_ptr), value :: from, to
        end function
        !> The part of this rank with its halo: all fields of each point of part%box, dense, in the memory order
        !! of the array. Offsets may be below 0 and ends beyond the array. Local.
        integer(c_int) function pencilfft_halo_part(halo, part) bind(C)
            import
            type(pencilfft_halo), value :: halo
            type(pencilfft_part), intent(out) :: part
        end function
        !> Copies the array into `padded`, and fills its halo from the neighbours; c_null_ptr if the elements are in `padded`
        !! already.
        integer(c_int) function pencilfft_halo_exchange(halo, array, padded) bind(C)
            import
            type(pencilfft_halo), value :: halo
            type(c_ptr), value :: array, padded
        end function
        !> The adjoint: adds each value of the halo to its element, in the array or, with c_null_ptr, in `padded`.
        integer(c_int) function pencilfft_halo_accumulate(halo, padded, array) bind(C)
            import
            type(pencilfft_halo), value :: halo
            type(c_ptr), value :: padded, array
        end function
        !> Complex numbers that a buffer for lines must hold on this rank, before and after a transform. Local.
        integer(c_int) function pencilfft_line_elements(plan, elements) bind(C)
            import
            type(pencilfft_line_plan), value :: plan
            integer(c_int64_t), intent(out) :: elements
        end function
        !> Points of a line on a rank, in pencilfft_input or pencilfft_output of a forward transform. Local.
        integer(c_int) function pencilfft_line_points(plan, array, rank, points) bind(C)
            import
            type(pencilfft_line_plan), value :: plan
            integer(c_int), value :: array, rank
            integer(c_int64_t), intent(out) :: points
        end function
        !> A transform of all lines, pencilfft_direction_forward or pencilfft_direction_backward. from and to may be one
        !! buffer; both are aligned to 16 bytes. Collective.
        integer(c_int) function pencilfft_line_execute(plan, direction, from, to) bind(C)
            import
            type(pencilfft_line_plan), value :: plan
            integer(c_int), value :: direction
            type(c_ptr), value :: from, to
        end function
        !> Complex numbers that a buffer for bricks of lines must hold on this rank. Local.
        integer(c_int) function pencilfft_brick_lines_elements(plan, elements) bind(C)
            import
            type(pencilfft_brick_lines), value :: plan
            integer(c_int64_t), intent(out) :: elements
        end function
        !> A transform of all fields, pencilfft_direction_forward or pencilfft_direction_backward. from and to may be one
        !! buffer; both are aligned to 16 bytes. Collective.
        integer(c_int) function pencilfft_brick_lines_execute(plan, direction, from, to) bind(C)
            import
            type(pencilfft_brick_lines), value :: plan
            integer(c_int), value :: direction
            type(c_ptr), value :: from, to
        end function
        !> Forget all wisdom, including FFTW's. Local.
        subroutine pencilfft_wisdom_forget() bind(C)
        end subroutine
    end interface

    interface
        integer(c_int) function c_ranks(plan) bind(C, name="pencilfft_ranks_fortran")
            import
            type(c_ptr), value :: plan
        end function
        type(c_ptr) function c_desc_new() bind(C, name="pencilfft_desc_new")
            import
        end function
        subroutine c_desc_free(desc) bind(C, name="pencilfft_desc_free")
            import
            type(c_ptr), value :: desc
        end subroutine
        integer(c_int) function c_set_integer(desc, member, n) bind(C, name="pencilfft_desc_set_integer")
            import
            type(c_ptr), value :: desc
            character(kind=c_char), intent(in) :: member(*)
            integer(c_int64_t), value :: n
        end function
        integer(c_int) function c_set_real(desc, member, x) bind(C, name="pencilfft_desc_set_real")
            import
            type(c_ptr), value :: desc
            character(kind=c_char), intent(in) :: member(*)
            real(c_double), value :: x
        end function
        integer(c_int) function c_set_text(desc, member, text) bind(C, name="pencilfft_desc_set_text")
            import
            type(c_ptr), value :: desc, text
            character(kind=c_char), intent(in) :: member(*)
        end function
        integer(c_int) function c_set_box(desc, member, box) bind(C, name="pencilfft_desc_set_box")
            import
            type(c_ptr), value :: desc
            character(kind=c_char), intent(in) :: member(*)
            type(pencilfft_box), intent(in) :: box
        end function
        integer(c_int) function c_plan_create(desc, comm, plan) bind(C, name="pencilfft_plan_create_fortran")
            import
            type(c_ptr), value :: desc
            integer(c_int), value :: comm
            type(pencilfft_plan), intent(out) :: plan
        end function
        integer(c_int) function c_line_create(n, lines, algorithm, order, precision, rigor, sync, comm, plan) &
            bind(C, name="pencilfft_line_create_fortran")
            import
            integer(c_int64_t), value :: n, lines
            type(c_ptr), value :: algorithm, order, precision, rigor, sync
            integer(c_int), value :: comm
            type(pencilfft_line_plan), intent(out) :: plan
        end function
        integer(c_int) function c_brick_lines_create(size, bricks, fields, algorithm, order, precision, rigor, sync, comm, &
                                                     plan) bind(C, name="pencilfft_brick_lines_create_fortran")
            import
            integer(c_int64_t), intent(in) :: size(3)
            integer(c_int), intent(in) :: bricks(3)
            integer(c_int), value :: fields, comm
            type(c_ptr), value :: algorithm, order, precision, rigor, sync
            type(pencilfft_brick_lines), intent(out) :: plan
        end function
        integer(c_int) function c_brick_lines_indices(plan, array, rank, axis, indices) &
            bind(C, name="pencilfft_brick_lines_indices")
            import
            type(pencilfft_brick_lines), value :: plan
            integer(c_int), value :: array, rank, axis
            integer(c_int64_t), intent(out) :: indices(*)
        end function
        integer(c_int) function c_plan_text(plan, text) bind(C, name="pencilfft_plan_text")
            import
            type(pencilfft_plan), value :: plan
            type(c_ptr), intent(out) :: text
        end function
        integer(c_int) function c_length(array, length, least, most) bind(C, name="pencilfft_length_fortran")
            import
            character(kind=c_char), intent(in) :: array(*)
            integer(c_int64_t), value :: length, least, most
        end function
        integer(c_int) function c_agree(status, comm) bind(C, name="pencilfft_agree_fortran")
            import
            integer(c_int), value :: status, comm
        end function
        integer(c_int) function c_transform(plan, direction, from, from_bytes, to, to_bytes) &
            bind(C, name="pencilfft_transform_fortran")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: direction
            type(c_ptr), value :: from, to
            integer(c_int64_t), value :: from_bytes, to_bytes
        end function
        integer(c_int) function c_halo_create(plan, given, array, low, high, halo) &
            bind(C, name="pencilfft_halo_create_fortran")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: given, array
            integer(c_int64_t), intent(in) :: low(*), high(*)
            type(pencilfft_halo), intent(out) :: halo
        end function
        integer(c_int) function c_halo_traffic(halo, direction, bytes, messages) bind(C, name="pencilfft_halo_traffic")
            import
            type(pencilfft_halo), value :: halo
            integer(c_int), value :: direction
            integer(c_int64_t), intent(out) :: bytes(*), messages(*)
        end function
        integer(c_int) function c_line_indices(plan, array, rank, indices) bind(C, name="pencilfft_line_indices")
            import
            type(pencilfft_line_plan), value :: plan
            integer(c_int), value :: array, rank
            integer(c_int64_t), intent(out) :: indices(*)
        end function
        integer(c_int) function c_brick_lines_extent(plan, array, rank, extent) bind(C, name="pencilfft_brick_lines_extent")
            import
            type(pencilfft_brick_lines), value :: plan
            integer(c_int), value :: array, rank
            integer(c_int64_t), intent(out) :: extent(*)
        end function
        integer(c_int) function c_bricks(plan, bricks) bind(C, name="pencilfft_bricks")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), intent(out) :: bricks(*)
        end function
        type(c_ptr) function c_schedule_chosen(plan) bind(C, name="pencilfft_schedule_chosen")
            import
            type(pencilfft_plan), value :: plan
        end function
        integer(c_int) function c_waves(plan, axis, index, waves) bind(C, name="pencilfft_waves")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: axis
            integer(c_int64_t), value :: index
            real(c_double), intent(inout) :: waves
        end function
        integer(c_int) function c_grid(plan, R, C) bind(C, name="pencilfft_grid")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), intent(inout) :: R, C
        end function
        integer(c_int) function c_array(plan, array, element_bytes, is_complex, fields, buffer) &
            bind(C, name="pencilfft_array_fortran")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: array, element_bytes, is_complex, fields
            type(c_ptr), intent(out) :: buffer
        end function
        integer(c_int) function c_walk_next(walk) bind(C, name="pencilfft_walk_next")
            import
            type(pencilfft_walk), intent(inout) :: walk
        end function
        integer(c_int) function c_line_of(plan, axis, line) bind(C, name="pencilfft_line_of")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: axis
            type(pencilfft_line), intent(out) :: line
        end function
        integer(c_int) function c_auto_seconds(plan, exchange, i, seconds) bind(C, name="pencilfft_auto_seconds")
            import
            type(pencilfft_plan), value :: plan
            integer(c_int), value :: exchange, i
            real(c_double), intent(out) :: seconds
        end function
        integer(c_int) function c_grid_numbers(decomposition) bind(C, name="pencilfft_grid_numbers")
            import
            character(kind=c_char), intent(in) :: decomposition(*)
        end function
        integer(c_int) function c_brick_lines_index(plan, array, rank, axis, i, index) &
            bind(C, name="pencilfft_brick_lines_index")
            import
            type(pencilfft_brick_lines), value :: plan
            integer(c_int), value :: array, rank, axis
            integer(c_int64_t), value :: i
            integer(c_int64_t), intent(out) :: index
        end function
        integer(c_int) function c_wisdom_load(path, comm, found) bind(C, name="pencilfft_wisdom_load_fortran")
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: comm
            integer(c_int), intent(out) :: found
        end function
        integer(c_int) function c_wisdom_save(path, comm) bind(C, name="pencilfft_wisdom_save_fortran")
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: comm
        end function
        function c_message() bind(C, name="pencilfft_error_message") result(text)
            import
            type(c_ptr) :: text
        end function
        integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Plan a transform of n(1:3) = nx, ny, nz over a grid of R tasks in a row and C in a column (slabs: 1 and C). comm is an
    !! MPI communicator as an integer (with mpi_f08: comm%MPI_VAL). The names equal the members of pencilfft_desc; of boxes,
    !! offset and extent are read. padded(1:3) = padded_nx, padded_ny, padded_nz, as many as n. With n(1:2) = nx, ny arrays
    !! have two dimensions: order is "yx" by default, R the number of tasks and C 1, and arrays are a(y, x, 1). Collective.
    integer(c_int) function pencilfft_plan_create(n, R, C, comm, plan, type, kinds, skip, precision, layout, exchange, &
                                                  rigor, sync, directions, fields, auto_budget_s, decomposition, &
                                                  schedule, torus, node, input_box, output_box, threads, &
                                                  destroy_input, padded, nonblocking, exchange_precision, order, &
                                                  caller_work, interleaved) &
        result(status)
        integer, intent(in) :: n(:), R, C, comm
        type(pencilfft_plan), intent(out) :: plan
        character(*), intent(in), optional :: type, kinds, skip, precision, layout, exchange, rigor, sync, decomposition
        character(*), intent(in), optional :: schedule, torus, node, exchange_precision, order
        type(pencilfft_box), intent(in), optional, target :: input_box, output_box
        integer, intent(in), optional :: directions, fields, threads
        real(c_double), intent(in), optional :: auto_budget_s
        logical, intent(in), optional :: destroy_input, nonblocking, caller_work, interleaved
        integer, intent(in), optional :: padded(:)
        type(c_ptr) :: desc
        character(longest_name), target :: names(14) ! keeps the texts alive until the plan is made

        status = length_is("pencilfft_plan_create: n", size(n, kind=c_int64_t), 2_c_int64_t, 3_c_int64_t)
        if (status == pencilfft_ok .and. present(padded)) &
            status = length_is("pencilfft_plan_create: padded", size(padded, kind=c_int64_t), size(n, kind=c_int64_t))
        status = c_agree(status, comm)
        if (status /= pencilfft_ok) return
        desc = c_desc_new() ! a null descriptor is refused below on all ranks
        call set_extents(desc, "", n)
        if (size(n) == 2) call set_text(desc, "order", "yx", names(14))
        call set_integer(desc, "R", R)
        call set_integer(desc, "C", C)
        call set_integer(desc, "directions", directions)
        call set_integer(desc, "fields", fields)
        call set_integer(desc, "threads", threads)
        if (present(destroy_input)) call set_integer(desc, "destroy_input", merge(1, 0, destroy_input))
        if (present(nonblocking)) call set_integer(desc, "nonblocking", merge(1, 0, nonblocking))
        if (present(caller_work)) call set_integer(desc, "caller_work", merge(1, 0, caller_work))
        if (present(interleaved)) call set_integer(desc, "interleaved", merge(1, 0, interleaved))
        if (present(padded)) call set_extents(desc, "padded_", padded)
        call set_text(desc, "type", type, names(1))
        call set_text(desc, "kinds", kinds, names(2))
        call set_text(desc, "skip", skip, names(3))
        call set_text(desc, "precision", precision, names(4))
        call set_text(desc, "layout", layout, names(5))
        call set_text(desc, "exchange", exchange, names(6))
        call set_text(desc, "rigor", rigor, names(7))
        call set_text(desc, "sync", sync, names(8))
        call set_text(desc, "decomposition", decomposition, names(9))
        call set_text(desc, "schedule", schedule, names(10))
        call set_text(desc, "torus", torus, names(11))
        call set_text(desc, "node", node, names(12))
        call set_text(desc, "exchange_precision", exchange_precision, names(13))
        call set_text(desc, "order", order, names(14))
        if (present(input_box)) status = c_set_box(desc, "input_box"//c_null_char, input_box)
        if (present(output_box)) status = c_set_box(desc, "output_box"//c_null_char, output_box)
        if (present(auto_budget_s)) status = c_set_real(desc, "auto_budget_s"//c_null_char, auto_budget_s)
        status = c_plan_create(desc, comm, plan)
        call c_desc_free(desc)
    end function

    !> The bytes of an array as the library takes them. Elements of an array and assumed-size arrays do not tell their
    !! length.
    pure integer(c_int64_t) function room(element_bytes, elements, rank, contiguous)
        integer, intent(in) :: element_bytes, rank
        integer(c_int64_t), intent(in) :: elements
        logical, intent(in) :: contiguous
        if (rank == 0 .or. elements < 0) then
            room = huge(room)
        else if (.not. contiguous) then
            room = apart
        else
            room = element_bytes*elements
        end if
    end function

    integer(c_int) function transform_double_reals(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        real(c_double), intent(in), target :: from(..)
        real(c_double), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(8, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(8, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_double_forth(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        real(c_double), intent(in), target :: from(..)
        complex(c_double_complex), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(8, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(16, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_double_back(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        complex(c_double_complex), intent(in), target :: from(..)
        real(c_double), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(16, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(8, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_double(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        complex(c_double_complex), intent(in), target :: from(..)
        complex(c_double_complex), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(16, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(16, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_single_reals(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        real(c_float), intent(in), target :: from(..)
        real(c_float), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(4, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(4, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_single_forth(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        real(c_float), intent(in), target :: from(..)
        complex(c_float_complex), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(4, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(8, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_single_back(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        complex(c_float_complex), intent(in), target :: from(..)
        real(c_float), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(8, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(4, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function transform_single(plan, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: direction
        complex(c_float_complex), intent(in), target :: from(..)
        complex(c_float_complex), intent(inout), target :: to(..)
        status = c_transform(plan, direction, &
                             c_loc(from), room(8, size(from, kind=c_int64_t), rank(from), is_contiguous(from)), &
                             c_loc(to), room(8, size(to, kind=c_int64_t), rank(to), is_contiguous(to)))
    end function

    integer(c_int) function real_double_array(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        real(c_double), pointer, intent(out) :: a(:, :, :)
        type(c_ptr) :: buffer
        nullify (a)
        status = c_array(plan, array, 8_c_int, 0_c_int, 1_c_int, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, pencilfft_shape(plan, array))
    end function

    integer(c_int) function real_single_array(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        real(c_float), pointer, intent(out) :: a(:, :, :)
        type(c_ptr) :: buffer
        nullify (a)
        status = c_array(plan, array, 4_c_int, 0_c_int, 1_c_int, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, pencilfft_shape(plan, array))
    end function

    integer(c_int) function complex_double_array(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        complex(c_double_complex), pointer, intent(out) :: a(:, :, :)
        type(c_ptr) :: buffer
        nullify (a)
        status = c_array(plan, array, 16_c_int, 1_c_int, 1_c_int, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, pencilfft_shape(plan, array))
    end function

    integer(c_int) function complex_single_array(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        complex(c_float_complex), pointer, intent(out) :: a(:, :, :)
        type(c_ptr) :: buffer
        nullify (a)
        status = c_array(plan, array, 8_c_int, 1_c_int, 1_c_int, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, pencilfft_shape(plan, array))
    end function

    integer(c_int) function real_double_fields(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        real(c_double), pointer, intent(out) :: a(:, :, :, :)
        type(pencilfft_format) :: form
        type(c_ptr) :: buffer
        nullify (a)
        status = pencilfft_format_of(plan, array, form)
        if (status == pencilfft_ok) status = c_array(plan, array, 8_c_int, 0_c_int, form%fields, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, shape_with(plan, array, form%fields))
    end function

    integer(c_int) function real_single_fields(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        real(c_float), pointer, intent(out) :: a(:, :, :, :)
        type(pencilfft_format) :: form
        type(c_ptr) :: buffer
        nullify (a)
        status = pencilfft_format_of(plan, array, form)
        if (status == pencilfft_ok) status = c_array(plan, array, 4_c_int, 0_c_int, form%fields, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, shape_with(plan, array, form%fields))
    end function

    integer(c_int) function complex_double_fields(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        complex(c_double_complex), pointer, intent(out) :: a(:, :, :, :)
        type(pencilfft_format) :: form
        type(c_ptr) :: buffer
        nullify (a)
        status = pencilfft_format_of(plan, array, form)
        if (status == pencilfft_ok) status = c_array(plan, array, 16_c_int, 1_c_int, form%fields, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, shape_with(plan, array, form%fields))
    end function

    integer(c_int) function complex_single_fields(plan, array, a) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        complex(c_float_complex), pointer, intent(out) :: a(:, :, :, :)
        type(pencilfft_format) :: form
        type(c_ptr) :: buffer
        nullify (a)
        status = pencilfft_format_of(plan, array, form)
        if (status == pencilfft_ok) status = c_array(plan, array, 8_c_int, 1_c_int, form%fields, buffer)
        if (status == pencilfft_ok) call c_f_pointer(buffer, a, shape_with(plan, array, form%fields))
    end function

    !> Extents of x, y and z; those that are not given keep their default.
    subroutine set_extents(desc, prefix, n)
        type(c_ptr), intent(in) :: desc
        character(*), intent(in) :: prefix
        integer, intent(in) :: n(:)
        character(*), parameter :: axes = "xyz"
        integer :: i
        do i = 1, size(n)
            call set_integer(desc, prefix//"n"//axes(i:i), n(i))
        end do
    end subroutine

    !> The shape of an array with its fields: last, or first if they are interleaved.
    function shape_with(plan, array, fields) result(all)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array, fields
        type(pencilfft_box) :: box
        integer(c_int64_t) :: all(4)
        all = [pencilfft_shape(plan, array), int(fields, c_int64_t)]
        if (pencilfft_box_mine(plan, array, box) /= pencilfft_ok) return
        if (minval(box%stride) > 1) all = cshift(all, -1)
    end function

    !> Refuses an array of another length; `most` is `least` by default.
    integer(c_int) function length_is(array, length, least, most) result(status)
        character(*), intent(in) :: array
        integer(c_int64_t), intent(in) :: length, least
        integer(c_int64_t), intent(in), optional :: most
        if (present(most)) then
            status = c_length(array//c_null_char, length, least, most)
        else
            status = c_length(array//c_null_char, length, least, least)
        end if
    end function

    !> Refuses bytes and messages of a call that are shorter than the number of ranks.
    integer(c_int) function lengths_are_ranks(call, bytes, messages, ranks) result(status)
        character(*), intent(in) :: call
        integer(c_int64_t), intent(in) :: bytes(:), messages(:)
        integer(c_int), intent(in) :: ranks
        integer(c_int64_t) :: least
        least = ranks
        status = length_is(call//": bytes", size(bytes, kind=c_int64_t), least, huge(least))
        if (status == pencilfft_ok) &
            status = length_is(call//": messages", size(messages, kind=c_int64_t), least, huge(least))
    end function

    !> The same for the seconds of a number of phases.
    integer(c_int) function length_is_phases(call, seconds, phases) result(status)
        character(*), intent(in) :: call
        real(c_double), intent(in) :: seconds(:)
        integer, intent(in) :: phases
        integer(c_int64_t) :: least
        least = phases
        status = length_is(call//": seconds", size(seconds, kind=c_int64_t), least, huge(least))
    end function

    !> Bricks along x, y and z, bricks(1:3); zeros if the decomposition has none. Local.
    integer(c_int) function pencilfft_bricks(plan, bricks) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(inout) :: bricks(:)
        status = length_is("pencilfft_bricks: bricks", size(bricks, kind=c_int64_t), 3_c_int64_t)
        if (status == pencilfft_ok) status = c_bricks(plan, bricks)
    end function

    !> Traffic from this rank to each other rank in an exchange; both as long as there are ranks, or longer, rank 0 first.
    !! Local.
    integer(c_int) function pencilfft_traffic(plan, exchange, direction, bytes, messages) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange, direction
        integer(c_int64_t), intent(inout) :: bytes(:), messages(:)
        status = lengths_are_ranks("pencilfft_traffic", bytes, messages, c_ranks(plan%handle))
        if (status == pencilfft_ok) status = c_traffic(c_handle(plan%handle), exchange, direction, bytes, messages)
    end function

    !> Seconds this rank spent in each phase of the last transform; of as many elements as phases, or more.
    integer(c_int) function pencilfft_phase_seconds(plan, seconds) result(status)
        type(pencilfft_plan), intent(in) :: plan
        real(c_double), intent(inout) :: seconds(:)
        status = length_is_phases("pencilfft_phase_seconds", seconds, pencilfft_phases(plan))
        if (status == pencilfft_ok) status = c_phase_seconds(c_handle(plan%handle), seconds)
    end function

    !> The halo of an array: low(1:3) planes below the part of every rank along x, y and z, high(1:3) above, all periodic.
    !! The halo does not need the plan any more. Collective.
    integer(c_int) function pencilfft_halo_create(plan, array, low, high, halo) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        integer(c_int64_t), intent(in) :: low(:), high(:)
        type(pencilfft_halo), intent(out) :: halo
        status = length_is("pencilfft_halo_create: low", size(low, kind=c_int64_t), 3_c_int64_t)
        if (status == pencilfft_ok) &
            status = length_is("pencilfft_halo_create: high", size(high, kind=c_int64_t), 3_c_int64_t)
        status = c_halo_create(plan, status, array, low, high, halo)
    end function

    !> Traffic from this rank to each rank, forward to exchange, backward to accumulate; as long as there are ranks, or
    !! longer.
    integer(c_int) function pencilfft_halo_traffic(halo, direction, bytes, messages) result(status)
        type(pencilfft_halo), intent(in) :: halo
        integer(c_int), intent(in) :: direction
        integer(c_int64_t), intent(inout) :: bytes(:), messages(:)
        status = lengths_are_ranks("pencilfft_halo_traffic", bytes, messages, c_halo_ranks(c_handle(halo%handle)))
        if (status == pencilfft_ok) status = c_halo_traffic(halo, direction, bytes, messages)
    end function

    !> The indices of these points in the line, counted from 0; pencilfft_line_points gives their number, the least length.
    !! Local.
    integer(c_int) function pencilfft_line_indices(plan, array, rank, indices) result(status)
        type(pencilfft_line_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array, rank
        integer(c_int64_t), intent(inout) :: indices(:)
        integer(c_int64_t) :: points
        if (pencilfft_line_points(plan, array, rank, points) /= pencilfft_ok) points = 0
        status = length_is("pencilfft_line_indices: indices", size(indices, kind=c_int64_t), points, huge(points))
        if (status == pencilfft_ok) status = c_line_indices(plan, array, rank, indices)
    end function

    !> Traffic from this rank to each rank in an exchange, counted from 0; both as long as there are ranks, or longer. Local.
    integer(c_int) function pencilfft_line_traffic(plan, exchange, direction, bytes, messages) result(status)
        type(pencilfft_line_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange, direction
        integer(c_int64_t), intent(inout) :: bytes(:), messages(:)
        status = lengths_are_ranks("pencilfft_line_traffic", bytes, messages, c_ranks(plan%handle))
        if (status == pencilfft_ok) status = c_line_traffic(c_handle(plan%handle), exchange, direction, bytes, messages)
    end function

    !> Seconds of each phase of the last transform; of as many elements as phases, or more. Local.
    integer(c_int) function pencilfft_line_phase_seconds(plan, seconds) result(status)
        type(pencilfft_line_plan), intent(in) :: plan
        real(c_double), intent(inout) :: seconds(:)
        status = length_is_phases("pencilfft_line_phase_seconds", seconds, pencilfft_line_phases(plan))
        if (status == pencilfft_ok) status = c_line_phase_seconds(c_handle(plan%handle), seconds)
    end function

    !> Points along x, y and z of a rank's brick, extent(1:3), in pencilfft_input or pencilfft_output of a forward transform;
    !! the last is the first index here. Local.
    integer(c_int) function pencilfft_brick_lines_extent(plan, array, rank, extent) result(status)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: array, rank
        integer(c_int64_t), intent(inout) :: extent(:)
        status = length_is("pencilfft_brick_lines_extent: extent", size(extent, kind=c_int64_t), 3_c_int64_t)
        if (status == pencilfft_ok) status = c_brick_lines_extent(plan, array, rank, extent)
    end function

    !> Traffic from this rank to each rank in an exchange, counted from 0; both as long as there are ranks, or longer. Local.
    integer(c_int) function pencilfft_brick_lines_traffic(plan, exchange, direction, bytes, messages) result(status)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: exchange, direction
        integer(c_int64_t), intent(inout) :: bytes(:), messages(:)
        status = lengths_are_ranks("pencilfft_brick_lines_traffic", bytes, messages, c_ranks(plan%handle))
        if (status == pencilfft_ok) status = c_brick_lines_traffic(c_handle(plan%handle), exchange, direction, &
                                                                        bytes, messages)
    end function

    !> Seconds of each phase of the last transform; of as many elements as phases, or more. Local.
    integer(c_int) function pencilfft_brick_lines_phase_seconds(plan, seconds) result(status)
        type(pencilfft_brick_lines), intent(in) :: plan
        real(c_double), intent(inout) :: seconds(:)
        status = length_is_phases("pencilfft_brick_lines_phase_seconds", seconds, pencilfft_brick_lines_phases(plan))
        if (status == pencilfft_ok) status = c_brick_lines_phase_seconds(c_handle(plan%handle), seconds)
    end function

    !> Sets a given argument; an absent argument keeps its default.
    subroutine set_integer(desc, member, n)
        type(c_ptr), intent(in) :: desc
        character(*), intent(in) :: member
        integer, intent(in), optional :: n
        integer(c_int) :: status
        if (present(n)) status = c_set_integer(desc, member//c_null_char, int(n, c_int64_t))
    end subroutine

    !> The same for text, which is copied to `room` as a C string.
    subroutine set_text(desc, member, text, room)
        type(c_ptr), intent(in) :: desc
        character(*), intent(in) :: member
        character(*), intent(in), optional :: text
        character(*), intent(inout), target :: room
        integer(c_int) :: status
        if (present(text)) status = c_set_text(desc, member//c_null_char, c_text(text, room))
    end subroutine

    !> Plan transforms of lines of n points that are distributed over the ranks of comm, an MPI communicator as an integer.
    !! lines are transformed together (1); the names equal the members of pencilfft_line_desc. Collective.
    integer(c_int) function pencilfft_line_create(n, comm, plan, lines, algorithm, order, precision, rigor, sync) &
        result(status)
        integer(c_int64_t), intent(in) :: n
        integer, intent(in) :: comm
        type(pencilfft_line_plan), intent(out) :: plan
        integer(c_int64_t), intent(in), optional :: lines
        character(*), intent(in), optional :: algorithm, order, precision, rigor, sync
        character(longest_name), target :: names(5)
        integer(c_int64_t) :: together
        together = 1
        if (present(lines)) together = lines
        status = c_line_create(n, together, c_text(algorithm, names(1)), c_text(order, names(2)), &
                               c_text(precision, names(3)), c_text(rigor, names(4)), c_text(sync, names(5)), comm, plan)
    end function

    !> A given text, copied to `room` as a C string; null for an absent text.
    type(c_ptr) function c_text(text, room)
        character(*), intent(in), optional :: text
        character(*), intent(inout), target :: room
        c_text = c_null_ptr
        if (.not. present(text)) return
        room = text(:min(len_trim(text), longest_name - 1))//c_null_char
        c_text = c_loc(room)
    end function

    !> Collective; frees the plan and its buffers.
    integer(c_int) function pencilfft_line_destroy(plan) result(status)
        type(pencilfft_line_plan), intent(inout) :: plan
        status = c_line_destroy(c_handle(plan%handle))
        plan%handle = c_null_ptr
    end function

    !> Exchanges of a forward transform of lines; 0 without a plan.
    integer function pencilfft_line_exchanges(plan) result(n)
        type(pencilfft_line_plan), intent(in) :: plan
        n = count_in(c_line_exchanges, c_handle(plan%handle))
    end function

    !> Name of an exchange, counted from 0: "to_columns", "stage_1". Empty for other numbers.
    function pencilfft_line_exchange_name(plan, exchange) result(name)
        type(pencilfft_line_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        character(:), allocatable :: name
        name = text_of(c_line_exchange_name(c_handle(plan%handle), exchange))
    end function

    !> Phases of a transform of lines; 0 without a plan.
    integer function pencilfft_line_phases(plan) result(n)
        type(pencilfft_line_plan), intent(in) :: plan
        n = count_in(c_line_phases, c_handle(plan%handle))
    end function

    !> "fft_line" for the first, and so on; empty outside 1 to pencilfft_line_phases(plan).
    function pencilfft_line_phase_name(plan, phase) result(name)
        type(pencilfft_line_plan), intent(in) :: plan
        integer, intent(in) :: phase
        character(:), allocatable :: name
        name = text_of(c_line_phase_name(c_handle(plan%handle), int(phase - 1, c_int)))
    end function

    !> Plan transforms of size(1:3) = nx, ny, nz points in bricks(1:3) bricks along x, y and z, one for each rank of comm, an
    !! MPI communicator as an integer. fields are transformed together (1); the names equal the members of
    !! pencilfft_line_desc. Collective.
    integer(c_int) function pencilfft_brick_lines_create(size, bricks, comm, plan, fields, algorithm, order, precision, &
                                                         rigor, sync) result(status)
        integer(c_int64_t), intent(in) :: size(:)
        integer(c_int), intent(in) :: bricks(:)
        integer, intent(in) :: comm
        type(pencilfft_brick_lines), intent(out) :: plan
        integer(c_int), intent(in), optional :: fields
        character(*), intent(in), optional :: algorithm, order, precision, rigor, sync
        character(longest_name), target :: names(5)
        integer(c_int) :: together
        status = length_is("pencilfft_brick_lines_create: size", ubound(size, 1, c_int64_t), 3_c_int64_t)
        if (status == pencilfft_ok) &
            status = length_is("pencilfft_brick_lines_create: bricks", ubound(bricks, 1, c_int64_t), 3_c_int64_t)
        status = c_agree(status, comm)
        if (status /= pencilfft_ok) return
        together = 1
        if (present(fields)) together = fields
        status = c_brick_lines_create(size, bricks, together, c_text(algorithm, names(1)), c_text(order, names(2)), &
                                      c_text(precision, names(3)), c_text(rigor, names(4)), c_text(sync, names(5)), comm, &
                                      plan)
    end function

    !> Collective; frees the plan and its buffers.
    integer(c_int) function pencilfft_brick_lines_destroy(plan) result(status)
        type(pencilfft_brick_lines), intent(inout) :: plan
        status = c_brick_lines_destroy(c_handle(plan%handle))
        plan%handle = c_null_ptr
    end function

    !> The indices in the array, counted from 0, of a rank's points along an axis (1 to 3 for x, y, z);
    !! pencilfft_brick_lines_extent gives their number. Local.
    integer(c_int) function pencilfft_brick_lines_indices(plan, array, rank, axis, indices) result(status)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: array, rank, axis
        integer(c_int64_t), intent(inout) :: indices(:)
        integer(c_int64_t) :: extent(3), points
        points = 0 ! if there is no such array, rank or axis
        if (c_brick_lines_extent(plan, array, rank, extent) == pencilfft_ok .and. axis > 0 .and. axis < 4) &
            points = extent(axis)
        status = length_is("pencilfft_brick_lines_indices: indices", size(indices, kind=c_int64_t), points, huge(points))
        if (status == pencilfft_ok) status = c_brick_lines_indices(plan, array, rank, axis - 1, indices)
    end function

    !> Exchanges of a forward transform of bricks of lines; 0 without a plan.
    integer function pencilfft_brick_lines_exchanges(plan) result(n)
        type(pencilfft_brick_lines), intent(in) :: plan
        n = count_in(c_brick_lines_exchanges, c_handle(plan%handle))
    end function

    !> Name of an exchange, counted from 0: "z_to_columns", "x_stage_1". Empty for other numbers.
    function pencilfft_brick_lines_exchange_name(plan, exchange) result(name)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        character(:), allocatable :: name
        name = text_of(c_brick_lines_exchange_name(c_handle(plan%handle), exchange))
    end function

    !> Phases of a transform of bricks of lines; 0 without a plan.
    integer function pencilfft_brick_lines_phases(plan) result(n)
        type(pencilfft_brick_lines), intent(in) :: plan
        n = count_in(c_brick_lines_phases, c_handle(plan%handle))
    end function

    !> "fft_z" for the first, and so on; empty outside 1 to pencilfft_brick_lines_phases(plan).
    function pencilfft_brick_lines_phase_name(plan, phase) result(name)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer, intent(in) :: phase
        character(:), allocatable :: name
        name = text_of(c_brick_lines_phase_name(c_handle(plan%handle), int(phase - 1, c_int)))
    end function

    !> Collective; frees the plan and its buffers.
    integer(c_int) function pencilfft_plan_destroy(plan) result(status)
        type(pencilfft_plan), intent(inout) :: plan
        status = c_plan_destroy(c_handle(plan%handle))
        plan%handle = c_null_ptr
    end function

    !> Collective; frees the halo.
    integer(c_int) function pencilfft_halo_destroy(halo) result(status)
        type(pencilfft_halo), intent(inout) :: halo
        status = c_halo_destroy(c_handle(halo%handle))
        halo%handle = c_null_ptr
    end function

    !> Shape of the local array, fastest index first; zeros if there is no such plan or array.
    function pencilfft_shape(plan, array) result(shape_of_it)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: array
        integer(c_int64_t) :: shape_of_it(3), order(3)
        type(pencilfft_box) :: box
        integer :: i, fastest
        shape_of_it = 0
        if (pencilfft_box_mine(plan, array, box) /= pencilfft_ok) return
        order = 2*box%stride + merge(0, 1, box%extent == 1) ! of equal strides, extents of 1 first: they occupy no memory
        do i = 1, 3
            fastest = minloc(order, 1)
            shape_of_it(i) = box%extent(fastest)
            order(fastest) = huge(order)
        end do
    end function

    !> The plan of this rank, in lines: passes, exchanges between them, buffers. Empty without a plan.
    function pencilfft_plan_text(plan) result(text)
        type(pencilfft_plan), intent(in) :: plan
        character(:), allocatable :: text
        type(c_ptr) :: start
        integer(c_int) :: status
        start = c_null_ptr
        status = c_plan_text(plan, start)
        if (status /= pencilfft_ok) start = c_null_ptr
        text = text_of(start)
    end function

    !> The process grid, R and C, as given, or chosen for numbers that were 0. Zeros without a plan.
    function pencilfft_grid(plan) result(grid)
        type(pencilfft_plan), intent(in) :: plan
        integer :: grid(2)
        integer(c_int) :: status, R, C
        R = 0
        C = 0
        status = c_grid(plan, R, C)
        grid = [R, C]
    end function

    !> Waves of a mode of the spectrum in the n steps of its axis (1 to 3 for x, y, z), of a global index from 0 on as in
    !! box%offset: 0, 1, ..., -2, -1 along an axis with a DFT, with +n/2 for mode n/2 of an even n. A grid with step h has
    !! the wavenumber 2 pi waves/(n h). 0 if there is no such mode.
    real(c_double) function pencilfft_waves(plan, axis, index) result(waves)
        type(pencilfft_plan), intent(in) :: plan
        integer, intent(in) :: axis
        integer(c_int64_t), intent(in) :: index
        integer(c_int) :: status
        waves = 0
        status = c_waves(plan, axis - 1, index, waves)
    end function

    !> Exchanges of a transform; 0 without a plan. They are numbered from 0 in the order of a forward transform.
    integer function pencilfft_exchanges(plan) result(n)
        type(pencilfft_plan), intent(in) :: plan
        n = count_in(c_exchanges, c_handle(plan%handle))
    end function

    !> Name of an exchange: "row", "column"; "slab". Empty for other numbers.
    function pencilfft_exchange_stage(plan, exchange) result(name)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        character(:), allocatable :: name
        name = text_of(c_exchange_stage(c_handle(plan%handle), exchange))
    end function

    !> Phases of a transform; 0 without a plan.
    integer function pencilfft_phases(plan) result(n)
        type(pencilfft_plan), intent(in) :: plan
        n = count_in(c_phases, c_handle(plan%handle))
    end function

    !> "fft_z" for the first, and so on; empty outside 1 to pencilfft_phases(plan).
    function pencilfft_phase_name(plan, phase) result(name)
        type(pencilfft_plan), intent(in) :: plan
        integer, intent(in) :: phase
        character(:), allocatable :: name
        name = text_of(c_phase_name(c_handle(plan%handle), int(phase - 1, c_int)))
    end function

    !> The algorithm of an exchange: the requested algorithm, or the choice of "auto". Empty without a plan.
    function pencilfft_exchange_chosen(plan, exchange) result(name)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        character(:), allocatable :: name
        name = text_of(c_exchange_chosen(c_handle(plan%handle), exchange))
    end function

    !> The schedule as it runs, with all choices: "overlap:4:x"; empty without a plan.
    function pencilfft_schedule_chosen(plan) result(name)
        type(pencilfft_plan), intent(in) :: plan
        character(:), allocatable :: name
        name = text_of(c_schedule_chosen(plan))
    end function

    !> Add a file's wisdom (FFTW's plans and the choices of "auto"); found is false if there is no such file. Rank 0 reads.
    !! Collective.
    integer(c_int) function pencilfft_wisdom_load(path, comm, found) result(status)
        character(*), intent(in) :: path
        integer, intent(in) :: comm
        logical, intent(out) :: found
        integer(c_int) :: there
        there = 0
        status = c_wisdom_load(trim(path)//c_null_char, comm, there)
        found = there /= 0
    end function

    !> Replace the file by all wisdom, or leave the file unchanged. Rank 0 writes. Collective.
    integer(c_int) function pencilfft_wisdom_save(path, comm) result(status)
        character(*), intent(in) :: path
        integer, intent(in) :: comm
        status = c_wisdom_save(trim(path)//c_null_char, comm)
    end function

    !> The next element of a walk; false after the last. Local.
    logical function pencilfft_walk_next(walk) result(more)
        type(pencilfft_walk), intent(inout) :: walk
        more = c_walk_next(walk) /= 0
    end function

    !> The forward transform along an axis, 1 to 3 for x, y, z. Backward does the inverse. Local.
    integer(c_int) function pencilfft_line_of(plan, axis, line) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer, intent(in) :: axis
        type(pencilfft_line), intent(out) :: line
        status = c_line_of(plan, axis - 1, line)
    end function

    !> The work that a phase measures, pencilfft_kind_fft to pencilfft_kind_hidden; -1 outside 1 to pencilfft_phases(plan).
    integer(c_int) function pencilfft_phase_kind(plan, phase) result(kind)
        type(pencilfft_plan), intent(in) :: plan
        integer, intent(in) :: phase
        kind = c_phase_kind(c_handle(plan%handle), phase - 1)
    end function

    !> Seconds of a transform when "auto" tried pencilfft_exchange_name(i) for an exchange; 0 if untried. Local.
    integer(c_int) function pencilfft_auto_seconds(plan, exchange, i, seconds) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        integer, intent(in) :: i
        real(c_double), intent(out) :: seconds
        status = c_auto_seconds(plan, exchange, i - 1, seconds)
    end function

    !> The MPI calls of the algorithm of an exchange, if they depend on the MPI; else empty.
    function pencilfft_exchange_means(plan, exchange) result(name)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        character(:), allocatable :: name
        name = text_of(c_exchange_means(c_handle(plan%handle), exchange))
    end function

    !> Numbers in the grid of a decomposition: 2 for "pencil", 1 for "slab", 0 for an unknown name.
    integer function pencilfft_grid_numbers(decomposition) result(numbers)
        character(*), intent(in) :: decomposition
        numbers = c_grid_numbers(trim(decomposition)//c_null_char)
    end function

    !> Whether an exchange of lines is an all-to-all of all ranks, and not of groups.
    logical function pencilfft_line_is_all_to_all(plan, exchange) result(all)
        type(pencilfft_line_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        all = c_line_is_all_to_all(c_handle(plan%handle), exchange) /= 0
    end function

    !> Whether an exchange of bricks of lines is an all-to-all of all ranks of its lines, and not of groups.
    logical function pencilfft_brick_lines_is_all_to_all(plan, exchange) result(all)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: exchange
        all = c_brick_lines_is_all_to_all(c_handle(plan%handle), exchange) /= 0
    end function

    !> The index in the array of point i of a rank along an axis (1 to 3 for x, y, z); point and index count from 0. Local.
    integer(c_int) function pencilfft_brick_lines_index(plan, array, rank, axis, i, index) result(status)
        type(pencilfft_brick_lines), intent(in) :: plan
        integer(c_int), intent(in) :: array, rank, axis
        integer(c_int64_t), intent(in) :: i
        integer(c_int64_t), intent(out) :: index
        status = c_brick_lines_index(plan, array, rank, axis - 1, i, index)
    end function

    !> The i-th decomposition, from 1 on; empty after the last.
    function pencilfft_decomposition_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_decomposition_name(int(i - 1, c_int)))
    end function

    !> The i-th exchange algorithm, from 1 on; empty after the last.
    function pencilfft_exchange_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_exchange_name(int(i - 1, c_int)))
    end function

    !> The i-th layout, from 1 on; empty after the last.
    function pencilfft_layout_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_layout_name(int(i - 1, c_int)))
    end function

    !> The i-th order of the axes, from 1 on; empty after the last.
    function pencilfft_order_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_order_name(int(i - 1, c_int)))
    end function

    !> The i-th algorithm of lines, from 1 on; empty after the last.
    function pencilfft_line_algorithm_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_line_algorithm_name(int(i - 1, c_int)))
    end function

    !> The i-th order of lines, from 1 on; empty after the last.
    function pencilfft_line_order_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_line_order_name(int(i - 1, c_int)))
    end function

    !> The i-th precision, from 1 on; empty after the last.
    function pencilfft_precision_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_precision_name(int(i - 1, c_int)))
    end function

    !> The i-th rigor of planning, from 1 on; empty after the last.
    function pencilfft_rigor_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_rigor_name(int(i - 1, c_int)))
    end function

    !> The i-th schedule, without options after a colon, from 1 on; empty after the last.
    function pencilfft_schedule_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_schedule_name(int(i - 1, c_int)))
    end function

    !> The i-th kind of sync, from 1 on; empty after the last.
    function pencilfft_sync_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_sync_name(int(i - 1, c_int)))
    end function

    !> The i-th type of transform, from 1 on; empty after the last.
    function pencilfft_type_name(i) result(name)
        integer, intent(in) :: i
        character(:), allocatable :: name
        name = text_of(c_type_name(int(i - 1, c_int)))
    end function

    !> A number that C writes; 0 without a plan.
    integer function count_in(ask, handle) result(n)
        procedure(number_in) :: ask
        type(c_handle), intent(in) :: handle
        integer(c_int) :: status, found
        found = 0
        status = ask(handle, found)
        n = found
    end function

    !> The message of the last failed call on this rank.
    function pencilfft_message() result(text)
        character(:), allocatable :: text
        text = text_of(c_message())
    end function

    !> A text of C; empty for a null pointer.
    function text_of(start) result(text)
        type(c_ptr), intent(in) :: start
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        if (.not. c_associated(start)) then
            text = ""
            return
        end if
        call c_f_pointer(start, letters, [c_strlen(start)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function
end module pencilfft
