/* Transpose by scheduled pairs.
 * Idea:  in step s every rank talks to one other. If p is a power of two, ranks me and me xor s exchange; otherwise rank me
 *        sends to me + s and receives from me - s (mod p). No rank ever receives two messages at once.
 * Source: the two schedules of MPICH's pairwise all-to-all; the second is a ring shift.
 * Cost:  (p - 1) steps of one message sent and one received; an empty part is not sent.
 * Needs: counts and displacements that fit an MPI int; nothing of p or of the extents. */
#include <stdbool.h>

#include "common/failure.h"
#include "exchange/exchange.h"
#include "exchange/message_counts.h"

enum { TAG = 1 };

static bool power_of_two(int p)
{
    return (p & (p - 1)) == 0;
}

static int exchange_pair(const struct pf_calls *a, int s, const void *from, void *to)
{
    int target = power_of_two(a->p) ? a->me ^ s : (a->me + s) % a->p;
    int source = power_of_two(a->p) ? a->me ^ s : (a->me - s + a->p) % a->p;
    PF_MPI(MPI_Sendrecv(pf_message_in(a, &a->sent, target, from), a->sent.count[target], a->element,
                        a->sent.count[target] ? target : MPI_PROC_NULL, TAG, pf_message_in(a, &a->received, source, to),
                        a->received.count[source], a->element, a->received.count[source] ? source : MPI_PROC_NULL, TAG,
                        a->group, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

static int start(void *state, int slice, void *from, void *to)
{
    const struct pf_calls *a = state;
    int status = PENCILFFT_OK;
    (void)slice;
    for (int s = 1; s < a->p && !status; s++)
        status = exchange_pair(a, s, from, to);
    return status;
}

const struct pf_exchange pf_exchange_p2p = {
    .name = "p2p",
    .plan = pf_calls_plan,
    .start = start,
    .destroy = pf_calls_destroy,
    .takes = PF_MESSAGES,
};
