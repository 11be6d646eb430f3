#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* Copy of a three-dimensional part of an array into another memory order. Strides and starts count elements; the axes may
 * come in any order. */
struct pf_copy {
    int64_t extent[3];
    int64_t from_stride[3], to_stride[3];
    int64_t from_start, to_start;
    int fields; /* so many such parts, each so far behind the last */
    int64_t from_field, to_field;
    int threads; /* that may share the copy; 0 or 1: none */
    bool from_memory, to_memory; /* source or target is not in the near caches: prefetch its rows */
    bool past_caches; /* the target is larger than the caches, and not read soon */
};

/* A field of a part of two boxes, from the first box to the second. Fields lie a box apart. */
struct pf_copy pf_copy_between(const pencilfft_box *part, const pencilfft_box *from, const pencilfft_box *to);

/* Elements of 4, 8 or 16 bytes; the two arrays must not overlap. */
void pf_copy_run(const struct pf_copy *copy, size_t element_bytes, const void *from, void *to);
/* The same, also to elements of half or twice the size: numbers in double precision become single, or back. */
void pf_copy_changed(const struct pf_copy *copy, size_t from_bytes, size_t to_bytes, const void *from, void *to);

/* Like pf_copy_run(), but adds the numbers to the target: real numbers of 4 or 8 bytes, `reals` (1 or 2) an element. */
void pf_sum_run(const struct pf_copy *copy, size_t real_bytes, int reals, const void *from, void *to);
