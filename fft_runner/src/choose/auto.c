/* Grid, exchange and schedule "auto": try the candidates when the plan is made, and take the fastest.
 * Idea:  the speed of the transform counts, not the speed of the exchange alone: some candidates have no packing to fuse
 *        with the FFTs, others lend their memory to the passes. So each candidate gets a complete plan, and whole transforms
 *        are timed, in both directions if both are planned. The grid is chosen first, if it is open, then the exchanges, in
 *        sequence; then the schedules that keep the boxes are tried. All ranks use the times of the slowest rank, so that
 *        all make the same choice. No candidate starts after the budget is used up.
 * Source: the planner of FFTW; dtFFT and cuDecomp try their backends in the same way.
 * Cost:  the budget, and beyond it the first runs of the last candidate. Memory of a plan with that candidate and two arrays
 *        more, as for every plan; the caller's arrays are not touched.
 * Needs: nothing; a candidate that refuses these extents or this MPI is skipped. */
#include "choose/auto.h"
#include "choose/choose.h"

/* The key has the number of nodes, because the fastest exchange depends on it; the file names machine and MPI. */
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

/* Whether a group exchanges, and an exchange can run beside other work. */
static bool may_run_beside(const struct pencilfft_plan_s *plan)
{
    bool moves = false, beside = false;
    for (int e = 0; e < plan->layout.exchanges; e++)
        moves |= plan->layout.p[e] > 1;
    for (int i = 0; i < pf_exchanges.count; i++)
        beside |= pf_exchange_at(i)->plan && pf_exchange_at(i)->beside;
    return moves && (plan->request.exchange->plan ? plan->request.exchange->beside : beside);
}

/* Shares of the budget: of the grid, and of the schedules, which also get the rest from the exchanges. */
static const double for_grid = 0.4, for_schedules = 0.2;

int pf_auto_choose(pencilfft_plan plan, const pencilfft_desc *desc, bool anew)
{
    struct pf_trial trial = {.plan = plan, .anew = anew};
    double budget_s = desc->auto_budget_s;
    int nodes, status = count_nodes(plan->all, &nodes);
    if (!status && plan->request.open_grid)
        status = pf_auto_grid(&trial, desc, for_grid * budget_s, nodes);
    bool schedules = plan->request.any_schedule && may_run_beside(plan);
    if (!status && !plan->request.exchange->plan)
        status = pf_auto_exchanges(&trial, schedules ? (1 - for_schedules) * budget_s : budget_s, nodes);
    if (!status && schedules)
        status = pf_auto_schedule(&trial, budget_s, nodes);
    pf_trial_release(&trial);
    return status;
}

int pencilfft_auto_seconds(pencilfft_plan plan, int e, int i, double *seconds)
{
    if (!pf_is_exchange(plan, e) || !seconds || i < 0 || i >= pf_exchanges.count)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_auto_seconds: null plan or result, or no such exchange");
    *seconds = plan->chosen.auto_seconds[e] ? plan->chosen.auto_seconds[e][i] : 0;
    return PENCILFFT_OK;
}
