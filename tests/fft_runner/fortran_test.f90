!> Module pencilfft from a Fortran program. Run under mpirun with the grid and a file that does not exist yet: fortran_test R
!! C FILE; fortran_test layout prints the layout of the structures shared with C, a line for each.
module checks
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: failures = 0
contains
    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        print '(2a)', "not true: ", what
        failures = failures + 1
    end subroutine
end module checks

program fortran_test
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    use checks
    implicit none
    integer, parameter :: n(3) = [9, 8, 10] ! all different, so that swapped axes show
    real(c_double), parameter :: two_pi = 6.283185307179586_c_double
    integer :: R, C, rank, ierror
    character(16) :: word

    call get_command_argument(1, word)
    if (word == "layout") then
        call print_layout()
        stop
    end if
    read (word, *) R
    call get_command_argument(2, word)
    read (word, *) C
    call nothing_is_planned_without_mpi("MPI_Init")
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call shapes_follow_the_layout("natural")
    call shapes_follow_the_layout("stride1")
    call shapes_of_extent_one_are_in_order()
    call transposes_move_every_element("natural")
    call transposes_move_every_element("stride1")
    call transposes_move_complex_numbers_and_fields()
    call a_wave_becomes_one_mode("natural")
    call a_wave_becomes_one_mode("stride1")
    call single_precision_is_taken()
    call padded_waves_are_the_same_modes()
    call numbers_are_sent_as_floats()
    call real_transforms_work_in_place()
    call fields_are_transformed_each_for_itself()
    call transforms_go_two_ways("two-way")
    call transforms_go_two_ways("opposite")
    call two_are_in_flight()
    call flat_arrays_have_components_in_front()
    call boxes_are_remapped()
    call halos_are_exchanged()
    call lines_are_transformed("transpose", "natural", 31)
    call lines_are_transformed("dft", "transposed", 30)
    if (modulo(36, R*C) == 0) call lines_are_transformed("binary4", "transposed", 36)
    call bricks_of_lines_are_transformed("transpose", "natural", [1, R, C])
    call bricks_of_lines_are_transformed("dft", "transposed", [C, 1, R])
    call what_happened_is_told()
    call a_walk_meets_every_mode("sequence")
    call a_walk_meets_every_mode("two-way")
    call arrays_are_pointers()
    call lengths_on_one_rank_are_refused_on_all()
    call short_arrays_are_refused()
    call ranks_may_hold_nothing()
    call names_are_listed()
    call lines_are_told()
    call wisdom_is_kept()
    call zero_is_chosen()
    call every_choice_gets_where_it_belongs()
    call what_is_wrong_is_told()
    call long_texts_are_read_to_their_end()
    if (R*C > 1) call calls_that_differ_are_told()
    call MPI_Finalize(ierror)
    call nothing_is_planned_without_mpi("MPI_Finalize")
    print '(i0,a)', failures, " failures"
    if (failures > 0) stop 1

