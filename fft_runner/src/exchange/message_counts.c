#include "exchange/message_counts.h"

#include <limits.h>
#include <stdlib.h>

#include "common/failure.h"

/* PENCILFFT_TOO_LARGE when a number does not fit an int. What a rank keeps is not limited. */
static int counts_make(const struct pf_messages *m, int me, struct pf_counts *counts)
{
    int n = m->p;
    counts->count = calloc((size_t)n, sizeof *counts->count);
    counts->displacement = calloc((size_t)n, sizeof *counts->displacement);
    if (!counts->count || !counts->displacement)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", m->p);
    for (int i = 0; i < n; i++) {
        if (i == me)
            continue;
        if (m->elements[i] > INT_MAX || m->start[i] > INT_MAX)
            return pf_fail(PENCILFFT_TOO_LARGE,
                           "the messages of a task hold %lld elements, more than the %d an MPI count can name; "
                           "use more tasks",
                           (long long)m->total, INT_MAX);
        counts->count[i] = (int)m->elements[i];
        counts->displacement[i] = (int)m->start[i];
    }
    return PENCILFFT_OK;
}

static void counts_release(struct pf_counts *counts)
{
    free(counts->count);
    free(counts->displacement);
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

int pf_calls_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **calls)
{
    struct pf_calls *a = *calls = calloc(1, sizeof *a);
    int status;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->bytes = t->element_bytes;
    a->p = t->p;
    a->me = t->me;
    a->lane = t->lane;
    a->beside = t->beside;
    if (!(status = counts_make(sent, t->me, &a->sent)) && !(status = counts_make(received, t->me, &a->received)))
        status = allocate_requests(a, 2 * sent->p);
    if (status) {
        pf_calls_destroy(a);
        *calls = NULL;
    }
    return status;
}

void pf_calls_destroy(void *calls)
{
    struct pf_calls *a = calls;
    counts_release(&a->sent);
    counts_release(&a->received);
    free(a->requests);
    free(a->statuses);
    free(a);
}

int pf_calls_progress(void *calls)
{
    const struct pf_calls *a = calls;
    int which, is_there;
    if (a->beside) /* not MPI_Testall, which fails in MPICH 4.0 when some persistent requests are complete */
        PF_MPI(MPI_Testany(a->n_requests, a->requests, &which, &is_there, a->statuses));
    return PENCILFFT_OK;
}

int pf_calls_finish(void *calls)
{
    const struct pf_calls *a = calls;
    if (a->beside)
        PF_MPI(MPI_Waitall(a->n_requests, a->requests, a->statuses));
    return PENCILFFT_OK;
}

int pf_equal_plan(const struct pf_transpose *t, int64_t elements, void **calls)
{
    struct pf_equal_calls *a = *calls = NULL;
    if (elements > INT_MAX)
        return pf_fail(PENCILFFT_TOO_LARGE,
                       "a message has %lld elements, more than the %d an MPI count can name; "
                       "use more tasks",
                       (long long)elements, INT_MAX);
    if (!(a = malloc(sizeof *a)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    *a = (struct pf_equal_calls){
        .group = t->group,
        .element = pf_element_type(t->element_bytes),
        .bytes = t->element_bytes,
        .p = t->p,
        .me = t->me,
        .count = (int)elements,
        .beside = t->beside,
        .request = MPI_REQUEST_NULL,
    };
    *calls = a;
    return PENCILFFT_OK;
}

int pf_equal_start(void *calls, void *from, void *to)
{
    struct pf_equal_calls *a = calls;
    if (a->beside)
        PF_MPI(MPI_Ialltoall(from, a->count, a->element, to, a->count, a->element, a->group, &a->request));
    else
        PF_MPI(MPI_Alltoall(from, a->count, a->element, to, a->count, a->element, a->group));
    return PENCILFFT_OK;
}

int pf_equal_progress(void *calls)
{
    struct pf_equal_calls *a = calls;
    int there;
    if (a->beside)
        PF_MPI(MPI_Test(&a->request, &there, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}

int pf_equal_finish(void *calls)
{
    struct pf_equal_calls *a = calls;
    if (a->beside)
        PF_MPI(MPI_Wait(&a->request, MPI_STATUS_IGNORE));
    return PENCILFFT_OK;
}
