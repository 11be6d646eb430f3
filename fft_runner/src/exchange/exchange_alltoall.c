/* Transpose by one MPI_Alltoall.
 * Idea:  if all messages have the same length, the plain all-to-all suffices, and MPI libraries have their best algorithms
 *        for this call; a rank's own data are included.
 * Source: the call of Cramer and Board, and of P3DFFT with USEEVEN on extents that need no padding.
 * Cost:  one collective of p - 1 messages per rank, and a copy of a rank's own data.
 * Needs: extents that the grid divides; others are refused (exchange_padded.c takes them). */
#include "exchange/message_counts.h"

static int check_even(const struct pf_messages *sent, const struct pf_messages *received)
{
    for (int j = 0; j < sent->p; j++)
        if (sent->elements[j] != sent->elements[0] || received->elements[j] != sent->elements[0])
            return pf_fail(PENCILFFT_NOT_POSSIBLE,
                           "exchange alltoall needs extents that the grid divides: its messages must have the same length "
                           "and have %lld and %lld elements here; use exchange padded or alltoallv",
                           (long long)sent->elements[0],
                           (long long)(sent->elements[j] != sent->elements[0] ? sent->elements[j] : received->elements[j]));
    return PENCILFFT_OK;
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    int status = check_even(sent, received);
    return status ? status : pf_equal_plan(t, sent->elements[0], state);
}

const struct pf_exchange pf_exchange_alltoall = {
    .name = "alltoall",
    .bytes = sizeof(struct pf_equal_calls),
    .plan = plan,
    .start = pf_equal_start,
    .progress = pf_single_progress,
    .finish = pf_single_finish,
    .release = pf_equal_release,
    .transposes_alone = true,
    .moves_self = true,
    .beside = true,
};
