/* Which part of the array a rank holds in each of the three pencils, and in what memory order.
 * Idea:  one table says, for each pencil and axis, whether the axis is whole, split over a row or split over a column;
 *        boxes, limits and memory order are all read from it. The table is the one of pencilfft.h.
 * Cost:  O(1) for a box. Needs: no MPI. */
#include "geometry/pencils.h"

#include "common/failure.h"
#include "geometry/blocks.h"

enum split { WHOLE, OVER_ROW, OVER_COLUMN };
enum { X, Y, Z };

static const enum split splits[][3] = {
 /* of x, y, z */
    [PENCILFFT_Z_PENCIL] = {OVER_COLUMN, OVER_ROW, WHOLE},
    [PENCILFFT_Y_PENCIL] = {OVER_COLUMN, WHOLE, OVER_ROW},
    [PENCILFFT_X_PENCIL] = {WHOLE, OVER_COLUMN, OVER_ROW},
};

static const struct pf_layout rows[] = {
    {"natural", {{X, Y, Z}, {X, Y, Z}, {X, Y, Z}}},
    {"stride1", {{X, Y, Z}, {X, Z, Y}, {Z, Y, X}}},
};
const struct pf_table pf_layouts = PF_TABLE("layout", rows);

static struct pf_block axis_block(const struct pf_geometry *g, enum split split, int64_t n, int rank)
{
    struct pf_block whole = {0, n};
    switch (split) {
    case OVER_ROW: return pf_block_of(n, g->R, rank % g->R);
    case OVER_COLUMN: return pf_block_of(n, g->C, rank / g->R);
    default: return whole;
    }
}

pencilfft_box pf_pencil_box(const struct pf_geometry *g, pencilfft_pencil pencil, int rank)
{
    const int *order = (g->layout ? g->layout : rows)->order[pencil];
    pencilfft_box box;
    for (int axis = 0; axis < 3; axis++) {
        struct pf_block block = axis_block(g, splits[pencil][axis], g->n[axis], rank);
        box.offset[axis] = block.offset;
        box.extent[axis] = block.extent;
    }
    int64_t stride = 1;
    for (int i = 2; i >= 0; i--) {
        box.stride[order[i]] = stride;
        stride *= box.extent[order[i]];
    }
    return box;
}

int64_t pf_box_elements(const pencilfft_box *box)
{
    return box->extent[X] * box->extent[Y] * box->extent[Z];
}

pencilfft_box pf_box_common(const pencilfft_box *of, const pencilfft_box *with)
{
    pencilfft_box common = *of;
    for (int axis = 0; axis < 3; axis++) {
        int64_t low = of->offset[axis] > with->offset[axis] ? of->offset[axis] : with->offset[axis];
        int64_t end_of = of->offset[axis] + of->extent[axis], end_with = with->offset[axis] + with->extent[axis];
        int64_t end = end_of < end_with ? end_of : end_with;
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

static int check_extents(const struct pf_geometry *g)
{
    for (int axis = 0; axis < 3; axis++)
        if (g->n[axis] < 1)
            return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld: every extent must be at least 1", (long long)g->n[X],
                           (long long)g->n[Y], (long long)g->n[Z]);
    if (pf_bounded_product(g->n, PF_MAX_ELEMENTS) < 0)
        return pf_fail(PENCILFFT_BAD_SIZE, "size %lld %lld %lld: more than 2^53 elements", (long long)g->n[X],
                       (long long)g->n[Y], (long long)g->n[Z]);
    return PENCILFFT_OK;
}

static int check_ranks(const struct pf_geometry *g, int ranks)
{
    if (g->R < 1 || g->C < 1)
        return pf_fail(PENCILFFT_BAD_GRID, "grid %dx%d: both numbers must be at least 1", g->R, g->C);
    if ((int64_t)g->R * g->C != ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "grid %dx%d needs %lld processes, %d were started; choose RxC with R*C = %d",
                       g->R, g->C, (long long)g->R * g->C, ranks, ranks);
    return PENCILFFT_OK;
}

static int check_axis(const struct pf_geometry *g, pencilfft_pencil pencil, int axis)
{
    enum split split = splits[pencil][axis];
    int parts = split == OVER_ROW ? g->R : split == OVER_COLUMN ? g->C : 1;
    if (g->n[axis] >= parts)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_BAD_GRID,
                   "grid %dx%d splits %c over the %d tasks of a %s, but n%c is %lld; "
                   "choose a grid with %s <= %lld or a larger n%c",
                   g->R, g->C, "xyz"[axis], parts, split == OVER_ROW ? "row" : "column", "xyz"[axis],
                   (long long)g -> n[axis], split == OVER_ROW ? "R" : "C", (long long)g->n[axis], "xyz"[axis]);
}

int pf_geometry_check(const struct pf_geometry *g, int ranks)
{
    int status = check_extents(g);
    if (status == PENCILFFT_OK)
        status = check_ranks(g, ranks);
    for (int pencil = PENCILFFT_Z_PENCIL; pencil <= PENCILFFT_X_PENCIL; pencil++)
        for (int axis = 0; axis < 3 && status == PENCILFFT_OK; axis++)
            status = check_axis(g, pencil, axis);
    return status;
}
