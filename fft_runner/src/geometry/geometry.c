/* The part of an array that a rank holds, and its memory order.
 * Idea:  for each axis of an array, the description of the decomposition names the dimension of the grid that divides the
 *        axis; boxes, limits and memory order all follow from the description.
 * Cost:  O(1) for a box. Needs: no MPI. */
#include "geometry/geometry.h"

#include <stdio.h>
#include <string.h>

#include "geometry/blocks.h"

enum { X, Y, Z };

static const struct pf_layout rows[] = {
    {"natural", false},
    {"stride1", true},
};
const struct pf_table pf_layouts = PF_TABLE("layout", rows);

static const struct pf_axes orders[] = {
    {"zyx", 3, {X, Y, Z}}, {"zxy", 3, {Y, X, Z}}, {"yzx", 3, {X, Z, Y}}, {"yxz", 3, {Z, X, Y}},
    {"xzy", 3, {Y, Z, X}}, {"xyz", 3, {Z, Y, X}}, {"yx", 2, {Z, X, Y}},  {"xy", 2, {Z, Y, X}},
};
const struct pf_table pf_orders = PF_TABLE("order", orders);

/* ---- the caller's axes -------------------------------------------------------------------------------------------- */

int pf_axis_inside(const struct pf_axes *axes, int outside)
{
    int axis = X;
    while (pf_axis_outside(axes, axis) != outside)
        axis++;
    return axis;
}

void pf_numbers_outside(const struct pf_axes *axes, const int64_t from[3], int64_t to[3])
{
    for (int axis = X; axis <= Z; axis++)
        to[pf_axis_outside(axes, axis)] = from[axis];
}

void pf_numbers_inside(const struct pf_axes *axes, const int64_t from[3], int64_t to[3])
{
    for (int axis = X; axis <= Z; axis++)
        to[axis] = from[pf_axis_outside(axes, axis)];
}

pencilfft_box pf_box_outside(const struct pf_axes *axes, const pencilfft_box *box)
{
    pencilfft_box outside = {0};
    pf_numbers_outside(axes, box->offset, outside.offset);
    pf_numbers_outside(axes, box->extent, outside.extent);
    pf_numbers_outside(axes, box->stride, outside.stride);
    return outside;
}

pencilfft_box pf_box_inside(const struct pf_axes *axes, const pencilfft_box *box)
{
    pencilfft_box inside = {0};
    pf_numbers_inside(axes, box->offset, inside.offset);
    pf_numbers_inside(axes, box->extent, inside.extent);
    pf_numbers_inside(axes, box->stride, inside.stride);
    return inside;
}

/* ---- the grid ----------------------------------------------------------------------------------------------------- */

int pf_grid_step(const struct pf_geometry *g, int dimension)
{
    int step = 1;
    for (int i = 0; i < dimension; i++)
        step *= g->grid[i];
    return step;
}

static int grid_position(const struct pf_geometry *g, int dimension, int rank)
{
    return rank / pf_grid_step(g, dimension) % g->grid[dimension];
}

int pf_grid_member(const struct pf_geometry *g, int dimension, int rank, int j)
{
    return rank + (j - grid_position(g, dimension, rank)) * pf_grid_step(g, dimension);
}

const char *pf_grid_text(const struct pf_geometry *g, char text[PF_GRID_TEXT])
{
    int used = 0;
    for (int i = 0; i < g->decomposition->dimensions; i++)
        used += snprintf(text + used, PF_GRID_TEXT - (size_t)used, "%s%d", i ? "x" : "", g->grid[i]);
    return text;
}

/* ---- boxes -------------------------------------------------------------------------------------------------------- */

static void put_last(int order[3], int axis)
{
    int at = order[0] == axis ? 0 : order[1] == axis ? 1 : 2;
    for (; at < 2; at++)
        order[at] = order[at + 1];
    order[2] = axis;
}

/* Axes from slowest to fastest: the caller's x, y, z; with two dimensions the third, of one point, comes first. A
 * transformed axis becomes the fastest and stays so until another axis is transformed. */
static void memory_order(const struct pf_geometry *g, int array, int order[3])
{
    const struct pf_layout *layout = g->layout ? g->layout : rows;
    bool flat = g->axes && g->axes->dimensions == 2;
    for (int i = 0; i < 3; i++)
        order[i] = pf_axis_inside(g->axes, flat ? (i + 2) % 3 : i);
    for (int i = 0; i <= array && layout->turned; i++) {
        const char *axes = g->decomposition->array[i].axes;
        for (size_t at = strlen(axes); at > 0; at--)
            if (!flat || axes[at - 1] != 'x')
                put_last(order, axes[at - 1] - 'x');
    }
}

