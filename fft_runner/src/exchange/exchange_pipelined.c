/* Transpose in slices that are sent while the next ones are computed.
 * Idea:  all receives are posted at once; slice k is transformed and packed, its messages start, and meanwhile slice k + 1
 *        is worked on. Then each slice is waited for, unpacked and transformed, while later ones arrive. Between slices MPI
 *        is tested, so that it makes progress where nothing else drives it. More slices hide more, but their messages are
 *        shorter: the number is limited so that a message's transfer takes longer than its start, and rows are worth
 *        copying.
 * Source: C. E. Cramer and J. A. Board, The development and integration of a distributed 3D FFT for a cluster of
 *         workstations, Atlanta Linux Showcase 2000: sends started as soon as a part of the lines is done.
 * Cost:  slices * (p - 1) messages per rank; at best their time is hidden behind the FFTs on both sides.
 * Needs: counts and displacements that fit an MPI int; messages of twice pf_tuning.message_bytes for anything to overlap. */
#include "common/failure.h"
#include "exchange/exchange.h"
#include "exchange/message_counts.h"
#include "geometry/blocks.h"
#include "geometry/geometry.h"
#include "speed/tuning.h"

enum { MOST_SLICES = 4 }; /* a quarter is then not hidden; eight slices were no faster on one node */

static int slices(const struct pf_transpose *t)
{
    int64_t bytes = 0, indices = t->from[0].extent[t->slice_axis];
    for (int j = 0; j < t->p; j++)
        bytes += pf_box_elements(&t->from[j]) * t->fields * (int64_t)t->element_bytes;
    int64_t n = pf_smaller(MOST_SLICES, bytes / t->p / t->p / pf_tuning.message_bytes);
    if (t->from[0].stride[t->slice_axis] == 1)
        indices = indices * (int64_t)t->element_bytes / pf_tuning.row_bytes;
    n = pf_smaller(n, indices);
    return n > 1 ? (int)n : 1;
}

/* Requests of receives, then those of sends; slice k with member j is number k * p + j of either. */
static MPI_Request *receiving(const struct pf_calls *a)
{
    return a->requests;
}

static MPI_Request *sending(const struct pf_calls *a)
{
    return a->requests + (ptrdiff_t)a->p * a->slices;
}

static int begin(void *state, void *to)
{
    const struct pf_calls *a = state;
    for (int slice = 0; slice < a->slices; slice++)
        for (int s = 1; s < a->p; s++) {
            int source = (a->me - s + a->p) % a->p, i = slice * a->p + source;
            if (a->received.count[i])
                PF_MPI(MPI_Irecv(pf_message_in(a, &a->received, i, to), a->received.count[i], a->element, source, slice,
                                 a->group, receiving(a) + i));
        }
    return PENCILFFT_OK;
}

static int start_sends(const struct pf_calls *a, int slice, const void *from)
{
    for (int s = 1; s < a->p; s++) {
        int target = (a->me + s) % a->p, i = slice * a->p + target;
        if (a->sent.count[i])
            PF_MPI(MPI_Isend(pf_message_in(a, &a->sent, i, from), a->sent.count[i], a->element, target, slice, a->group,
                             sending(a) + i));
    }
    return PENCILFFT_OK;
}

/* MPI libraries without a thread of their own move data only when they are called. */
static int nudge(const struct pf_calls *a)
{
    int all_there;
    PF_MPI(MPI_Testall(2 * a->p * a->slices, a->requests, &all_there, a->statuses));
    return PENCILFFT_OK;
}

static int start(void *state, int slice, void *from, void *to)
{
    const struct pf_calls *a = state;
    int status = start_sends(a, slice, from);
    (void)to;
    return status ? status : nudge(a);
}

static int finish(void *state, int slice)
{
    const struct pf_calls *a = state;
    PF_MPI(MPI_Waitall(a->p, receiving(a) + (ptrdiff_t)slice * a->p, a->statuses));
    return PENCILFFT_OK;
}

static int end(void *state)
{
    const struct pf_calls *a = state;
    PF_MPI(MPI_Waitall(a->p * a->slices, sending(a), a->statuses));
    return PENCILFFT_OK;
}

const struct pf_exchange pf_exchange_pipelined = {
    .name = "pipelined",
    .plan = pf_calls_plan,
    .start = start,
    .destroy = pf_calls_destroy,
    .takes = PF_MESSAGES,
    .overlaps = true,
    .begin = begin,
    .finish = finish,
    .end = end,
    .slices = slices,
};
