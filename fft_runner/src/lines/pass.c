/* A pass: read a block from its place, transform its lines, write it to its new place.
 * Idea:  a large transform costs memory passes. So packing, unpacking and reordering are not passes of their own: a block of
 *        planes small enough for the second-level cache is gathered from the received messages, transformed, and scattered
 *        into the messages to send. Two axes without an exchange in between are transformed in one pass, plane by plane.
 *            z, then the inner axis:  array -> (z lines) -> plane -> (inner lines) -> chunk -> pieces
 *            inner axis alone:        pieces -> chunk -> (inner lines) -> chunk -> pieces
 *        A backward pass is the same in reverse. All data are in rows along z or, if z is not transformed, along the fastest
 *        axis of input and output; lines along the inner axis are transformed for many elements of a row at once, which also
 *        suits vector units. Lines may also be read or written in place (pass_plan.c).
 *        Padded lines have their full length only inside a block. Forward, the kept modes leave the block, low modes and
 *        high modes apart; backward, the modes between are set to 0 in the block (keep_modes). In a plane, the inner
 *        lines are those of the kept modes alone.
 *        Threads share the groups of planes of all fields, each with blocks of its own. If there are too few groups, threads
 *        share the rows, and then the columns, of one group after the other.
 * Cost:  one read and one write of the part, and copies within the cache.
 * Needs: no MPI. */
#include "lines/pass.h"

#include <stdlib.h>
#include <string.h>

#include "geometry/strided_copy.h"
#include "speed/threads.h"
#include "speed/tuning.h"

enum { Z = 2 };

/* ---- blocks and their places -------------------------------------------------------------------------------- */

/* Part of the pass's box, by its indices; and its place in the caches, with strides in elements. */
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

/* Copy the common part of block and pieces, from the pieces or back. */
static void move_run(const struct pf_pass *pass, const struct pf_pass_run *run, const struct pf_side *side, int field,
                     const struct block *block, const struct view *view, bool gather)
{
    pencilfft_box mine = box_of(pass, block, view);
    for (int i = 0; i < side->n; i++) {
        const struct pf_piece *piece = &side->piece[i];
        if (field < piece->first || field >= piece->first + piece->fields)
            continue;
        pencilfft_box part = pf_box_common(&mine, &piece->box);
        char *there = run->buffer[piece->buffer] +
                      (piece->start + (field - piece->first) * piece->field) * (int64_t)side->stored_bytes;
        struct pf_copy copy = gather ? pf_copy_between(&part, &piece->box, &mine)
                                     : pf_copy_between(&part, &mine, &piece->box);
        copy.from_memory = gather && pass->block.from_memory;
        copy.to_memory = !gather && pass->block.to_memory;
        copy.past_caches = !gather && pass->block.past_caches;
        if (pf_box_elements(&part) && gather)
            pf_copy_changed(&copy, side->stored_bytes, side->element_bytes, there, view->data);
        else if (pf_box_elements(&part))
            pf_copy_changed(&copy, side->element_bytes, side->stored_bytes, view->data, there);
    }
}

/* The same, if some modes of the lines are kept: the low modes, then the high modes. */
static void move(const struct pf_pass *pass, const struct pf_pass_run *run, const struct pf_side *side, int field,
                 const struct block *block, const struct view *view, bool gather)
{
    const struct pf_lines *lines = pass->u ? &pass->u_lines : &pass->z_lines;
    const struct pf_modes *kept = &lines->kept;
    int axis = pass->u ? pass->inner : Z;
    if (run->planning)
        return;
    if (gather == pass->backward && (pass->u || pass->z) && kept->skipped) {
        struct block part = *block;
        struct view there = *view;
        part.n[axis] = kept->low;
        move_run(pass, run, side, field, &part, &there, gather);
        part.from[axis] += kept->low;
        part.n[axis] = kept->n - kept->low;
        there.data += (kept->low + kept->skipped) * there.stride[axis] * (int64_t)side->element_bytes;
        if (part.n[axis])
            move_run(pass, run, side, field, &part, &there, gather);
    } else
        move_run(pass, run, side, field, block, view, gather);
    bool beside_z = !pass->u || (pass->z && pass->backward != gather);
    lap(run, side->copied, beside_z ? &pass->z_lines : &pass->u_lines);
}

