/* Transpose by one MPI_Alltoallv.
 * Idea:  pack the parts for all members one after the other, exchange, unpack. Parts travel in the sender's memory
 *        order, so packing copies whole runs and unpacking does the turning.
 * Source: the plain way of P3DFFT and 2DECOMP&FFT.
 * Cost:  one collective of p - 1 messages a rank, 2 passes over memory besides it. A group of one is a single copy.
 * Needs: counts and displacements that fit an MPI int; nothing of p or of the extents. */
#include "exchange_alltoallv.h"

#include <limits.h>
#include <stdlib.h>

#include "failure.h"
#include "pencils.h"
#include "strided_copy.h"

struct parts {
    int *count, *displacement;
    struct pf_copy *copy;
};

struct alltoallv {
    MPI_Comm group;
    int p;
    struct parts sent, received;
};

static int parts_allocate(struct parts *parts, int p)
{
    parts->count = calloc((size_t)p, sizeof *parts->count);
    parts->displacement = calloc((size_t)p, sizeof *parts->displacement);
    parts->copy = calloc((size_t)p, sizeof *parts->copy);
    if (!parts->count || !parts->displacement || !parts->copy)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", p);
    return PENCILFFT_OK;
}

static void parts_release(struct parts *parts)
{
    free(parts->count);
    free(parts->displacement);
    free(parts->copy);
}

/* Strides of a part that lies densely in the memory order of the box it was cut from. */
static void dense_strides(const pencilfft_box *part, int64_t stride[3])
{
    for (int axis = 0; axis < 3; axis++) {
        stride[axis] = 1;
        for (int faster = 0; faster < 3; faster++)
            if (part->stride[faster] < part->stride[axis] ||
                (part->stride[faster] == part->stride[axis] && faster > axis))
                stride[axis] *= part->extent[faster];
    }
}

static struct pf_copy between(const pencilfft_box *part, const int64_t from[3], const int64_t to[3])
{
    struct pf_copy copy = {.from_start = 0};
    for (int axis = 0; axis < 3; axis++) {
        copy.extent[axis] = part->extent[axis];
        copy.from_stride[axis] = from[axis];
        copy.to_stride[axis] = to[axis];
    }
    return copy;
}

/* What `me` sends to member j: out of the pencil, into the message that starts at *used. */
static void plan_sent(struct alltoallv *a, const struct pf_transpose *t, int j, int64_t *used)
{
    int64_t dense[3];
    const pencilfft_box *mine = &t->from[t->me];
    pencilfft_box part = pf_box_common(mine, &t->to[j]);
    dense_strides(&part, dense);
    a->sent.copy[j] = between(&part, mine->stride, dense);
    a->sent.copy[j].from_start = pf_box_start(mine, &part);
    a->sent.copy[j].to_start = *used;
    a->sent.displacement[j] = (int)*used;
    a->sent.count[j] = (int)pf_box_elements(&part);
    *used += pf_box_elements(&part);
}

/* What member j sends to `me`: out of its message, which is in the memory order of its box, into the new pencil. */
static void plan_received(struct alltoallv *a, const struct pf_transpose *t, int j, int64_t *used)
{
    int64_t dense[3];
    const pencilfft_box *mine = &t->to[t->me];
    pencilfft_box part = pf_box_common(&t->from[j], mine);
    dense_strides(&part, dense);
    a->received.copy[j] = between(&part, dense, mine->stride);
    a->received.copy[j].from_start = *used;
    a->received.copy[j].to_start = pf_box_start(mine, &part);
    a->received.displacement[j] = (int)*used;
    a->received.count[j] = (int)pf_box_elements(&part);
    *used += pf_box_elements(&part);
}

static int check_counts(const struct pf_transpose *t)
{
    const pencilfft_box *boxes[2] = {&t->from[t->me], &t->to[t->me]};
    for (int i = 0; i < 2 && t->p > 1; i++)
        if (pf_box_elements(boxes[i]) > INT_MAX)
            return pf_fail(PENCILFFT_TOO_LARGE,
                           "a task holds %lld x %lld x %lld elements, more than the %d an MPI count can name; "
                           "use more tasks",
                           (long long)boxes[i]->extent[0], (long long)boxes[i]->extent[1],
                           (long long)boxes[i]->extent[2], INT_MAX);
    return PENCILFFT_OK;
}

/* A group of one sends nothing: its pencil is turned where it is. */
static void plan_alone(struct alltoallv *a, const struct pf_transpose *t)
{
    a->sent.copy[0] = between(t->from, t->from->stride, t->to->stride);
}

static void plan_parts(struct alltoallv *a, const struct pf_transpose *t)
{
    int64_t sent = 0, received = 0;
    for (int j = 0; j < t->p; j++) {
        plan_sent(a, t, j, &sent);
        plan_received(a, t, j, &received);
    }
}

int pf_alltoallv_plan(const struct pf_transpose *t, void **state)
{
    int status = check_counts(t);
    struct alltoallv *a = NULL;
    if (status)
        goto done;
    if (!(a = calloc(1, sizeof *a))) {
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
        goto done;
    }
    a->group = t->group;
    a->p = t->p;
    status = parts_allocate(&a->sent, t->p);
    if (!status)
        status = parts_allocate(&a->received, t->p);
    if (status)
        goto done;
    if (t->p == 1)
        plan_alone(a, t);
    else
        plan_parts(a, t);
done:
    if (status && a) {
        pf_alltoallv_destroy(a);
        a = NULL;
    }
    *state = a;
    return status;
}

static void copy_parts(const struct parts *parts, int p, const void *from, void *to)
{
    for (int j = 0; j < p; j++)
        pf_copy_run(&parts->copy[j], from, to);
}

int pf_alltoallv_run(void *state, const struct pf_run *run, void *from, void *to)
{
    int status = PENCILFFT_OK;
    struct alltoallv *a = state;
    copy_parts(&a->sent, a->p, from, to);
    pf_clock_lap(run->clock, run->pack);
    if ((status = run->sync->wait(run->all)))
        goto done;
    pf_clock_skip(run->clock);
    if (a->p == 1)
        goto done;
    PF_MPI(MPI_Alltoallv(to, a->sent.count, a->sent.displacement, MPI_C_DOUBLE_COMPLEX, from, a->received.count,
                         a->received.displacement, MPI_C_DOUBLE_COMPLEX, a->group));
    pf_clock_lap(run->clock, run->exchange);
    copy_parts(&a->received, a->p, from, to);
    pf_clock_lap(run->clock, run->unpack);
done:
    return status;
}

void pf_alltoallv_destroy(void *state)
{
    struct alltoallv *a = state;
    parts_release(&a->sent);
    parts_release(&a->received);
    free(a);
}
