#include "exchange/message_counts.h"

#include <stdlib.h>

#include "geometry/geometry.h"

static int for_a_collective(struct pf_counts *counts, int n)
{
    counts->count = calloc((size_t)n, sizeof *counts->count);
    counts->displacement = calloc((size_t)n, sizeof *counts->displacement);
    if (!counts->count || !counts->displacement)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", n);
    for (int i = 0; i < n; i++) {
        counts->count[i] = counts->amount[i].count;
        counts->displacement[i] = (pf_displacement)counts->start[i];
    }
    return PENCILFFT_OK;
}

static int counts_make(const struct pf_messages *m, const struct pf_calls *calls, struct pf_counts *counts)
{
    int n = m->p, status = PENCILFFT_OK;
    counts->amount = calloc((size_t)n, sizeof *counts->amount);
    counts->start = calloc((size_t)n, sizeof *counts->start);
    if (!counts->amount || !counts->start)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", n);
    for (int i = 0; i < n && !status; i++) {
        bool kept = i == calls->me;
        status = pf_amount_make(kept ? 0 : m->elements[i], calls->bytes, &counts->amount[i]);
        counts->start[i] = kept ? 0 : m->start[i];
    }
    return status || calls->wide ? status : for_a_collective(counts, n);
}

static void counts_release(struct pf_counts *counts, int n)
{
    for (int i = 0; i < n && counts->amount; i++)
        pf_amount_release(&counts->amount[i]);
    free(counts->amount);
    free(counts->start);
    free(counts->count);
    free(counts->displacement);
}

/* All ranks know all boxes, and get the same answer. Messages are dense: none begins beyond the sum. */
static bool is_wide(const struct pf_transpose *t)
{
    int64_t most = 0;
    for (int i = 0; i < t->p; i++)
        most = pf_larger(most, pf_larger(pf_box_elements(&t->from[i]), pf_box_elements(&t->to[i])));
    return most * t->fields > pf_count_limit;
}

static int allocate_requests(struct pf_calls *calls, int n)
{
    calls->requests = malloc((size_t)n * sizeof *calls->requests);
    calls->statuses = malloc((size_t)n * sizeof *calls->statuses);
    if (!calls->requests || !calls->statuses)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for %d requests", n);
    for (int i = 0; i < n; i++)
        calls->requests[i] = MPI_REQUEST_NULL;
    return PENCILFFT_OK;
}

int pf_calls_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *calls)
{
    struct pf_calls *a = calls;
    int status;
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->bytes = t->element_bytes;
    a->p = t->p;
    a->me = t->me;
    a->lane = t->lane;
    a->beside = t->beside;
    a->wide = t->sparse || is_wide(t);
    if (!(status = counts_make(sent, a, &a->sent)) && !(status = counts_make(received, a, &a->received)))
        status = allocate_requests(a, 2 * sent->p);
    return status;
}

void pf_calls_release(void *calls)
{
    struct pf_calls *a = calls;
    counts_release(&a->sent, a->p);
    counts_release(&a->received, a->p);
    free(a->requests);
    free(a->statuses);
}

/* MPI_Request_get_status lets MPI work and leaves the requests to pf_calls_finish. In MPICH 4.0 MPI_Testany tells of a
 * complete persistent collective again and again, and MPI_Testall fails if some persistent requests are complete. */
int pf_calls_progress(void *calls, int *done)
{
    const struct pf_calls *a = calls;
    *done = 1;
    for (int i = 0; i < a->n_requests && a->beside && *done; i++)
        PF_MPI(MPI_Request_get_status(a->requests[i], done, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

int pf_calls_finish(void *calls)
{
    const struct pf_calls *a = calls;
    if (a->beside)
        PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
    return PENCILFFT_OK;
}

int pf_calls_receive(struct pf_calls *c, int source, void *to)
{
    const struct pf_amount *amount = &c->received.amount[source];
    if (amount->count)
        PF_MPI_LARGE(MPI_Irecv, pf_message_in(c, &c->received, source, to), amount->count, amount->type, source, c->lane,
                     c->group, &c->requests[c->n_requests++]);
    return PENCILFFT_OK;
}

int pf_calls_send(struct pf_calls *c, int target, const void *from)
{
    const struct pf_amount *amount = &c->sent.amount[target];
    if (amount->count)
        PF_MPI_LARGE(MPI_Isend, pf_message_in(c, &c->sent, target, from), amount->count, amount->type, target, c->lane,
                     c->group, &c->requests[c->n_requests++]);
    return PENCILFFT_OK;
}

int pf_calls_post(struct pf_calls *c, const void *from, void *to)
{
    int status = PENCILFFT_OK;
    c->n_requests = 0;
    for (int s = 1; s < c->p && !status; s++)
        status = pf_calls_receive(c, (c->me - s + c->p) % c->p, to);
    for (int s = 1; s < c->p && !status; s++)
        status = pf_calls_send(c, (c->me + s) % c->p, from);
    return status;
}

int pf_single_progress(void *state, int *done)
{
    struct pf_single_call *call = state;
    *done = 1;
    if (call->beside)
        PF_MPI(MPI_Test(&call->request, done, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

int pf_single_finish(void *state)
{
    struct pf_single_call *call = state;
    if (call->beside)
        PF_MPI(MPI_Wait(&call->request, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

int pf_equal_plan(const struct pf_transpose *t, int64_t elements, void *calls)
{
    struct pf_equal_calls *a = calls;
    *a = (struct pf_equal_calls){
        .call = {t->beside, MPI_REQUEST_NULL},
        .group = t->group,
        .elements = elements,
        .bytes = t->element_bytes,
        .p = t->p,
        .me = t->me,
    };
    return pf_amount_make(elements, t->element_bytes, &a->amount);
}

int pf_equal_start(void *calls, void *from, void *to)
{
    struct pf_equal_calls *a = calls;
    pf_count n = a->amount.count;
    MPI_Datatype type = a->amount.type;
    if (a->call.beside)
        PF_MPI_LARGE(MPI_Ialltoall, from, n, type, to, n, type, a->group, &a->call.request);
    else
        PF_MPI_LARGE(MPI_Alltoall, from, n, type, to, n, type, a->group);
    return PENCILFFT_OK;
}

void pf_equal_release(void *calls)
{
    pf_amount_release(&((struct pf_equal_calls *)calls)->amount);
}
