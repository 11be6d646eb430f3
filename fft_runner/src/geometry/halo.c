/* Boxes with a halo.
 * Idea:  a periodic array repeats itself in all directions. The intersection of a box grown by a halo and another rank's
 *        box, shifted by an extent of the array or not along each axis, is the part of the halo that this rank holds. All
 *        boxes together are the array, so these parts together are the halo, each element once, for all shapes and widths.
 * Cost:  27 comparisons for two boxes. Needs: no MPI, no halo wider than the array. */
#include "geometry/geometry.h"

pencilfft_box pf_halo_box(const pencilfft_box *box, const int64_t low[3], const int64_t high[3])
{
    pencilfft_box grown = *box;
    if (pf_box_elements(box) == 0)
        return grown;
    for (int axis = 0; axis < 3; axis++) {
        grown.offset[axis] -= low[axis];
        grown.extent[axis] += low[axis] + high[axis];
    }
    return grown;
}

int pf_halo_images(const int64_t n[3], const pencilfft_box *with_halo, const pencilfft_box *other, bool own,
                   struct pf_image image[PF_MAX_IMAGES])
{
    enum { UNSHIFTED = PF_MAX_IMAGES / 2 };
    int found = 0;
    for (int i = 0; i < PF_MAX_IMAGES; i++) {
        const int64_t shift[3] = {(i / 9 - 1) * n[0], (i / 3 % 3 - 1) * n[1], (i % 3 - 1) * n[2]};
        pencilfft_box shifted = *other;
        for (int axis = 0; axis < 3; axis++)
            shifted.offset[axis] += shift[axis];
        pencilfft_box here = pf_box_common(with_halo, &shifted);
        if (pf_box_elements(&here) == 0 || (own && i == UNSHIFTED))
            continue;
        pencilfft_box there = here;
        for (int axis = 0; axis < 3; axis++)
            there.offset[axis] -= shift[axis];
        image[found++] = (struct pf_image){here, there};
    }
    return found;
}
