/* Questions to plans for distributed lines, alone and on bricks. */
#include <stdlib.h>
#include <string.h>

#include "line_plans/line.h"

/* ---- both kinds of plans ---------------------------------------------------------------------------------------------- */

/* `plan` is null without a plan. */
static int check_question(const struct pf_handle *plan, int array, int rank, const void *result, const char *function)
{
    if (!plan || !result || (array != PENCILFFT_INPUT && array != PENCILFFT_OUTPUT))
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result, or an array that is neither input nor output",
                       function);
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: rank %d; ranks are 0..%d", function, rank, plan->ranks - 1);
    return PENCILFFT_OK;
}

/* The index of point i of a rank, which has that position on its line. */
static int tell_label(const struct pf_line_layout *layout, int position, int rank, int64_t i, const char *along,
                      const char *function, int64_t *index)
{
    int64_t points = pf_line_points(layout, position);
    if (i < 0 || i >= points)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: point %lld; rank %d holds %lld%s", function, (long long)i, rank,
                       (long long)points, along);
    *index = pf_line_label(layout, position, i);
    return PENCILFFT_OK;
}

static void tell_labels(const struct pf_line_layout *layout, int position, int64_t *indices)
{
    for (int64_t i = 0; i < pf_line_points(layout, position); i++)
        indices[i] = pf_line_label(layout, position, i);
}

