/* Boxes that ranks hold before and after a transform where these are not those of its arrays: bricks, or any that are given. */
#pragma once

#include "geometry/geometry.h"

/* The decomposition that a text names, "brick:2x2x4" with the numbers of bricks along x, y and z; 0 where it does not say them.
 * NULL with a message. */
const struct pf_decomposition *pf_decomposition_find(const char *text, int bricks[3]);

/* Bricks of so many ranks whose surfaces are least together: how many along x, y and z. */
void pf_bricks_choose(const int64_t n[3], int ranks, int bricks[3]);
/* Offset and extent of the brick of a rank; strides are not set. */
pencilfft_box pf_brick_of(const int64_t n[3], const int bricks[3], int rank);

/* Whether the boxes of all ranks are parts of an array of these extents and hold each element once, as far as rank `me` sees it:
 * when each rank has asked, all is known. `what` names them in messages: "input". */
int pf_boxes_check(const int64_t n[3], const pencilfft_box *boxes, int ranks, int me, const char *what);
