/* The messages of a transpose.
 * Idea:  message j is the common part of the two boxes, dense; all messages follow each other. z is fastest, so that rows
 *        along z, the longest rows that all arrays have, are copied whole; or the fastest axis of the next array
 *        (layout/forms.c). The axis other than z that is undivided on one side, the first of two, is slowest: so the
 *        received messages when x is gathered, and the sent messages when x is divided, are an array in the order x y z.
 * Cost:  packing or unpacking is one read and one write of a box. */
#include "exchange/messages.h"

#include <stdlib.h>

#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

MPI_Datatype pf_element_type(size_t bytes)
{
    return bytes == 4 ? MPI_FLOAT : bytes == 8 ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
}

int pf_aligned_make(size_t bytes, void **raw, void **data)
{
    enum { ALIGNMENT = 64 };
    if (!(*raw = malloc(bytes + ALIGNMENT)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    *data = (char *)*raw + (ALIGNMENT - (uintptr_t)*raw % ALIGNMENT);
    return PENCILFFT_OK;
}

static int allocate(struct pf_parts *parts, int p)
{
    size_t n = (size_t)p;
    *parts = (struct pf_parts){.list = {.p = p}};
    parts->list.elements = calloc(n, sizeof *parts->list.elements);
    parts->list.start = calloc(n, sizeof *parts->list.start);
    parts->part = calloc(n, sizeof *parts->part);
    if (!parts->list.elements || !parts->list.start || !parts->part)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for %d messages or pieces", p);
    return PENCILFFT_OK;
}

void pf_parts_release(struct pf_parts *parts)
{
    free(parts->list.elements);
    free(parts->list.start);
    free(parts->part);
    *parts = (struct pf_parts){.part = NULL};
}

static void dense(pencilfft_box *box, int slowest, int nearest)
{
    int between = 3 - slowest - nearest;
    box->stride[nearest] = 1;
    box->stride[between] = box->extent[nearest];
    box->stride[slowest] = box->extent[nearest] * box->extent[between];
}

/* An axis that is divided among the members on one side, so that the messages of the other side form one array along this
 * axis. Not z, whose rows must not be cut. */
static int slowest_axis(const struct pf_transpose *t)
{
    int last = t->p - 1;
    bool x_is_whole = t->from[last].offset[0] == t->from[0].offset[0] && t->to[last].offset[0] == t->to[0].offset[0];
    return t->p > 1 && x_is_whole ? 1 : 0;
}

int pf_parts_make(const struct pf_transpose *t, bool sent, int nearest, struct pf_parts *parts)
{
    const pencilfft_box *mine = sent ? &t->from[t->me] : &t->to[t->me], *theirs = sent ? t->to : t->from;
    int status = allocate(parts, t->p);
    if (status)
        return status;
    for (int i = 0; i < t->p; i++) {
        pencilfft_box part = pf_box_common(mine, &theirs[i]);
        dense(&part, slowest_axis(t), nearest);
        parts->part[i] = part;
        parts->list.elements[i] = pf_box_elements(&part) * t->fields;
        parts->list.start[i] = parts->list.total;
        parts->list.total += parts->list.elements[i];
    }
    return status;
}

int pf_exchange_parts(const struct pf_exchange *exchange, const struct pf_transpose *t, bool sent, int nearest, int pieces,
                      struct pf_parts *parts)
{
    const pencilfft_box *mine = sent ? &t->from[t->me] : &t->to[t->me];
    if (!exchange->takes_boxes)
        return pf_parts_make(t, sent, nearest, parts);
    int status = allocate(parts, pieces);
    if (status)
        return status;
    parts->whole = true;
    parts->part[0] = *mine;
    parts->list.total = pf_box_elements(mine) * t->fields;
    return status;
}

/* Copy between message i and its box, out of the box or back; a whole box with all its fields is dense on both sides. */
static void copy_message(const struct pf_transpose *t, const pencilfft_box *box, const struct pf_parts *parts, int i,
                         bool out, const void *from, void *to)
{
    const pencilfft_box *part = &parts->part[i];
    struct pf_copy copy = out ? pf_copy_between(part, box, part) : pf_copy_between(part, part, box);
    *(out ? &copy.to_start : &copy.from_start) += parts->list.start[i];
    copy.fields = t->fields;
    if (parts->whole)
        copy = (struct pf_copy){.extent = {1, 1, parts->list.total},
                                .from_stride = {1, 1, 1},
                                .to_stride = {1, 1, 1},
                                .fields = 1};
    copy.threads = t->threads;
    size_t array_bytes = t->array_bytes ? t->array_bytes : t->element_bytes;
    pf_copy_changed(&copy, out ? array_bytes : t->element_bytes, out ? t->element_bytes : array_bytes, from, to);
}

void pf_pack(const struct pf_transpose *t, const struct pf_parts *sent, int without, const void *box, void *messages)
{
    for (int j = 0; j < sent->list.p; j++)
        if (j != without)
            copy_message(t, &t->from[t->me], sent, j, true, box, messages);
}

void pf_unpack(const struct pf_transpose *t, const struct pf_parts *received, int without, const void *messages, void *box)
{
    for (int j = 0; j < received->list.p; j++)
        if (j != without)
            copy_message(t, &t->to[t->me], received, j, false, messages, box);
}

void pf_pack_own(const struct pf_transpose *t, const struct pf_parts *received, const void *box, void *messages)
{
    copy_message(t, &t->from[t->me], received, t->me, true, box, messages);
}

/* ---- states of exchanges ---------------------------------------------------------------------------------------------- */

int pf_exchange_plan(const struct pf_exchange *exchange, const struct pf_transpose *t, struct pf_parts *sent,
                     struct pf_parts *received, void **state)
{
    if (!(*state = calloc(1, exchange->bytes + 1)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    int status = exchange->plan(t, &sent->list, &received->list, *state);
    if (status) {
        pf_exchange_destroy(exchange, *state);
        *state = NULL;
    }
    return status;
}

void pf_exchange_destroy(const struct pf_exchange *exchange, void *state)
{
    if (state && exchange->release)
        exchange->release(state);
    free(state);
}

void pf_exchange_traffic(const struct pf_exchange *exchange, const void *state, const struct pf_transpose *t, int64_t *bytes,
                         int64_t *messages)
{
    if (exchange->traffic) {
        exchange->traffic(state, bytes, messages);
        return;
    }
    for (int j = 0; j < t->p; j++) {
        pencilfft_box common = pf_box_common(&t->from[t->me], &t->to[j]);
        int64_t elements = j == t->me ? 0 : pf_box_elements(&common) * t->fields;
        bytes[j] = elements * (int64_t)t->element_bytes;
        messages[j] = elements > 0;
    }
}
