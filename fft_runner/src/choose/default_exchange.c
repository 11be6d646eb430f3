/* The exchanges of a plan that names none.
 * Idea:  the ranks of a node pack straight into each other's messages, by `node`. An exchange between nodes is alltoallv's.
 *        The rule looks at all groups of an exchange, so that all ranks have the same. `node` does not run beside other
 *        work, and its memory is not the caller's: such plans have alltoallv. If shared memory has no room, create.c makes
 *        the plan again with alltoallv.
 * Source: docs/benchmarks.md: both in the same processes.
 * Cost:  a communicator for each group, which other plans on the group use too, and an all-reduce. */
#include "choose/choose.h"

#include "common/failure.h"
#include "exchange/shared_memory.h"

static int is_inside(const struct pencilfft_plan_s *plan, int e, int *inside)
{
    int ranks, status;
    MPI_Comm node;
    if ((status = pf_shared_node(plan->group[e], &node)))
        return status;
    PF_MPI(MPI_Comm_size(node, &ranks));
    *inside = ranks == plan->p[e];
    return PENCILFFT_OK;
}

int pf_default_exchanges(pencilfft_plan plan)
{
    int inside[PF_MAX_EXCHANGES], status = PENCILFFT_OK;
    if (plan->asked->beside || plan->any_schedule || plan->nonblocking || plan->caller_work)
        return PENCILFFT_OK;
    for (int e = 0; e < plan->exchanges && !status; e++)
        if (plan->p[e] == 1)
            inside[e] = 0;
        else
            status = is_inside(plan, e, &inside[e]);
    if ((status = pf_agree(status, plan->all)))
        return status;
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, inside, plan->exchanges, MPI_INT, MPI_MIN, plan->all));
    for (int e = 0; e < plan->exchanges; e++)
        if (inside[e])
            plan->chosen[e] = pf_table_find(&pf_exchanges, "node");
    return PENCILFFT_OK;
}
