/* Boxes of ranks before and after a transform, other than the boxes of its arrays: bricks, or any given boxes. */
#pragma once

#include "geometry/geometry.h"

/* Return the decomposition of a text such as "brick:2x2x4", and in `bricks` the numbers of bricks along x, y and z, 0 if the
 * text has none. NULL, with a message, if the text is wrong. */
const struct pf_decomposition *pf_decomposition_find(const char *text, int bricks[3]);

/* Numbers of bricks along x, y and z for so many ranks, with the least total surface. */
void pf_bricks_choose(const int64_t n[3], int ranks, int bricks[3]);
/* Offset and extent of the brick of a rank; strides are not set. */
pencilfft_box pf_brick_of(const int64_t n[3], const int bricks[3], int rank);

/* Check that the boxes of all ranks are parts of an array of these extents and hold each element once. Each rank compares
 * its own box with the others, so all ranks must call. `what` names the boxes in messages: "input". A status. */
int pf_boxes_check(const int64_t n[3], const pencilfft_box *boxes, int ranks, int me, const char *what);