/* The questions that both kinds answer from the same members. */
#define ASKED(name, type)                                                                          \
    PF_TELLS(name##_exchanges, type, int, plan->exchanges)                                         \
    PF_TELLS(name##_phases, type, int, plan->phases)                                               \
    const char *name##_phase_name(type plan, int phase)                                            \
    {                                                                                              \
        return plan && phase >= 0 && phase < plan->phases ? plan->phase[phase] : NULL;             \
    }                                                                                              \
    int name##_phase_seconds(type plan, double *seconds)                                           \
    {                                                                                              \
        if (!plan || !seconds)                                                                     \
            return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result", #name "_phase_seconds"); \
        memcpy(seconds, plan->seconds, (size_t)plan->phases * sizeof *seconds);                    \
        return PENCILFFT_OK;                                                                       \
    }
ASKED(pencilfft_line, pencilfft_line_plan)
ASKED(pencilfft_brick_lines, pencilfft_brick_lines)

/* ---- lines ------------------------------------------------------------------------------------------------------------ */

static const struct pf_line_layout *layout_of(const struct pencilfft_line_plan_s *plan, int array)
{
    const struct pf_line_steps *s = &plan->steps;
    return array == PENCILFFT_INPUT ? &s->from : &s->to;
}

int pencilfft_line_points(pencilfft_line_plan plan, int array, int rank, int64_t *points)
{
    int status = check_question(plan ? &plan->handle : NULL, array, rank, points, "pencilfft_line_points");
    if (!status)
        *points = pf_line_points(layout_of(plan, array), rank);
    return status;
}

int pencilfft_line_index(pencilfft_line_plan plan, int array, int rank, int64_t i, int64_t *index)
{
    int status = check_question(plan ? &plan->handle : NULL, array, rank, index, "pencilfft_line_index");
    return status ? status : tell_label(layout_of(plan, array), rank, rank, i, "", "pencilfft_line_index", index);
}

int pencilfft_line_indices(pencilfft_line_plan plan, int array, int rank, int64_t *indices)
{
    int status = check_question(plan ? &plan->handle : NULL, array, rank, indices, "pencilfft_line_indices");
    if (!status)
        tell_labels(layout_of(plan, array), rank, indices);
    return status;
}

PF_TELLS(pencilfft_line_elements, pencilfft_line_plan, int64_t,
         plan->lines *pf_larger(pf_line_points(&plan->steps.from, plan->rank), pf_line_points(&plan->steps.to, plan->rank)))

/* NULL if there is no such exchange. */
static const struct pf_line_step *exchange_of(const struct pencilfft_line_plan_s *plan, int exchange)
{
    return plan && exchange >= 0 && exchange < plan->exchanges ? &plan->steps.step[plan->step_of[exchange]] : NULL;
}

const char *pencilfft_line_exchange_name(pencilfft_line_plan plan, int exchange)
{
    const struct pf_line_step *step = exchange_of(plan, exchange);
    return step ? step->name : NULL;
}

int pencilfft_line_is_all_to_all(pencilfft_line_plan plan, int exchange)
{
    const struct pf_line_step *step = exchange_of(plan, exchange);
    return step && step->kind == PF_LINE_MOVE;
}

static void tell(int64_t elements, size_t element_bytes, int rank, int64_t *bytes, int64_t *messages)
{
    if (bytes)
        bytes[rank] = elements * (int64_t)element_bytes;
    if (messages)
        messages[rank] = elements > 0;
}

int pencilfft_line_traffic(pencilfft_line_plan plan, int exchange, pencilfft_direction direction, int64_t *bytes,
                           int64_t *messages)
{
    const struct pf_line_step *step = exchange_of(plan, exchange);
    if (!step || (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_traffic: null plan, or no such exchange or direction");
    const struct pf_line_work *w = &plan->work[plan->step_of[exchange]];
    for (int r = 0; r < plan->ranks; r++) {
        bool moves = step->kind == PF_LINE_MOVE && r != plan->rank;
        tell(moves ? w->move.side[direction == PENCILFFT_BACKWARD].each[r] * plan->lines : 0, plan->numbers->bytes, r, bytes,
             messages);
    }
    for (int i = 0; i < w->meet.peers; i++)
        tell(step->scatter ? w->meet.elements[i] : w->meet.mine, plan->numbers->bytes, w->meet.peer[i], bytes, messages);
    return PENCILFFT_OK;
}

/* ---- bricks of lines -------------------------------------------------------------------------------------------------- */

static int position_of(const struct pencilfft_brick_lines_s *plan, int axis, int rank)
{
    return rank / plan->axis[axis].apart % plan->axis[axis].ranks;
}

int pencilfft_brick_lines_extent(pencilfft_brick_lines plan, int array, int rank, int64_t extent[3])
{
    int status = check_question(plan ? &plan->handle : NULL, array, rank, extent, "pencilfft_brick_lines_extent");
    for (int axis = 0; axis < 3 && !status; axis++)
        extent[axis] = pf_brick_points(plan, axis, array == PENCILFFT_OUTPUT, position_of(plan, axis, rank));
    return status;
}

static int check_axis_question(const struct pencilfft_brick_lines_s *plan, int array, int rank, int axis, const void *result,
                               const char *function)
{
    int status = check_question(plan ? &plan->handle : NULL, array, rank, result, function);
    if (!status && (axis < 0 || axis > 2))
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: axis %d; axes are 0..2", function, axis);
    return status;
}

int pencilfft_brick_lines_index(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t i, int64_t *index)
{
    static const char *const along[] = {" along x", " along y", " along z"};
    int status = check_axis_question(plan, array, rank, axis, index, "pencilfft_brick_lines_index");
    return status ? status
                  : tell_label(&plan->axis[axis].ends[array == PENCILFFT_OUTPUT], position_of(plan, axis, rank), rank, i,
                               along[axis], "pencilfft_brick_lines_index", index);
}

int pencilfft_brick_lines_indices(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t *indices)
{
    int status = check_axis_question(plan, array, rank, axis, indices, "pencilfft_brick_lines_indices");
    if (!status)
        tell_labels(&plan->axis[axis].ends[array == PENCILFFT_OUTPUT], position_of(plan, axis, rank), indices);
    return status;
}

PF_TELLS(pencilfft_brick_lines_elements, pencilfft_brick_lines, int64_t, plan->elements)

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
