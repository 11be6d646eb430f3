/* Transpose by a collective that is set up once and started for each run.
 * Idea:  counts, displacements and buffers never change, so that MPI may prepare the whole exchange when it is
 *        connected: MPI_Alltoallv_init of MPI-4, its forerunner MPIX_Alltoallv_init of Open MPI, or, where the MPI has
 *        neither, persistent sends and receives between all pairs (MPI-1). `means` says which.
 * Source: MPI 4.0, section 6.13; D. J. Holmes et al., Persistent collective operations in MPI, 2020.
 * Cost:  one start and one wait a run besides the p - 1 messages.
 * Needs: the same two buffers in every run; counts and displacements that fit an MPI int. */
#include <stdlib.h>

#include "exchanges.h"
#include "failure.h"
#include "message_counts.h"

#if defined PENCILFFT_HAVE_ALLTOALLV_INIT
#define ALLTOALLV_INIT MPI_Alltoallv_init
const char pf_persistent_means[] = "MPI_Alltoallv_init";
#elif defined PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#define ALLTOALLV_INIT MPIX_Alltoallv_init
const char pf_persistent_means[] = "MPIX_Alltoallv_init";
#else
const char pf_persistent_means[] = "MPI_Send_init and MPI_Recv_init";
#endif

struct persistent {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes;
    int p, me;
    struct pf_counts sent, received;
    const void *from, *to;
    MPI_Request *requests;
    int n_requests; /* the first that many exist */
    MPI_Status *statuses; /* not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
};

int pf_persistent_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received,
                       void **state)
{
    int status;
    struct persistent *a = calloc(1, sizeof *a);
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->bytes = t->element_bytes;
    a->p = t->p;
    a->me = t->me;
    if (!(status = pf_counts_make(sent, t->me, &a->sent)))
        status = pf_counts_make(received, t->me, &a->received);
    a->requests = calloc(2 * (size_t)t->p, sizeof *a->requests);
    a->statuses = calloc(2 * (size_t)t->p, sizeof *a->statuses);
    if (!status && (!a->requests || !a->statuses))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the requests of %d ranks", t->p);
    if (status)
        pf_persistent_destroy(a);
    else
        *state = a;
    return status;
}

#ifdef ALLTOALLV_INIT
static int prepare(struct persistent *a, const char *from, char *to)
{
    int status = PENCILFFT_OK;
    PF_MPI(ALLTOALLV_INIT(from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                          a->received.displacement, a->element, a->group, MPI_INFO_NULL, &a->requests[0]));
    a->n_requests = 1;
done:
    return status;
}
#else
enum { TAG = 1 };

static int prepare(struct persistent *a, const char *from, char *to)
{
    int status = PENCILFFT_OK;
    for (int s = 1; s < a->p; s++) {
        int target = (a->me + s) % a->p, source = (a->me - s + a->p) % a->p;
        if (a->received.count[source])
            PF_MPI(MPI_Recv_init(to + (size_t)a->received.displacement[source] * a->bytes, a->received.count[source],
                                 a->element, source, TAG, a->group, &a->requests[a->n_requests++]));
        if (a->sent.count[target])
            PF_MPI(MPI_Send_init(from + (size_t)a->sent.displacement[target] * a->bytes, a->sent.count[target],
                                 a->element, target, TAG, a->group, &a->requests[a->n_requests++]));
    }
done:
    return status;
}
#endif

int pf_persistent_connect(void *state, void *from, void *to)
{
    struct persistent *a = state;
    a->from = from;
    a->to = to;
    return a->p > 1 ? prepare(a, from, to) : PENCILFFT_OK;
}

int pf_persistent_run(void *state, const struct pf_run *run, void *from, void *to)
{
    int status = PENCILFFT_OK;
    struct persistent *a = state;
    (void)run;
    if (from != a->from || to != a->to)
        return pf_fail(PENCILFFT_BAD_CALL, "exchange persistent was run on other buffers than it was connected to");
    PF_MPI(MPI_Startall(a->n_requests, a->requests));
    PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
done:
    return status;
}

void pf_persistent_destroy(void *state)
{
    struct persistent *a = state;
    for (int i = 0; i < a->n_requests; i++)
        MPI_Request_free(&a->requests[i]);
    pf_counts_release(&a->sent);
    pf_counts_release(&a->received);
    free(a->requests);
    free(a->statuses);
    free(a);
}
