/* Transpose by one MPI_Alltoall.
 * Idea:  when all messages have the same length, the plain all-to-all suffices, and MPI libraries have their best algorithms
 *        for it; it includes what a rank keeps.
 * Source: the call of Cramer and Board, and of P3DFFT with USEEVEN on extents that need no padding.
 * Cost:  one collective of p - 1 messages per rank, and a copy of what stays.
 * Needs: extents that the grid divides; others are refused (exchange_padded.c takes them). */
#include <limits.h>
#include <stdlib.h>

#include "common/failure.h"
#include "exchange/exchange.h"

struct alltoall {
    MPI_Comm group;
    MPI_Datatype element;
    int p, count;
};

static int check_even(const struct pf_messages *sent, const struct pf_messages *received)
{
    for (int j = 0; j < sent->p; j++)
        if (sent->elements[j] != sent->elements[0] || received->elements[j] != sent->elements[0])
            return pf_fail(PENCILFFT_NOT_POSSIBLE,
                           "exchange alltoall needs extents that the grid divides: its messages must be equally long "
                           "and have %lld and %lld elements here; use exchange padded or alltoallv",
                           (long long)sent->elements[0],
                           (long long)(sent->elements[j] != sent->elements[0] ? sent->elements[j] : received->elements[j]));
    if (sent->elements[0] > INT_MAX)
        return pf_fail(PENCILFFT_TOO_LARGE,
                       "a message has %lld elements, more than the %d an MPI count can name; "
                       "use more tasks",
                       (long long)sent->elements[0], INT_MAX);
    return PENCILFFT_OK;
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    int status = check_even(sent, received);
    struct alltoall *a = status ? NULL : malloc(sizeof *a);
    if (!status && !a)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    if (a)
        *a = (struct alltoall){t->group, pf_element_type(t->element_bytes), t->p, (int)sent->elements[0]};
    *state = a;
    return status;
}

static int start(void *state, int slice, void *from, void *to)
{
    int status = PENCILFFT_OK;
    const struct alltoall *a = state;
    (void)slice;
    PF_MPI(MPI_Alltoall(from, a->count, a->element, to, a->count, a->element, a->group));
done:
    return status;
}

static void destroy(void *state)
{
    free(state);
}

const struct pf_exchange pf_exchange_alltoall = {
    .name = "alltoall",
    .plan = plan,
    .start = start,
    .destroy = destroy,
    .takes = PF_MESSAGES,
    .moves_self = true,
};