/* A block in the memory of the side itself, whose pieces are parts of a single array. */
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

/* Rows along z one after the other, `rows` rows a plane; or along the inner axis when turned. */
static struct view view_of_rows(const struct pf_pass *pass, char *data, int64_t row_bytes, int64_t rows, size_t bytes,
                                bool turned)
{
    struct view view = {.data = data};
    int64_t row = row_bytes / (int64_t)bytes;
    view.stride[pass->outer] = row * rows;
    view.stride[pass->inner] = turned ? 1 : row;
    view.stride[pass->along] = turned ? row : 1;
    return view;
}

/* Lines along the inner axis, neighbours across planes beside each other, and columns apart. */
static struct view view_across(const struct pf_pass *pass, char *data, size_t bytes)
{
    struct view view = {.data = data};
    view.stride[pass->outer] = 1;
    view.stride[pass->inner] = pass->block.group;
    view.stride[pass->along] = pass->block.group * pass->points[pass->inner] + PF_CACHE_LINE / (int64_t)bytes;
    return view;
}

/* A block of lines along the inner axis, with the same neighbours as in the array of a side. */
static struct view view_of_lines(const struct pf_pass *pass, char *data, size_t bytes, bool turned, bool across)
{
    if (across)
        return view_across(pass, data, bytes);
    return turned ? view_of_rows(pass, data, pass->block.u_column, pass->block.along_chunk, bytes, true)
                  : view_of_rows(pass, data, pass->block.u_row, pass->points[pass->inner], bytes, false);
}

static struct view view_of_plane(const struct pf_pass *pass, const struct block *block, size_t bytes)
{
    struct view view = view_of_rows(pass, pass->block.plane, pass->block.plane_row, pass->points[pass->inner], bytes, false);
    const struct pf_modes *kept = &pass->z_lines.kept;
    int64_t column = block->from[pass->along];
    column += column >= kept->low ? kept->skipped : 0;
    view.data += (block->from[pass->inner] * view.stride[pass->inner] + column) * (int64_t)bytes;
    return view;
}

/* ---- the factor of the results ------------------------------------------------------------------------------- */

static void multiply(void *data, int64_t n, double factor, size_t real_bytes)
{
    if (real_bytes == sizeof(float))
        for (int64_t i = 0; i < n; i++)
            ((float *)data)[i] *= (float)factor;
    else
        for (int64_t i = 0; i < n; i++)
            ((double *)data)[i] *= factor;
}

void pf_multiply(const int64_t n[3], const int64_t stride[3], char *data, size_t bytes, size_t real_bytes, double factor)
{
    int order[3] = {0, 1, 2}; /* the nearest last */
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (stride[order[k]] > stride[order[i]]) {
                int other = order[i];
                order[i] = order[k];
                order[k] = other;
            }
    int near = order[2];
    bool dense = stride[near] == 1;
    int64_t reals = (int64_t)(bytes / real_bytes);
    for (int64_t i = 0; i < n[order[0]]; i++)
        for (int64_t j = 0; j < n[order[1]]; j++) {
            char *row = data + (i * stride[order[0]] + j * stride[order[1]]) * (int64_t)bytes;
            for (int64_t k = 0; k < (dense ? 1 : n[near]); k++)
                multiply(row + k * stride[near] * (int64_t)bytes, (dense ? n[near] : 1) * reals, factor, real_bytes);
        }
}

static bool has_factor(const struct pf_pass_run *run)
{
    return run->factor != 0 && run->factor != 1 && !run->planning;
}

/* Results of lines along an axis, in the caches, or in the array of the side itself; with the modes that are left out. */
static void normalise(const struct pf_pass *pass, const struct pf_pass_run *run, const struct pf_lines *lines, int axis,
                      struct block block, const struct view *view)
{
    if (!pass->backward && pf_lines_drop(lines))
        block.n[axis] += lines->kept.skipped;
    if (has_factor(run))
        pf_multiply(block.n, view->stride, view->data, pass->out.element_bytes, pass->z_lines.fftw->real_bytes, run->factor);
}

