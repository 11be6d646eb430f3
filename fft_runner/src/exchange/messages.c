/* The messages of a transpose.
 * Idea:  message (slice k, member j) is the common part of the two boxes, cut to slice k, dense, with z fastest; all
 *        messages follow each other. So rows along z, the longest that exist everywhere, are copied whole. The axis that is
 *        undivided after the transpose is slowest, so that received messages have the layout of the array itself.
 * Cost:  packing or unpacking is one read and one write of a box. */
#include "exchange/messages.h"

#include <stdlib.h>

#include "common/failure.h"
#include "geometry/blocks.h"
#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

MPI_Datatype pf_element_type(size_t bytes)
{
    return bytes == 4 ? MPI_FLOAT : bytes == 8 ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
}

static int allocate(struct pf_parts *parts, int p, int slices)
{
    size_t n = (size_t)p * (size_t)slices;
    *parts = (struct pf_parts){.list = {.p = p, .slices = slices}};
    parts->list.elements = calloc(n, sizeof *parts->list.elements);
    parts->list.start = calloc(n, sizeof *parts->list.start);
    parts->part = calloc(n, sizeof *parts->part);
    if (!parts->list.elements || !parts->list.start || !parts->part)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", p);
    return PENCILFFT_OK;
}

void pf_parts_release(struct pf_parts *parts)
{
    free(parts->list.elements);
    free(parts->list.start);
    free(parts->part);
    *parts = (struct pf_parts){.part = NULL};
}

/* The slice of the whole array. It is also that of the boxes, along an axis that both sides split alike. */
static void cut(pencilfft_box *box, int axis, int slices, int slice)
{
    struct pf_block block = pf_block_of(box->extent[axis], slices, slice);
    box->offset[axis] += block.offset;
    box->extent[axis] = block.extent;
}

static void dense(pencilfft_box *box, int slowest)
{
    int64_t stride = 1;
    for (int axis = 2; axis >= 0; axis--)
        if (axis != slowest) {
            box->stride[axis] = stride;
            stride *= box->extent[axis];
        }
    box->stride[slowest] = stride;
}

/* The axis that is divided among the members before, so that received messages form one array along it. Not z, whose rows
 * must not be cut. */
static int slowest_axis(const struct pf_transpose *t)
{
    return t->p > 1 && t->from[1].offset[1] != t->from[0].offset[1] ? 1 : 0;
}

static int list_parts(const struct pf_transpose *t, const pencilfft_box *mine, const pencilfft_box *theirs, int slices,
                      struct pf_parts *parts)
{
    int status = allocate(parts, t->p, slices);
    if (status)
        return status;
    for (int i = 0; i < t->p * slices; i++) {
        pencilfft_box part = pf_box_common(mine, &theirs[i % t->p]);
        cut(&part, t->slice_axis, slices, i / t->p);
        dense(&part, slowest_axis(t));
        parts->part[i] = part;
        parts->list.elements[i] = pf_box_elements(&part) * t->fields;
        parts->list.start[i] = parts->list.total;
        parts->list.total += parts->list.elements[i];
    }
    return status;
}

int pf_parts_sent(const struct pf_transpose *t, int slices, struct pf_parts *parts)
{
    return list_parts(t, &t->from[t->me], t->to, slices, parts);
}

int pf_parts_received(const struct pf_transpose *t, int slices, struct pf_parts *parts)
{
    return list_parts(t, &t->to[t->me], t->from, slices, parts);
}

/* Between a box and one of its parts somewhere else, field by field. */
static struct pf_copy between(const pencilfft_box *box, const pencilfft_box *part, int64_t start, int out_of_box)
{
    struct pf_copy copy = {.from_start = out_of_box ? pf_box_start(box, part) : start,
                           .to_start = out_of_box ? start : pf_box_start(box, part)};
    for (int axis = 0; axis < 3; axis++) {
        copy.extent[axis] = part->extent[axis];
        copy.from_stride[axis] = out_of_box ? box->stride[axis] : part->stride[axis];
        copy.to_stride[axis] = out_of_box ? part->stride[axis] : box->stride[axis];
    }
    return copy;
}

static void copy_fields(const struct pf_transpose *t, struct pf_copy copy, int64_t from_field, int64_t to_field,
                        const void *from, void *to)
{
    for (int field = 0; field < t->fields; field++) {
        pf_copy_run(&copy, t->element_bytes, from, to);
        copy.from_start += from_field;
        copy.to_start += to_field;
    }
}

void pf_pack(const struct pf_transpose *t, const struct pf_parts *sent, int slice, int without, const void *box,
             void *messages)
{
    const pencilfft_box *mine = &t->from[t->me];
    for (int j = 0; j < t->p; j++) {
        int i = slice * t->p + j;
        const pencilfft_box *part = &sent->part[i];
        if (j != without)
            copy_fields(t, between(mine, part, sent->list.start[i], 1), pf_box_elements(mine), pf_box_elements(part), box,
                        messages);
    }
}

void pf_unpack(const struct pf_transpose *t, const struct pf_parts *received, int slice, int without, const void *messages,
               void *box)
{
    const pencilfft_box *mine = &t->to[t->me];
    for (int j = 0; j < t->p; j++) {
        int i = slice * t->p + j;
        const pencilfft_box *part = &received->part[i];
        if (j != without)
            copy_fields(t, between(mine, part, received->list.start[i], 0), pf_box_elements(part), pf_box_elements(mine),
                        messages, box);
    }
}

void pf_pack_own(const struct pf_transpose *t, const struct pf_parts *received, int slice, const void *box, void *messages)
{
    int i = slice * t->p + t->me;
    const pencilfft_box *mine = &t->from[t->me], *part = &received->part[i];
    copy_fields(t, between(mine, part, received->list.start[i], 1), pf_box_elements(mine), pf_box_elements(part), box,
                messages);
}
