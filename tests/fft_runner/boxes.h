/* Elements of boxes, counted one by one. */
#pragma once

#include "pencilfft.h"

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
