#include "message_counts.h"

#include <stdlib.h>

#include "failure.h"

int pf_counts_make(const struct pf_messages *m, int without, struct pf_counts *counts)
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

void pf_counts_release(struct pf_counts *counts)
{
    free(counts->count);
    free(counts->displacement);
    *counts = (struct pf_counts){.count = NULL};
}
