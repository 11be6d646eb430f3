/* The part of an array that a rank holds, and its memory order; arithmetic of boxes. */
#pragma once

#include <stdbool.h>

#include "common/failure.h"
#include "geometry/blocks.h"
#include "geometry/decomposition.h"

/* The memory order of arrays. */
struct pf_layout {
    const char *name;
    bool turned; /* the axes transformed in an array are its fastest axes, the first the fastest of all */
};
extern const struct pf_table pf_layouts;

/* The caller's axes in the order in which a forward transform goes through them: the first is z inside the library, the next
 * y, the last x. With two dimensions x is the caller's z, of one point. */
struct pf_axes {
    const char *name; /* "zyx" */
    int dimensions;
    int outside[3]; /* the caller's axis of x, y and z */
};
extern const struct pf_table pf_orders;

/* No axes stand for the first row of the table. */
static inline int pf_axis_outside(const struct pf_axes *axes, int axis)
{
    return axes ? axes->outside[axis] : axis;
}
static inline char pf_axis_letter(const struct pf_axes *axes, int axis)
{
    return "xyz"[pf_axis_outside(axes, axis)];
}
int pf_axis_inside(const struct pf_axes *axes, int outside);
/* Numbers of x, y and z for the caller, and back; `from` and `to` differ. */
void pf_numbers_outside(const struct pf_axes *axes, const int64_t from[3], int64_t to[3]);
void pf_numbers_inside(const struct pf_axes *axes, const int64_t from[3], int64_t to[3]);
pencilfft_box pf_box_outside(const struct pf_axes *axes, const pencilfft_box *box);
pencilfft_box pf_box_inside(const struct pf_axes *axes, const pencilfft_box *box);

/* Extents, grid of ranks and layout: together they decide the rank and place of every element. */
struct pf_geometry {
    int64_t n[3]; /* after the transform along the axis */
    const struct pf_decomposition *decomposition;
    int grid[PF_MAX_DIMENSIONS];
    const struct pf_layout *layout; /* NULL: the first row of the table */
    int64_t points[3]; /* before the transform along the axis; 0: as after it */
    const struct pf_axes *axes; /* NULL: the first row of the table */
};

/* An array before its lines are transformed, as the exchange before leaves it; an array's number alone means the array after
 * that. Array 0 before its lines is the input. */
enum { PF_BEFORE = PENCILFFT_BEFORE };

static inline int pf_array_number(int array)
{
    return array < PF_BEFORE ? array : array - PF_BEFORE;
}

/* The array before and after exchange e of a forward transform. */
static inline int pf_exchanged_array(int e, int after)
{
    return after ? PF_BEFORE + e + 1 : e;
}

/* The axis that is transformed together with z: the next axis that is whole in array 0; -1 if there is none. */
int pf_axis_beside_z(const struct pf_geometry *geometry);
/* The axes that have been transformed in an array, as bits. */
unsigned pf_axes_done(const struct pf_geometry *geometry, int array);
/* The global extent of an axis in an array. */
int64_t pf_array_extent(const struct pf_geometry *geometry, int array, int axis);

/* The limit of elements of an array: a double counts all elements exactly, so that an index is a value. */
#define PF_MAX_ELEMENTS ((int64_t)1 << 53)

/* Whether the extents are numbers that can be counted; and whether the grid fits the ranks, too. */
int pf_extents_check(const struct pf_geometry *geometry);
int pf_geometry_check(const struct pf_geometry *geometry, int ranks);
/* Whether every rank holds elements of every array. */
bool pf_geometry_fills(const struct pf_geometry *geometry);
/* The fastest axis of an array, the same on all ranks. */
int pf_nearest_axis(const struct pf_geometry *geometry, int array);
/* Gives a dense box the memory order of an array. */
void pf_box_lay(const struct pf_geometry *geometry, int array, pencilfft_box *box);
pencilfft_box pf_array_box(const struct pf_geometry *geometry, int array, int rank);
/* The planes z to z_end alone in the division of array `array`, if these axes have been transformed, z among them; array 0
 * is whole. */
pencilfft_box pf_planes_box(const struct pf_geometry *geometry, int64_t z, int64_t z_end, int array, unsigned done,
                            int rank);
/* The grid in the user's notation: "2x4". */
enum { PF_GRID_TEXT = 48 };
const char *pf_grid_text(const struct pf_geometry *geometry, char text[PF_GRID_TEXT]);
/* Difference of ranks between neighbours along a dimension of the grid. */
int pf_grid_step(const struct pf_geometry *geometry, int dimension);
/* The rank at position j in the group of a rank along a dimension of the grid. */
int pf_grid_member(const struct pf_geometry *geometry, int dimension, int rank, int j);

int64_t pf_box_elements(const pencilfft_box *box);
/* The largest extent of p boxes along an axis. */
int64_t pf_widest(const pencilfft_box *boxes, int p, int axis);
/* The dense box of `extent` indices from `start` on along an axis, in the memory order of the box. */
pencilfft_box pf_box_cut(const pencilfft_box *box, int axis, int64_t start, int64_t extent);
/* The dimension of the grid whose blocks may cut an axis into pieces that no exchange divides. This dimension divides the
 * axis before or after each exchange; PF_WHOLE if the axis is whole there instead; PF_NOT_CUT if there is no such dimension.
 * An array with another division holds parts of all pieces. */
enum { PF_NOT_CUT = -2 };
int pf_cut_over(const struct pf_decomposition *decomposition, int axis);
/* Common part of two boxes, with the strides of `of`. */
pencilfft_box pf_box_common(const pencilfft_box *of, const pencilfft_box *with);
/* Local element of a box at the start of its part `part`. */
int64_t pf_box_start(const pencilfft_box *box, const pencilfft_box *part);

/* Boxes with a halo: the periodic images of other boxes that fill the halo. */

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

/* Boxes of ranks before and after a transform, other than the boxes of its arrays: bricks, or any given boxes. */

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
