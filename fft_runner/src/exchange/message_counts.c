#include "exchange/message_counts.h"

#include <limits.h>
#include <stdlib.h>

#include "common/failure.h"

/* PENCILFFT_TOO_LARGE when a number does not fit an int. What a rank keeps is not limited. */
static int counts_make(const struct pf_messages *m, int me, struct pf_counts *counts)
{
    int n = m->p * m->slices;
    counts->count = calloc((size_t)n, sizeof *counts->count);
    counts->displacement = calloc((size_t)n, sizeof *counts->displacement);
    if (!counts->count || !counts->displacement)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", m->p);
    for (int i = 0; i < n; i++) {
        if (i % m->p == me)
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
    a->slices = sent->slices;
    if (!(status = counts_make(sent, t->me, &a->sent)) && !(status = counts_make(received, t->me, &a->received)))
        status = allocate_requests(a, 2 * sent->p * sent->slices);
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
    *a = (struct pf_equal_calls){t->group, pf_element_type(t->element_bytes), t->element_bytes, t->p, t->me, (int)elements};
    *calls = a;
    return PENCILFFT_OK;
}

int pf_equal_start(void *calls, int slice, void *from, void *to)
{
    const struct pf_equal_calls *a = calls;
    (void)slice;
    PF_MPI(MPI_Alltoall(from, a->count, a->element, to, a->count, a->element, a->group));
    return PENCILFFT_OK;
}
