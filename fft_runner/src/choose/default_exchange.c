/* The exchange of a plan that names none.
 * Idea:  `node`, if a single exchange moves data, and all its ranks are on one node: they pack straight into each other's
 *        messages. Otherwise alltoallv: between nodes; where the block of `node` would be memory beside what the plan
 *        promises (two exchanges, destroy_input, caller_work); where its communicators would not be shared by plans; and
 *        beside other work. If shared memory has no room, create.c makes the plan again with alltoallv.
 * Source: docs/benchmarks.md: both in the same processes.
 * Cost:  two small collectives of the group. */
#include "choose/choose.h"

#include "exchange/shared_memory.h"

static bool may_share_memory(const struct pencilfft_plan_s *plan)
{
    return plan->communicators->shared && !plan->chosen.asked->beside && !plan->request.any_schedule &&
           !plan->request.nonblocking && !plan->request.caller_work && !plan->request.destroys_input;
}

/* The exchange that moves data, -1 if there are none or several. */
static int only_exchange(const struct pencilfft_plan_s *plan)
{
    int found = -1, n = 0;
    for (int e = 0; e < plan->layout.exchanges; e++)
        if (plan->layout.p[e] > 1) {
            found = e;
            n++;
        }
    return n == 1 ? found : -1;
}

int pf_default_exchange(pencilfft_plan plan)
{
    int e = only_exchange(plan);
    if (e < 0 || !may_share_memory(plan))
        return PENCILFFT_OK;
    struct pf_shared *shared = pf_shared_make((size_t)plan->layout.p[e]);
    int status = shared ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for a list of %d ranks", plan->layout.p[e]);
    if (!(status = pf_agree(status, plan->all)) && !(status = pf_shared_find(shared, plan->layout.group[e])) &&
        shared->n == 1)
        plan->chosen.exchange[e] = pf_table_find(&pf_exchanges, "node");
    pf_shared_leave(shared);
    return status;
}
