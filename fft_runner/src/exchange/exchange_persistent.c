/* Transpose by a collective that is set up once and started for each run.
 * Idea:  counts, displacements and buffers never change, so MPI can prepare the whole exchange at connect time:
 *        MPI_Alltoallv_init of MPI-4, its predecessor MPIX_Alltoallv_init of Open MPI, or, if MPI has neither, persistent
 *        sends and receives between all pairs (MPI-1). `means` names the collective or the pairs. Pairs also serve messages
 *        beyond its counts.
 * Source: MPI 4.0, section 6.13; D. J. Holmes et al., Persistent collective operations in MPI, 2020.
 * Cost:  one start and one wait per run in addition to the p - 1 messages.
 * Needs: the same two buffers in every run. */
#include "exchange/message_counts.h"

#if defined PENCILFFT_HAVE_ALLTOALLV_INIT
#define ALLTOALLV_INIT PF_LARGE(MPI_Alltoallv_init)
static const char means[] = PF_LARGE_NAME(MPI_Alltoallv_init);
#elif defined PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#define ALLTOALLV_INIT MPIX_Alltoallv_init
static const char means[] = "MPIX_Alltoallv_init";
#else
static const char means[] = "MPI_Send_init and MPI_Recv_init: no MPI_Alltoallv_init here";
#endif

static int prepare_pair(struct pf_calls *c, int target, int source, const void *from, void *to)
{
    struct pf_amount sent = c->sent.amount[target], received = c->received.amount[source];
    if (received.count)
        PF_MPI_LARGE(MPI_Recv_init, pf_message_in(c, &c->received, source, to), received.count, received.type, source,
                     c->lane, c->group, &c->requests[c->n_requests++]);
    if (sent.count)
        PF_MPI_LARGE(MPI_Send_init, pf_message_in(c, &c->sent, target, from), sent.count, sent.type, target, c->lane,
                     c->group, &c->requests[c->n_requests++]);
    return PENCILFFT_OK;
}

static int prepare(struct pf_calls *c, const void *from, void *to)
{
    int status = PENCILFFT_OK;
#ifdef ALLTOALLV_INIT
    if (!c->wide) {
        int code = ALLTOALLV_INIT(from, c->sent.count, c->sent.displacement, c->element, to, c->received.count,
                                  c->received.displacement, c->element, c->group, MPI_INFO_NULL, &c->requests[0]);
        c->n_requests = code == MPI_SUCCESS;
        return code == MPI_SUCCESS ? status : pf_fail_mpi(code, means);
    }
#endif
    for (int s = 1; s < c->p && !status; s++)
        status = prepare_pair(c, (c->me + s) % c->p, (c->me - s + c->p) % c->p, from, to);
    return status;
}

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

static void release(void *state)
{
    struct pf_calls *c = state;
    for (int i = 0; i < c->n_requests; i++)
        MPI_Request_free(&c->requests[i]);
    pf_calls_release(c);
}

const struct pf_exchange pf_exchange_persistent = {
    .name = "persistent",
    .bytes = sizeof(struct pf_calls),
    .plan = pf_calls_plan,
    .start = start,
    .progress = pf_calls_progress,
    .finish = pf_calls_finish,
    .release = release,
    .beside = true,
    .connect = connect,
    .tied = true,
    .means = means,
};
