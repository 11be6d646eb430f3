/* Questions to a plan for distributed lines. */
#include <string.h>

#include "common/failure.h"
#include "geometry/blocks.h"
#include "line_plans/line.h"

static const struct pf_line_layout *layout_of(const struct pencilfft_line_plan_s *plan, int array)
{
    const struct pf_line_steps *s = &plan->steps;
    return array == PENCILFFT_INPUT ? &s->from : array == PENCILFFT_OUTPUT ? &s->to : NULL;
}

static int check_question(pencilfft_line_plan plan, int array, int rank, const void *result, const char *function)
{
    if (!plan || !result || !layout_of(plan, array))
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or result, or an array that is neither input nor output",
                       function);
    if (rank < 0 || rank >= plan->ranks)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: rank %d; ranks are 0..%d", function, rank, plan->ranks - 1);
    return PENCILFFT_OK;
}

int pencilfft_line_points(pencilfft_line_plan plan, int array, int rank, int64_t *points)
{
    int status = check_question(plan, array, rank, points, "pencilfft_line_points");
    if (!status)
        *points = pf_line_points(layout_of(plan, array), rank);
    return status;
}

int pencilfft_line_index(pencilfft_line_plan plan, int array, int rank, int64_t i, int64_t *index)
{
    int status = check_question(plan, array, rank, index, "pencilfft_line_index");
    if (status)
        return status;
    const struct pf_line_layout *layout = layout_of(plan, array);
    int64_t points = pf_line_points(layout, rank);
    if (i < 0 || i >= points)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_index: point %lld; rank %d holds %lld", (long long)i, rank,
                       (long long)points);
    *index = pf_line_label(layout, rank, i);
    return PENCILFFT_OK;
}

int pencilfft_line_indices(pencilfft_line_plan plan, int array, int rank, int64_t *indices)
{
    int status = check_question(plan, array, rank, indices, "pencilfft_line_indices");
    if (status)
        return status;
    const struct pf_line_layout *layout = layout_of(plan, array);
    int64_t points = pf_line_points(layout, rank);
    for (int64_t i = 0; i < points; i++)
        indices[i] = pf_line_label(layout, rank, i);
    return PENCILFFT_OK;
}

int64_t pf_line_elements(const struct pencilfft_line_plan_s *plan)
{
    return plan->lines *
           pf_larger(pf_line_points(&plan->steps.from, plan->rank), pf_line_points(&plan->steps.to, plan->rank));
}

int pencilfft_line_elements(pencilfft_line_plan plan, int64_t *elements)
{
    if (!plan || !elements)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_elements: null plan or result");
    *elements = pf_line_elements(plan);
    return PENCILFFT_OK;
}

int pencilfft_line_exchanges(pencilfft_line_plan plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_exchanges: null plan or result");
    *n = plan->exchanges;
    return PENCILFFT_OK;
}

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

int pencilfft_line_phases(pencilfft_line_plan plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_phases: null plan or result");
    *n = 2 + 3 * plan->exchanges;
    return PENCILFFT_OK;
}

const char *pencilfft_line_phase_name(pencilfft_line_plan plan, int phase)
{
    return plan && phase >= 0 && phase < 2 + 3 * plan->exchanges ? plan->phase[phase] : NULL;
}

int pencilfft_line_phase_seconds(pencilfft_line_plan plan, double *seconds)
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_line_phase_seconds: null plan or result");
    memcpy(seconds, plan->seconds, (size_t)(2 + 3 * plan->exchanges) * sizeof *seconds);
    return PENCILFFT_OK;
}
