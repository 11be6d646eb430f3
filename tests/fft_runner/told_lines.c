/* Distributed lines, and bricks of lines. */
#include <stdlib.h>

#include "check_mpi.h"
#include "pencilfft_line.h"
#include "recorded_calls.h"
#include "told.h"

enum { MOST_POINTS = 4000, COMPLEX_BYTES = 16 };

static const char *any_of(const char *(*name)(int i), int64_t number, int64_t which)
{
    return plan_draw_name((uint64_t)told_chance(number, which, INT64_MAX), name);
}

/* Common lines of text of lines and bricks of lines, by the names of their functions. */
#define TELL_EXCHANGES(plan, kind)                                                                               \
    for (int e = 0; kind##_exchange_name(plan, e); e++) {                                                        \
        int64_t bytes[TOLD_RANKS], messages[TOLD_RANKS];                                                         \
        fprintf(told, "exchange %s, of all %d\n", kind##_exchange_name(plan, e), kind##_is_all_to_all(plan, e)); \
        for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)                    \
            tell_traffic(direction, kind##_traffic(plan, e, direction, bytes, messages), bytes, messages);       \
    }                                                                                                            \
    for (int phase = 0; kind##_phase_name(plan, phase); phase++)                                                 \
    fprintf(told, "phase %s\n", kind##_phase_name(plan, phase))
#define TELL_RUNS(plan, kind)                                                                         \
    do {                                                                                              \
        int64_t elements = 0;                                                                         \
        if (kind##_elements(plan, &elements))                                                         \
            abort_with_message();                                                                     \
        fprintf(told, "%lld elements\n", (long long)elements);                                        \
        void *in = told_array(elements * COMPLEX_BYTES), *out = told_array(elements * COMPLEX_BYTES); \
        for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++) {       \
            tell_status("executed", kind##_execute(plan, direction, in, out));                        \
            tell_status("executed in place", kind##_execute(plan, direction, in, in));                \
        }                                                                                             \
        free(in);                                                                                     \
        free(out);                                                                                    \
    } while (0)

void tell_line(int64_t number)
{
    pencilfft_line_desc d;
    pencilfft_line_plan plan;
    pencilfft_line_desc_init(&d);
    d.n = (1 + told_chance(number, 0, told_chance(number, 1, 2) ? 40 : 300)) *
          (told_chance(number, 2, 2) ? told_check.ranks : 1);
    d.lines = 1 + told_chance(number, 3, 3);
    d.algorithm = any_of(pencilfft_line_algorithm_name, number, 4);
    d.order = any_of(pencilfft_line_order_name, number, 5);
    d.precision = any_of(pencilfft_precision_name, number, 6);
    d.sync = told_chance(number, 7, 2) ? "barrier" : "none";
    d.rigor = "estimate";
    fprintf(told, "n=%lld lines=%lld %s %s %s %s\n", (long long)d.n, (long long)d.lines, d.algorithm, d.order, d.precision,
            d.sync);
    int status = pencilfft_line_create(&d, told_check.grid, &plan);
    tell_status("planned", status);
    if (status)
        return;
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++)
        for (int rank = 0; rank < told_check.ranks; rank++) {
            int64_t points = 0, index[MOST_POINTS];
            if (!pencilfft_line_points(plan, array, rank, &points) && !pencilfft_line_indices(plan, array, rank, index))
                tell_indices(index, points);
        }
    TELL_EXCHANGES(plan, pencilfft_line);
    TELL_RUNS(plan, pencilfft_line);
    if (pencilfft_line_destroy(plan))
        abort_with_message();
}

/* All ranks in three factors. */
static void draw_bricks(int64_t number, int bricks[3])
{
    int left = told_check.ranks;
    for (int axis = 0, which = 20; axis < 2; axis++) {
        do
            bricks[axis] = 1 + (int)told_chance(number, which++, left);
        while (left % bricks[axis]);
        left /= bricks[axis];
    }
    bricks[2] = left;
}

void tell_brick_lines(int64_t number)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(&d);
    draw_bricks(number, d.bricks);
    int64_t *n[3] = {&d.nx, &d.ny, &d.nz};
    for (int axis = 0; axis < 3; axis++)
        *n[axis] = (1 + told_chance(number, axis, 12)) * (told_chance(number, 3 + axis, 2) ? d.bricks[axis] : 1);
    d.fields = 1 + (int)told_chance(number, 6, 3);
    d.algorithm = any_of(pencilfft_line_algorithm_name, number, 7);
    d.order = any_of(pencilfft_line_order_name, number, 8);
    d.precision = any_of(pencilfft_precision_name, number, 9);
    d.rigor = "estimate";
    fprintf(told, "%lldx%lldx%lld, bricks %dx%dx%d, fields=%d %s %s %s\n", (long long)d.nx, (long long)d.ny, (long long)d.nz,
            d.bricks[0], d.bricks[1], d.bricks[2], d.fields, d.algorithm, d.order, d.precision);
    int status = pencilfft_brick_lines_create(&d, told_check.grid, &plan);
    tell_status("planned", status);
    if (status)
        return;
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++)
        for (int rank = 0; rank < told_check.ranks; rank++)
            for (int axis = 0; axis < 3; axis++) {
                int64_t extent[3], index[MOST_POINTS];
                if (!pencilfft_brick_lines_extent(plan, array, rank, extent) &&
                    !pencilfft_brick_lines_indices(plan, array, rank, axis, index))
                    tell_indices(index, extent[axis]);
            }
    TELL_EXCHANGES(plan, pencilfft_brick_lines);
    TELL_RUNS(plan, pencilfft_brick_lines);
    if (pencilfft_brick_lines_destroy(plan))
        abort_with_message();
}
