#include "message_counts.h"

#include <stdlib.h>

#include "failure.h"

/* PENCILFFT_TOO_LARGE when a number does not fit an int. */
static int counts_make(const struct pf_messages *m, int without, struct pf_counts *counts)
{
    size_t n = (size_t)m->p * (size_t)m->slices;
    int status = pf_messages_countable(m);
    if (status)
        return status;
    counts->count = calloc(n, sizeof *counts->count);
    counts->displacement = calloc(n, sizeof *counts->displacement);
    if (!counts->count || !counts->displacement)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", m->p);
    for (size_t i = 0; i < n; i++) {
        counts->count[i] = (int)i % m->p == without ? 0 : (int)m->elements[i];
        counts->displacement[i] = (int)m->start[i];
    }
    return status;
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
