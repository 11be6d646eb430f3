/* Exchange and schedule "auto": try the others when the plan is made, and take the fastest.
 * Idea:  what counts is how fast the transform is, not how fast the exchange is alone: one candidate has no packing
 *        to fuse with the FFTs, one gives them its memory to write into. So with each candidate the plan is made whole, as it
 *        would be used, and whole transforms are timed, both directions where both are planned. First the exchanges are chosen,
 *        in sequence; then the schedules that keep the boxes are tried. All ranks see the slowest rank's times, so that all
 *        make the same choice. No candidate starts after the budget is used up.
 * Source: the planner of FFTW; dtFFT and cuDecomp try their backends in the same way.
 * Cost:  the budget, and the last candidate's first runs beyond it. Memory of a plan with that candidate and, as for
 *        every plan that is made, two arrays more; the caller's arrays are not touched.
 * Needs: nothing; a candidate that refuses these extents or this MPI is skipped. */
#include "choose/auto.h"
#include "choose/choose.h"

#include "common/failure.h"

static const struct pf_exchange *exchange_at(int i)
{
    return pf_table_row(&pf_exchanges, i);
}

/* Nodes matter for what is fastest; the kind of machine and the MPI are those of the wisdom as a whole. */
static int count_nodes(MPI_Comm comm, int *nodes)
{
    int rank;
    MPI_Comm node = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PF_MPI(MPI_Comm_rank(node, &rank));
    int first = rank == 0;
    PF_MPI(MPI_Allreduce(&first, nodes, 1, MPI_INT, MPI_SUM, comm));
    PF_MPI(MPI_Comm_free(&node));
    return PENCILFFT_OK;
}

/* Is there a group that exchanges, and an exchange that runs beside other work? */
static bool may_run_beside(const struct pencilfft_plan_s *plan)
{
    bool moves = false, beside = false;
    for (int e = 0; e < plan->exchanges; e++)
        moves |= plan->p[e] > 1;
    for (int i = 0; i < pf_exchanges.count; i++)
        beside |= exchange_at(i)->plan && exchange_at(i)->beside;
    return moves && (plan->exchange->plan ? plan->exchange->beside : beside);
}

int pf_auto_choose(pencilfft_plan plan, double budget_s, bool anew)
{
    struct pf_trial trial = {.plan = plan, .anew = anew};
    bool schedules = plan->any_schedule && may_run_beside(plan);
    double for_schedules = schedules ? 0.2 * budget_s : 0; /* of the budget, and what the exchanges leave */
    int nodes, status = count_nodes(plan->all, &nodes);
    if (!status && !plan->exchange->plan)
        status = pf_auto_exchanges(&trial, budget_s - for_schedules, nodes);
    if (!status && schedules)
        status = pf_auto_schedule(&trial, budget_s, nodes);
    pf_trial_release(&trial);
    return status;
}

int pencilfft_auto_seconds(pencilfft_plan plan, int e, int i, double *seconds)
{
    if (!pf_is_exchange(plan, e) || !seconds || i < 0 || i >= pf_exchanges.count)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_auto_seconds: null plan or result, or no such exchange");
    *seconds = plan->auto_seconds[e] ? plan->auto_seconds[e][i] : 0;
    return PENCILFFT_OK;
}
