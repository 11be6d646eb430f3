/* The part of a plan that follows from the chosen exchanges, by a table of stages as in create.c.
 * Cost:  FFTW plans on two buffers of the size of work, freed when the plan is made, or on the lent buffers. */
#include "ends/ends.h"
#include "layout/layout.h"
#include "passes/passes.h"
#include "run/inside.h"

#include <stdlib.h>

static void grow(int64_t *largest, int64_t elements)
{
    *largest = elements > *largest ? elements : *largest;
}

static int check_exchanges(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->layout.exchanges && !status; e++)
        status = pf_transfer_check(plan, e);
    return status;
}

static int plan_transfers(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++) {
        if (!pf_has_direction(plan, backward))
            continue;
        for (int l = 0; l < plan->layout.lanes; l++)
            for (int at = 0; at < plan->layout.exchanges && !status; at++)
                status = pf_transfer_plan(plan, backward, l, at);
        if (!status)
            pf_joints_make(plan, backward);
    }
    return status;
}

/* The slots of the lanes follow each other in the work buffers. If the exchanges run alone, the caller's arrays hold their
 * messages too. */
static int set_sizes(pencilfft_plan plan)
{
    plan->memory.alloc_elements = pf_largest_elements(plan, plan->rank);
    plan->memory.work_elements = pf_lanes_place(plan);
    if (!plan->chosen.beside) {
        grow(&plan->memory.alloc_elements, plan->memory.work_elements);
        plan->memory.work_elements = plan->memory.alloc_elements;
    }
    return PENCILFFT_OK;
}

/* Allocate the in-place buffers at the first in-place run. */
static int make_work(pencilfft_plan plan)
{
    int status = pf_works_make(plan, false);
    if (!status && !(plan->program.flying = calloc((size_t)plan->layout.lanes * PF_MAX_EXCHANGES * PF_DIRECTIONS,
                                                   sizeof *plan->program.flying)))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the exchanges of %d lanes", plan->layout.lanes);
    return status;
}

static int connect_transfers(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        for (int l = 0; l < plan->layout.lanes; l++)
            for (int at = 0; at < plan->layout.exchanges && !status; at++)
                status = pf_agree(pf_transfer_connect(plan, backward, l, at), plan->all);
    return status;
}

static int make_passes(pencilfft_plan plan)
{
    struct pf_buffer in = {.data = plan->memory.lent[0]}, out = {.data = plan->memory.lent[1]};
    int status = PENCILFFT_OK;
    if (plan->memory.lent_elements < plan->memory.alloc_elements &&
        !(status = pf_buffer_make(plan, plan->memory.alloc_elements, &in)))
        status = pf_buffer_make(plan, plan->memory.alloc_elements, &out);
    for (int backward = 0; backward < PF_DIRECTIONS && !status; backward++)
        if (pf_has_direction(plan, backward) && !(status = pf_passes_make(plan, backward, in.data, out.data)))
            status = pf_steps_make(plan, backward);
    for (int backward = 0; backward < PF_DIRECTIONS && !status; backward++)
        if (pf_has_direction(plan, backward))
            status = pf_whole_make(plan, backward, in.data, out.data);
    if (!status)
        status = pf_steps_pair(plan);
    free(in.raw);
    free(out.raw);
    return status;
}

static int (*const stages[])(pencilfft_plan plan) = {check_exchanges, pf_lanes_make,     plan_transfers, set_sizes,
                                                     make_work,       connect_transfers, make_passes};

int pf_plan_build(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && !status; i++)
        status = pf_agree(stages[i](plan), plan->all);
    return status;
}

static void release_sequence(const struct pencilfft_plan_s *plan, struct pf_sequence *sequence)
{
    pf_whole_release(plan, &sequence->whole);
    for (int r = 0; r < PF_MAX_ROUTES; r++)
        for (int i = 0; i < PF_MAX_PASSES; i++)
            pf_pass_release(&sequence->pass[r][i]);
    pf_steps_release(&sequence->transform);
    for (int e = 0; e < PF_MAX_EXCHANGES; e++)
        pf_steps_release(&sequence->alone[e]);
    *sequence = (struct pf_sequence){.n = 0};
}

void pf_plan_clear(pencilfft_plan plan)
{
    pf_transfers_release(plan);
    pf_lanes_release(plan);
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        release_sequence(plan, &plan->program.sequence[backward]);
    pf_steps_release(&plan->program.pair);
    free(plan->program.flying);
    plan->program.flying = NULL;
    pf_buffers_release(plan);
}
