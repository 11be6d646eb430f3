/* Boxes of ranks before and after a transform, other than the boxes of its arrays: bricks, or any given boxes. */
#pragma once

#include "geometry/geometry.h"

/* The decomposition of a text, "brick:2x2x4" with the numbers of bricks along x, y and z; 0 if the text has no numbers. With
 * two dimensions there are two numbers, and one brick along z. NULL with a message. Axes are the caller's, as below. */
const struct pf_decomposition *pf_decomposition_find(const char *text, int dimensions, int bricks[3]);

/* Numbers of bricks along x, y and z for so many ranks, with the least total surface. */
void pf_bricks_choose(const int64_t n[3], int dimensions, int ranks, int bricks[3]);
/* Offset and extent of the brick of a rank; strides are not set. */
pencilfft_box pf_brick_of(const int64_t n[3], const int bricks[3], int rank);

/* Check that the boxes of all ranks are parts of an array of these extents and hold each element once. Each rank compares
 * its own box with the others, so all ranks must call. `what` names the boxes in messages: "input". A status. */
int pf_boxes_check(const int64_t n[3], const pencilfft_box *boxes, int ranks, int me, const char *what);