/* Results that went to the pieces without a copy in the caches. */
static void normalise_pieces(const struct pf_pass *pass, const struct pf_pass_run *run, int field, const struct block *block)
{
    const struct view any = {.stride = {1, 1, 1}};
    pencilfft_box mine = box_of(pass, block, &any);
    for (int i = 0; i < pass->out.n && has_factor(run); i++) {
        const struct pf_piece *piece = &pass->out.piece[i];
        pencilfft_box part = pf_box_common(&mine, &piece->box);
        if (field < piece->first || field >= piece->first + piece->fields || !pf_box_elements(&part))
            continue;
        int64_t at = piece->start + (field - piece->first) * piece->field + pf_box_start(&piece->box, &part);
        pf_multiply(part.extent, piece->box.stride, run->buffer[piece->buffer] + at * (int64_t)pass->out.element_bytes,
                    pass->out.element_bytes, pass->z_lines.fftw->real_bytes, run->factor);
    }
}

/* ---- padded lines ------------------------------------------------------------------------------------------------ */

/* A mode that stands for two. Without the opposite mode, that is the conjugate of this one, because the line is real. */
#define SHARE(name, real)                                       \
    static void name(void *mode, void *opposite, bool backward) \
    {                                                           \
        real *here = mode, *there = opposite;                   \
        if (backward) {                                         \
            here[0] /= 2;                                       \
            here[1] = there ? here[1] / 2 : 0;                  \
            if (there)                                          \
                memcpy(there, here, 2 * sizeof *here);          \
        } else {                                                \
            here[0] += there ? there[0] : here[0];              \
            here[1] = there ? here[1] + there[1] : 0;           \
        }                                                       \
    }
SHARE(share_double, double)
SHARE(share_float, float)

/* Some axis of a view in the caches is dense. */
static void clear(const struct block *block, const struct view *view, size_t bytes)
{
    int dense = view->stride[0] == 1 ? 0 : view->stride[1] == 1 ? 1 : 2, a = dense == 0, b = 3 - dense - a;
    for (int64_t i = 0; i < block->n[a]; i++)
        for (int64_t k = 0; k < block->n[b]; k++)
            memset(view->data + (i * view->stride[a] + k * view->stride[b]) * (int64_t)bytes, 0,
                   (size_t)block->n[dense] * bytes);
}

