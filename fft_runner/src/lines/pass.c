/* A pass: read a block from its place, transform its lines, write it to its new place.
 * Idea:  a large transform costs memory passes. So packing, unpacking and reordering are not passes of their own: a block of
 *        planes small enough for the second-level cache is gathered from the received messages, transformed, and scattered
 *        into the messages to be sent. Where there is no exchange between two axes, both are transformed in one pass, plane
 *        by plane.
 *            z, then the inner axis:  array -> (z lines) -> plane -> (inner lines) -> chunk -> pieces
 *            inner axis alone:        pieces -> chunk -> (inner lines) -> chunk -> pieces
 *        A backward pass is the same in reverse. Everything is in rows along z; lines along the inner axis are transformed
 *        for many z at once, which also suits vector units. Lines may also be read or written in place (pass_plan.c).
 * Cost:  one read and one write of the part, and copies within the cache.
 * Needs: no MPI. */
#include "lines/pass.h"

#include <stdlib.h>

#include "geometry/blocks.h"
#include "geometry/geometry.h"
#include "geometry/strided_copy.h"

enum { Z = 2 };

/* ---- blocks and their places -------------------------------------------------------------------------------- */

/* Part of the pass's box, by its indices; and a place in the caches, with strides in elements, where it lies. */
struct block {
    int64_t from[3], n[3];
};

struct view {
    char *data;
    int64_t stride[3];
};

static pencilfft_box box_of(const struct pf_pass *pass, const struct block *block, const struct view *view)
{
    pencilfft_box box;
    for (int axis = 0; axis < 3; axis++) {
        box.offset[axis] = pass->box.offset[axis] + block->from[axis];
        box.extent[axis] = block->n[axis];
        box.stride[axis] = view->stride[axis];
    }
    return box;
}

static void lap(const struct pf_pass_run *run, int phase, const struct pf_lines *beside)
{
    pf_clock_lap(run->clock, phase >= 0 ? phase : beside->phase);
}

/* Copy the common part of block and pieces, from the pieces or into them. */
static void move(const struct pf_pass *pass, const struct pf_pass_run *run, const struct pf_side *side, int field,
                 const struct block *block, const struct view *view, bool gather)
{
    if (run->planning)
        return;
    pencilfft_box mine = box_of(pass, block, view);
    for (int i = 0; i < side->n; i++) {
        const struct pf_piece *piece = &side->piece[i];
        if (field < piece->first || field >= piece->first + piece->fields)
            continue;
        pencilfft_box part = pf_box_common(&mine, &piece->box);
        char *there = run->buffer[piece->buffer] +
                      (piece->start + (field - piece->first) * piece->field) * (int64_t)side->element_bytes;
        struct pf_copy copy = gather ? pf_copy_between(&part, &piece->box, &mine)
                                     : pf_copy_between(&part, &mine, &piece->box);
        if (pf_box_elements(&part))
            pf_copy_run(&copy, side->element_bytes, gather ? there : view->data, gather ? view->data : there);
    }
    lap(run, side->copied, pass->u ? &pass->u_lines : &pass->z_lines);
}

/* A block in the memory of the side itself, whose pieces are parts of one array. */
static struct view view_of_array(const struct pf_pass *pass, const struct pf_pass_run *run, const struct pf_side *side,
                                 int field, const struct block *block)
{
    const struct pf_piece *piece = side->piece;
    struct view view = {.data = NULL};
    int64_t start = piece->start + (field - piece->first) * piece->field;
    for (int axis = 0; axis < 3; axis++) {
        view.stride[axis] = piece->box.stride[axis];
        start += (pass->box.offset[axis] + block->from[axis] - piece->box.offset[axis]) * view.stride[axis];
    }
    view.data = run->buffer[piece->buffer] + start * (int64_t)side->element_bytes;
    return view;
}

/* Rows along z one after the other, `rows` of them a plane; or along the inner axis when turned. */
static struct view view_of_rows(const struct pf_pass *pass, char *data, int64_t row_bytes, int64_t rows, size_t bytes,
                                bool turned)
{
    struct view view = {.data = data};
    int64_t row = row_bytes / (int64_t)bytes;
    view.stride[pass->outer] = row * rows;
    view.stride[pass->inner] = turned ? 1 : row;
    view.stride[Z] = turned ? row : 1;
    return view;
}

