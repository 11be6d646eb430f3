/* The lanes of a transform: the whole of a route, or its chunks.
 * Idea:  every rank cuts its own block along the axis of the chunks, so the exchanges of a chunk are exchanges of the whole
 *        array between smaller boxes. Each lane has a slot in both work buffers, as long as the most sent or received at
 *        once: all exchanges of a lane send from its slot in the first buffer and receive in its slot in the second, because
 *        a pass has read all received data and written all sent data before the next exchange of this lane begins.
 * Cost:  for each lane as many boxes as the groups have members. */
#include "layout/inside.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* bytes; exchanges rely on it */

static const int axis_of[PF_CUT_AXES] = {[PF_CUT_X] = 0, [PF_CUT_Z] = 2, [PF_CUT_FIELD] = -1};

static bool is_cut(const struct pencilfft_plan_s *plan, const struct pf_lane *lane)
{
    return lane->chunk != PF_WHOLE_LANE && axis_of[plan->chosen.choice.axis] >= 0;
}

/* Whether an array of the first route is cut like the lanes. */
static bool cuts(const struct pencilfft_plan_s *plan, int array)
{
    const struct pf_decomposition *d = plan->layout.geometry.decomposition;
    int axis = axis_of[plan->chosen.choice.axis];
    return axis >= 0 && d->array[pf_array_number(array)].over[axis] == pf_cut_over(d, axis);
}

/* Block i of the cut axis, divided over the dimension of the grid that cuts it; and the lane's chunk of the block. */
struct piece_of_axis {
    int64_t offset, start, extent; /* of the block; of the chunk, counted from there */
};

static int blocks_of(const struct pencilfft_plan_s *plan)
{
    int over = pf_cut_over(plan->layout.geometry.decomposition, axis_of[plan->chosen.choice.axis]);
    return over == PF_WHOLE ? 1 : plan->layout.geometry.grid[over];
}

/* The extent of the cut axis is the same in all exchanges. */
static struct pf_block block_of(const struct pencilfft_plan_s *plan, int i)
{
    return pf_block_of(pf_array_extent(&plan->layout.geometry, 0, axis_of[plan->chosen.choice.axis]), blocks_of(plan), i);
}

static struct piece_of_axis chunk_in(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int i)
{
    struct pf_block block = block_of(plan, i);
    int64_t start = pf_chunk_start(&plan->chosen.choice, block.extent, lane->chunk);
    return (struct piece_of_axis){block.offset, start,
                                  pf_chunk_start(&plan->chosen.choice, block.extent, lane->chunk + 1) - start};
}

/* Indices of the lane along the cut axis, in the blocks before block i. */
static int64_t indices_before(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int i)
{
    int64_t sum = 0;
    while (i-- > 0)
        sum += chunk_in(plan, lane, i).extent;
    return sum;
}

/* A box of an array: its chunk if the array is cut like the lanes, its planes if there are several routes. */
static pencilfft_box lane_box(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, int rank)
{
    const struct pf_route *route = &plan->layout.route[lane->route];
    struct pf_geometry g = plan->layout.geometry;
    g.decomposition = route->decomposition;
    pencilfft_box box = pf_planes_box(&g, route->share.z, route->share.z_end, pf_array_number(array),
                                      pf_axes_done(&g, array), rank);
    if (array == 0 && plan->layout.routes > 1)
        return pf_box_cut(&box, 2, route->share.z, route->share.z_end - route->share.z);
    if (!is_cut(plan, lane) || !cuts(plan, array))
        return box;
    int axis = axis_of[plan->chosen.choice.axis];
    int64_t start = pf_chunk_start(&plan->chosen.choice, box.extent[axis], lane->chunk);
    return pf_box_cut(&box, axis, start, pf_chunk_start(&plan->chosen.choice, box.extent[axis], lane->chunk + 1) - start);
}

/* The same as if there were no other lanes: leave out the indices of other lanes between this lane's indices. */
static pencilfft_box close_box(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, pencilfft_box box)
{
    if (!is_cut(plan, lane))
        return box;
    int axis = axis_of[plan->chosen.choice.axis], i = 0;
    if (!cuts(plan, array))
        return pf_box_cut(&box, axis, 0, indices_before(plan, lane, blocks_of(plan)));
    while (i + 1 < blocks_of(plan) && block_of(plan, i + 1).offset <= box.offset[axis])
        i++;
    box.offset[axis] = indices_before(plan, lane, i);
    return box;
}

int pf_lane_pieces(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array)
{
    return is_cut(plan, lane) && !cuts(plan, array) ? blocks_of(plan) : 1;
}

pencilfft_box pf_lane_piece(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, int i,
                            int64_t *start)
{
    pencilfft_box box = lane_box(plan, lane, array, plan->rank), closed = close_box(plan, lane, array, box);
    *start = 0;
    memcpy(box.stride, closed.stride, sizeof box.stride);
    if (!is_cut(plan, lane) || cuts(plan, array))
        return box;
    int axis = axis_of[plan->chosen.choice.axis];
    struct piece_of_axis piece = chunk_in(plan, lane, i);
    *start = indices_before(plan, lane, i) * box.stride[axis];
    box.offset[axis] += piece.offset + piece.start;
    box.extent[axis] = piece.extent;
    return box;
}

