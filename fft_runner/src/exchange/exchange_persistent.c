/* Transpose by a collective that is set up once and started for each run.
 * Idea:  counts, displacements and buffers never change, so MPI can prepare the whole exchange when it is connected:
 *        MPI_Alltoallv_init of MPI-4, its predecessor MPIX_Alltoallv_init of Open MPI, or, where MPI has neither, persistent
 *        sends and receives between all pairs (MPI-1). `means` says which.
 * Source: MPI 4.0, section 6.13; D. J. Holmes et al., Persistent collective operations in MPI, 2020.
 * Cost:  one start and one wait per run in addition to the p - 1 messages.
 * Needs: the same two buffers in every run; counts and displacements that fit an MPI int. */
#include "common/failure.h"
#include "exchange/exchange.h"
#include "exchange/message_counts.h"

#if defined PENCILFFT_HAVE_ALLTOALLV_INIT
#define ALLTOALLV_INIT MPI_Alltoallv_init
static const char means[] = "MPI_Alltoallv_init";
#elif defined PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#define ALLTOALLV_INIT MPIX_Alltoallv_init
static const char means[] = "MPIX_Alltoallv_init";
#else
static const char means[] = "MPI_Send_init and MPI_Recv_init: no MPI_Alltoallv_init here";
#endif

#ifdef ALLTOALLV_INIT
static int prepare(struct pf_calls *c, const void *from, void *to)
{
    int code = ALLTOALLV_INIT(from, c->sent.count, c->sent.displacement, c->element, to, c->received.count,
                              c->received.displacement, c->element, c->group, MPI_INFO_NULL, &c->requests[0]);
    if (code != MPI_SUCCESS)
        return pf_fail_mpi(code, means);
    c->n_requests = 1;
    return PENCILFFT_OK;
}
#else
static int prepare(struct pf_calls *c, const void *from, void *to)
{
    for (int s = 1; s < c->p; s++) {
        int target = (c->me + s) % c->p, source = (c->me - s + c->p) % c->p;
        if (c->received.count[source])
            PF_MPI(MPI_Recv_init(pf_message_in(c, &c->received, source, to), c->received.count[source], c->element, source,
                                 c->lane, c->group, &c->requests[c->n_requests++]));
        if (c->sent.count[target])
            PF_MPI(MPI_Send_init(pf_message_in(c, &c->sent, target, from), c->sent.count[target], c->element, target,
                                 c->lane, c->group, &c->requests[c->n_requests++]));
    }
    return PENCILFFT_OK;
}
#endif

static int connect(void *state, void *from, void *to)
{
    struct pf_calls *c = state;
    c->from = from;
    c->to = to;
    return c->p > 1 ? prepare(c, from, to) : PENCILFFT_OK;
}

static int start(void *state, void *from, void *to)
{
    const struct pf_calls *c = state;
    if (from != c->from || to != c->to)
        return pf_fail(PENCILFFT_BAD_CALL, "exchange persistent was run with buffers other than those it was connected to");
    PF_MPI(MPI_Startall(c->n_requests, c->requests));
    if (!c->beside)
        PF_MPI(MPI_Waitall(c->n_requests, c->requests, c->statuses));
    return PENCILFFT_OK;
}

static void destroy(void *state)
{
    struct pf_calls *c = state;
    for (int i = 0; i < c->n_requests; i++)
        MPI_Request_free(&c->requests[i]);
    pf_calls_destroy(c);
}

const struct pf_exchange pf_exchange_persistent = {
    .name = "persistent",
    .plan = pf_calls_plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .destroy = destroy,
    .takes = PF_MESSAGES,
    .beside = true,
    .connect = connect,
    .means = means,
};
