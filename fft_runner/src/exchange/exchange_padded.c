/* Transpose by MPI_Alltoall over messages padded to one length.
 * Idea:  every message is padded to the largest of the group, so that the plain all-to-all can carry uneven blocks; the
 *        padding is sent but not read.
 * Source: P3DFFT's USEEVEN, 2DECOMP&FFT's EVEN.
 * Cost:  one collective of p - 1 messages a rank, and a copy of what stays; the padding, at most one index in each of the
 *        two split axes, is sent too.
 * Needs: nothing of p or of the extents; a message that an MPI int counts. */
#include <limits.h>
#include <stdlib.h>

#include "common/failure.h"
#include "exchange/exchange.h"
#include "geometry/blocks.h"

struct padded {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes;
    int p, me, count;
};

static int64_t widest(const pencilfft_box *boxes, int p, int axis)
{
    int64_t most = 0;
    for (int j = 0; j < p; j++)
        most = boxes[j].extent[axis] > most ? boxes[j].extent[axis] : most;
    return most;
}

/* The common part of two boxes is not wider than either; for pencils the largest part is exactly that wide. */
static int64_t largest_message(const struct pf_transpose *t)
{
    int64_t elements = t->fields;
    for (int axis = 0; axis < 3; axis++)
        elements *= pf_smaller(widest(t->from, t->p, axis), widest(t->to, t->p, axis));
    return elements;
}

static void spread(struct pf_messages *messages, int64_t room)
{
    for (int j = 0; j < messages->p; j++)
        messages->start[j] = j * room;
    messages->total = messages->p * room;
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    int64_t room = largest_message(t);
    *state = NULL;
    if (room > INT_MAX)
        return pf_fail(PENCILFFT_TOO_LARGE,
                       "a message has %lld elements, more than the %d an MPI count can name; "
                       "use more tasks",
                       (long long)room, INT_MAX);
    struct padded *a = malloc(sizeof *a);
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    *a = (struct padded){t->group, pf_element_type(t->element_bytes), t->element_bytes, t->p, t->me, (int)room};
    spread(sent, room);
    spread(received, room);
    *state = a;
    return PENCILFFT_OK;
}

static int start(void *state, int slice, void *from, void *to)
{
    int status = PENCILFFT_OK;
    const struct padded *a = state;
    (void)slice;
    PF_MPI(MPI_Alltoall(from, a->count, a->element, to, a->count, a->element, a->group));
done:
    return status;
}

static void traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct padded *a = state;
    for (int j = 0; j < a->p; j++)
        if (j != a->me) {
            bytes[j] = a->count * (int64_t)a->bytes;
            messages[j] = 1;
        }
}

static void destroy(void *state)
{
    free(state);
}

const struct pf_exchange pf_exchange_padded = {
    .name = "padded",
    .plan = plan,
    .start = start,
    .destroy = destroy,
    .takes = PF_MESSAGES,
    .moves_self = true,
    .traffic = traffic,
};
