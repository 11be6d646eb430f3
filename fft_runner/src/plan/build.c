/* The part of a plan that follows from the exchanges that were chosen, by a table of stages as in create.c.
 * Cost:  FFTW plans on two buffers of the size of work besides it, which are gone when the plan is made. */
#include "plan/make.h"

#include <stdlib.h>

#include "common/failure.h"

static void grow(int64_t *largest, int64_t elements)
{
    *largest = elements > *largest ? elements : *largest;
}

static int64_t largest_array(const struct pencilfft_plan_s *plan)
{
    int64_t per_element = (int64_t)(plan->element_bytes / plan->input_bytes);
    int64_t largest = (pf_box_elements(&plan->input) * plan->fields + per_element - 1) / per_element;
    for (int array = 0; array <= plan->exchanges; array++)
        grow(&largest, pf_box_elements(&plan->mine[array]) * plan->fields);
    return largest;
}

static int plan_transfers(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    plan->alloc_elements = largest_array(plan);
    pf_passes_choose(plan);
    for (int backward = 0; backward < PF_DIRECTIONS; backward++) {
        if (!pf_has_direction(plan, backward))
            continue;
        pf_joints_make(plan, backward);
        for (int e = 0; e < plan->exchanges && !status; e++) {
            status = pf_transfer_plan(plan, backward, e);
            grow(&plan->alloc_elements, plan->transfer[backward][e].sent.list.total);
            grow(&plan->alloc_elements, plan->transfer[backward][e].received.list.total);
        }
    }
    return status;
}

static int make_work(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < PF_WORKS && !status; i++)
        if (pf_joints_need(plan, PF_WORK + i))
            status = pencilfft_alloc(plan, &plan->work[i]);
    return status;
}

static int connect_transfers(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        for (int e = 0; e < plan->exchanges && !status; e++)
            status = pf_agree(pf_transfer_connect(plan, backward, e), plan->all);
    return status;
}

static int make_passes(pencilfft_plan plan)
{
    struct pf_buffer in = {0}, out = {0};
    int status = pf_buffer_make(plan, &in);
    if (!status)
        status = pf_buffer_make(plan, &out);
    for (int backward = 0; backward < PF_DIRECTIONS && !status; backward++)
        if (pf_has_direction(plan, backward) && !(status = pf_passes_make(plan, backward, in.data, out.data)))
            status = pf_steps_make(plan, backward);
    free(in.raw);
    free(out.raw);
    return status;
}

static int (*const stages[])(pencilfft_plan plan) = {plan_transfers, make_work, connect_transfers, make_passes};

int pf_plan_build(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && !status; i++)
        status = pf_agree(stages[i](plan), plan->all);
    return status;
}

static void release_sequence(struct pf_sequence *sequence)
{
    for (int i = 0; i < sequence->n; i++)
        pf_pass_release(&sequence->pass[i]);
    pf_steps_release(&sequence->transform);
    for (int e = 0; e < PF_MAX_EXCHANGES; e++)
        pf_steps_release(&sequence->alone[e]);
    *sequence = (struct pf_sequence){.n = 0};
}

void pf_plan_clear(pencilfft_plan plan)
{
    for (int backward = 0; backward < PF_DIRECTIONS; backward++) {
        for (int e = 0; e < plan->exchanges; e++)
            pf_transfer_release(&plan->transfer[backward][e]);
        release_sequence(&plan->sequence[backward]);
    }
    pf_buffers_release(plan);
}
