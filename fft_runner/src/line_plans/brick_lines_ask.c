/* Questions to a plan for bricks of lines. */
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "line_plans/brick_lines.h"

static int check_question(pencilfft_brick_lines plan, int array, int rank, const void *result, const char *function)
{
    if (!plan || !result || (array != PENCILFFT_INPUT && array != PENCILFFT_OUTPUT))
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result, or an array that is neither input nor output",
                       function);
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: rank %d; ranks are 0..%d", function, rank, plan->ranks - 1);
    return PENCILFFT_OK;
}

static int position_of(const struct pencilfft_brick_lines_s *plan, int axis, int rank)
{
    return rank / plan->axis[axis].apart % plan->axis[axis].ranks;
}

int pencilfft_brick_lines_extent(pencilfft_brick_lines plan, int array, int rank, int64_t extent[3])
{
    int status = check_question(plan, array, rank, extent, "pencilfft_brick_lines_extent");
    for (int axis = 0; axis < 3 && !status; axis++)
        extent[axis] = pf_brick_points(plan, axis, array == PENCILFFT_OUTPUT, position_of(plan, axis, rank));
    return status;
}

static int check_axis(int axis, const char *function)
{
    if (axis < 0 || axis > 2)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: axis %d; axes are 0..2", function, axis);
    return PENCILFFT_OK;
}

int pencilfft_brick_lines_index(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t i, int64_t *index)
{
    int status = check_question(plan, array, rank, index, "pencilfft_brick_lines_index");
    if (!status)
        status = check_axis(axis, "pencilfft_brick_lines_index");
    if (status)
        return status;
    int position = position_of(plan, axis, rank), after = array == PENCILFFT_OUTPUT;
    int64_t points = pf_brick_points(plan, axis, after, position);
    if (i < 0 || i >= points)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_index: point %lld; rank %d holds %lld along %c",
                       (long long)i, rank, (long long)points, "xyz"[axis]);
    *index = pf_line_label(&plan->axis[axis].ends[after], position, i);
    return PENCILFFT_OK;
}

int pencilfft_brick_lines_indices(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t *indices)
{
    int status = check_question(plan, array, rank, indices, "pencilfft_brick_lines_indices");
    if (!status)
        status = check_axis(axis, "pencilfft_brick_lines_indices");
    if (status)
        return status;
    int position = position_of(plan, axis, rank), after = array == PENCILFFT_OUTPUT;
    int64_t points = pf_brick_points(plan, axis, after, position);
    for (int64_t i = 0; i < points; i++)
        indices[i] = pf_line_label(&plan->axis[axis].ends[after], position, i);
    return PENCILFFT_OK;
}

int pencilfft_brick_lines_elements(pencilfft_brick_lines plan, int64_t *elements)
{
    if (!plan || !elements)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_elements: null plan or result");
    *elements = plan->elements;
    return PENCILFFT_OK;
}

int pencilfft_brick_lines_exchanges(pencilfft_brick_lines plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_exchanges: null plan or result");
    *n = plan->exchanges;
    return PENCILFFT_OK;
}

const char *pencilfft_brick_lines_exchange_name(pencilfft_brick_lines plan, int exchange)
{
    return plan && exchange >= 0 && exchange < plan->exchanges ? plan->exchange[exchange] : NULL;
}

/* NULL if there is no such exchange. */
static const struct pf_brick_axis *axis_of(const struct pencilfft_brick_lines_s *plan, int exchange)
{
    for (int axis = 0; axis < 3 && plan; axis++) {
        int within = exchange - plan->axis[axis].first_exchange;
        if (within >= 0 && within < plan->axis[axis].exchanges)
            return &plan->axis[axis];
    }
    return NULL;
}

int pencilfft_brick_lines_is_all_to_all(pencilfft_brick_lines plan, int exchange)
{
    const struct pf_brick_axis *a = axis_of(plan, exchange);
    return a && pencilfft_line_is_all_to_all(a->lines, exchange - a->first_exchange);
}

int pencilfft_brick_lines_traffic(pencilfft_brick_lines plan, int exchange, pencilfft_direction direction, int64_t *bytes,
                                  int64_t *messages)
{
    const struct pf_brick_axis *a = axis_of(plan, exchange);
    if (!a || (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_traffic: null plan, or no such exchange or direction");
    int64_t *of_line = calloc(2 * (size_t)a->ranks, sizeof *of_line);
    if (!of_line)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for what %d ranks send", a->ranks);
    int status = PENCILFFT_OK;
    if (a->count) /* a plan without lines is not run */
        status = pencilfft_line_traffic(a->lines, exchange - a->first_exchange, direction, of_line, of_line + a->ranks);
    for (int rank = 0; rank < plan->ranks; rank++) {
        int position = rank / a->apart % a->ranks;
        bool shares = rank - position * a->apart == plan->rank - a->position * a->apart;
        if (bytes)
            bytes[rank] = shares ? of_line[position] : 0;
        if (messages)
            messages[rank] = shares ? of_line[a->ranks + position] : 0;
    }
    free(of_line);
    return status;
}

int pencilfft_brick_lines_phases(pencilfft_brick_lines plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_phases: null plan or result");
    *n = plan->phases;
    return PENCILFFT_OK;
}

const char *pencilfft_brick_lines_phase_name(pencilfft_brick_lines plan, int phase)
{
    return plan && phase >= 0 && phase < plan->phases ? plan->phase[phase] : NULL;
}

int pencilfft_brick_lines_phase_seconds(pencilfft_brick_lines plan, double *seconds)
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_brick_lines_phase_seconds: null plan or result");
    memcpy(seconds, plan->seconds, (size_t)plan->phases * sizeof *seconds);
    return PENCILFFT_OK;
}