struct pf_range pf_lane_range(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, const struct pf_pass *pass)
{
    struct pf_range range = pf_pass_all(pass);
    const struct pf_choice *choice = &plan->chosen.choice;
    range.field = lane->field;
    range.field_end = lane->field_end;
    if (!is_cut(plan, lane))
        return range;
    bool planes = axis_of[choice->axis] == pass->outer;
    int64_t *from = planes ? &range.outer : &range.along;
    int64_t *end = planes ? &range.outer_end : &range.along_end, extent = *end;
    *from = pf_chunk_start(choice, extent, lane->chunk);
    *end = pf_chunk_start(choice, extent, lane->chunk + 1);
    return range;
}

bool pf_lane_runs(const struct pencilfft_plan_s *plan, const struct pf_pass *pass, int array)
{
    int axis = plan->chosen.choice.chunks ? axis_of[plan->chosen.choice.axis] : -1;
    if (!plan->chosen.beside || axis < 0)
        return true;
    return cuts(plan, array) && (axis == pass->outer || (axis == pass->along && !pass->z));
}

static int make_boxes(const struct pencilfft_plan_s *plan, struct pf_lane *lane)
{
    for (int at = 0; at < plan->layout.exchanges; at++)
        for (int after = 0; after < 2; after++) {
            int e = plan->layout.route[lane->route].exchange[at];
            pencilfft_box *boxes = lane->boxes[at][after] = calloc((size_t)plan->layout.p[e], sizeof *boxes);
            if (!boxes)
                return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->layout.p[e]);
            for (int j = 0; j < plan->layout.p[e]; j++) {
                boxes[j] = lane_box(plan, lane, pf_exchanged_array(at, after), pf_member(plan, e, j));
                if (plan->chosen.exchange[e]->takes_boxes)
                    boxes[j] = close_box(plan, lane, pf_exchanged_array(at, after), boxes[j]);
            }
        }
    return PENCILFFT_OK;
}

/* A chunk of the only route, or a whole route. */
static void set_lane(const struct pencilfft_plan_s *plan, int i, struct pf_lane *lane)
{
    const struct pf_choice *choice = &plan->chosen.choice;
    bool chunks = plan->layout.lanes > plan->layout.routes;
    *lane = (struct pf_lane){.route = chunks ? 0 : i, .chunk = chunks ? i : PF_WHOLE_LANE};
    const struct pf_share *share = &plan->layout.route[lane->route].share;
    lane->field = share->field;
    lane->field_end = share->field_end;
    if (chunks && choice->axis == PF_CUT_FIELD) {
        lane->field = (int)pf_chunk_start(choice, plan->request.fields, i);
        lane->field_end = (int)pf_chunk_start(choice, plan->request.fields, i + 1);
    }
}

int pf_lanes_make(pencilfft_plan plan)
{
    int status = PENCILFFT_OK,
        lanes = plan->chosen.beside && plan->chosen.choice.chunks ? plan->chosen.choice.chunks : plan->layout.routes;
    if (!(plan->layout.lane = calloc((size_t)lanes, sizeof *plan->layout.lane)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for %d lanes", lanes);
    plan->layout.lanes = lanes;
    for (int i = 0; i < lanes && !status; i++) {
        set_lane(plan, i, &plan->layout.lane[i]);
        status = make_boxes(plan, &plan->layout.lane[i]);
    }
    return status;
}

static int64_t room_of(const struct pencilfft_plan_s *plan, const struct pf_lane *lane)
{
    int64_t most = 0;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++)
        for (int at = 0; at < plan->layout.exchanges; at++) {
            const struct pf_transfer *t = &lane->transfer[backward][at];
            most = pf_larger(most, pf_larger(t->sent.list.total, t->received.list.total));
        }
    return most;
}

int64_t pf_lanes_place(pencilfft_plan plan)
{
    int64_t end = 0, unit = ALIGNMENT / (int64_t)plan->layout.sent_bytes;
    for (int i = 0; i < plan->layout.lanes; i++) {
        plan->layout.lane[i].slot = (end + unit - 1) / unit * unit;
        end = plan->layout.lane[i].slot + room_of(plan, &plan->layout.lane[i]);
    }
    return end;
}

void pf_lanes_release(pencilfft_plan plan)
{
    for (int i = 0; i < plan->layout.lanes; i++)
        for (int at = 0; at < plan->layout.exchanges; at++)
            for (int after = 0; after < 2; after++)
                free(plan->layout.lane[i].boxes[at][after]);
    free(plan->layout.lane);
    plan->layout.lane = NULL;
    plan->layout.lanes = 0;
}
