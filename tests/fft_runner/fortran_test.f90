!> Module pencilfft from a Fortran program: every argument reaches its function of C, and every array has its place; C tests
!! the numbers, and a program writes the plain interfaces from the headers of C. Run under mpirun with the grid and a file
!! that does not exist yet: fortran_test R C FILE.
program fortran_test
    use, intrinsic :: iso_c_binding
    use mpi
    use pencilfft
    implicit none
    integer, parameter :: n(3) = [9, 8, 10] ! all different, so that swapped axes show
    integer(c_int), parameter :: forth = pencilfft_direction_forward, back = pencilfft_direction_backward
    integer(c_int), parameter :: bad_call = pencilfft_bad_call, bad_size = pencilfft_bad_size
    integer(c_int64_t), parameter :: ones(4) = 1
    real(c_double), parameter :: two_pi = 6.283185307179586_c_double
    integer :: R, C, rank, ierror, i, e, failures = 0
    character(16) :: word
    type(pencilfft_plan) :: plan
    type(pencilfft_halo) :: halo
    type(pencilfft_line_plan) :: line
    type(pencilfft_brick_lines) :: bricks
    type(pencilfft_box), target :: box, other
    type(pencilfft_part), target :: part
    type(pencilfft_grid_trial), target :: trial
    type(pencilfft_format), target :: form
    type(pencilfft_line), target :: axis
    type(pencilfft_walk), target :: walk
    type(c_ptr) :: from, to
    complex(c_double_complex), pointer :: a(:, :, :), b(:, :, :)
    real(c_double), pointer :: f(:, :, :)
    integer(c_int64_t), allocatable :: bytes(:), messages(:)
    real(c_double) :: seconds(100), scaling

    call get_command_argument(1, word)
    read (word, *) R
    call get_command_argument(2, word)
    read (word, *) C
    call refused(made(), bad_call, "MPI_Init")
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    allocate (bytes(R*C), messages(R*C))
    call arrays_follow_the_layout("natural")
    call arrays_follow_the_layout("stride1")
    call a_wave_becomes_one_mode()
    call choices_are_taken()
    call flat_arrays_have_components_in_front()
    call halos_are_exchanged()
    call bounds_are_global()
    call lines_are_transformed("transpose", "natural", 31)
    call lines_are_transformed("dft", "transposed", 30)
    call bricks_of_lines_are_transformed()
    call what_happened_is_told()
    call a_walk_meets_every_mode()
    call lengths_on_one_rank_are_refused_on_all()
    call short_arrays_are_refused()
    call names_are_listed()
    call wisdom_is_kept()
    call every_choice_gets_where_it_belongs()
    call need(pencilfft_plan_destroy(plan))
    call need(pencilfft_plan_destroy(plan)) ! which is gone
    call MPI_Finalize(ierror)
    call refused(made(), bad_call, "MPI_Finalize")
    print '(i0,a)', failures, " failures"
    if (failures > 0) stop 1

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        print '(2a)', "not true: ", what
        failures = failures + 1
    end subroutine

    subroutine need(status)
        integer(c_int), intent(in) :: status
        if (status == pencilfft_ok) return
        print '(2a)', "fortran_test: ", pencilfft_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine

    subroutine refused(status, right, words)
        integer(c_int), intent(in) :: status, right
        character(*), intent(in) :: words
        call check(status == right, "refused as it should be: "//words)
        call check(index(pencilfft_message(), words) > 0, words//" is not in: "//pencilfft_message())
    end subroutine

    !> `plan` of n(1:3) on the grid R x C, of rigor estimate, unless others are given; the plan before is destroyed.
    integer(c_int) function made(type, kinds, skip, precision, layout, exchange, rigor, sync, directions, fields, &
                                 auto_budget_s, decomposition, schedule, torus, node, input_box, output_box, threads, &
                                 destroy_input, padded, nonblocking, exchange_precision, order, caller_work, interleaved, &
                                 extents, grid) result(status)
        character(*), intent(in), optional :: type, kinds, skip, precision, layout, exchange, rigor, sync, decomposition
        character(*), intent(in), optional :: schedule, torus, node, exchange_precision, order
        type(pencilfft_box), intent(in), optional :: input_box, output_box
        integer, intent(in), optional :: directions, fields, threads, padded(:), extents(:), grid(2)
        real(c_double), intent(in), optional :: auto_budget_s
        logical, intent(in), optional :: destroy_input, nonblocking, caller_work, interleaved
        character(16) :: how
        integer, allocatable :: of(:)
        integer :: on(2)
        how = "estimate"
        of = n
        on = [R, C]
        call need(pencilfft_plan_destroy(plan))
        if (present(rigor)) how = rigor
        if (present(extents)) of = extents
        if (present(grid)) on = grid
        status = pencilfft_plan_create(of, on(1), on(2), MPI_COMM_WORLD, plan, type, kinds, skip, precision, layout, &
                                       exchange, how, sync, directions, fields, auto_budget_s, decomposition, schedule, &
                                       torus, node, input_box, output_box, threads, destroy_input, padded, nonblocking, &
                                       exchange_precision, order, caller_work, interleaved)
    end function

    !> Global number of each element of a box, in an array whose axes have this order, nearest first (1 is x); periodic.
    pure function numbers(of, order) result(number)
        type(pencilfft_box), intent(in) :: of
        integer, intent(in) :: order(3)
        real(c_double), allocatable :: number(:, :, :)
        integer(c_int64_t) :: at(3)
        integer :: i, j, k
        allocate (number(of%extent(order(1)), of%extent(order(2)), of%extent(order(3))))
        do concurrent(i=1:size(number, 1), j=1:size(number, 2), k=1:size(number, 3))
            at(order) = [i, j, k] - 1
            at = modulo(at + of%offset, int(n, c_int64_t))
            number(i, j, k) = real((at(1)*n(2) + at(2))*n(3) + at(3), c_double)
        end do
    end function

    !> Shapes are those of the boxes, nearest axis first as the module says; transposes move every element.
    subroutine arrays_follow_the_layout(layout)
        character(*), intent(in) :: layout
        integer, parameter :: turned(3, 0:2) = reshape([3, 2, 1, 2, 3, 1, 1, 2, 3], [3, 3])
        integer :: order(3, 0:2)
        real(c_double), pointer :: g(:, :, :)
        order = turned
        if (layout == "natural") order = spread([3, 2, 1], 2, 3)
        call need(made(type="dct", skip="xyz", layout=layout))
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_alloc(plan, to))
        do e = 0, 1
            call need(pencilfft_box_mine(plan, e, box))
            call need(pencilfft_box_mine(plan, e + 1, other))
            call check(all(pencilfft_shape(plan, e + 1) == other%extent(order(:, e + 1))), layout//": shape of the box")
            call c_f_pointer(from, f, pencilfft_shape(plan, e))
            call c_f_pointer(to, g, pencilfft_shape(plan, e + 1))
            f = numbers(box, order(:, e))
            g = -1
            call need(pencilfft_transpose(plan, e, forth, from, to))
            call check(all(g == numbers(other, order(:, e + 1))), layout//": forward transpose is exact")
        end do
        call need(pencilfft_plan_destroy(plan))
        call check(all(pencilfft_shape(plan, pencilfft_input) == 0), "no plan has no shape")
        call check(pencilfft_exchange_chosen(plan, pencilfft_row) == "" .and. pencilfft_plan_text(plan) == "" .and. &
                   pencilfft_schedule_chosen(plan) == "", "no plan tells nothing")
        call need(made(layout=layout, extents=[C, max(R, C), R])) ! extents of 1 have the strides of a neighbouring axis
        call need(pencilfft_box_mine(plan, pencilfft_x_pencil, box))
        call check(all(pencilfft_shape(plan, pencilfft_x_pencil) == box%extent(order(:, 2))), layout//": thin X pencil")
    end subroutine

    !> exp(2 pi i (2 x / nx + 3 y / ny + 4 z / nz)): alone, in flight, as a pair in flight, backward with 1/N.
    subroutine a_wave_becomes_one_mode()
        complex(c_double_complex), pointer :: c_hat(:, :, :), d(:, :, :)
        integer, allocatable :: at(:, :, :)
        integer(c_int) :: done
        call need(made(nonblocking=.true.))
        call need(pencilfft_array(plan, pencilfft_input, a))
        call need(pencilfft_array(plan, pencilfft_input, d))
        call need(pencilfft_array(plan, pencilfft_output, b))
        call need(pencilfft_array(plan, pencilfft_output, c_hat))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call need(pencilfft_box_mine(plan, pencilfft_output, other))
        at = nint(numbers(box, [3, 2, 1]))
        a = exp(cmplx(0, two_pi*(2._c_double*(at/(n(2)*n(3)))/n(1) + 3._c_double*mod(at/n(3), n(2))/n(2) &
                                 + 4._c_double*mod(at, n(3))/n(3)), c_double_complex))
        call need(pencilfft_forward(plan, c_loc(a), c_loc(b)))
        at = nint(numbers(other, [3, 2, 1]))
        call check(all(abs(b - merge(product(n), 0, at == (2*n(2) + 3)*n(3) + 4)) < 1e-10), "mode")
        call need(pencilfft_start(plan, forth, c_loc(a), c_loc(c_hat)))
        call need(pencilfft_progress(plan, done))
        call need(pencilfft_wait(plan))
        call check(all(c_hat == b), "forward in flight")
        call need(pencilfft_set_norm(plan, back, pencilfft_norm_n))
        c_hat = 0
        call need(pencilfft_start_pair(plan, c_loc(a), c_loc(c_hat), c_loc(b), c_loc(d)))
        call need(pencilfft_wait(plan))
        call check(all(c_hat == b) .and. all(abs(d - a) < 1d-12), "a pair in flight, backward with 1/N")
        d = 0
        call need(pencilfft_execute_pair(plan, c_loc(a), c_loc(b), c_loc(c_hat), c_loc(d)))
        call check(all(abs(d - a) < 1d-12), "a pair")
    end subroutine

    !> Members that no refusal tells: padding, the precision of exchanges, destroyed inputs, parts, boxes.
    subroutine choices_are_taken()
        integer(c_int) :: number
        call need(made(padded=[14, 8, 20], exchange_precision="single"))
        call need(pencilfft_line_of(plan, 1, axis))
        call check(axis%kind == pencilfft_line_dft .and. axis%n == n(1) .and. axis%points == 14, "points of a padded line")
        call need(pencilfft_scale(plan, scaling))
        call check(scaling == 14*8*20, "scale of padded lines")
        call need(pencilfft_exchange_error(plan, scaling))
        call check(scaling == count([R, C] > 1)*2._c_double**(-24), "the error of exchanges in single precision")
        call need(made(exchange="alltoallv", destroy_input=.true.))
        call check(index(pencilfft_plan_text(plan), "0 work buffers;") > 0, "the input is a work buffer")
        call need(pencilfft_threads(plan, number))
        call check(number == 1, "a thread")
        call need(made(schedule="two-way", fields=2))
        call need(pencilfft_parts(plan, pencilfft_output, number))
        call need(pencilfft_part_mine(plan, pencilfft_output, 1, part))
        call check(number == 2 .and. part%start > 0, "two parts of the output")
        call check(index(pencilfft_schedule_chosen(plan), "two-way:") == 1, "the schedule is told")
        call refused(pencilfft_array(plan, pencilfft_output, b), bad_call, "has 2 parts")
        box%offset = 0
        box%extent = merge(n, 0, rank == R*C - 1) ! all on the last rank
        call need(made(input_box=box))
        call check(pencilfft_exchange_stage(plan, pencilfft_remap_in) == "remap_in", "there is a remap")
        call need(pencilfft_box_mine(plan, pencilfft_input, other))
        call check(all(other%extent == box%extent), "the input is in its box")
        box%extent = n
        if (R*C > 1) call refused(made(output_box=box), bad_size, "the output boxes of ranks 0 and 1 overlap")
    end subroutine

    !> Constants as components of arrays of two dimensions whose x is halved, in memory given here.
    subroutine flat_arrays_have_components_in_front()
        real(c_double), pointer :: g(:, :, :, :)
        complex(c_double_complex), pointer :: g_hat(:, :, :, :)
        integer(c_int64_t), allocatable, target :: work(:)
        integer(c_int64_t) :: least, more
        call need(made(extents=n(1:2), grid=[0, 0], type="r2c")) ! order yx
        call need(pencilfft_line_of(plan, 2, axis))
        call check(axis%kind == pencilfft_line_r2c, "y is halved by default")
        call need(made(extents=n(1:2), grid=[0, 0], type="r2c", order="xy", fields=2, interleaved=.true., &
                       caller_work=.true.))
        call need(pencilfft_work_bytes(plan, 0, least))
        call need(pencilfft_work_bytes(plan, 1, more))
        allocate (work(more/8 + 1))
        if (least > 0) call refused(pencilfft_set_work(plan, c_loc(work), least - 1), bad_call, "the plan needs")
        call need(pencilfft_set_work(plan, c_loc(work), more))
        call need(pencilfft_array(plan, pencilfft_input, g))
        call need(pencilfft_array(plan, pencilfft_output, g_hat))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call check(all(shape(g) == [2_c_int64_t, box%extent(2:1:-1), 1_c_int64_t]), "shape of interleaved fields")
        g(1, :, :, 1) = 1
        g(2, :, :, 1) = 2
        call need(pencilfft_transform(plan, forth, g, g_hat))
        call need(pencilfft_box_mine(plan, pencilfft_output, box))
        if (size(g_hat) > 0 .and. all(box%offset(:2) == 0)) g_hat(:, 1, 1, 1) = g_hat(:, 1, 1, 1) - [72, 144]
        call check(all(abs(g_hat) < 1d-10), "each component has its mean alone")
    end subroutine

    !> Numbers modulo the extents around each rank's bricks; accumulated ones count the copies of an element.
    subroutine halos_are_exchanged()
        complex(c_double_complex), allocatable, target :: own(:, :, :), padded(:, :, :)
        call need(made(decomposition="brick"))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call need(pencilfft_halo_create(plan, pencilfft_input, int([1, 2, 0], c_int64_t), int([2, 1, 3], c_int64_t), halo))
        call need(pencilfft_halo_part(halo, part))
        call check(all(part%box%offset == box%offset - [1, 2, 0]) .and. all(part%box%extent == box%extent + 3), "wider")
        own = numbers(box, [3, 2, 1])
        padded = 0*numbers(part%box, [3, 2, 1])
        call need(pencilfft_halo_exchange(halo, c_loc(own), c_loc(padded)))
        call check(all(padded == numbers(part%box, [3, 2, 1])), "periodic numbers")
        padded = 1
        call need(pencilfft_halo_accumulate(halo, c_loc(padded), c_loc(own)))
        call check(all(real(own) >= 1), "each at least once")
        call need(pencilfft_halo_traffic(halo, forth, bytes, messages))
        call check(all((bytes > 0) .eqv. (messages == 1)) .and. (R*C == 1 .or. any(bytes > 0)), "what is sent")
        call need(pencilfft_halo_destroy(halo))
        call refused(pencilfft_halo_create(plan, pencilfft_input, ones(:3), ones(:3), halo, walls="w"), &
                     pencilfft_unknown_name, "walls 'w'")
    end subroutine

    !> Lower bounds are global, for every type and array; the ranks of a row have their order.
    subroutine bounds_are_global()
        real(c_float), pointer :: g(:, :, :, :)
        complex(c_float_complex), pointer :: h(:, :, :, :)
        integer :: row, place
        call need(made(layout="stride1", type="r2c"))
        call need(pencilfft_array(plan, pencilfft_input, f, first=0))
        call need(pencilfft_box_mine(plan, pencilfft_input, box))
        call check(size(f) == 0 .or. all(lbound(f) == box%offset(3:1:-1)), "bounds of real numbers, from 0 on")
        call need(pencilfft_array(plan, pencilfft_y_pencil, a, 1))
        call need(pencilfft_box_mine(plan, pencilfft_y_pencil, box))
        call check(size(a) == 0 .or. all(lbound(a) == 1 + box%offset([2, 3, 1])), "bounds of a Y pencil, from 1 on")
        call check(size(a) == 0 .or. all(ubound(a) == box%offset([2, 3, 1]) + box%extent([2, 3, 1])), "upper bounds")
        call need(pencilfft_group(plan, pencilfft_row, row))
        call MPI_Comm_rank(row, place, ierror)
        call check(place == mod(rank, R), "the row of this rank")
        call MPI_Comm_free(row, ierror)
        call refused(pencilfft_group(plan, 7, row), bad_call, "no exchange 7; the plan has 0 to 1")
        do i = 0, 1
            call need(made(type="r2c", precision="single", fields=2, interleaved=i == 1))
            call need(pencilfft_array(plan, pencilfft_input, g))
            call need(pencilfft_array(plan, pencilfft_output, h, first=0))
            call need(pencilfft_box_mine(plan, pencilfft_output, box))
            call check(size(h) == 0 .or. all(lbound(h) == cshift([box%offset(3:1:-1), 1_c_int64_t], -i)), "bounds of fields")
            call check(all(shape(h) == cshift([box%extent(3:1:-1), 2_c_int64_t], -i)), "shape of fields")
            g = 1 + rank
            call need(pencilfft_transform(plan, forth, g, h))
            g = 0
            call need(pencilfft_transform(plan, back, h, g))
            call check(all(abs(g/product(n) - 1 - rank) < 1e-3), "single precision goes forth and back")
        end do
        call refused(pencilfft_array(plan, pencilfft_input, b), bad_call, &
                     "has 2 field(s) of real elements of 4 bytes; given: 1 of complex elements of 16 bytes")
        call check(.not. associated(b), "a refused pointer is null")
    end subroutine

    !> Waves of 3 and of 4 periods on two lines become a mode each, and come back in place.
    subroutine lines_are_transformed(algorithm, order, length)
        character(*), intent(in) :: algorithm, order
        integer, intent(in) :: length
        complex(c_double_complex), allocatable, target :: first(:), last(:)
        integer(c_int64_t) :: points(2), elements, at
        integer(c_int64_t), allocatable :: before(:), after(:)
        call need(pencilfft_line_create(int(length, c_int64_t), MPI_COMM_WORLD, line, lines=2_c_int64_t, order=order, &
                                        algorithm=algorithm, rigor="estimate"))
        call need(pencilfft_line_points(line, pencilfft_input, rank, points(1)))
        call need(pencilfft_line_points(line, pencilfft_output, rank, points(2)))
        call need(pencilfft_line_elements(line, elements))
        allocate (first(elements), last(elements), before(points(1)), after(points(2)))
        call need(pencilfft_line_indices(line, pencilfft_input, rank, before))
        call need(pencilfft_line_indices(line, pencilfft_output, rank, after))
        call need(pencilfft_line_index(line, pencilfft_output, rank, points(2) - 1, at))
        call check(at == after(points(2)), "an index of "//algorithm)
        first(:2*points(1)) = exp(cmplx(0, two_pi*[3*before, 4*before]/length, c_double))
        call need(pencilfft_line_execute(line, forth, c_loc(first), c_loc(last)))
        call check(all(abs(last(:2*points(2)) - merge(length, 0, [after == 3, after == 4])) < 1e-10), "modes of lines")
        call need(pencilfft_line_execute(line, back, c_loc(last), c_loc(last)))
        call check(all(abs(last(:2*points(1))/length - first(:2*points(1))) < 1e-12), "back again in place: "//algorithm)
        call check((pencilfft_line_exchanges(line) > 0) .eqv. (R*C > 1), "there are exchanges")
        do e = 0, pencilfft_line_exchanges(line) - 1
            call need(pencilfft_line_traffic(line, e, forth, bytes, messages))
            call check(bytes(rank + 1) == 0 .and. all((bytes > 0) .eqv. (messages == 1)), "what is sent")
            call check(len(pencilfft_line_exchange_name(line, e)) > 0, "each exchange has a name")
            call check(pencilfft_line_is_all_to_all(line, e) .eqv. algorithm == "transpose", "groups of "//algorithm)
        end do
        e = pencilfft_line_phases(line)
        call need(pencilfft_line_phase_seconds(line, seconds))
        call check(pencilfft_line_phase_name(line, 1) == "fft_line" .and. pencilfft_line_phase_name(line, e) == "total" &
                   .and. seconds(e) > 0, "phases of "//algorithm)
        call need(pencilfft_line_destroy(line))
        call check(pencilfft_line_phases(line) == 0 .and. pencilfft_line_exchanges(line) == 0, "no plan")
    end subroutine

    !> Two fields of a wave in bricks become one mode each, and come back in place.
    subroutine bricks_of_lines_are_transformed()
        integer, parameter :: size_of(3) = [5, 6, 4], mode(3) = [1, 4, 2], ends(2) = [pencilfft_input, pencilfft_output]
        complex(c_double_complex), allocatable, target :: first(:), last(:)
        integer(c_int64_t) :: extent(3), elements, at(6, 3), one, p(3)
        integer :: d, l
        call need(pencilfft_brick_lines_create(int(size_of, c_int64_t), [C, 1, R], MPI_COMM_WORLD, bricks, fields=2, &
                                               order="transposed", algorithm="dft", rigor="estimate"))
        call need(pencilfft_brick_lines_elements(bricks, elements))
        allocate (first(elements), last(elements))
        do e = 1, 2
            call need(pencilfft_brick_lines_extent(bricks, ends(e), rank, extent))
            do d = 1, 3
                call need(pencilfft_brick_lines_indices(bricks, ends(e), rank, d, at(:, d)))
                call need(pencilfft_brick_lines_index(bricks, ends(e), rank, d, extent(d) - 1, one))
                call check(one == at(extent(d), d), "an index of bricks")
            end do
            if (e == 2) call need(pencilfft_brick_lines_execute(bricks, forth, c_loc(first), c_loc(last)))
            do l = 0, 2*int(product(extent)) - 1
                p = [l/(extent(2)*extent(3)), l/extent(3), int(l, c_int64_t)]
                p = [(at(modulo(p(d), extent(d)) + 1, d), d=1, 3)]
                i = l/int(product(extent)) + 1 ! the field
                if (e == 1) first(l + 1) = i*exp(cmplx(0, two_pi*sum(mode*p/real(size_of, c_double)), c_double))
                if (e == 2) call check(abs(last(l + 1) - merge(120*i, 0, all(p == mode))) < 1e-9, "a mode of bricks")
            end do
        end do
        call need(pencilfft_brick_lines_execute(bricks, back, c_loc(last), c_loc(last)))
        call need(pencilfft_brick_lines_extent(bricks, pencilfft_input, rank, extent))
        l = 2*int(product(extent))
        call check(all(abs(last(:l)/product(size_of) - first(:l)) < 1e-12), "bricks back again in place")
        call need(pencilfft_brick_lines_destroy(bricks))
    end subroutine

    subroutine what_happened_is_told()
        integer(c_int) :: trials
        integer(c_int64_t) :: elements
        integer :: phases
        call need(made(exchange="p2p", grid=[0, C]))
        call check(all(pencilfft_grid(plan) == [R, C]), "R follows from C")
        call need(pencilfft_alloc(plan, from))
        call need(pencilfft_forward(plan, from, from))
        call need(pencilfft_phase_seconds(plan, seconds))
        phases = pencilfft_phases(plan)
        call check(phases == 14 .and. pencilfft_exchanges(plan) == 2, "pencils have 14 phases and two exchanges")
        do i = 1, phases
            if (pencilfft_phase_name(plan, i) == "total") e = i
        end do
        call check(seconds(e) > 0 .and. abs(seconds(e) - sum(seconds(:e - 1))) < 1e-3, "the phases make the total")
        call check(pencilfft_phase_name(plan, 1) == "fft_z" .and. pencilfft_phase_name(plan, 0) == "" .and. &
                   pencilfft_phase_name(plan, phases + 1) == "", "phases are counted from 1")
        call check(pencilfft_phase_kind(plan, 1) == pencilfft_kind_fft .and. pencilfft_phase_kind(plan, 0) == -1 .and. &
                   pencilfft_phase_kind(plan, e) == pencilfft_kind_total, "phases have kinds")
        call check(pencilfft_exchange_stage(plan, pencilfft_column) == "column" .and. &
                   pencilfft_exchange_stage(plan, 2) == "", "the second exchange is column, the last")
        call check(pencilfft_exchange_chosen(plan, pencilfft_column) == "p2p", "the exchange is the one asked for")
        call check(pencilfft_exchange_means(plan, pencilfft_row) == "", "p2p has one form")
        call check(pencilfft_waves(plan, 1, n(1) - 1_c_int64_t) == -1 .and. pencilfft_waves(plan, 4, 1_c_int64_t) == 0, &
                   "the last mode has one wave backwards, axis 4 none")
        call need(pencilfft_alloc_elements(plan, elements))
        call need(pencilfft_alloc_bytes(plan, bytes(1)))
        call check(bytes(1) == 16*elements .and. elements >= product(pencilfft_shape(plan, pencilfft_input)), "room for all")
        call need(pencilfft_traffic(plan, pencilfft_row, forth, bytes, messages))
        call check(count(messages > 0) == R - 1 .and. bytes(rank + 1) == 0, "a message to each other task of the row")
        call need(made(grid=[0, 0], exchange="auto", auto_budget_s=0.01_c_double))
        call need(pencilfft_grid_trials(plan, trials))
        call check(trials >= merge(1, 0, R*C > 1), "grids are tried")
        if (trials > 0) call need(pencilfft_grid_trial_of(plan, 0, trial))
        call check(trials == 0 .or. trial%R*trial%C == R*C .and. trial%least <= trial%median, "a trial of a grid")
    end subroutine

    !> By the walk, each element has its global number; modes of x have their waves.
    subroutine a_walk_meets_every_mode()
        integer(c_int64_t) :: mine
        call need(made(type="r2c", schedule="two-way"))
        call need(pencilfft_walk_begin(plan, pencilfft_output, walk))
        mine = 0
        do while (pencilfft_walk_next(walk))
            mine = mine + 1
            call check(walk%waves(1) == walk%index(1) - merge(n(1), 0, 2*walk%index(1) > n(1)) .and. &
                       walk%at >= 0 .and. walk%field == 0, "waves of a mode")
        end do
        call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        call check(mine == n(1)*n(2)*(n(3)/2 + 1), "as many elements as modes")
        call need(pencilfft_format_of(plan, pencilfft_output, form))
        call check(form%is_complex == 1 .and. form%element_bytes == 16 .and. form%n(3) == n(3)/2 + 1, "the format is told")
    end subroutine

    !> A wrong length on the last rank.
    subroutine lengths_on_one_rank_are_refused_on_all()
        integer :: more, four(4)
        four = [n, 1]
        more = merge(1, 0, rank == R*C - 1)
        call refused(made(extents=four(:3 + more)), bad_call, "pencilfft_plan_create: n has 4 elements; give 2 to 3")
        call refused(made(extents=four(:2 - more), grid=[0, 0]), bad_call, "n has 1 elements; give 2 to 3")
        call refused(made(padded=2*four(:3 + more)), bad_call, "pencilfft_plan_create: padded has 4 elements; give 3")
        call need(made())
        call refused(pencilfft_halo_create(plan, pencilfft_input, ones(:3 + more), ones(:3), halo), bad_call, &
                     "pencilfft_halo_create: low has 4 elements; give 3")
        call refused(pencilfft_halo_create(plan, pencilfft_input, ones(:3), ones(:3 - more), halo), bad_call, &
                     "pencilfft_halo_create: high has 2 elements; give 3")
        call refused(pencilfft_brick_lines_create(12*ones(:3 + more), [R, C, 1], MPI_COMM_WORLD, bricks), bad_call, &
                     "pencilfft_brick_lines_create: size has 4 elements; give 3")
        call refused(pencilfft_brick_lines_create(12*ones(:3), reshape([R, C, 1, 1], [3 + more]), MPI_COMM_WORLD, bricks), &
                     bad_call, "pencilfft_brick_lines_create: bricks has 4 elements; give 3")
    end subroutine

    subroutine short_arrays_are_refused()
        integer(c_int64_t) :: room(R*C - 1), long(100)
        integer(c_int) :: three(3)
        call need(made(type="r2c"))
        call refused(pencilfft_traffic(plan, 0, 1, room, long), bad_call, "pencilfft_traffic: bytes has")
        call refused(pencilfft_traffic(plan, 0, 1, long, room), bad_call, "pencilfft_traffic: messages has")
        call refused(pencilfft_phase_seconds(plan, seconds(:13)), bad_call, &
                     "pencilfft_phase_seconds: seconds has 13 elements; give 14 or more")
        call refused(pencilfft_bricks(plan, three(:2)), bad_call, "bricks has 2 elements; give 3")
        call need(pencilfft_halo_create(plan, pencilfft_input, ones(:3), ones(:3), halo))
        call refused(pencilfft_halo_traffic(halo, 1, room, long), bad_call, "pencilfft_halo_traffic: bytes has")
        call need(pencilfft_halo_destroy(halo))
        call need(pencilfft_array(plan, pencilfft_input, f))
        call need(pencilfft_array(plan, pencilfft_output, b))
        f = 1
        call refused(pencilfft_transform(plan, forth, f(:, :, 2:), b), bad_call, "pencilfft_transform: `from` has")
        call refused(pencilfft_transform(plan, back, b, f(:, :, 2:)), bad_call, "pencilfft_transform: `to` has")
        call refused(pencilfft_transform(plan, back, b(:, :, ::2), f), bad_call, "`from` is not contiguous")
        call arrays_of_unknown_length(f, b)
        call need(pencilfft_line_create(60_c_int64_t, MPI_COMM_WORLD, line, rigor="estimate"))
        call refused(pencilfft_line_indices(line, pencilfft_input, rank, long(:60/R/C - 1)), bad_call, &
                     "pencilfft_line_indices: indices has")
        call need(pencilfft_line_destroy(line))
        call need(pencilfft_brick_lines_create(12*ones(:3), [R, C, 1], MPI_COMM_WORLD, bricks))
        call refused(pencilfft_brick_lines_extent(bricks, pencilfft_input, rank, long(:2)), bad_call, &
                     "pencilfft_brick_lines_extent: extent has 2 elements; give 3")
        call refused(pencilfft_brick_lines_indices(bricks, pencilfft_input, rank, 3, long(:11)), bad_call, &
                     "pencilfft_brick_lines_indices: indices has 11 elements; give 12 or more")
        call need(pencilfft_brick_lines_destroy(bricks))
    end subroutine

    !> Elements and assumed-size arrays, as in codes of Fortran 77, do not tell their length and are taken.
    subroutine arrays_of_unknown_length(g, g_hat)
        real(c_double), intent(in) :: g(*)
        complex(c_double_complex), intent(inout) :: g_hat(2, *)
        complex(c_double_complex) :: first
        call need(pencilfft_transform(plan, forth, g, g_hat))
        first = g_hat(1, 1)
        g_hat(1, 1) = first + 1
        call need(pencilfft_transform(plan, forth, g(1), g_hat(1, 1)))
        call check(abs(g_hat(1, 1) - first) < 1e-9, "arrays of unknown length")
    end subroutine

    subroutine names_are_listed()
        call check(pencilfft_decomposition_name(1) == "pencil" .and. pencilfft_decomposition_name(0) == "", "decompositions")
        call check(pencilfft_exchange_name(1) == "alltoallv" .and. pencilfft_exchange_name(99) == "", "exchanges")
        call check(pencilfft_schedule_name(1) == "sequence" .and. pencilfft_type_name(1) == "c2c", "schedules and types")
        call check(pencilfft_precision_name(1) == "double" .and. pencilfft_layout_name(1) == "natural", "more names")
        call check(pencilfft_order_name(1) == "zyx" .and. pencilfft_order_name(9) == "", "orders")
        call check(pencilfft_rigor_name(1) == "estimate" .and. pencilfft_sync_name(1) == "none", "names of rigor and sync")
        call check(pencilfft_line_algorithm_name(1) == "transpose" .and. pencilfft_line_order_name(1) == "natural", "lines")
        call check(pencilfft_grid_numbers("slab ") == 1 .and. pencilfft_grid_numbers("wish") == 0, "numbers of a grid")
    end subroutine

    subroutine wisdom_is_kept()
        logical :: found
        character(1000) :: path
        call get_command_argument(3, path)
        call pencilfft_wisdom_forget()
        call need(pencilfft_wisdom_load(path, MPI_COMM_WORLD, found))
        call check(.not. found, "there is no wisdom yet")
        call need(made(exchange="auto", rigor="measure", auto_budget_s=0.1_c_double))
        call need(pencilfft_auto_seconds(plan, pencilfft_row, 1, scaling))
        call check(scaling > 0 .or. R == 1, "the first was tried")
        call need(pencilfft_wisdom_save(path, MPI_COMM_WORLD))
        call pencilfft_wisdom_forget()
        call need(pencilfft_wisdom_load(path, MPI_COMM_WORLD, found))
        call check(found, "wisdom was written")
        call refused(pencilfft_wisdom_save("/nowhere/wisdom", MPI_COMM_WORLD), bad_call, "/nowhere/wisdom")
    end subroutine

    !> A wrong value is refused by the words of its own member. A schedule has 151 sizes, the last of them wrong.
    subroutine every_choice_gets_where_it_belongs()
        integer(c_int), parameter :: unknown = pencilfft_unknown_name
        call refused(made(type="wish"), unknown, "type 'wish'")
        call refused(made(type="dct", kinds="9,9,9"), unknown, "kinds '9,9,9'")
        call refused(made(decomposition="wish"), unknown, "decomposition 'wish'; known: pencil, slab, brick")
        call refused(made(skip="xx"), unknown, "skip 'xx' has x twice")
        call refused(made(auto_budget_s=-1._c_double), bad_call, "auto_budget_s is -1")
        call refused(made(precision="wish"), unknown, "precision 'wish'")
        call refused(made(exchange_precision="wish"), unknown, "precision 'wish'")
        call refused(made(layout="wish"), unknown, "layout 'wish'")
        call refused(made(layout=repeat("long", 200)), unknown, "layout 'longlong")
        call refused(made(exchange="wish"), unknown, "exchange 'wish'; known: alltoallv")
        call refused(made(rigor="wish"), unknown, "rigor 'wish'")
        call refused(made(sync="wish"), unknown, "sync 'wish'")
        call refused(made(schedule="overlap:"//repeat("1,", 150)//"9999"), unknown, "from 1 to 1000")
        call refused(made(torus="8x8", node="1 2 3"), bad_call, "write 2 numbers")
        call refused(made(threads=-2), bad_call, "threads is -2")
        call refused(pencilfft_line_create(16_c_int64_t, MPI_COMM_WORLD, line, algorithm="fast"), unknown, "algorithm 'f")
        call refused(pencilfft_line_create(16_c_int64_t, MPI_COMM_WORLD, line, precision="half"), unknown, "precision 'h")
        call refused(pencilfft_line_create(16_c_int64_t, MPI_COMM_WORLD, line, sync="wish"), unknown, "sync 'wish'")
        call need(made(directions=1))
        call need(pencilfft_alloc(plan, from))
        call refused(pencilfft_backward(plan, from, from), bad_call, "not made for this direction")
    end subroutine
end program fortran_test
