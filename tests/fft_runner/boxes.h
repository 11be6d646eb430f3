/* Elements of boxes, counted one by one. */
#pragma once

#include "pencilfft.h"
#include "values.h"

/* 0 to n - 1, by chance. */
static inline int64_t boxes_below(uint64_t *thrown, int64_t n)
{
    return (int64_t)(value_hash((*thrown)++) % (uint64_t)n);
}

/* Boxes first to end - 1 of a part of the array, which is cut in two again and again; some are empty. */
static inline void boxes_cut(uint64_t *thrown, pencilfft_box whole, int first, int end, pencilfft_box *boxes)
{
    if (end - first == 1) {
        boxes[first] = whole;
        return;
    }
    int axis = (int)boxes_below(thrown, 3), middle = first + 1 + (int)boxes_below(thrown, end - first - 1);
    int64_t at = boxes_below(thrown, whole.extent[axis] + 1);
    pencilfft_box upper = whole;
    whole.extent[axis] = at;
    upper.offset[axis] += at;
    upper.extent[axis] -= at;
    boxes_cut(thrown, whole, first, middle, boxes);
    boxes_cut(thrown, upper, middle, end, boxes);
}

static inline int64_t box_elements(const pencilfft_box *box)
{
    return box->extent[0] * box->extent[1] * box->extent[2];
}

/* Elements of both boxes, index by index along each axis. */
static inline int64_t shared_elements(const pencilfft_box *a, const pencilfft_box *b)
{
    int64_t n = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t shared = 0;
        for (int64_t at = a->offset[axis]; at < a->offset[axis] + a->extent[axis]; at++)
            shared += at >= b->offset[axis] && at < b->offset[axis] + b->extent[axis];
        n *= shared;
    }
    return n;
}
