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
    if (n == 0)
        return PENCILFFT_OK;
    calls->requests = malloc((size_t)n * sizeof *calls->requests);
    calls->statuses = malloc((size_t)n * sizeof *calls->statuses);
    if (!calls->requests || !calls->statuses)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for %d requests", n);
    for (int i = 0; i < n; i++)
        calls->requests[i] = MPI_REQUEST_NULL;
    return PENCILFFT_OK;
}

int pf_calls_make(const struct pf_transpose *t, const struct pf_messages *sent, const struct pf_messages *received,
                  int requests, struct pf_calls **calls)
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
        status = allocate_requests(a, requests);
    if (status) {
        pf_calls_destroy(a);
        *calls = NULL;
    }
    return status;
}

void pf_calls_destroy(struct pf_calls *calls)
{
    if (!calls)
        return;
    counts_release(&calls->sent);
    counts_release(&calls->received);
    free(calls->requests);
    free(calls->statuses);
    free(calls);
}
