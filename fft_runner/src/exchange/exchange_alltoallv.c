/* Transpose by one MPI_Alltoallv, or MPI_Ialltoallv beside other work.
 * Idea:  messages of any length, one collective; a rank does not send its own data.
 * Source: the default of P3DFFT and 2DECOMP&FFT.
 * Cost:  one collective of p - 1 messages per rank. Beyond 2^31 elements a rank, if MPI has no large counts, the same
 *        messages are posted one by one.
 * Needs: no condition on p or on the extents. */

#include "exchange/message_counts.h"

static int start_one_by_one(struct pf_calls *a, const void *from, void *to)
{
    int status = pf_calls_post(a, from, to);
    if (!status && !a->beside)
        PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
    return status;
}

static int start(void *state, void *from, void *to)
{
    struct pf_calls *a = state;
    if (a->p > 1 && a->wide)
        return start_one_by_one(a, from, to);
    if (a->p > 1 && a->beside) {
        a->n_requests = 1;
        PF_MPI_LARGE(MPI_Ialltoallv, from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                     a->received.displacement, a->element, a->group, a->requests);
    } else if (a->p > 1)
        PF_MPI_LARGE(MPI_Alltoallv, from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                     a->received.displacement, a->element, a->group);
    return PENCILFFT_OK;
}

const struct pf_exchange pf_exchange_alltoallv = {
    .name = "alltoallv",
    .bytes = sizeof(struct pf_calls),
    .plan = pf_calls_plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .release = pf_calls_release,
    .beside = true,
};
