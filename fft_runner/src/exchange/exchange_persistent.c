/* Transpose by a collective that is set up once and started for each run.
 * Idea:  counts, displacements and buffers never change, so MPI can prepare the whole exchange when it is connected:
 *        MPI_Alltoallv_init of MPI-4, its predecessor MPIX_Alltoallv_init of Open MPI, or, where MPI has neither, persistent
 *        sends and receives between all pairs (MPI-1). `means` says which.
 * Source: MPI 4.0, section 6.13; D. J. Holmes et al., Persistent collective operations in MPI, 2020.
 * Cost:  one start and one wait per run in addition to the p - 1 messages.
 * Needs: the same two buffers in every run; counts and displacements that fit an MPI int. */
#include <stdlib.h>

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

struct persistent {
    struct pf_calls *calls;
    int n_requests; /* number of them that exist */
    const void *from, *to;
};

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    struct persistent *a = calloc(1, sizeof *a);
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    int status = pf_calls_make(t, sent, received, 2 * t->p, &a->calls);
    if (status)
        free(a);
    else
        *state = a;
    return status;
}

#ifdef ALLTOALLV_INIT
static int prepare(struct persistent *a, const void *from, void *to)
{
    const struct pf_calls *c = a->calls;
    int code = ALLTOALLV_INIT(from, c->sent.count, c->sent.displacement, c->element, to, c->received.count,
                              c->received.displacement, c->element, c->group, MPI_INFO_NULL, &c->requests[0]);
    if (code != MPI_SUCCESS)
        return pf_fail_mpi(code, means);
    a->n_requests = 1;
    return PENCILFFT_OK;
}
#else
enum { TAG = 1 };

static int prepare(struct persistent *a, const void *from, void *to)
{
    const struct pf_calls *c = a->calls;
    int status = PENCILFFT_OK;
    for (int s = 1; s < c->p; s++) {
        int target = (c->me + s) % c->p, source = (c->me - s + c->p) % c->p;
        if (c->received.count[source])
            PF_MPI(MPI_Recv_init(pf_message_in(c, &c->received, source, to), c->received.count[source], c->element, source,
                                 TAG, c->group, &c->requests[a->n_requests++]));
        if (c->sent.count[target])
            PF_MPI(MPI_Send_init(pf_message_in(c, &c->sent, target, from), c->sent.count[target], c->element, target, TAG,
                                 c->group, &c->requests[a->n_requests++]));
    }
done:
    return status;
}
#endif

static int connect(void *state, void *from, void *to)
{
    struct persistent *a = state;
    a->from = from;
    a->to = to;
    return a->calls->p > 1 ? prepare(a, from, to) : PENCILFFT_OK;
}

static int start(void *state, int slice, void *from, void *to)
{
    int status = PENCILFFT_OK;
    struct persistent *a = state;
    (void)slice;
    if (from != a->from || to != a->to)
        return pf_fail(PENCILFFT_BAD_CALL, "exchange persistent was run on other buffers than it was connected to");
    PF_MPI(MPI_Startall(a->n_requests, a->calls->requests));
    PF_MPI(MPI_Waitall(a->n_requests, a->calls->requests, a->calls->statuses));
done:
    return status;
}

static void destroy(void *state)
{
    struct persistent *a = state;
    for (int i = 0; i < a->n_requests; i++)
        MPI_Request_free(&a->calls->requests[i]);
    pf_calls_destroy(a->calls);
    free(a);
}

const struct pf_exchange pf_exchange_persistent = {
    .name = "persistent",
    .plan = plan,
    .start = start,
    .destroy = destroy,
    .takes = PF_MESSAGES,
    .connect = connect,
    .means = means,
};
