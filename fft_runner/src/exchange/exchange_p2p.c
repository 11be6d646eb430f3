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

static bool power_of_two(int p)
{
    return (p & (p - 1)) == 0;
}

static int target_of(const struct pf_calls *a, int s)
{
    return power_of_two(a->p) ? a->me ^ s : (a->me + s) % a->p;
}

static int source_of(const struct pf_calls *a, int s)
{
    return power_of_two(a->p) ? a->me ^ s : (a->me - s + a->p) % a->p;
}

static int exchange_pair(const struct pf_calls *a, int s, const void *from, void *to)
{
    int target = target_of(a, s), source = source_of(a, s);
    PF_MPI(MPI_Sendrecv(pf_message_in(a, &a->sent, target, from), a->sent.count[target], a->element,
                        a->sent.count[target] ? target : MPI_PROC_NULL, a->lane, pf_message_in(a, &a->received, source, to),
                        a->received.count[source], a->element, a->received.count[source] ? source : MPI_PROC_NULL, a->lane,
                        a->group, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

/* All at once, in the same order. */
static int post(struct pf_calls *a, const void *from, void *to)
{
    a->n_requests = 0;
    for (int s = 1; s < a->p; s++) {
        int source = source_of(a, s);
        if (a->received.count[source])
            PF_MPI(MPI_Irecv(pf_message_in(a, &a->received, source, to), a->received.count[source], a->element, source,
                             a->lane, a->group, &a->requests[a->n_requests++]));
    }
    for (int s = 1; s < a->p; s++) {
        int target = target_of(a, s);
        if (a->sent.count[target])
            PF_MPI(MPI_Isend(pf_message_in(a, &a->sent, target, from), a->sent.count[target], a->element, target, a->lane,
                             a->group, &a->requests[a->n_requests++]));
    }
    return PENCILFFT_OK;
}

static int start(void *state, void *from, void *to)
{
    struct pf_calls *a = state;
    int status = a->beside ? post(a, from, to) : PENCILFFT_OK;
    for (int s = 1; s < a->p && !a->beside && !status; s++)
        status = exchange_pair(a, s, from, to);
    return status;
}

const struct pf_exchange pf_exchange_p2p = {
    .name = "p2p",
    .plan = pf_calls_plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .destroy = pf_calls_destroy,
    .takes = PF_MESSAGES,
    .beside = true,
};
