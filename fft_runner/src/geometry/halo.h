/* Boxes with a halo: the periodic images of other boxes that fill the halo. */
#pragma once

#include "geometry/geometry.h"

/* A box grown by so many planes below and above along each axis; an empty box has no halo. Strides are not set. */
pencilfft_box pf_halo_box(const pencilfft_box *box, const int64_t low[3], const int64_t high[3]);

/* Part of a halo that a box holds: `here` in the coordinates of the box with the halo, which may be below 0 or beyond the
 * array, and the place in its own box. Strides are not set. */
struct pf_image {
    pencilfft_box here, there;
};
/* Images are shifted by an extent of the array or not at all, along each axis. */
enum { PF_MAX_IMAGES = 27 };
/* The images of box `other` in the box `mine` with its halo, which is nowhere wider than the array; if the two belong to the
 * same rank, without the box itself. Returns their number; on all ranks in the same order. */
int pf_halo_images(const int64_t n[3], const pencilfft_box *with_halo, const pencilfft_box *other, bool own,
                   struct pf_image image[PF_MAX_IMAGES]);
