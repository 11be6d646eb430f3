!> libpencilfft from Fortran.
!!
!! Index order, said once: the last index of C is the first of Fortran. What pencilfft.h writes A[x][y][z] with z fastest is
!! a(z, y, x) here. A pencil's local array has the shape  n(1:3) = pencilfft_shape(plan, pencil):
!!     layout natural   Z, Y and X pencils   (z, y, x)
!!     layout stride1   Z pencil             (z, y, x)      Y pencil  (y, z, x)      X pencil  (x, y, z)
!! box%offset, box%extent and box%stride are still of x, y, z, in this order, and offsets count from 0: element (i, j, k) of
!! a natural pencil is global z = i - 1 + box%offset(3), y = j - 1 + box%offset(2), x = k - 1 + box%offset(1).
!!
!! Buffers come from pencilfft_alloc, as large as execute needs; c_f_pointer gives them that shape.
!! Every function returns 0 (pencilfft_ok) or what went wrong; pencilfft_message() has the words.
module pencilfft
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int), parameter, public :: pencilfft_ok = 0, pencilfft_bad_call = 1
    integer(c_int), parameter, public :: pencilfft_direction_forward = 1, pencilfft_direction_backward = 2
    integer(c_int), parameter, public :: pencilfft_z_pencil = 0, pencilfft_y_pencil = 1, pencilfft_x_pencil = 2
    integer(c_int), parameter, public :: pencilfft_input = 3, pencilfft_output = 4
    integer(c_int), parameter, public :: pencilfft_row = 0, pencilfft_column = 1

    integer, parameter :: longest_name = 256 ! longer than any name that is known

    !> Part of a rank in one pencil, of x, y, z; global element (x,y,z) lies at sum (index - offset) * stride.
    type, bind(C), public :: pencilfft_box
        integer(c_int64_t) :: offset(3), extent(3), stride(3)
    end type

    type, bind(C) :: c_desc
        integer(c_int64_t) :: nx, ny, nz
        integer(c_int) :: R, C, directions
        type(c_ptr) :: kind_of_transform, kinds, skip, precision, layout, exchange, rigor, sync
        real(c_double) :: auto_budget_s
        integer(c_int) :: fields
    end type

    !> A plan; make it with pencilfft_plan_create.
    type, public :: pencilfft_plan
        private
        type(c_ptr) :: handle = c_null_ptr
    end type

    public :: pencilfft_plan_create, pencilfft_plan_destroy, pencilfft_box_mine, pencilfft_shape, pencilfft_scale
    public :: pencilfft_alloc, pencilfft_forward, pencilfft_backward, pencilfft_transpose, pencilfft_message

    interface
        subroutine c_desc_init(desc) bind(C, name="pencilfft_desc_init")
            import :: c_desc
            type(c_desc), intent(out) :: desc
        end subroutine
        integer(c_int) function c_plan_create(desc, comm, plan) bind(C, name="pencilfft_plan_create_fortran")
            import :: c_desc, c_int, c_ptr
            type(c_desc), intent(in) :: desc
            integer(c_int), value :: comm
            type(c_ptr), intent(out) :: plan
        end function
        integer(c_int) function c_plan_destroy(plan) bind(C, name="pencilfft_plan_destroy")
            import :: c_int, c_ptr
            type(c_ptr), value :: plan
        end function
        integer(c_int) function c_box_mine(plan, pencil, box) bind(C, name="pencilfft_box_mine")
            import :: c_int, c_ptr, pencilfft_box
            type(c_ptr), value :: plan
            integer(c_int), value :: pencil
            type(pencilfft_box), intent(out) :: box
        end function
        integer(c_int) function c_scale(plan, scaling) bind(C, name="pencilfft_scale")
            import :: c_int, c_ptr, c_double
            type(c_ptr), value :: plan
            real(c_double), intent(out) :: scaling
        end function
        integer(c_int) function c_alloc(plan, buffer) bind(C, name="pencilfft_alloc")
            import :: c_int, c_ptr
            type(c_ptr), value :: plan
            type(c_ptr), intent(out) :: buffer
        end function
        integer(c_int) function c_execute(plan, direction, from, to) bind(C, name="pencilfft_execute")
            import :: c_int, c_ptr
            type(c_ptr), value :: plan, from, to
            integer(c_int), value :: direction
        end function
        integer(c_int) function c_transpose(plan, exchange, direction, from, to) bind(C, name="pencilfft_transpose")
            import :: c_int, c_ptr
            type(c_ptr), value :: plan, from, to
            integer(c_int), value :: exchange, direction
        end function
        function c_message() bind(C, name="pencilfft_error_message") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function
        integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
            import :: c_size_t, c_ptr
            type(c_ptr), value :: text
        end function
    end interface

