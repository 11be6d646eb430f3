/* Bytes and messages between each two ranks, from the plan alone.
 * Idea:  an algorithm that sends more than its messages (padding, other ranks in between) reports its own traffic. For other
 *        algorithms, the common part of two boxes is sent, one message for each non-empty part, in each lane. */
#include <stdlib.h>
#include <string.h>

#include "handle/plan.h"

/* Of all lanes. Each lane is counted apart and then added, because algorithms overwrite the counts. */
static void count_lanes(pencilfft_plan plan, int e, int backward, int64_t *sum, int64_t *one)
{
    int p = plan->layout.p[e];
    for (int l = 0; l < plan->layout.lanes; l++)
        for (int at = 0; at < plan->layout.exchanges; at++) {
            const struct pf_transfer *t = &plan->layout.lane[l].transfer[backward][at];
            if (t->number != e)
                continue;
            memset(one, 0, 2 * (size_t)p * sizeof *one);
            pf_exchange_traffic(t->exchange, t->state, &t->transpose, one, one + p);
            for (int i = 0; i < 2 * p; i++)
                sum[i] += one[i];
        }
}

int pencilfft_traffic(pencilfft_plan plan, int e, pencilfft_direction direction, int64_t *bytes, int64_t *messages)
{
    if (!pf_is_exchange(plan, e) && !pf_is_remap(plan, e))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_traffic: null plan, or no such exchange");
    if ((direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD) || !(plan->request.directions & (int)direction))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_traffic: the plan has no such exchange in this direction");
    if (bytes)
        memset(bytes, 0, (size_t)plan->ranks * sizeof *bytes);
    if (messages)
        memset(messages, 0, (size_t)plan->ranks * sizeof *messages);
    if (pf_is_remap(plan, e))
        return pf_remap_traffic(plan->layout.end[e - PENCILFFT_REMAP_IN].remap, direction == PENCILFFT_BACKWARD, bytes,
                                messages);
    int p = plan->layout.p[e];
    int64_t *both = calloc(4 * (size_t)p, sizeof *both);
    if (!both)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the traffic of %d ranks", p);
    count_lanes(plan, e, direction == PENCILFFT_BACKWARD, both, both + 2 * (ptrdiff_t)p);
    for (int j = 0; j < p; j++) {
        if (bytes)
            bytes[pf_member(plan, e, j)] = both[j];
        if (messages)
            messages[pf_member(plan, e, j)] = both[p + j];
    }
    free(both);
    return PENCILFFT_OK;
}

static const struct pf_exchange *chosen(pencilfft_plan plan, int e)
{
    if (pf_is_remap(plan, e))
        return pf_remap_algorithm(plan->layout.end[e - PENCILFFT_REMAP_IN].remap);
    return pf_is_exchange(plan, e) ? plan->chosen.exchange[e] : NULL;
}

const char *pencilfft_exchange_chosen(pencilfft_plan plan, int e)
{
    const struct pf_exchange *exchange = chosen(plan, e);
    return exchange ? exchange->name : NULL;
}

const char *pencilfft_exchange_means(pencilfft_plan plan, int e)
{
    const struct pf_exchange *exchange = chosen(plan, e);
    return exchange ? exchange->means : NULL;
}