static struct view view_of_plane(const struct pf_pass *pass, const struct block *block, size_t bytes)
{
    struct view view = view_of_rows(pass, pass->block.plane, pass->block.plane_row, pass->box.extent[pass->inner], bytes,
                                    false);
    view.data += (block->from[pass->inner] * view.stride[pass->inner] + block->from[Z]) * (int64_t)bytes;
    return view;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Lines along one axis for all of the block's indices along the outer one and `other`. */
static int transform(const struct pf_pass *pass, const struct pf_pass_run *run, struct pf_lines *lines, int axis, int other,
                     const struct block *block, const struct view *in, const struct view *out)
{
    struct pf_lines_block b = {
        .in = in->data,
        .out = out->data,
        .in_stride = in->stride[axis],
        .out_stride = out->stride[axis],
        .count = {block->n[pass->outer], block->n[other]},
        .in_step = {in->stride[pass->outer], in->stride[other]},
        .out_step = {out->stride[pass->outer], out->stride[other]},
    };
    if (run->planning)
        return pf_lines_plan(lines, &b);
    pf_lines_run(lines, &b);
    pf_clock_lap(run->clock, lines->phase);
    return PENCILFFT_OK;
}

/* z lines of some rows of some planes: from the pieces or the plane, to the plane or the pieces. */
static int z_block(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block *block)
{
    bool first = !pass->backward || !pass->u, last = pass->backward || !pass->u;
    struct block in_block = *block, out_block = *block;
    in_block.n[Z] = pass->backward ? pass->box.extent[Z] : pass->input_nz;
    out_block.n[Z] = pass->backward ? pass->input_nz : pass->box.extent[Z];
    struct view in, out;
    if (first && pass->block.read_direct)
        in = view_of_array(pass, run, &pass->in, field, &in_block);
    else if (first)
        in = view_of_rows(pass, pass->block.chunk[0], pass->block.z_row, pass->block.u_chunk, pass->in.element_bytes, false);
    else
        in = view_of_plane(pass, &in_block, pass->in.element_bytes);
    if (last && pass->block.write_direct)
        out = view_of_array(pass, run, &pass->out, field, &out_block);
    else if (last)
        out = view_of_rows(pass, pass->block.chunk[1], pass->block.z_row, pass->block.u_chunk, pass->out.element_bytes,
                           false);
    else
        out = view_of_plane(pass, &out_block, pass->out.element_bytes);
    if (first && !pass->block.read_direct)
        move(pass, run, &pass->in, field, &in_block, &in, true);
    int status = transform(pass, run, &pass->z_lines, Z, pass->inner, block, &in, &out);
    if (last && !pass->block.write_direct)
        move(pass, run, &pass->out, field, &out_block, &out, false);
    return status;
}

/* Inner lines for some z of some planes. Without lines to transform, a block is only copied. */
static int u_block(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block *block)
{
    int status = PENCILFFT_OK;
    bool first = !pass->z || pass->backward, last = !pass->z || !pass->backward;
    size_t bytes = pass->backward ? pass->in.element_bytes : pass->out.element_bytes;
    int64_t rows = pass->box.extent[pass->inner], chunk = pass->block.z_chunk;
    struct view in, out;
    if (first && pass->block.read_direct)
        in = view_of_array(pass, run, &pass->in, field, block);
    else if (first)
        in = pass->block.in_turned ? view_of_rows(pass, pass->block.chunk[0], pass->block.u_column, chunk, bytes, true)
                                   : view_of_rows(pass, pass->block.chunk[0], pass->block.u_row, rows, bytes, false);
    else
        in = view_of_plane(pass, block, bytes);
    if (last && pass->block.write_direct)
        out = view_of_array(pass, run, &pass->out, field, block);
    else if (last)
        out = pass->block.out_turned ? view_of_rows(pass, pass->block.chunk[1], pass->block.u_column, chunk, bytes, true)
                                     : view_of_rows(pass, pass->block.chunk[1], pass->block.u_row, rows, bytes, false);
    else
        out = view_of_plane(pass, block, bytes);
    if (first && !pass->block.read_direct)
        move(pass, run, &pass->in, field, block, &in, true);
    if (pass->u)
        status = transform(pass, run, &pass->u_lines, pass->inner, Z, block, &in, &out);
    if (last && !pass->block.write_direct)
        move(pass, run, &pass->out, field, block, pass->u ? &out : &in, false);
    return status;
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

static int z_rows(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block block)
{
    int status = PENCILFFT_OK;
    int64_t rows = pass->box.extent[pass->inner];
    block.from[Z] = 0;
    for (int64_t at = 0; at < rows && !status; at += block.n[pass->inner]) {
        block.from[pass->inner] = at;
        block.n[pass->inner] = pf_smaller(pass->block.u_chunk, rows - at);
        status = z_block(pass, run, field, &block);
    }
    return status;
}

static int u_columns(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block block,
                     const struct pf_range *range)
{
    int status = PENCILFFT_OK;
    block.from[pass->inner] = 0;
    block.n[pass->inner] = pass->box.extent[pass->inner];
    for (int64_t at = range->z; at < range->z_end && !status; at += block.n[Z]) {
        block.from[Z] = at;
        block.n[Z] = pf_smaller(pass->block.z_chunk, range->z_end - at);
        status = u_block(pass, run, field, &block);
    }
    return status;
}

static int planes(struct pf_pass *pass, const struct pf_pass_run *run, int field, const struct block *block,
                  const struct pf_range *range)
{
    int status = PENCILFFT_OK;
    bool columns = pass->u || !pass->z;
    if (pass->z && !pass->backward)
        status = z_rows(pass, run, field, *block);
    if (columns && !status)
        status = u_columns(pass, run, field, *block, range);
    if (pass->z && pass->backward && !status)
        status = z_rows(pass, run, field, *block);
    return status;
}

int pf_pass_run(struct pf_pass *pass, struct pf_pass_run *run, const struct pf_range *range)
{
    int status = PENCILFFT_OK;
    struct block block = {.from = {0}};
    if (pf_box_elements(&pass->box) == 0)
        return status;
    for (int field = range->field; field < range->field_end && !status; field++)
        for (int64_t at = range->outer; at < range->outer_end && !status; at += block.n[pass->outer]) {
            block.from[pass->outer] = at;
            block.n[pass->outer] = pf_smaller(pass->block.group, range->outer_end - at);
            status = planes(pass, run, field, &block, range);
            if (run->progress && !run->planning && !status)
                status = run->progress(run->of);
        }
    return status;
}

struct pf_range pf_pass_all(const struct pf_pass *pass)
{
    return (struct pf_range){0, pass->box.extent[pass->outer], 0, pass->box.extent[Z], 0, pass->fields};
}

void pf_pass_release(struct pf_pass *pass)
{
    pf_lines_release(&pass->z_lines);
    pf_lines_release(&pass->u_lines);
    free(pass->in.piece);
    free(pass->out.piece);
    free(pass->block.memory);
}