contains

    !> Plan a transform of n(1:3) = nx, ny, nz over a grid of R tasks in a row and C in a column. comm is an MPI communicator
    !! as an integer (with mpi_f08: comm%MPI_VAL). The names are those of pencilfft_desc. Collective.
    integer(c_int) function pencilfft_plan_create(n, R, C, comm, plan, type, kinds, skip, precision, layout, exchange, &
                                                  rigor, sync, directions, fields, auto_budget_s) result(status)
        integer, intent(in) :: n(3), R, C, comm
        type(pencilfft_plan), intent(out) :: plan
        character(*), intent(in), optional :: type, kinds, skip, precision, layout, exchange, rigor, sync
        integer, intent(in), optional :: directions, fields
        real(c_double), intent(in), optional :: auto_budget_s
        type(c_desc) :: desc
        character(longest_name), target :: names(8) ! keeps the texts alive until the plan is made

        call c_desc_init(desc)
        desc%nx = n(1)
        desc%ny = n(2)
        desc%nz = n(3)
        desc%R = R
        desc%C = C
        if (present(directions)) desc%directions = directions
        if (present(fields)) desc%fields = fields
        if (present(auto_budget_s)) desc%auto_budget_s = auto_budget_s
        call put(type, names(1), desc%kind_of_transform)
        call put(kinds, names(2), desc%kinds)
        call put(skip, names(3), desc%skip)
        call put(precision, names(4), desc%precision)
        call put(layout, names(5), desc%layout)
        call put(exchange, names(6), desc%exchange)
        call put(rigor, names(7), desc%rigor)
        call put(sync, names(8), desc%sync)
        status = c_plan_create(desc, comm, plan%handle)
    end function

    !> What is given, as a text of C; what is not keeps its default.
    subroutine put(text, room, pointer_to_it)
        character(*), intent(in), optional :: text
        character(*), intent(inout), target :: room
        type(c_ptr), intent(inout) :: pointer_to_it
        if (.not. present(text)) return
        room = text(:min(len_trim(text), longest_name - 1))//c_null_char
        pointer_to_it = c_loc(room)
    end subroutine

    !> Collective; frees the plan and its buffers.
    integer(c_int) function pencilfft_plan_destroy(plan) result(status)
        type(pencilfft_plan), intent(inout) :: plan
        status = c_plan_destroy(plan%handle)
        plan%handle = c_null_ptr
    end function

    integer(c_int) function pencilfft_box_mine(plan, pencil, box) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: pencil
        type(pencilfft_box), intent(out) :: box
        status = c_box_mine(plan%handle, pencil, box)
    end function

    !> Shape of the local array, fastest index first; zeros when there is no such plan or pencil.
    function pencilfft_shape(plan, pencil) result(shape_of_it)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: pencil
        integer(c_int64_t) :: shape_of_it(3), step
        type(pencilfft_box) :: box
        logical :: placed(3)
        integer :: i, axis, fastest
        shape_of_it = 0
        if (c_box_mine(plan%handle, pencil, box) /= pencilfft_ok) return
        placed = .false.
        do i = 1, 3
            step = huge(step)
            fastest = 0
            do axis = 3, 1, -1 ! of equal strides, those of extent 1 first: they take no room
                if (placed(axis)) cycle
                if (box%stride(axis) < step .or. (box%stride(axis) == step .and. box%extent(axis) == 1)) then
                    step = box%stride(axis)
                    fastest = axis
                end if
            end do
            placed(fastest) = .true.
            shape_of_it(i) = box%extent(fastest)
        end do
    end function

    integer(c_int) function pencilfft_scale(plan, scaling) result(status)
        type(pencilfft_plan), intent(in) :: plan
        real(c_double), intent(out) :: scaling
        status = c_scale(plan%handle, scaling)
    end function

    !> A buffer for execute, of the plan and gone with it.
    integer(c_int) function pencilfft_alloc(plan, buffer) result(status)
        type(pencilfft_plan), intent(in) :: plan
        type(c_ptr), intent(out) :: buffer
        status = c_alloc(plan%handle, buffer)
    end function

    !> Input to output (Z to X pencils); from and to may be one buffer.
    integer(c_int) function pencilfft_forward(plan, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        type(c_ptr), intent(in) :: from, to
        status = c_execute(plan%handle, pencilfft_direction_forward, from, to)
    end function

    integer(c_int) function pencilfft_backward(plan, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        type(c_ptr), intent(in) :: from, to
        status = c_execute(plan%handle, pencilfft_direction_backward, from, to)
    end function

    !> One exchange alone; what is in from is lost.
    integer(c_int) function pencilfft_transpose(plan, exchange, direction, from, to) result(status)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: exchange, direction
        type(c_ptr), intent(in) :: from, to
        status = c_transpose(plan%handle, exchange, direction, from, to)
    end function

    !> What the last failed call on this rank meant.
    function pencilfft_message() result(text)
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        type(c_ptr) :: start
        integer :: i
        start = c_message()
        call c_f_pointer(start, letters, [c_strlen(start)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function
end module pencilfft
