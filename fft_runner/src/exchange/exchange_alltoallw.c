/* Transpose by one MPI_Alltoallw over data types of MPI.
 * Idea:  a data type describes the part for each member in place, in the sender's memory order on both sides, so that
 *        sending reorders nothing and receiving reorders everything; nothing is packed. Own data are copied, not sent.
 * Source: L. Dalcin, M. Mortensen, D. E. Keyes, Fast parallel multidimensional FFT using advanced MPI, JPDC 128 (2019):
 *         subarray types and MPI_Alltoallw (mpi4py-fft). Their types have the same order on both sides; ours may reorder, so
 *         they are vectors of vectors instead of subarrays.
 * Cost:  one collective of p - 1 messages a rank; the number of passes through memory depends on MPI.
 * Needs: no condition on p or on the extents. */
#include <stdlib.h>

#include "exchange/message_counts.h"
#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

struct side {
    int *count, *displacement; /* counts are 0 or 1; the type includes the start of a part */
    MPI_Datatype *type;
};

struct alltoallw {
    struct pf_single_call call;
    struct pf_transpose t;
    pencilfft_box from, to, kept;
    struct side sent, received;
};

/* Axes of the box from the smallest stride to the largest. */
static void memory_order(const pencilfft_box *box, int order[3])
{
    for (int i = 0; i < 3; i++) {
        int nearer = 0;
        for (int j = 0; j < 3; j++)
            nearer += box->stride[j] < box->stride[i] || (box->stride[j] == box->stride[i] && j < i);
        order[nearer] = i;
    }
}

static int place(int64_t start, MPI_Datatype *inner)
{
    int one = 1;
    MPI_Aint displacement = (MPI_Aint)start;
    MPI_Datatype outer;
    PF_MPI(MPI_Type_create_hindexed(1, &one, &displacement, *inner, &outer));
    PF_MPI(MPI_Type_free(inner));
    *inner = outer;
    PF_MPI(MPI_Type_commit(inner));
    return PENCILFFT_OK;
}

/* The part of a box with all its fields, in that order of axes. */
static int describe(const struct pf_transpose *t, const pencilfft_box *box, const pencilfft_box *part, const int order[3],
                    MPI_Datatype *type)
{
    int status = PENCILFFT_OK;
    int64_t bytes = (int64_t)t->element_bytes;
    PF_MPI(MPI_Type_contiguous((int)bytes, MPI_BYTE, type));
    for (int i = 0; i < 3 && !status; i++)
        if (part->extent[order[i]] != 1)
            status = pf_type_repeat(part->extent[order[i]], box->stride[order[i]] * bytes, type);
    if (!status && t->fields > 1)
        status = pf_type_repeat(t->fields, pf_box_elements(box) * bytes, type);
    if (!status)
        status = place(pf_box_start(box, part) * bytes, type);
    return status;
}

static int side_allocate(struct side *side, int p)
{
    side->count = calloc((size_t)p, sizeof *side->count);
    side->displacement = calloc((size_t)p, sizeof *side->displacement);
    side->type = malloc((size_t)p * sizeof *side->type);
    for (int j = 0; j < p && side->type; j++)
        side->type[j] = MPI_BYTE;
    if (!side->count || !side->displacement || !side->type)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the data types of %d ranks", p);
    return PENCILFFT_OK;
}

/* Common parts of `mine` with each of `theirs`, in the order of the sender's box. */
static int side_describe(const struct pf_transpose *t, const pencilfft_box *mine, const pencilfft_box *theirs,
                         struct side *side)
{
    int status = side_allocate(side, t->p);
    for (int j = 0; j < t->p && !status; j++) {
        int order[3];
        pencilfft_box part = pf_box_common(mine, &theirs[j]);
        if (j == t->me || pf_box_elements(&part) == 0 || t->fields == 0) /* a chunk may have no field */
            continue;
        memory_order(theirs == t->to ? mine : &theirs[j], order);
        if (!(status = describe(t, mine, &part, order, &side->type[j])))
            side->count[j] = 1;
    }
    return status;
}

static void side_release(struct side *side, int p)
{
    for (int j = 0; j < p && side->type; j++)
        if (side->type[j] != MPI_BYTE)
            MPI_Type_free(&side->type[j]);
    free(side->count);
    free(side->displacement);
    free(side->type);
}

static void release(void *state)
{
    struct alltoallw *a = state;
    side_release(&a->sent, a->t.p);
    side_release(&a->received, a->t.p);
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    struct alltoallw *a = state;
    (void)sent, (void)received;
    a->t = *t;
    a->call = (struct pf_single_call){t->beside, MPI_REQUEST_NULL};
    a->from = t->from[t->me];
    a->to = t->to[t->me];
    a->kept = pf_box_common(&a->from, &a->to);
    int status = side_describe(t, &t->from[t->me], t->to, &a->sent);
    return status ? status : side_describe(t, &t->to[t->me], t->from, &a->received);
}

static int start(void *state, void *from, void *to)
{
    struct alltoallw *a = state;
    struct pf_copy kept = pf_copy_between(&a->kept, &a->from, &a->to);
    kept.fields = a->t.fields;
    kept.threads = a->t.threads;
    pf_copy_run(&kept, a->t.element_bytes, from, to);
    if (a->t.p > 1 && a->call.beside)
        PF_MPI(MPI_Ialltoallw(from, a->sent.count, a->sent.displacement, a->sent.type, to, a->received.count,
                              a->received.displacement, a->received.type, a->t.group, &a->call.request));
    else if (a->t.p > 1)
        PF_MPI(MPI_Alltoallw(from, a->sent.count, a->sent.displacement, a->sent.type, to, a->received.count,
                             a->received.displacement, a->received.type, a->t.group));
    return PENCILFFT_OK;
}

const struct pf_exchange pf_exchange_alltoallw = {
    .name = "alltoallw",
    .bytes = sizeof(struct alltoallw),
    .plan = plan,
    .start = start,
    .progress = pf_single_progress,
    .finish = pf_single_finish,
    .release = release,
    .takes_boxes = true,
    .moves_self = true,
    .beside = true,
};