/* Padded lines after a forward transform, or before a backward transform. */
static void keep_modes(const struct pf_lines *lines, int axis, const struct block *block, const struct view *view)
{
    const struct pf_modes *kept = &lines->kept;
    bool wide = lines->fftw->real_bytes == sizeof(double), opposite = lines->line.kind == PF_DFT;
    int64_t bytes = 2 * (int64_t)lines->fftw->real_bytes, step = view->stride[axis] * bytes;
    int a = axis == 0, b = 3 - axis - a;
    struct block skipped = *block;
    struct view there = *view;
    skipped.n[axis] = kept->skipped;
    there.data += kept->low * step;
    if (lines->backward)
        clear(&skipped, &there, (size_t)bytes);
    for (int64_t i = 0; i < block->n[a] && kept->shared; i++)
        for (int64_t k = 0; k < block->n[b]; k++) {
            char *mode = view->data + (i * view->stride[a] + k * view->stride[b]) * bytes + (kept->low - 1) * step;
            (wide ? share_double : share_float)(mode, opposite ? mode + kept->skipped * step : NULL, lines->backward);
        }
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Lines along an axis for all of the block's indices along the outer axis and `other`. */
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

/* Prefetch the rows of a block that FFTW reads or writes in place, in their order in memory: FFTW jumps from row to row, and
 * would wait for each row. */
static inline __attribute__((always_inline)) void ask_for(const struct pf_pass *pass, const struct block *block,
                                                          const struct view *view, size_t bytes)
{
    bool outer_is_far = view->stride[pass->outer] > view->stride[pass->inner];
    int far = outer_is_far ? pass->outer : pass->inner, near = outer_is_far ? pass->inner : pass->outer;
    for (int64_t i = 0; i < block->n[far] && view->stride[pass->along] == 1; i++)
        for (int64_t k = 0; k < block->n[near]; k++)
            pf_ask_for(view->data + (i * view->stride[far] + k * view->stride[near]) * (int64_t)bytes,
                       block->n[pass->along] * (int64_t)bytes);
}

/* Lines of a pass along an axis, for all indices along the outer axis and `other`: z lines of rows, or inner lines. */
struct side {
    bool rows, first, last; /* z lines; the pass begins, ends with these lines */
    int axis, other;
    struct pf_lines *lines; /* NULL: blocks are only copied */
    size_t bytes[2]; /* of an element before and after the lines */
};

static struct side side_of(struct pf_pass *pass, bool rows)
{
    bool alone = !(rows ? pass->u : pass->z);
    size_t in = pass->in.element_bytes, out = pass->out.element_bytes, between = pass->backward ? in : out;
    return (struct side){.rows = rows,
                         .first = alone || pass->backward != rows,
                         .last = alone || pass->backward == rows,
                         .axis = rows ? Z : pass->inner,
                         .other = rows ? pass->inner : pass->along,
                         .lines = rows      ? &pass->z_lines
                                  : pass->u ? &pass->u_lines
                                            : NULL,
                         .bytes = {rows ? in : between, rows ? out : between}};
}

/* A block before its lines (end 0) or after these (end 1): in the array, in a chunk, or in the plane. */
static struct view view_of(const struct pf_pass *pass, const struct pf_pass_run *run, const struct side *side, int end,
                           int field, const struct block *block)
{
    if (!(end ? side->last : side->first))
        return view_of_plane(pass, block, side->bytes[end]);
    if (end ? pass->block.write_direct : pass->block.read_direct)
        return view_of_array(pass, run, end ? &pass->out : &pass->in, field, block);
    if (side->rows)
        return view_of_rows(pass, pass->block.chunk[end], pass->block.z_row, pass->block.u_chunk, side->bytes[end], false);
    return view_of_lines(pass, pass->block.chunk[end], side->bytes[end],
                         end ? pass->block.out_turned : pass->block.in_turned,
                         end ? pass->block.out_across : pass->block.in_across);
}

/* Lines of a block: from the pieces or the plane, to the plane or the pieces. */
static int do_block(struct pf_pass *pass, const struct pf_pass_run *run, int field, const struct block *block,
                    const struct side *side)
{
    int status = PENCILFFT_OK, axis = side->axis;
    bool reads = side->first && pass->block.read_direct, writes = side->last && pass->block.write_direct;
    bool drops = side->lines && pf_lines_drop(side->lines) && !run->planning;
    struct block in_block = *block, out_block = *block;
    in_block.n[axis] = pass->backward ? pass->box.extent[axis] : pass->points[axis];
    out_block.n[axis] = pass->backward ? pass->points[axis] : pass->box.extent[axis];
    struct view in = view_of(pass, run, side, 0, field, &in_block), out = view_of(pass, run, side, 1, field, &out_block);
    if (side->first && !reads)
        move(pass, run, &pass->in, field, &in_block, &in, true);
    if (reads && !side->rows && pass->block.from_memory && !run->planning)
        ask_for(pass, &in_block, &in, side->bytes[0]);
    if (writes && pass->block.to_memory && !run->planning && (side->rows || out.data != in.data))
        ask_for(pass, &out_block, &out, side->bytes[1]);
    if (drops && pass->backward)
        keep_modes(side->lines, axis, &in_block, &in);
    if (side->lines)
        status = transform(pass, run, side->lines, axis, side->other, block, &in, &out);
    if (drops && !pass->backward)
        keep_modes(side->lines, axis, &out_block, &out);
    if (side->last && side->lines)
        normalise(pass, run, side->lines, axis, out_block, &out);
    if (side->last && !writes)
        move(pass, run, &pass->out, field, &out_block, side->lines ? &out : &in, false);
    if (side->last && !side->lines)
        normalise_pieces(pass, run, field, &out_block);
    return status;
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

/* Shares of a group of planes: rows that are transformed along z, and columns along the inner axis. */
struct part {
    int64_t row, row_end, column, column_end;
};

static int z_rows(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block block,
                  const struct part *part)
{
    int status = PENCILFFT_OK;
    const struct side side = side_of(pass, true);
    block.from[pass->along] = 0;
    for (int64_t at = part->row; at < part->row_end && !status; at += block.n[pass->inner]) {
        block.from[pass->inner] = at;
        block.n[pass->inner] = pf_smaller(pass->block.u_chunk, part->row_end - at);
        status = do_block(pass, run, field, &block, &side);
    }
    return status;
}

static int u_columns(struct pf_pass *pass, const struct pf_pass_run *run, int field, struct block block,
                     const struct part *part)
{
    int status = PENCILFFT_OK;
    const struct side side = side_of(pass, false);
    block.from[pass->inner] = 0;
    block.n[pass->inner] = pass->box.extent[pass->inner];
    for (int64_t at = part->column; at < part->column_end && !status; at += block.n[pass->along]) {
        block.from[pass->along] = at;
        block.n[pass->along] = pf_smaller(pass->block.along_chunk, part->column_end - at);
        if (pass->z && at < pass->z_lines.kept.low) /* high modes lie apart in a plane */
            block.n[pass->along] = pf_smaller(block.n[pass->along], pass->z_lines.kept.low - at);
        status = do_block(pass, run, field, &block, &side);
    }
    return status;
}

/* The steps of a group of planes; each step needs all results of the step before. */
enum { STEPS = 2 };

static int do_step(struct pf_pass *pass, const struct pf_pass_run *run, int field, const struct block *block,
                   const struct part *part, int step)
{
    bool rows = pass->z && step == pass->backward, columns = (pass->u || !pass->z) && step == !pass->backward;
    if (rows)
        return z_rows(pass, run, field, *block, part);
    return columns ? u_columns(pass, run, field, *block, part) : PENCILFFT_OK;
}

/* ---- shares of the threads -------------------------------------------------------------------------------------- */

/* A range of a pass that some threads share: its groups of planes, field after field; or the parts of a single group. */
struct team {
    struct pf_pass *pass;
    struct pf_pass_run *run;
    const struct pf_range *range;
    int shares, status;
    int64_t groups; /* of planes in a field */
    int64_t group; /* of all fields: the group with shared parts */
    int step;
    int (*work)(struct pf_pass *pass, const struct pf_pass_run *run, const struct team *team, int share);
};

/* Planes of a group, counted over all fields; or fields, counted over all groups. */
static struct block block_of(const struct team *team, int64_t group, int *field)
{
    const struct pf_range *range = team->range;
    int outer = team->pass->outer;
    struct block block = {.from = {0}};
    int64_t fields = range->field_end - range->field;
    bool near = team->pass->near_fields;
    *field = range->field + (int)(near ? group % fields : group / team->groups);
    block.from[outer] = range->outer + (near ? group / fields : group % team->groups) * team->pass->block.group;
    block.n[outer] = pf_smaller(team->pass->block.group, range->outer_end - block.from[outer]);
    return block;
}

static int64_t all_groups(const struct team *team)
{
    return team->groups * (team->range->field_end - team->range->field);
}

static int share_of_groups(struct pf_pass *pass, const struct pf_pass_run *run, const struct team *team, int share)
{
    const struct part whole = {0, pass->points[pass->inner], team->range->along, team->range->along_end};
    int64_t end = pf_share_start(all_groups(team), share + 1, team->shares);
    int field, status = PENCILFFT_OK;
    for (int64_t i = pf_share_start(all_groups(team), share, team->shares); i < end && !status; i++) {
        struct block block = block_of(team, i, &field);
        for (int step = 0; step < STEPS && !status; step++)
            status = do_step(pass, run, field, &block, &whole, step);
        if (run->progress && !run->planning && !status)
            status = run->progress(run->of);
    }
    return status;
}

/* Cut columns at whole cache lines, because FFTW's plans need this alignment. */
static int share_of_group(struct pf_pass *pass, const struct pf_pass_run *run, const struct team *team, int share)
{
    int64_t rows = pass->points[pass->inner], from = team->range->along, n = team->range->along_end - from;
    int64_t unit = PF_CACHE_LINE / (int64_t)pf_smaller((int64_t)pass->in.element_bytes, (int64_t)pass->out.element_bytes);
    int64_t units = (n + unit - 1) / unit;
    const struct part part = {
        .row = pf_share_start(rows, share, team->shares),
        .row_end = pf_share_start(rows, share + 1, team->shares),
        .column = from + pf_smaller(n, pf_share_start(units, share, team->shares) * unit),
        .column_end = from + pf_smaller(n, pf_share_start(units, share + 1, team->shares) * unit),
    };
    int field;
    struct block block = block_of(team, team->group, &field);
    return do_step(pass, run, field, &block, &part, team->step);
}

/* A share has chunks of its own, and, for whole groups, a plane. Other threads than the calling thread have their own
 * clocks, which nobody reads, and do not call MPI. */
static void run_share(int share, void *of)
{
    struct team *team = of;
    struct pf_pass pass = *team->pass;
    struct pf_pass_run run = *team->run;
    struct pf_clock aside;
    pass.block.chunk[0] += share * pass.block.share;
    pass.block.chunk[1] += share * pass.block.share;
    if (team->work == share_of_groups)
        pass.block.plane += share * pass.block.share;
    if (share > 0) {
        pf_clock_start(&aside);
        run.clock = &aside;
        run.progress = NULL;
    }
    int status = team->work(&pass, &run, team, share);
    if (share == 0)
        team->status = status;
}

/* The calling thread makes FFTW's plans, in the blocks of the first share. */
static int run_team(struct team *team)
{
    const struct pf_pass *pass = team->pass;
    team->status = PENCILFFT_OK;
    if (team->run->planning) {
        for (int share = 0; share < team->shares && !team->status; share++)
            team->status = team->work(team->pass, team->run, team, share);
        return team->status;
    }
    pf_threads_run(team->shares, run_share, team);
    if (team->shares > 1)
        lap(team->run, pass->out.copied, pass->u ? &pass->u_lines : &pass->z_lines);
    return team->status;
}

/* All threads share one group after the other. */
static int run_groups_together(struct team *team)
{
    int status = PENCILFFT_OK;
    team->work = share_of_group;
    for (team->group = 0; team->group < all_groups(team) && !status; team->group++) {
        for (team->step = 0; team->step < STEPS && !status; team->step++)
            status = run_team(team);
        if (team->run->progress && !team->run->planning && !status)
            status = team->run->progress(team->run->of);
    }
    return status;
}

/* Whether so many groups keep as many threads busy for at least four fifths of the time. */
static bool is_even(int64_t groups, int shares)
{
    return (groups + shares - 1) / shares * shares * 4 <= groups * 5;
}

int pf_pass_run(struct pf_pass *pass, struct pf_pass_run *run, const struct pf_range *range)
{
    struct team team = {.pass = pass, .run = run, .range = range, .work = share_of_groups};
    int64_t planes = range->outer_end - range->outer, fields = range->field_end - range->field;
    int64_t bytes = fields * planes * pass->box.extent[pass->inner] * (range->along_end - range->along) *
                    (int64_t)pass->out.element_bytes;
    if (pf_box_elements(&pass->box) == 0 || planes <= 0 || fields <= 0)
        return PENCILFFT_OK;
    team.shares = pf_threads_worth(pass->threads, bytes);
    team.groups = (planes + pass->block.group - 1) / pass->block.group;
    return is_even(all_groups(&team), team.shares) ? run_team(&team) : run_groups_together(&team);
}

struct pf_range pf_pass_all(const struct pf_pass *pass)
{
    return (struct pf_range){0, pass->box.extent[pass->outer], 0, pass->box.extent[pass->along], 0, pass->fields};
}

void pf_pass_release(struct pf_pass *pass)
{
    pf_lines_release(&pass->z_lines);
    pf_lines_release(&pass->u_lines);
    free(pass->in.piece);
    free(pass->out.piece);
    free(pass->block.memory);
}