int pf_nearest_axis(const struct pf_geometry *g, int array)
{
    int order[3];
    memory_order(g, array, order);
    return order[2];
}

void pf_box_lay(const struct pf_geometry *g, int array, pencilfft_box *box)
{
    int order[3];
    int64_t stride = 1;
    memory_order(g, array, order);
    for (int i = 2; i >= 0; i--) {
        box->stride[order[i]] = stride;
        stride *= box->extent[order[i]];
    }
}

int pf_axis_beside_z(const struct pf_geometry *g)
{
    const struct pf_decomposition *d = g->decomposition;
    for (int i = 0; i <= d->exchanges; i++)
        for (const char *at = d->array[i].axes; *at; at++) {
            int over = d->array[0].over[*at - 'x'];
            if (*at != 'z' && (over == PF_WHOLE || g->grid[over] == 1))
                return *at - 'x';
        }
    return -1;
}

unsigned pf_axes_done(const struct pf_geometry *g, int array)
{
    unsigned done = 0;
    int last = array < PF_BEFORE ? array : array - PF_BEFORE - 1, beside = pf_axis_beside_z(g);
    for (int i = 0; i <= last; i++)
        for (const char *at = g->decomposition->array[i].axes; *at; at++)
            done |= 1U << (*at - 'x');
    return last >= 0 && beside >= 0 ? done | 1U << beside : done;
}

static int64_t extent_if(const struct pf_geometry *g, unsigned done, int axis)
{
    return done >> axis & 1 || !g->points[axis] ? g->n[axis] : g->points[axis];
}

int64_t pf_array_extent(const struct pf_geometry *g, int array, int axis)
{
    return extent_if(g, pf_axes_done(g, array), axis);
}

/* In the division of array `array`, if these axes have been transformed. */
static pencilfft_box done_box(const struct pf_geometry *g, int array, unsigned done, int rank)
{
    pencilfft_box box;
    for (int axis = 0; axis < 3; axis++) {
        int over = g->decomposition->array[array].over[axis];
        int64_t n = extent_if(g, done, axis);
        struct pf_block block = {0, n};
        if (over != PF_WHOLE)
            block = pf_block_of(n, g->grid[over], grid_position(g, over, rank));
        box.offset[axis] = block.offset;
        box.extent[axis] = block.extent;
    }
    pf_box_lay(g, array, &box);
    return box;
}

pencilfft_box pf_array_box(const struct pf_geometry *g, int array, int rank)
{
    return done_box(g, pf_array_number(array), pf_axes_done(g, array), rank);
}

pencilfft_box pf_planes_box(const struct pf_geometry *of, int64_t z, int64_t z_end, int array, unsigned done, int rank)
{
    struct pf_geometry g = *of;
    if (array > 0)
        g.n[Z] = z_end - z;
    pencilfft_box box = done_box(&g, array, done, rank);
    box.offset[Z] += array > 0 ? z : 0;
    return box;
}

pencilfft_box pf_box_cut(const pencilfft_box *box, int axis, int64_t start, int64_t extent)
{
    pencilfft_box part = *box;
    part.offset[axis] += start;
    part.extent[axis] = extent;
    for (int i = 0; i < 3; i++) {
        part.stride[i] = 1;
        for (int j = 0; j < 3; j++)
            if (box->stride[j] < box->stride[i] || (box->stride[j] == box->stride[i] && j > i))
                part.stride[i] *= part.extent[j];
    }
    return part;
}

static bool is_cut_by(const struct pf_decomposition *d, int axis, int over)
{
    for (int e = 0; e < d->exchanges; e++)
        if (d->array[e].over[axis] != over && d->array[e + 1].over[axis] != over)
            return false;
    return true;
}

int pf_cut_over(const struct pf_decomposition *d, int axis)
{
    for (int over = d->dimensions - 1; over >= 0; over--)
        if (is_cut_by(d, axis, over))
            return over;
    return is_cut_by(d, axis, PF_WHOLE) ? PF_WHOLE : PF_NOT_CUT;
}

int64_t pf_box_elements(const pencilfft_box *box)
{
    return box->extent[X] * box->extent[Y] * box->extent[Z];
}

