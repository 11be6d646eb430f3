#pragma once

#include <stddef.h>
#include <stdint.h>

/* Copy of a three-dimensional part of one array into another memory order.
 * Strides and starts count elements; the axes may come in any order. */
struct pf_copy {
    int64_t extent[3];
    int64_t from_stride[3], to_stride[3];
    int64_t from_start, to_start;
};

/* Elements of 4, 8 or 16 bytes; the two arrays must not overlap. */
void pf_copy_run(const struct pf_copy *copy, size_t element_bytes, const void *from, void *to);
