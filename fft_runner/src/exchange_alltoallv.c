/* Transpose by one MPI_Alltoallv.
 * Idea:  messages of any length, one collective; what a rank keeps is not sent to itself.
 * Source: the plain way of P3DFFT and 2DECOMP&FFT.
 * Cost:  one collective of p - 1 messages a rank.
 * Needs: counts and displacements that fit an MPI int; nothing of p or of the extents. */
#include "exchange_alltoallv.h"

#include <stdlib.h>

#include "failure.h"
#include "message_counts.h"

struct alltoallv {
    MPI_Comm group;
    MPI_Datatype element;
    int p;
    struct pf_counts sent, received;
};

int pf_alltoallv_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received,
                      void **state)
{
    int status;
    struct alltoallv *a = calloc(1, sizeof *a);
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->p = t->p;
    if (!(status = pf_counts_make(sent, t->me, &a->sent)))
        status = pf_counts_make(received, t->me, &a->received);
    if (status)
        pf_alltoallv_destroy(a);
    else
        *state = a;
    return status;
}

int pf_alltoallv_run(void *state, const struct pf_run *run, void *from, void *to)
{
    int status = PENCILFFT_OK;
    struct alltoallv *a = state;
    (void)run;
    if (a->p > 1)
        PF_MPI(MPI_Alltoallv(from, a->sent.count, a->sent.displacement, a->element, to, a->received.count,
                             a->received.displacement, a->element, a->group));
done:
    return status;
}

void pf_alltoallv_destroy(void *state)
{
    struct alltoallv *a = state;
    pf_counts_release(&a->sent);
    pf_counts_release(&a->received);
    free(a);
}
