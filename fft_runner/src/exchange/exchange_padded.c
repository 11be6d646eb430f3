/* Transpose by MPI_Alltoall over messages padded to one length.
 * Idea:  every message is padded to the largest of the group, so that the plain all-to-all can carry uneven blocks; the
 *        padding is sent but not read.
 * Source: P3DFFT's USEEVEN, 2DECOMP&FFT's EVEN.
 * Cost:  one collective of p - 1 messages a rank, and a copy of a rank's own data; the padding, at most one index in each of
 *        the two split axes, is sent too.
 * Needs: no condition on p or on the extents. */
#include "exchange/message_counts.h"
#include "geometry/geometry.h"

/* The product of the least widths bounds every common part; for pencils the largest part has exactly these widths. */
static int64_t largest_message(const struct pf_transpose *t)
{
    int64_t elements = t->fields;
    for (int axis = 0; axis < 3; axis++)
        elements *= pf_smaller(pf_widest(t->from, t->p, axis), pf_widest(t->to, t->p, axis));
    return elements;
}

static void spread(struct pf_messages *messages, int64_t room)
{
    for (int j = 0; j < messages->p; j++)
        messages->start[j] = j * room;
    messages->total = messages->p * room;
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    int64_t room = largest_message(t);
    spread(sent, room);
    spread(received, room);
    return pf_equal_plan(t, room, state);
}

static void traffic(const void *state, int64_t *bytes, int64_t *messages)
{
    const struct pf_equal_calls *a = state;
    for (int j = 0; j < a->p; j++)
        if (j != a->me) {
            bytes[j] = a->elements * (int64_t)a->bytes;
            messages[j] = bytes[j] > 0;
        }
}

const struct pf_exchange pf_exchange_padded = {
    .name = "padded",
    .bytes = sizeof(struct pf_equal_calls),
    .plan = plan,
    .start = pf_equal_start,
    .progress = pf_single_progress,
    .finish = pf_single_finish,
    .release = pf_equal_release,
    .transposes_alone = true,
    .moves_self = true,
    .beside = true,
    .traffic = traffic,
};