contains

    subroutine need(status)
        integer(c_int), intent(in) :: status
        integer :: ignored
        if (status == pencilfft_ok) return
        print '(2a)', "fortran_test: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end subroutine

    subroutine print_layout()
        type(pencilfft_box), target :: box
        type(pencilfft_part), target :: part
        type(pencilfft_grid_trial), target :: trial
        type(pencilfft_format), target :: form
        type(pencilfft_line), target :: line
        type(pencilfft_walk), target :: walk
        integer(c_intptr_t) :: start
        start = transfer(c_loc(box), start)
        print '(a,4(1x,i0))', "pencilfft_box", c_sizeof(box), transfer(c_loc(box%offset), start) - start, &
            transfer(c_loc(box%extent), start) - start, transfer(c_loc(box%stride), start) - start
        start = transfer(c_loc(part), start)
        print '(a,6(1x,i0))', "pencilfft_part", c_sizeof(part), transfer(c_loc(part%box), start) - start, &
            transfer(c_loc(part%start), start) - start, transfer(c_loc(part%first_field), start) - start, &
            transfer(c_loc(part%fields), start) - start, transfer(c_loc(part%field_stride), start) - start
        start = transfer(c_loc(trial), start)
        print '(a,7(1x,i0))', "pencilfft_grid_trial", c_sizeof(trial), transfer(c_loc(trial%R), start) - start, &
            transfer(c_loc(trial%C), start) - start, transfer(c_loc(trial%runs), start) - start, &
            transfer(c_loc(trial%least), start) - start, transfer(c_loc(trial%median), start) - start, &
            transfer(c_loc(trial%spread), start) - start
        start = transfer(c_loc(form), start)
        print '(a,7(1x,i0))', "pencilfft_format", c_sizeof(form), transfer(c_loc(form%element_bytes), start) - start, &
            transfer(c_loc(form%real_bytes), start) - start, transfer(c_loc(form%is_complex), start) - start, &
            transfer(c_loc(form%fields), start) - start, transfer(c_loc(form%field_stride), start) - start, &
            transfer(c_loc(form%n), start) - start
        start = transfer(c_loc(line), start)
        print '(a,5(1x,i0))', "pencilfft_line", c_sizeof(line), transfer(c_loc(line%kind), start) - start, &
            transfer(c_loc(line%number), start) - start, transfer(c_loc(line%n), start) - start, &
            transfer(c_loc(line%points), start) - start
        start = transfer(c_loc(walk), start)
        print '(a,5(1x,i0))', "pencilfft_walk", c_sizeof(walk), transfer(c_loc(walk%at), start) - start, &
            transfer(c_loc(walk%index), start) - start, transfer(c_loc(walk%waves), start) - start, &
            transfer(c_loc(walk%field), start) - start
        print '(a,*(1x,i0))', "kind", pencilfft_kind_fft, pencilfft_kind_pack, pencilfft_kind_exchange, &
            pencilfft_kind_unpack, pencilfft_kind_total, pencilfft_kind_wait, pencilfft_kind_hidden
        print '(a,*(1x,i0))', "line_kind", pencilfft_line_none, pencilfft_line_dft, pencilfft_line_r2c, &
            pencilfft_line_cosine, pencilfft_line_sine
        print '(a,*(1x,i0))', "status", pencilfft_ok, pencilfft_bad_call, pencilfft_bad_size, pencilfft_bad_grid, &
            pencilfft_unknown_name, pencilfft_mismatch, pencilfft_too_large, pencilfft_no_memory, pencilfft_fftw_error, &
            pencilfft_mpi_error, pencilfft_not_possible
        print '(a,*(1x,i0))', "norm", pencilfft_norm_none, pencilfft_norm_n, pencilfft_norm_sqrt_n
        print '(a,*(1x,i0))', "direction", pencilfft_direction_forward, pencilfft_direction_backward
        print '(a,*(1x,i0))', "pencil", pencilfft_z_pencil, pencilfft_y_pencil, pencilfft_x_pencil, pencilfft_input, &
            pencilfft_output, pencilfft_inner_input, pencilfft_inner_output, pencilfft_before
        print '(a,*(1x,i0))', "exchange", pencilfft_row, pencilfft_column, pencilfft_remap_in, pencilfft_remap_out
        print '(a,*(1x,i0))', "most", pencilfft_max_exchanges, pencilfft_max_phases
    end subroutine

    !> The order of axes (1 is x) that the head of the module gives, nearest first.
    function order_of(layout, pencil) result(order)
        character(*), intent(in) :: layout
        integer(c_int), intent(in) :: pencil
        integer :: order(3)
        order = [3, 2, 1]
        if (layout == "natural") return
        if (pencil == pencilfft_y_pencil) order = [2, 3, 1]
        if (pencil == pencilfft_x_pencil .or. pencil == pencilfft_output) order = [1, 2, 3]
    end function

    subroutine shapes_follow_the_layout(layout)
        character(*), intent(in) :: layout
        integer(c_int), parameter :: pencils(5) = [pencilfft_z_pencil, pencilfft_y_pencil, pencilfft_x_pencil, &
                                                   pencilfft_input, pencilfft_output]
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box
        integer(c_int64_t) :: got(3), all_of(3), mine(3)
        integer :: i, order(3)
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", layout=layout, rigor="estimate"))
        do i = 1, size(pencils)
            call need(pencilfft_box_mine(plan, pencils(i), box))
            got = pencilfft_shape(plan, pencils(i))
            order = order_of(layout, pencils(i))
            call check(all(got == box%extent(order)), layout//": shape is that of the box, nearest axis first")
            call check(all(box%stride(order) == [1_c_int64_t, got(1), got(1)*got(2)]), layout//": strides are dense")
            mine = box%offset + box%extent
            call MPI_Allreduce(mine, all_of, 3, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD, ierror)
            call check(all(all_of == [n(1), n(2), merge(n(3), n(3)/2 + 1, pencils(i) == pencilfft_input)]), &
                       layout//": parts reach to the end")
        end do
        call need(pencilfft_plan_destroy(plan))
        call check(all(pencilfft_shape(plan, pencilfft_input) == 0), "no plan has no shape")
    end subroutine

    !> An axis of extent 1 has the stride of a neighbouring axis.
    subroutine shapes_of_extent_one_are_in_order()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box
        call need(pencilfft_plan_create([C, max(R, C), R], R, C, MPI_COMM_WORLD, plan, layout="stride1", rigor="estimate"))
        call need(pencilfft_box_mine(plan, pencilfft_x_pencil, box))
        call check(all(pencilfft_shape(plan, pencilfft_x_pencil) == box%extent), "X pencil of thin extents is (x, y, z)")
        call need(pencilfft_box_mine(plan, pencilfft_z_pencil, box))
        call check(all(pencilfft_shape(plan, pencilfft_z_pencil) == box%extent([3, 2, 1])), "Z pencil is (z, y, x)")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> Global number of each element of a pencil, in an array of its shape.
    function numbers(plan, pencil, layout) result(a)
        type(pencilfft_plan), intent(in) :: plan
        integer(c_int), intent(in) :: pencil
        character(*), intent(in) :: layout
        real(c_double), allocatable :: a(:, :, :)
        type(pencilfft_box) :: box
        integer(c_int64_t) :: s(3), at(3)
        integer :: order(3), i, j, k
        call need(pencilfft_box_mine(plan, pencil, box))
        s = pencilfft_shape(plan, pencil)
        order = order_of(layout, pencil)
        allocate (a(s(1), s(2), s(3)))
        do k = 1, int(s(3))
            do j = 1, int(s(2))
                do i = 1, int(s(1))
                    at(order) = [i, j, k] - 1 + box%offset(order)
                    a(i, j, k) = real((at(1)*n(2) + at(2))*n(3) + at(3), c_double)
                end do
            end do
        end do
    end function

    subroutine transposes_move_every_element(layout)
        character(*), intent(in) :: layout
        integer(c_int), parameter :: pencil(3) = [pencilfft_z_pencil, pencilfft_y_pencil, pencilfft_x_pencil]
        integer(c_int), parameter :: exchange(2) = [pencilfft_row, pencilfft_column]
        type(pencilfft_plan) :: plan
        type(c_ptr) :: from, to
        real(c_double), pointer :: a(:, :, :), b(:, :, :)
        integer :: e
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="dct", skip="xyz", layout=layout))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        do e = 1, 2
            call c_f_pointer(from, a, pencilfft_shape(plan, pencil(e)))
            call c_f_pointer(to, b, pencilfft_shape(plan, pencil(e + 1)))
            a = numbers(plan, pencil(e), layout)
            b = -1
            call need(pencilfft_transpose(plan, exchange(e), pencilfft_direction_forward, from, to))
            call check(all(b == numbers(plan, pencil(e + 1), layout)), layout//": forward transpose is exact")
            a = -1
            call need(pencilfft_transpose(plan, exchange(e), pencilfft_direction_backward, to, from))
            call check(all(a == numbers(plan, pencil(e), layout)), layout//": backward transpose is exact")
        end do
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    subroutine transposes_move_complex_numbers_and_fields()
        integer, parameter :: fields = 3
        type(pencilfft_plan) :: plan
        type(c_ptr) :: from, to
        complex(c_float_complex), pointer :: a(:, :, :, :), b(:, :, :, :)
        integer :: f
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, skip="xyz", precision="single", layout="stride1", &
                                        fields=fields))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        call c_f_pointer(from, a, [pencilfft_shape(plan, pencilfft_z_pencil), int(fields, c_int64_t)])
        call c_f_pointer(to, b, [pencilfft_shape(plan, pencilfft_y_pencil), int(fields, c_int64_t)])
        do f = 1, fields
            a(:, :, :, f) = cmplx(numbers(plan, pencilfft_z_pencil, "stride1"), f, c_float_complex)
        end do
        call need(pencilfft_transpose(plan, pencilfft_row, pencilfft_direction_forward, from, to))
        do f = 1, fields
            call check(all(b(:, :, :, f) == cmplx(numbers(plan, pencilfft_y_pencil, "stride1"), f, c_float_complex)), &
                       "all fields are moved")
        end do
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> exp(2 pi i (m1 x / nx + m2 y / ny + m3 z / nz)) at an element's number.
    elemental complex(c_double_complex) function wave(number, m1, m2, m3)
        real(c_double), intent(in) :: number
        integer, intent(in) :: m1, m2, m3
        integer :: x, y, z, index
        real(c_double) :: angle
        index = nint(number)
        x = index/(n(2)*n(3))
        y = mod(index/n(3), n(2))
        z = mod(index, n(3))
        angle = two_pi*(real(m1*x, c_double)/n(1) + real(m2*y, c_double)/n(2) + real(m3*z, c_double)/n(3))
        wave = cmplx(cos(angle), sin(angle), c_double_complex)
    end function

    subroutine a_wave_becomes_one_mode(layout)
        character(*), intent(in) :: layout
        integer, parameter :: mode = (2*n(2) + 3)*n(3) + 4 ! of waves 2, 3, 4 along x, y, z
        type(pencilfft_plan) :: plan
        type(c_ptr) :: from, to
        complex(c_double_complex), pointer :: a(:, :, :), b(:, :, :)
        real(c_double), allocatable :: where_it_is(:, :, :)
        real(c_double) :: scaling
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, layout=layout, rigor="estimate"))
        call need(pencilfft_scale(plan, scaling))
        call check(scaling == product(n), "scale of a DFT is the number of elements")
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        call c_f_pointer(from, a, pencilfft_shape(plan, pencilfft_input))
        call c_f_pointer(to, b, pencilfft_shape(plan, pencilfft_output))
        a = wave(numbers(plan, pencilfft_z_pencil, layout), 2, 3, 4)
        call need(pencilfft_forward(plan, from, to))
        where_it_is = numbers(plan, pencilfft_x_pencil, layout)
        call check(all(abs(b - merge(scaling, 0._c_double, where_it_is == mode)) < 1e-10), layout//": one mode, its place")
        a = 0
        call need(pencilfft_backward(plan, to, from))
        call check(all(abs(a/scaling - wave(numbers(plan, pencilfft_z_pencil, layout), 2, 3, 4)) < 1e-13), &
                   layout//": backward gives the wave")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> A mode becomes its wave on more points, and the wave the mode; other waves of the points are dropped.
    subroutine padded_waves_are_the_same_modes()
        type(pencilfft_plan) :: plan
        type(pencilfft_line) :: line
        type(c_ptr) :: memory
        complex(c_double_complex), pointer :: a(:, :, :), b(:, :, :)
        real(c_double) :: scaling
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, rigor="estimate", padded=[14, 8, 20]))
        call need(pencilfft_line_of(plan, 1, line))
        call check(line%n == n(1) .and. line%points == 14, "points of a padded line")
        call need(pencilfft_scale(plan, scaling))
        call check(scaling == 14*8*20, "scale of padded lines")
        call need(pencilfft_alloc(plan, memory))
        call c_f_pointer(memory, a, pencilfft_shape(plan, pencilfft_input))
        call c_f_pointer(memory, b, pencilfft_shape(plan, pencilfft_output))
        b = merge(1, 0, numbers(plan, pencilfft_x_pencil, "natural") == 0)
        call need(pencilfft_backward(plan, memory, memory))
        call check(all(abs(a - 1) < 1e-13), "a constant on more points")
        call need(pencilfft_forward(plan, memory, memory))
        call check(all(abs(b/scaling - merge(1, 0, numbers(plan, pencilfft_x_pencil, "natural") == 0)) < 1e-13), &
                   "the mode of a constant on more points")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> Third parts through exchanges in single precision.
    subroutine numbers_are_sent_as_floats()
        type(pencilfft_plan) :: plan
        type(c_ptr) :: memory
        complex(c_double_complex), pointer :: a(:, :, :), b(:, :, :)
        real(c_double) :: told
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, rigor="estimate", exchange_precision="single"))
        call need(pencilfft_exchange_error(plan, told))
        call check(told == count([R, C] > 1)*2._c_double**(-24), "the error of exchanges in single precision")
        call need(pencilfft_alloc(plan, memory))
        call c_f_pointer(memory, a, pencilfft_shape(plan, pencilfft_input))
        call c_f_pointer(memory, b, pencilfft_shape(plan, pencilfft_output))
        a = 1/3._c_double
        call need(pencilfft_forward(plan, memory, memory))
        b = abs(b - merge(product(n)/3._c_double, 0._c_double, numbers(plan, pencilfft_x_pencil, "natural") == 0))
        call check(maxval(real(b)) <= told*product(n) + 1e-12, "a constant by floats")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    subroutine single_precision_is_taken()
        type(pencilfft_plan) :: plan
        type(c_ptr) :: memory
        complex(c_float_complex), pointer :: a(:, :, :), b(:, :, :)
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, precision="single", rigor="estimate"))
        call need(pencilfft_alloc(plan, memory))
        call c_f_pointer(memory, a, pencilfft_shape(plan, pencilfft_input))
        call c_f_pointer(memory, b, pencilfft_shape(plan, pencilfft_output))
        a = 1
        call need(pencilfft_forward(plan, memory, memory))
        call check(all(abs(b - merge(720., 0., numbers(plan, pencilfft_x_pencil, "natural") == 0)) < 1e-3), &
                   "a constant, single")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> A real wave has two modes, and r2c keeps the first: cos(2 pi (x/nx + 3 z/nz)), z of nz/2 + 1.
    subroutine real_transforms_work_in_place()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box
        type(c_ptr) :: memory
        real(c_double), pointer :: a(:, :, :)
        complex(c_double_complex), pointer :: b(:, :, :)
        real(c_double), allocatable :: right(:, :, :)
        complex(c_double_complex), allocatable :: modes(:, :, :)
        type(pencilfft_box) :: input
        integer(c_int64_t) :: s(3)
        integer :: i, j, k
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", rigor="measure"))
        call need(pencilfft_alloc(plan, memory))
        call c_f_pointer(memory, a, pencilfft_shape(plan, pencilfft_input))
        call c_f_pointer(memory, b, pencilfft_shape(plan, pencilfft_output))
        call need(pencilfft_box_mine(plan, pencilfft_input, input))
        s = pencilfft_shape(plan, pencilfft_input)
        allocate (right(s(1), s(2), s(3)))
        do concurrent(i=1:int(s(1)), k=1:int(s(3)))
            right(i, :, k) = cos(two_pi*(real(k - 1 + input%offset(1), c_double)/n(1) + 3*real(i - 1, c_double)/n(3)))
        end do
        call need(pencilfft_box_mine(plan, pencilfft_output, box))
        s = pencilfft_shape(plan, pencilfft_output)
        allocate (modes(s(1), s(2), s(3)), source=(0._c_double, 0._c_double))
        do concurrent(i=1:int(s(1)), j=1:int(s(2)), k=1:int(s(3)), &
                      all([k, j, i] - 1 + box%offset == [1, 0, 3]))
            modes(i, j, k) = product(n)/2._c_double
        end do
        a = right
        call need(pencilfft_forward(plan, memory, memory))
        call check(all(abs(b - modes) < 1e-10), "r2c in place")
        call need(pencilfft_backward(plan, memory, memory))
        call check(all(abs(a/product(n) - right) < 1e-13), "and back")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    subroutine fields_are_transformed_each_for_itself()
        integer, parameter :: fields = 2
        type(pencilfft_plan) :: plan
        type(c_ptr) :: from, to
        complex(c_double_complex), pointer :: a(:, :, :, :), b(:, :, :, :)
        real(c_double), allocatable :: where_it_is(:, :, :)
        integer :: f
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, fields=fields, rigor="estimate", &
                                        destroy_input=.true.))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        call c_f_pointer(from, a, [pencilfft_shape(plan, pencilfft_input), int(fields, c_int64_t)])
        call c_f_pointer(to, b, [pencilfft_shape(plan, pencilfft_output), int(fields, c_int64_t)])
        do f = 1, fields
            a(:, :, :, f) = f*wave(numbers(plan, pencilfft_z_pencil, "natural"), 0, 0, f)
        end do
        call need(pencilfft_forward(plan, from, to))
        where_it_is = numbers(plan, pencilfft_x_pencil, "natural")
        do f = 1, fields
            call check(all(abs(b(:, :, :, f) - f*merge(720._c_double, 0._c_double, where_it_is == f)) < 1e-10), "each field")
        end do
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> All of the array on the last rank before, and in bricks after: a constant becomes one mode, and comes back.
    subroutine boxes_are_remapped()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: input, output
        type(c_ptr) :: from, to
        complex(c_double_complex), pointer :: a(:), b(:)
        input%offset = 0
        input%extent = 0
        if (rank == R*C - 1) input%extent = n
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, decomposition="brick", input_box=input, &
                                        rigor="estimate"))
        call check(pencilfft_exchange_stage(plan, pencilfft_remap_in) == "remap_in", "there is a remap")
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        call need(pencilfft_box_mine(plan, pencilfft_output, output))
        call c_f_pointer(from, a, [product(input%extent)])
        call c_f_pointer(to, b, [product(output%extent)])
        a = 1
        call need(pencilfft_forward(plan, from, to))
        call check(abs(sum(abs(b)) - merge(product(n), 0, all(output%offset == 0))) < 1e-9, "one mode, on its brick")
        call need(pencilfft_backward(plan, to, from))
        call check(all(abs(a - product(n)) < 1e-9), "the constant again")
        call need(pencilfft_plan_destroy(plan))
        input%extent = n
        if (R*C > 1) call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, input_box=input), &
                                  pencilfft_bad_size, "the input boxes of ranks 0 and 1 overlap in element 0 0 0")
    end subroutine

    !> Indices modulo the extents around each rank's bricks; accumulated ones count the copies of an element.
    subroutine halos_are_exchanged()
        type(pencilfft_plan) :: plan
        type(pencilfft_halo) :: halo
        type(pencilfft_part) :: part
        type(pencilfft_box) :: box
        complex(c_double_complex), allocatable, target :: own(:, :, :), padded(:, :, :)
        integer(c_int64_t) :: bytes(R*C, 2), messages(R*C)
        integer :: i, j, k
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, decomposition="brick", rigor="estimate"))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call need(pencilfft_halo_create(plan, pencilfft_input, [1_c_int64_t, 2_c_int64_t, 0_c_int64_t], &
                                        [2_c_int64_t, 1_c_int64_t, 3_c_int64_t], halo))
        call need(pencilfft_halo_part(halo, part))
        call check(all(part%box%extent == box%extent + 3), "three planes more along each axis")
        allocate (own(box%extent(3), box%extent(2), box%extent(1)))
        allocate (padded(part%box%extent(3), part%box%extent(2), part%box%extent(1)))
        do concurrent(i=1:size(own, 1), j=1:size(own, 2), k=1:size(own, 3))
            own(i, j, k) = index_of(box, i, j, k)
        end do
        call need(pencilfft_halo_exchange(halo, c_loc(own), c_loc(padded)))
        do k = 1, size(padded, 3)
            do j = 1, size(padded, 2)
                do i = 1, size(padded, 1)
                    call check(padded(i, j, k) == index_of(part%box, i, j, k), "a periodic index")
                end do
            end do
        end do
        padded = 1
        call need(pencilfft_halo_accumulate(halo, c_loc(padded), c_loc(own)))
        call check(all(real(own) >= 1), "each at least once")
        call need(pencilfft_halo_traffic(halo, pencilfft_direction_forward, bytes(:, 1), messages))
        call need(pencilfft_halo_traffic(halo, pencilfft_direction_backward, bytes(:, 2), messages))
        call check(all((bytes(:, 2) > 0) .eqv. (messages == 1)) .and. (R*C == 1 .or. all(sum(bytes, 1) > 0)), "what is sent")
        call need(pencilfft_halo_destroy(halo))
        call refused(pencilfft_halo_create(plan, pencilfft_input, [99_c_int64_t, 0_c_int64_t, 0_c_int64_t], &
                                           [0_c_int64_t, 0_c_int64_t, 0_c_int64_t], halo), pencilfft_bad_size, &
                     "a halo of 99 planes below along x")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> Two lines against direct sums, back again, in place; the traffic of each rank, and the phases.
    subroutine lines_are_transformed(algorithm, order, length)
        character(*), intent(in) :: algorithm, order
        integer, intent(in) :: length
        type(pencilfft_line_plan) :: plan
        complex(c_double_complex), allocatable, target :: from(:), to(:)
        complex(c_double_complex) :: right
        integer(c_int64_t) :: points(2), elements, bytes(R*C), messages(R*C)
        integer(c_int64_t), allocatable :: before(:), after(:)
        real(c_double), allocatable :: seconds(:)
        real(c_double) :: turn
        integer :: i, j, line, e
        call need(pencilfft_line_create(int(length, c_int64_t), MPI_COMM_WORLD, plan, lines=2_c_int64_t, order=order, &
                                        algorithm=algorithm, rigor="estimate"))
        call need(pencilfft_line_points(plan, pencilfft_input, rank, points(1)))
        call need(pencilfft_line_points(plan, pencilfft_output, rank, points(2)))
        call need(pencilfft_line_elements(plan, elements))
        call check(elements == 2*maxval(points), "room for both ends of "//algorithm)
        allocate (from(elements), to(elements), before(points(1)), after(points(2)))
        call need(pencilfft_line_indices(plan, pencilfft_input, rank, before))
        call need(pencilfft_line_indices(plan, pencilfft_output, rank, after))
        do line = 0, 1
            do i = 1, size(before)
                from(line*points(1) + i) = given(line, int(before(i)))
            end do
        end do
        call need(pencilfft_line_execute(plan, pencilfft_direction_forward, c_loc(from), c_loc(to)))
        do line = 0, 1
            do i = 1, size(after)
                right = 0
                do j = 0, length - 1
                    turn = -two_pi*modulo(j*int(after(i)), length)/length
                    right = right + given(line, j)*exp(cmplx(0, turn, c_double))
                end do
                call check(abs(to(line*points(2) + i) - right) < 1e-11*length, "a direct sum: "//algorithm)
            end do
        end do
        call need(pencilfft_line_execute(plan, pencilfft_direction_backward, c_loc(to), c_loc(to)))
        call check(all(abs(to(:2*points(1))/length - from(:2*points(1))) < 1e-12), "back again in place: "//algorithm)
        call check(pencilfft_line_exchanges(plan) > 0 .or. R*C == 1, "there are exchanges")
        do e = 0, pencilfft_line_exchanges(plan) - 1
            call need(pencilfft_line_traffic(plan, e, pencilfft_direction_forward, bytes, messages))
            call check(bytes(rank + 1) == 0 .and. all((bytes > 0) .eqv. (messages == 1)), "what is sent")
            call check(len(pencilfft_line_exchange_name(plan, e)) > 0, "each exchange has a name")
        end do
        call check(pencilfft_line_exchange_name(plan, e) == "", "no more exchanges")
        allocate (seconds(pencilfft_line_phases(plan)))
        call need(pencilfft_line_phase_seconds(plan, seconds))
        e = size(seconds)
        call check(pencilfft_line_phase_name(plan, 1) == "fft_line" .and. &
                   pencilfft_line_phase_name(plan, e) == "total" .and. seconds(e) > 0 .and. &
                   abs(seconds(e) - sum(seconds(:e - 1))) < 1e-6, "phases of "//algorithm)
        call need(pencilfft_line_destroy(plan))
        call refused(pencilfft_line_create(16_c_int64_t, MPI_COMM_WORLD, plan, algorithm="fastest"), &
                     pencilfft_unknown_name, "known: transpose, binary2, binary4, dft")
        call check(pencilfft_line_phases(plan) == 0 .and. pencilfft_line_exchanges(plan) == 0, "no plan")
    end subroutine

    !> Two fields in bricks against the modes in their sum, back again, in place; the traffic of each rank.
    subroutine bricks_of_lines_are_transformed(algorithm, order, bricks)
        character(*), intent(in) :: algorithm, order
        integer, intent(in) :: bricks(3)
        integer, parameter :: size_of(3) = [5, 6, 4]
        type(pencilfft_brick_lines) :: plan
        complex(c_double_complex), allocatable, target :: from(:), to(:)
        integer(c_int64_t) :: extent(3, 2), elements, bytes(R*C), messages(R*C), at(maxval(size_of), 3, 2)
        integer :: field, x, y, z, i, end_of(2), axis, e
        real(c_double), allocatable :: seconds(:)
        end_of = [pencilfft_input, pencilfft_output]
        call need(pencilfft_brick_lines_create(int(size_of, c_int64_t), bricks, MPI_COMM_WORLD, plan, fields=2, &
                                               order=order, algorithm=algorithm, rigor="estimate"))
        call need(pencilfft_brick_lines_elements(plan, elements))
        do e = 1, 2
            call need(pencilfft_brick_lines_extent(plan, end_of(e), rank, extent(:, e)))
            call check(2*product(extent(:, e)) <= elements, "room for bricks by "//algorithm)
            do axis = 1, 3
                call need(pencilfft_brick_lines_indices(plan, end_of(e), rank, axis, at(:, axis, e)))
            end do
        end do
        allocate (from(elements), to(elements))
        i = 0
        do field = 0, 1
            do x = 1, int(extent(1, 1))
                do y = 1, int(extent(2, 1))
                    do z = 1, int(extent(3, 1))
                        i = i + 1
                        from(i) = element(field, size_of, int([at(x, 1, 1), at(y, 2, 1), at(z, 3, 1)]))
                    end do
                end do
            end do
        end do
        call need(pencilfft_brick_lines_execute(plan, pencilfft_direction_forward, c_loc(from), c_loc(to)))
        i = 0
        do field = 0, 1
            do x = 1, int(extent(1, 2))
                do y = 1, int(extent(2, 2))
                    do z = 1, int(extent(3, 2))
                        i = i + 1
                        call check(abs(to(i) - mode(field, size_of, int([at(x, 1, 2), at(y, 2, 2), at(z, 3, 2)]))) < 1e-9, &
                                   "a mode of bricks: "//algorithm)
                    end do
                end do
            end do
        end do
        call need(pencilfft_brick_lines_execute(plan, pencilfft_direction_backward, c_loc(to), c_loc(to)))
        i = 2*int(product(extent(:, 1)))
        call check(all(abs(to(:i)/product(size_of) - from(:i)) < 1e-12), "bricks back again in place: "//algorithm)
        call check(pencilfft_brick_lines_exchanges(plan) > 0 .or. R*C == 1, "there are exchanges between bricks")
        do e = 0, pencilfft_brick_lines_exchanges(plan) - 1
            call need(pencilfft_brick_lines_traffic(plan, e, pencilfft_direction_forward, bytes, messages))
            call check(bytes(rank + 1) == 0 .and. all((bytes > 0) .eqv. (messages == 1)), "what bricks send")
            call check(scan(pencilfft_brick_lines_exchange_name(plan, e), "xyz") == 1, "an exchange names its axis")
        end do
        call check(pencilfft_brick_lines_exchange_name(plan, e) == "", "no more exchanges between bricks")
        allocate (seconds(pencilfft_brick_lines_phases(plan)))
        call need(pencilfft_brick_lines_phase_seconds(plan, seconds))
        e = size(seconds)
        call check(pencilfft_brick_lines_phase_name(plan, 1) == "fft_z" .and. &
                   pencilfft_brick_lines_phase_name(plan, e) == "total" .and. seconds(e) > 0 .and. &
                   abs(seconds(e) - sum(seconds(:e - 1))) < 1e-6, "phases of bricks by "//algorithm)
        call need(pencilfft_brick_lines_destroy(plan))
        call refused(pencilfft_brick_lines_create(int(size_of, c_int64_t), [R*C + 1, 1, 1], MPI_COMM_WORLD, plan), &
                     pencilfft_bad_grid, "there must be one for each rank")
        call check(pencilfft_brick_lines_phases(plan) == 0 .and. pencilfft_brick_lines_exchanges(plan) == 0, "no bricks")
    end subroutine

    !> The sum of three modes, of extents n.
    pure complex(c_double_complex) function element(field, n, p)
        integer, intent(in) :: field, n(3), p(3)
        integer :: w
        element = 0
        do w = 1, 3
            element = element + w*exp(cmplx(0, two_pi*sum(real(waves(field, w, n)*p, c_double)/n), c_double))
        end do
    end function

    pure complex(c_double_complex) function mode(field, n, k)
        integer, intent(in) :: field, n(3), k(3)
        integer :: w
        mode = 0
        do w = 1, 3
            if (all(waves(field, w, n) == k)) mode = mode + w*product(n)
        end do
    end function

    pure function waves(field, w, n)
        integer, intent(in) :: field, w, n(3)
        integer :: waves(3)
        waves = modulo([w + 2*field, 3*w, w + field], n)
    end function

    pure complex(c_double_complex) function given(line, j)
        integer, intent(in) :: line, j
        given = cmplx(modulo(j*j + 3*line, 11) - 5, modulo(7*j + line, 13) - 6, c_double_complex)
    end function

    pure integer(c_int64_t) function index_of(box, i, j, k)
        type(pencilfft_box), intent(in) :: box
        integer, intent(in) :: i, j, k
        integer(c_int64_t) :: at(3)
        at = modulo(box%offset + [k, j, i] - 1, int(n, c_int64_t))
        index_of = (at(1)*n(2) + at(2))*n(3) + at(3)
    end function

    !> Forward and backward give the input again, alone and as a pair; the parts of the output hold all modes. A schedule of
    !! 151 sizes, with a wrong last size.
    subroutine long_texts_are_read_to_their_end()
        type(pencilfft_plan) :: plan
        integer(c_int) :: status
        status = pencilfft_plan_create([8, 8, 8], R, C, MPI_COMM_WORLD, plan, schedule="overlap:"//repeat("1,", 150)//"9999")
        call check(status /= pencilfft_ok, "a schedule whose last size is wrong")
        call check(index(pencilfft_message(), "from 1 to 1000") > 0, "the wrong size: "//pencilfft_message())
    end subroutine

    subroutine transforms_go_two_ways(schedule)
        character(*), intent(in) :: schedule
        type(pencilfft_plan) :: plan
        type(pencilfft_part) :: part
        type(c_ptr) :: buffer(4)
        complex(c_double), pointer :: a(:), d(:)
        integer(c_int) :: status, parts, i
        integer(c_int64_t) :: elements, mine, all, length
        status = pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, schedule=schedule, fields=2)
        call check(status == pencilfft_ok, "a plan of schedule "//schedule)
        do i = 1, 4
            status = pencilfft_alloc(plan, buffer(i))
        end do
        mine = 0
        length = 0
        status = pencilfft_parts(plan, pencilfft_output, parts)
        call check(parts == 2, "two parts of the output of "//schedule)
        call check(index(pencilfft_schedule_chosen(plan), schedule) == 1, "the schedule is told: "//schedule)
        do i = 0, parts - 1
            status = pencilfft_part_mine(plan, pencilfft_output, i, part)
            mine = mine + product(part%box%extent)*part%fields
            length = max(length, part%start + part%fields*part%field_stride)
        end do
        call MPI_Allreduce(mine, all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        call check(all == 2*product(int(n, c_int64_t)) .and. length == mine, "all elements in the parts of "//schedule)
        status = pencilfft_part_mine(plan, pencilfft_input, 0, part)
        elements = product(part%box%extent)*part%fields
        call c_f_pointer(buffer(1), a, [elements])
        call c_f_pointer(buffer(4), d, [elements])
        a = [(cmplx(i + rank, -i, c_double), i=1, int(elements))]
        status = pencilfft_forward(plan, buffer(1), buffer(3))
        status = pencilfft_execute_pair(plan, buffer(1), buffer(2), buffer(3), buffer(4))
        call check(status == pencilfft_ok, "a pair under "//schedule)
        call check(maxval(abs(d/product(n) - a)) < 1d-9*elements, "back again by a pair under "//schedule)
        status = pencilfft_backward(plan, buffer(2), buffer(4))
        call check(maxval(abs(d/product(n) - a)) < 1d-9*elements, "forward by a pair under "//schedule)
        status = pencilfft_plan_destroy(plan)
    end subroutine

    !> Two plans in flight, the second in the other direction, give what execute gives.
    subroutine two_are_in_flight()
        type(pencilfft_plan) :: one, other
        type(c_ptr) :: buffer(6)
        complex(c_double), pointer :: a(:), b(:)
        integer(c_int) :: done, i
        integer(c_int64_t) :: shape(3)
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, one, rigor="estimate", nonblocking=.true.))
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, other, rigor="estimate", nonblocking=.true.))
        do i = 1, 6
            call need(pencilfft_alloc(one, buffer(i)))
        end do
        shape = pencilfft_shape(one, pencilfft_input)
        call c_f_pointer(buffer(1), a, [product(shape)])
        a = [(cmplx(i + rank, -i, c_double), i=1, size(a))]
        call need(pencilfft_forward(one, buffer(1), buffer(2)))
        call need(pencilfft_start(one, pencilfft_direction_forward, buffer(1), buffer(3)))
        call need(pencilfft_start(other, pencilfft_direction_backward, buffer(2), buffer(4)))
        call check(pencilfft_forward(one, buffer(1), buffer(5)) == pencilfft_bad_call, "a plan in flight does nothing else")
        call need(pencilfft_progress(other, done))
        call need(pencilfft_wait(other))
        call need(pencilfft_wait(one))
        call c_f_pointer(buffer(4), b, [product(shape)])
        call check(all(abs(b/product(n) - a) < 1d-9*size(a)), "backward in flight")
        shape = pencilfft_shape(one, pencilfft_output)
        call c_f_pointer(buffer(2), a, [product(shape)])
        call c_f_pointer(buffer(3), b, [product(shape)])
        call check(all(a == b), "forward in flight")
        call need(pencilfft_set_norm(one, pencilfft_direction_backward, pencilfft_norm_n))
        call need(pencilfft_backward(one, buffer(2), buffer(4)))
        call need(pencilfft_set_norm(one, pencilfft_direction_backward, pencilfft_norm_none))
        call check(real_part_is_back(buffer(1), buffer(4), pencilfft_shape(one, pencilfft_input)), "backward with 1/N")
        call need(pencilfft_start_pair(one, buffer(1), buffer(5), buffer(2), buffer(6)))
        call need(pencilfft_wait(one))
        call c_f_pointer(buffer(5), b, [product(shape)])
        call check(all(a == b), "a pair in flight")
        call check(pencilfft_wait(one) == pencilfft_bad_call, "nothing to wait for")
        call need(pencilfft_plan_destroy(other))
        call need(pencilfft_plan_destroy(one))
    end subroutine

    !> A wave along x and a wave along y, as components of arrays of two dimensions whose x is halved, in memory given here.
    subroutine flat_arrays_have_components_in_front()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box
        real(c_double), pointer :: f(:, :, :, :)
        complex(c_double_complex), pointer :: f_hat(:, :, :, :)
        complex(c_double_complex) :: expected(2)
        integer(c_int64_t), allocatable, target :: work(:)
        integer(c_int64_t) :: bytes, more, x, y, i, j
        real(c_double) :: worst
        call need(pencilfft_plan_create(n(1:2), 0, 0, MPI_COMM_WORLD, plan, type="r2c", order="xy", fields=2, &
                                        interleaved=.true., caller_work=.true., rigor="estimate"))
        call need(pencilfft_work_bytes(plan, 0, bytes))
        call need(pencilfft_work_bytes(plan, 1, more))
        call check(more >= bytes, "runs in place need no less")
        allocate (work(more/8 + 1))
        if (bytes > 0) call refused(pencilfft_set_work(plan, c_loc(work), bytes - 1), pencilfft_bad_call, "the plan needs")
        call need(pencilfft_set_work(plan, c_loc(work), more))
        call need(pencilfft_array(plan, pencilfft_input, f))
        call need(pencilfft_array(plan, pencilfft_output, f_hat))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call check(all(shape(f) == [2_c_int64_t, box%extent(2:1:-1), 1_c_int64_t]), "shape of interleaved fields")
        do j = 1, box%extent(1)
            do i = 1, box%extent(2)
                f(:, i, j, 1) = [cos(two_pi*(box%offset(1) + j - 1)/n(1)), cos(2*two_pi*(box%offset(2) + i - 1)/n(2))]
            end do
        end do
        call need(pencilfft_transform(plan, pencilfft_direction_forward, f, f_hat))
        call need(pencilfft_box_mine(plan, pencilfft_output, box))
        worst = 0
        do j = 1, box%extent(1)
            do i = 1, box%extent(2)
                x = box%offset(1) + j - 1
                y = box%offset(2) + i - 1
                expected = 0
                if (x == 1 .and. y == 0) expected(1) = 0.5d0*product(n(1:2))
                if (x == 0 .and. (y == 2 .or. y == n(2) - 2)) expected(2) = 0.5d0*product(n(1:2))
                worst = max(worst, maxval(abs(f_hat(:, i, j, 1) - expected)))
            end do
        end do
        call check(worst < 1d-10, "modes of interleaved fields of two dimensions")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    logical function real_part_is_back(before, after, shape) result(same)
        type(c_ptr), intent(in) :: before, after
        integer(c_int64_t), intent(in) :: shape(3)
        complex(c_double), pointer :: a(:), b(:)
        call c_f_pointer(before, a, [product(shape)])
        call c_f_pointer(after, b, [product(shape)])
        same = all(abs(a - b) < 1d-9*size(a))
    end function

    subroutine what_happened_is_told()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box, same
        type(pencilfft_part) :: part
        type(c_ptr) :: memory
        integer(c_int) :: bricks(3)
        integer(c_int64_t) :: elements
        real(c_double) :: seconds(pencilfft_max_phases)
        integer(c_int64_t) :: bytes(R*C), messages(R*C)
        integer :: i, n_phases, n_total
        call check(pencilfft_exchange_chosen(plan, pencilfft_row) == "", "no plan has no exchange")
        call check(pencilfft_plan_text(plan) == "", "no plan has no text")
        call check(pencilfft_schedule_chosen(plan) == "", "no plan has no schedule")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, exchange="p2p", rigor="estimate"))
        call need(pencilfft_alloc(plan, memory))
        call need(pencilfft_forward(plan, memory, memory))
        call need(pencilfft_phase_seconds(plan, seconds))
        call check(index(pencilfft_plan_text(plan), "by p2p among") > 0 .or. R*C == 1, "the plan tells its exchanges")
        n_phases = pencilfft_phases(plan)
        call check(n_phases == 14 .and. pencilfft_exchanges(plan) == 2, "pencils have 14 phases and two exchanges")
        call check(all(seconds(:n_phases) >= 0) .and. seconds(1) > 0, "phases take time")
        n_total = 0
        do i = 1, n_phases
            call check(len(pencilfft_phase_name(plan, i)) > 0, "each phase has a name")
            if (pencilfft_phase_name(plan, i) == "total") n_total = i
        end do
        call check(pencilfft_phase_name(plan, 1) == "fft_z" .and. pencilfft_phase_name(plan, 0) == "", "the first is fft_z")
        call check(pencilfft_phase_name(plan, n_phases + 1) == "", "there are as many phases as the plan says")
        call check(pencilfft_exchange_stage(plan, pencilfft_column) == "column", "the second exchange is column")
        call check(pencilfft_exchange_stage(plan, 2) == "", "there is no third exchange")
        call check(abs(seconds(n_total) - sum(seconds(:n_total - 1))) < 1e-3, "the phases make the total")
        call check(pencilfft_exchange_chosen(plan, pencilfft_column) == "p2p", "the exchange is the one asked for")
        call check(pencilfft_phase_kind(plan, 1) == pencilfft_kind_fft .and. pencilfft_phase_kind(plan, 0) == -1 .and. &
                   pencilfft_phase_kind(plan, n_total) == pencilfft_kind_total, "phases have kinds")
        call need(pencilfft_auto_seconds(plan, pencilfft_row, 1, seconds(1)))
        call check(seconds(1) == 0 .and. pencilfft_exchange_means(plan, pencilfft_row) == "", "nothing was tried")
        call need(pencilfft_bricks(plan, bricks))
        call check(all(bricks == 0), "pencils have no bricks")
        call need(pencilfft_alloc_elements(plan, elements))
        call need(pencilfft_alloc_bytes(plan, bytes(1)))
        call check(bytes(1) == 16*elements .and. elements >= product(pencilfft_shape(plan, pencilfft_input)), "room for all")
        call need(pencilfft_box_mine(plan, pencilfft_z_pencil, box))
        call need(pencilfft_box_of(plan, pencilfft_z_pencil, rank, same))
        call need(pencilfft_part_of(plan, pencilfft_z_pencil, rank, 0, part))
        call check(all([box%offset, box%extent, box%stride] == [same%offset, same%extent, same%stride]) .and. &
                   all(part%box%extent == box%extent), "the box of a rank is that of this rank")
        call need(pencilfft_traffic(plan, pencilfft_row, pencilfft_direction_forward, bytes, messages))
        call check(count(messages > 0) == R - 1 .and. bytes(rank + 1) == 0, "a message to each other task of the row")
        call check(sum(bytes) <= 16*product(box%extent) .and. (R == 1 .or. sum(bytes) > 0), "of what the task has")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> A real transform by pencilfft_execute; the walk over its spectrum takes the derivative of sin(2 x) along x.
    subroutine a_walk_meets_every_mode(schedule)
        character(*), intent(in) :: schedule
        type(pencilfft_plan) :: plan
        type(pencilfft_walk) :: walk
        type(pencilfft_format) :: form
        type(pencilfft_line) :: line
        type(c_ptr) :: from, to
        real(c_double), pointer :: f(:)
        complex(c_double_complex), pointer :: f_hat(:)
        real(c_double) :: error
        integer(c_int64_t) :: elements, mine, all
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", schedule=schedule, rigor="estimate"))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        call need(pencilfft_alloc_elements(plan, elements))
        call c_f_pointer(from, f, [2*elements])
        call c_f_pointer(to, f_hat, [elements])
        call need(pencilfft_walk_begin(plan, pencilfft_input, walk))
        do while (pencilfft_walk_next(walk))
            f(walk%at + 1) = sin(2*two_pi*walk%index(1)/n(1))
        end do
        call need(pencilfft_execute(plan, pencilfft_direction_forward, from, to))
        call need(pencilfft_walk_begin(plan, pencilfft_output, walk))
        mine = 0
        do while (pencilfft_walk_next(walk))
            mine = mine + 1
            f_hat(walk%at + 1) = f_hat(walk%at + 1)*cmplx(0, walk%waves(1), c_double)/product(n)
        end do
        call MPI_Allreduce(mine, all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        call check(all == n(1)*n(2)*(n(3)/2 + 1), "as many elements as modes under "//schedule)
        call need(pencilfft_execute(plan, pencilfft_direction_backward, to, from))
        call need(pencilfft_walk_begin(plan, pencilfft_input, walk))
        error = 0
        do while (pencilfft_walk_next(walk))
            error = max(error, abs(f(walk%at + 1) - 2*cos(2*two_pi*walk%index(1)/n(1))))
        end do
        call check(error < 1d-12, "the derivative by a walk under "//schedule)
        call need(pencilfft_format_of(plan, pencilfft_output, form))
        call check(form%is_complex == 1 .and. form%element_bytes == 16 .and. form%n(3) == n(3)/2 + 1, "the format is told")
        call need(pencilfft_line_of(plan, 3, line))
        call check(line%kind == pencilfft_line_r2c .and. line%number == 0, "z is halved")
        call need(pencilfft_plan_destroy(plan))
        call check(.not. pencilfft_walk_begin(plan, pencilfft_output, walk) == pencilfft_ok, "no plan, no walk")
    end subroutine

    !> Pointers of the shape of an array, and transforms of them; a wrong type is refused.
    subroutine arrays_are_pointers()
        type(pencilfft_plan) :: plan
        real(c_double), pointer :: f(:, :, :)
        complex(c_double_complex), pointer :: f_hat(:, :, :)
        real(c_float), pointer :: g(:, :, :, :)
        complex(c_float_complex), pointer :: g_hat(:, :, :, :), wrong(:, :, :)
        real(c_double) :: scaling
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", rigor="estimate"))
        call need(pencilfft_array(plan, pencilfft_input, f))
        call need(pencilfft_array(plan, pencilfft_output, f_hat))
        call need(pencilfft_scale(plan, scaling))
        f = 1 + rank
        call need(pencilfft_transform(plan, pencilfft_direction_forward, f, f_hat))
        f = 0
        call need(pencilfft_transform(plan, pencilfft_direction_backward, f_hat, f))
        call check(all(abs(f/scaling - 1 - rank) < 1d-12), "arrays go forth and back")
        call refused(pencilfft_array(plan, pencilfft_input, f_hat), pencilfft_bad_call, &
                     "has 1 field(s) of real elements of 8 bytes; given: 1 of complex elements of 16 bytes")
        call check(.not. associated(f_hat), "a refused pointer is null")
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", precision="single", fields=2))
        call need(pencilfft_array(plan, pencilfft_input, g))
        call need(pencilfft_array(plan, pencilfft_output, g_hat))
        call check(size(g, 4) == 2 .and. all(shape(g_hat, c_int64_t) == [pencilfft_shape(plan, pencilfft_output), &
                                                                        2_c_int64_t]), "fields are the last index")
        call refused(pencilfft_array(plan, pencilfft_output, wrong), pencilfft_bad_call, "has 2 field(s)")
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, schedule="two-way", rigor="estimate"))
        call refused(pencilfft_array(plan, pencilfft_output, f_hat), pencilfft_bad_call, "has 2 parts")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> A wrong length on the last rank.
    subroutine lengths_on_one_rank_are_refused_on_all()
        type(pencilfft_plan) :: plan
        type(pencilfft_halo) :: halo
        type(pencilfft_brick_lines) :: bricks
        integer, allocatable :: four(:)
        integer(c_int64_t) :: ones(4)
        integer :: more
        ones = 1
        four = [n, 1]
        more = merge(1, 0, rank == R*C - 1)
        call refused(pencilfft_plan_create(four(:3 + more), R, C, MPI_COMM_WORLD, plan), pencilfft_bad_call, &
                     "pencilfft_plan_create: n has 4 elements; give 2 to 3")
        call refused(pencilfft_plan_create(four(:2 - more), 0, 0, MPI_COMM_WORLD, plan), pencilfft_bad_call, &
                     "pencilfft_plan_create: n has 1 elements; give 2 to 3")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, padded=2*four(:3 + more)), pencilfft_bad_call, &
                     "pencilfft_plan_create: padded has 4 elements; give 3")
        call refused(pencilfft_plan_create(n(:2), 0, 0, MPI_COMM_WORLD, plan, padded=2*n(:2 + more)), pencilfft_bad_call, &
                     "pencilfft_plan_create: padded has 3 elements; give 2")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, rigor="estimate"))
        call refused(pencilfft_halo_create(plan, pencilfft_input, ones(:3 + more), ones(:3), halo), pencilfft_bad_call, &
                     "pencilfft_halo_create: low has 4 elements; give 3")
        call refused(pencilfft_halo_create(plan, pencilfft_input, ones(:3), ones(:3 - more), halo), pencilfft_bad_call, &
                     "pencilfft_halo_create: high has 2 elements; give 3")
        call need(pencilfft_plan_destroy(plan))
        call refused(pencilfft_brick_lines_create(12*ones(:3 + more), [R, C, 1], MPI_COMM_WORLD, bricks), &
                     pencilfft_bad_call, "pencilfft_brick_lines_create: size has 4 elements; give 3")
        call refused(pencilfft_brick_lines_create(12*ones(:3), reshape([R, C, 1, 1], [3 + more]), MPI_COMM_WORLD, bricks), &
                     pencilfft_bad_call, "pencilfft_brick_lines_create: bricks has 4 elements; give 3")
    end subroutine

    subroutine short_arrays_are_refused()
        type(pencilfft_plan) :: plan
        type(pencilfft_halo) :: halo
        type(pencilfft_line_plan) :: line
        type(pencilfft_brick_lines) :: bricks
        integer(c_int64_t), allocatable :: room(:), long(:)
        integer(c_int64_t), parameter :: one(3) = 1
        integer(c_int) :: three(3)
        real(c_double), allocatable :: seconds(:)
        real(c_double), pointer :: f(:, :, :)
        complex(c_double_complex), pointer :: f_hat(:, :, :)
        allocate (room(R*C - 1), long(100), seconds(100))
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="r2c", rigor="estimate"))
        call refused(pencilfft_traffic(plan, 0, 1, room, long), pencilfft_bad_call, "pencilfft_traffic: bytes has")
        call refused(pencilfft_traffic(plan, 0, 1, long, room), pencilfft_bad_call, "pencilfft_traffic: messages has")
        call refused(pencilfft_phase_seconds(plan, seconds(:pencilfft_phases(plan) - 1)), pencilfft_bad_call, &
                     "pencilfft_phase_seconds: seconds has 13 elements; give 14 or more")
        call refused(pencilfft_bricks(plan, three(:2)), pencilfft_bad_call, "bricks has 2 elements; give 3")
        call need(pencilfft_halo_create(plan, pencilfft_input, one, one, halo))
        call refused(pencilfft_halo_traffic(halo, 1, room, long), pencilfft_bad_call, "pencilfft_halo_traffic: bytes has")
        call need(pencilfft_halo_traffic(halo, 1, long, long(51:)))
        call need(pencilfft_halo_destroy(halo))
        call need(pencilfft_array(plan, pencilfft_input, f))
        call need(pencilfft_array(plan, pencilfft_output, f_hat))
        f = 1
        call refused(pencilfft_transform(plan, 1, f(:, :, 2:), f_hat), pencilfft_bad_call, "pencilfft_transform: `from` has")
        call refused(pencilfft_transform(plan, 1, f, f_hat(:, :, 2:)), pencilfft_bad_call, "pencilfft_transform: `to` has")
        call refused(pencilfft_transform(plan, 2, f_hat, f(:, :, 2:)), pencilfft_bad_call, "pencilfft_transform: `to` has")
        call refused(pencilfft_transform(plan, 2, f_hat(:, :, ::2), f), pencilfft_bad_call, "`from` is not contiguous")
        call arrays_of_unknown_length(plan, f, f_hat)
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_line_create(60_c_int64_t, MPI_COMM_WORLD, line, rigor="estimate"))
        call refused(pencilfft_line_indices(line, pencilfft_input, rank, long(:60/R/C - 1)), pencilfft_bad_call, &
                     "pencilfft_line_indices: indices has")
        call refused(pencilfft_line_phase_seconds(line, seconds(:1)), pencilfft_bad_call, &
                     "pencilfft_line_phase_seconds: seconds has 1 elements")
        if (R*C > 1) call refused(pencilfft_line_traffic(line, 0, 1, room, long), pencilfft_bad_call, &
                                  "pencilfft_line_traffic: bytes has")
        call need(pencilfft_line_destroy(line))
        call need(pencilfft_brick_lines_create(12*one, [R, C, 1], MPI_COMM_WORLD, bricks))
        call refused(pencilfft_brick_lines_extent(bricks, pencilfft_input, rank, long(:2)), pencilfft_bad_call, &
                     "pencilfft_brick_lines_extent: extent has 2 elements; give 3")
        call refused(pencilfft_brick_lines_indices(bricks, pencilfft_input, rank, 3, long(:11)), pencilfft_bad_call, &
                     "pencilfft_brick_lines_indices: indices has 11 elements; give 12 or more")
        call refused(pencilfft_brick_lines_phase_seconds(bricks, seconds(:1)), pencilfft_bad_call, &
                     "pencilfft_brick_lines_phase_seconds: seconds has 1 elements")
        if (R*C > 1) call refused(pencilfft_brick_lines_traffic(bricks, 0, 1, long, room), pencilfft_bad_call, &
                                  "pencilfft_brick_lines_traffic: messages has")
        call need(pencilfft_brick_lines_destroy(bricks))
    end subroutine

    !> Elements and assumed-size arrays, as in codes of Fortran 77, do not tell their length and are taken.
    subroutine arrays_of_unknown_length(plan, f, f_hat)
        type(pencilfft_plan), intent(in) :: plan
        real(c_double), intent(in) :: f(*)
        complex(c_double_complex), intent(inout) :: f_hat(2, *)
        complex(c_double_complex) :: first
        call need(pencilfft_transform(plan, 1, f, f_hat))
        first = f_hat(1, 1)
        f_hat(1, 1) = first + 1
        call need(pencilfft_transform(plan, 1, f(1), f_hat(1, 1)))
        call check(abs(f_hat(1, 1) - first) < 1e-9, "arrays of unknown length")
    end subroutine

    !> Arrays without elements are transformed with those of other ranks.
    subroutine ranks_may_hold_nothing()
        type(pencilfft_plan) :: plan
        real(c_double), pointer :: f(:, :, :)
        complex(c_double_complex), pointer :: f_hat(:, :, :)
        call need(pencilfft_plan_create([1, 1, 5], R, C, MPI_COMM_WORLD, plan, type="r2c", rigor="estimate"))
        call need(pencilfft_array(plan, pencilfft_input, f))
        call need(pencilfft_array(plan, pencilfft_output, f_hat))
        f = 1
        call need(pencilfft_transform(plan, pencilfft_direction_forward, f, f_hat))
        call need(pencilfft_transform(plan, pencilfft_direction_backward, f_hat, f))
        call check(all(abs(f - 5) < 1d-12), "transforms of thin extents")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    subroutine names_are_listed()
        call check(pencilfft_decomposition_name(1) == "pencil" .and. pencilfft_decomposition_name(0) == "", "decompositions")
        call check(pencilfft_exchange_name(1) == "alltoallv" .and. pencilfft_exchange_name(99) == "", "exchanges")
        call check(pencilfft_schedule_name(1) == "sequence" .and. pencilfft_type_name(1) == "c2c", "schedules and types")
        call check(pencilfft_precision_name(1) == "double" .and. pencilfft_layout_name(1) == "natural", "more names")
        call check(pencilfft_order_name(1) == "zyx" .and. pencilfft_order_name(9) == "", "orders")
        call check(pencilfft_rigor_name(1) == "estimate" .and. pencilfft_sync_name(1) == "none", "names of rigor and sync")
        call check(pencilfft_line_algorithm_name(1) == "transpose" .and. pencilfft_line_order_name(1) == "natural", &
                   "of lines")
        call check(pencilfft_grid_numbers("slab ") == 1 .and. pencilfft_grid_numbers("wish") == 0, "numbers of a grid")
    end subroutine

    subroutine lines_are_told()
        type(pencilfft_line_plan) :: line
        type(pencilfft_brick_lines) :: bricks
        integer(c_int64_t) :: index, indices(64)
        call need(pencilfft_line_create(60_c_int64_t, MPI_COMM_WORLD, line, rigor="estimate"))
        call need(pencilfft_line_index(line, pencilfft_input, rank, 1_c_int64_t, index))
        call need(pencilfft_line_indices(line, pencilfft_input, rank, indices))
        call check(index == indices(2) .and. (pencilfft_line_is_all_to_all(line, 0) .eqv. R*C > 1), "a line is told")
        call need(pencilfft_line_destroy(line))
        call need(pencilfft_brick_lines_create([12_c_int64_t, 12_c_int64_t, 12_c_int64_t], [R, C, 1], &
                                              MPI_COMM_WORLD, bricks))
        call need(pencilfft_brick_lines_index(bricks, pencilfft_input, rank, 1, 1_c_int64_t, index))
        call need(pencilfft_brick_lines_indices(bricks, pencilfft_input, rank, 1, indices))
        call check(index == indices(2) .and. .not. pencilfft_brick_lines_is_all_to_all(bricks, 99), "bricks are told")
        call need(pencilfft_brick_lines_destroy(bricks))
    end subroutine

    subroutine wisdom_is_kept()
        type(pencilfft_plan) :: plan
        logical :: found
        character(:), allocatable :: path, row, column
        integer :: length
        call get_command_argument(3, length=length)
        allocate (character(length) :: path)
        call get_command_argument(3, path)
        call pencilfft_wisdom_forget()
        call need(pencilfft_wisdom_load(path, MPI_COMM_WORLD, found))
        call check(.not. found, "there is no wisdom yet")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, exchange="auto"))
        row = pencilfft_exchange_chosen(plan, pencilfft_row)
        column = pencilfft_exchange_chosen(plan, pencilfft_column)
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_wisdom_save(path, MPI_COMM_WORLD))
        call pencilfft_wisdom_forget()
        call need(pencilfft_wisdom_load(path, MPI_COMM_WORLD, found))
        call check(found, "wisdom was written")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, exchange="auto", auto_budget_s=0._c_double))
        call check(pencilfft_exchange_chosen(plan, pencilfft_row) == row .and. &
                   pencilfft_exchange_chosen(plan, pencilfft_column) == column, "the choice is remembered")
        call need(pencilfft_plan_destroy(plan))
        call refused(pencilfft_wisdom_save("/nowhere/wisdom", MPI_COMM_WORLD), pencilfft_bad_call, "/nowhere/wisdom")
    end subroutine

    subroutine zero_is_chosen()
        type(pencilfft_plan) :: plan
        type(pencilfft_grid_trial) :: trial
        integer(c_int) :: trials, i
        call need(pencilfft_plan_create(n, 0, 0, MPI_COMM_WORLD, plan, rigor="estimate", exchange="auto", &
                                        auto_budget_s=0.01_c_double))
        call need(pencilfft_grid_trials(plan, trials))
        call check(trials >= merge(1, 0, R*C > 1), "grids are tried")
        do i = 0, trials - 1
            call need(pencilfft_grid_trial_of(plan, i, trial))
            call check(trial%R*trial%C == R*C .and. trial%least <= trial%median, "a trial of a grid")
        end do
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_plan_create(n, 0, C, MPI_COMM_WORLD, plan, rigor="estimate"))
        call check(all(pencilfft_grid(plan) == [R, C]), "R follows from C")
        call check(pencilfft_waves(plan, 1, n(1) - 1_c_int64_t) == -1 .and. pencilfft_waves(plan, 3, 1_c_int64_t) == 1, &
                   "the last mode has one wave backwards")
        call check(pencilfft_waves(plan, 4, 1_c_int64_t) == 0, "there is no axis 4")
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    !> An unknown name is refused by the words of its own member.
    subroutine every_choice_gets_where_it_belongs()
        type(pencilfft_plan) :: plan
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="wish"), pencilfft_unknown_name, &
                     "type 'wish'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, type="dct", kinds="9,9,9"), &
                     pencilfft_unknown_name, "kinds '9,9,9'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, decomposition="wish"), pencilfft_unknown_name, &
                     "decomposition 'wish'; known: pencil, slab, brick")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, skip="w"), pencilfft_unknown_name, "skip 'w'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, skip="xx"), pencilfft_unknown_name, &
                     "skip 'xx' has x twice")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, auto_budget_s=-1._c_double), pencilfft_bad_call, &
                     "auto_budget_s is -1")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, precision="wish"), pencilfft_unknown_name, &
                     "precision 'wish'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, layout="wish"), pencilfft_unknown_name, &
                     "layout 'wish'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, exchange="wish"), pencilfft_unknown_name, &
                     "exchange 'wish'; known: alltoallv")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, rigor="wish"), pencilfft_unknown_name, &
                     "rigor 'wish'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, sync="wish"), pencilfft_unknown_name, &
                     "sync 'wish'")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, directions=8), pencilfft_bad_call, "directions")
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, fields=0), pencilfft_bad_size, "fields is 0")
        call refused(pencilfft_plan_create([0, 8, 10], R, C, MPI_COMM_WORLD, plan), pencilfft_bad_size, "size 0 8 10")
        call refused(pencilfft_plan_create(n, R, C + 1, MPI_COMM_WORLD, plan), pencilfft_bad_grid, "choose RxC")
        ! A budget is not refused; without time, auto takes its first candidate.
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, exchange="auto", rigor="estimate", &
                                        auto_budget_s=0._c_double))
        call need(pencilfft_plan_destroy(plan))
    end subroutine

    subroutine refused(status, right, words)
        integer(c_int), intent(in) :: status, right
        character(*), intent(in) :: words
        call check(status == right, "refused as it should be: "//words)
        call check(index(pencilfft_message(), words) > 0, words//" is not in: "//pencilfft_message())
    end subroutine

    subroutine nothing_is_planned_without_mpi(call)
        character(*), intent(in) :: call
        type(pencilfft_plan) :: plan
        call refused(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan), pencilfft_bad_call, call)
    end subroutine

    subroutine what_is_wrong_is_told()
        type(pencilfft_plan) :: plan
        type(pencilfft_box) :: box
        type(c_ptr) :: memory, more
        real(c_double) :: scaling
        integer(c_int) :: status
        call refused(pencilfft_scale(plan, scaling), pencilfft_bad_call, "null plan")
        call refused(pencilfft_box_mine(plan, pencilfft_input, box), pencilfft_bad_call, "null plan")
        call refused(pencilfft_alloc(plan, memory), pencilfft_bad_call, "null plan")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, directions=1, rigor="estimate"))
        call need(pencilfft_alloc(plan, memory))
        call need(pencilfft_alloc(plan, more))
        call refused(pencilfft_forward(plan, memory, c_null_ptr), pencilfft_bad_call, "null plan or buffer")
        call refused(pencilfft_backward(plan, memory, more), pencilfft_bad_call, "not made for this direction")
        call refused(pencilfft_transpose(plan, pencilfft_row, pencilfft_direction_forward, memory, memory), &
                     pencilfft_bad_call, "overlap")
        call refused(pencilfft_transpose(plan, 7_c_int, pencilfft_direction_forward, memory, more), pencilfft_bad_call, &
                     "exchange is 7")
        call refused(pencilfft_box_mine(plan, 9_c_int, box), pencilfft_bad_call, "no such array")
        call check(all(pencilfft_shape(plan, 9_c_int) == 0), "no such array has no shape")
        call need(pencilfft_plan_destroy(plan))
        status = pencilfft_plan_destroy(plan)
        call check(status == pencilfft_ok, "a plan that is gone is nothing to do")
        status = pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, layout=repeat("long", 200))
        call check(status == pencilfft_unknown_name, "a name that is too long is not known")
        if (R*C > 1) then
            status = pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, fields=1 + merge(1, 0, rank == 0))
            call refused(status, pencilfft_mismatch, "fields is 2 on rank 0 and something else on others")
        end if
    end subroutine

    !> With PENCILFFT_CHECK_CALLS: a different call on one rank, and an impossible call, fail on all with the same message.
    subroutine calls_that_differ_are_told()
        interface
            integer(c_int) function setenv(name, value, overwrite) bind(C)
                import
                character(kind=c_char), intent(in) :: name(*), value(*)
                integer(c_int), value :: overwrite
            end function
        end interface
        character(*), parameter :: name = "PENCILFFT_CHECK_CALLS"//c_null_char
        integer(c_int64_t), parameter :: one(3) = 1
        type(pencilfft_plan) :: plan
        type(pencilfft_halo) :: halo
        type(pencilfft_line_plan) :: line
        type(c_ptr) :: from, to
        complex(c_double_complex), target :: padded(12, 12, 12), points(40)
        complex(c_double_complex), pointer :: a(:, :, :)
        logical :: last
        last = rank == R*C - 1
        call check(setenv(name, "60"//c_null_char, 1_c_int) == 0, "the environment is set")
        call need(pencilfft_plan_create(n, R, C, MPI_COMM_WORLD, plan, decomposition="brick", rigor="estimate"))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        if (last) call refused(pencilfft_backward(plan, from, to), pencilfft_mismatch, "the calls differ between ranks")
        if (.not. last) call refused(pencilfft_forward(plan, from, to), pencilfft_mismatch, "the calls differ between ranks")
        call refused(pencilfft_forward(plan, from, merge(c_null_ptr, to, last)), pencilfft_bad_call, "null plan or buffer")
        call need(pencilfft_array(plan, pencilfft_input, a))
        call refused(pencilfft_transform(plan, pencilfft_direction_forward, a(:, :, merge(2, 1, last):), a), &
                     pencilfft_bad_call, "pencilfft_transform: `from` has")
        call need(pencilfft_halo_create(plan, pencilfft_input, one, one, halo))
        padded = 0
        if (last) call refused(pencilfft_halo_exchange(halo, c_null_ptr, c_loc(padded)), pencilfft_mismatch, "calls differ")
        if (.not. last) call refused(pencilfft_halo_accumulate(halo, c_loc(padded), c_null_ptr), pencilfft_mismatch, &
                                    "calls differ")
        call need(pencilfft_halo_destroy(halo))
        call need(pencilfft_plan_destroy(plan))
        call need(pencilfft_line_create(40_c_int64_t, MPI_COMM_WORLD, line, rigor="estimate"))
        points = 0
        call refused(pencilfft_line_execute(line, merge(pencilfft_direction_backward, pencilfft_direction_forward, last), &
                                            c_loc(points), c_loc(points)), pencilfft_mismatch, "calls differ")
        call refused(pencilfft_line_execute(line, pencilfft_direction_forward, merge(c_null_ptr, c_loc(points), last), &
                                            c_loc(points)), pencilfft_bad_call, "null plan or buffer")
        call need(pencilfft_line_destroy(line))
        call check(setenv(name, "0"//c_null_char, 1_c_int) == 0, "the environment is set again")
    end subroutine
end program fortran_test
