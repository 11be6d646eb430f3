/* Transpose by one MPI_Alltoallv, or MPI_Ialltoallv beside other work.
 * Idea:  messages of any length, one collective; what a rank keeps is not sent to itself.
 * Source: the default of P3DFFT and 2DECOMP&FFT.
 * Cost:  one collective of p - 1 messages per rank.
 * Needs: counts and displacements that fit an MPI int; no condition on p or on the extents. */
#include "exchange/exchange.h"

#include "common/failure.h"
#include "exchange/message_counts.h"

static int start(void *state, void *from, void *to)
{
    struct pf_calls *a = state;
    if (a->p > 1 && a->beside) {
        a->n_requests = 1;
        PF_MPI(MPI_Ialltoallv(from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                              a->received.displacement, a->element, a->group, a->requests));
    } else if (a->p > 1)
        PF_MPI(MPI_Alltoallv(from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                             a->received.displacement, a->element, a->group));
    return PENCILFFT_OK;
}

const struct pf_exchange pf_exchange_alltoallv = {
    .name = "alltoallv",
    .plan = pf_calls_plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .destroy = pf_calls_destroy,
    .takes = PF_MESSAGES,
    .beside = true,
};