int64_t pf_widest(const pencilfft_box *boxes, int p, int axis)
{
    int64_t most = 0;
    for (int j = 0; j < p; j++)
        most = pf_larger(most, boxes[j].extent[axis]);
    return most;
}

pencilfft_box pf_box_common(const pencilfft_box *of, const pencilfft_box *with)
{
    pencilfft_box common = *of;
    for (int axis = 0; axis < 3; axis++) {
        int64_t low = pf_larger(of->offset[axis], with->offset[axis]);
        int64_t end = pf_smaller(of->offset[axis] + of->extent[axis], with->offset[axis] + with->extent[axis]);
        common.offset[axis] = low;
        common.extent[axis] = end > low ? end - low : 0;
    }
    return common;
}

int64_t pf_box_start(const pencilfft_box *box, const pencilfft_box *part)
{
    int64_t start = 0;
    for (int axis = 0; axis < 3; axis++)
        start += (part->offset[axis] - box->offset[axis]) * box->stride[axis];
    return start;
}

int pf_extents_check(const struct pf_geometry *g)
{
    int64_t n[3];
    pf_numbers_outside(g->axes, g->n, n);
    bool flat = n[X] > 0 && n[Y] > 0 && n[Z] == 0;
    for (int axis = 0; axis < 3; axis++)
        if (n[axis] < 1)
            return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld: every extent must be at least 1%s", (long long)n[X],
                           (long long)n[Y], (long long)n[Z], flat ? "; for two dimensions set order to yx or xy" : "");
    if (pf_bounded_product(n, PF_MAX_ELEMENTS) < 0)
        return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld: more than 2^53 elements", (long long)n[X], (long long)n[Y],
                       (long long)n[Z]);
    return PENCILFFT_OK;
}

static int check_ranks(const struct pf_geometry *g, int ranks)
{
    char text[PF_GRID_TEXT];
    const struct pf_decomposition *d = g->decomposition;
    int64_t needed = 1;
    for (int i = 0; i < d->dimensions; i++)
        needed = g->grid[i] < 1 ? 0 : needed * g->grid[i];
    if (needed < 1)
        return pf_fail(PENCILFFT_BAD_GRID, "grid %s: %s must be at least 1", pf_grid_text(g, text),
                       d->dimensions == 1 ? d->dimension[0].letter : "both numbers");
    if (needed != ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "grid %s needs %lld processes, %d were started; choose %s = %d",
                       pf_grid_text(g, text), (long long)needed, ranks, d->shape, ranks);
    return PENCILFFT_OK;
}

int pf_geometry_check(const struct pf_geometry *g, int ranks)
{
    int status = pf_extents_check(g);
    return status ? status : check_ranks(g, ranks);
}

bool pf_geometry_fills(const struct pf_geometry *g)
{
    const struct pf_decomposition *d = g->decomposition;
    for (int array = 0; array <= d->exchanges; array++)
        for (int axis = 0; axis < 3; axis++) {
            int over = d->array[array].over[axis];
            if (over != PF_WHOLE && g->n[axis] < g->grid[over])
                return false;
        }
    return true;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------------- */

/* Splitting n indices into blocks.
 * Idea:  the first n % parts blocks hold one more index than the others, so that block sizes differ by at most one.
 * Cost:  O(1), without a table of blocks.
 * Needs: parts >= 1; no MPI. The last blocks are empty if n < parts. */

struct pf_block pf_block_of(int64_t n, int parts, int j)
{
    int64_t size = n / parts, longer = n % parts;
    struct pf_block block = {.offset = j * size + (j < longer ? j : longer), .extent = size + (j < longer)};
    return block;
}

int64_t pf_bounded_product(const int64_t n[3], int64_t limit)
{
    int64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (limit < 1 || n[i] > limit / product)
            return -1;
        product *= n[i];
    }
    return product;
}

/* ---- halos ------------------------------------------------------------------------------------------------------------ */

/* Boxes with a halo.
 * Idea:  a periodic array repeats itself in all directions. The intersection of a box grown by a halo and another rank's
 *        box, shifted by an extent of the array or not along each axis, is the part of the halo that this rank holds. All
 *        boxes together are the array, so these parts together are the halo, each element once, for all shapes and widths.
 * Cost:  27 comparisons for two boxes. Needs: no MPI, no halo wider than the array. */

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
