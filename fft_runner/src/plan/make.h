/* What makes and unmakes a plan, and who of the files here calls whom for it. */
#pragma once

#include "plan/plan.h"

/* ---- places.c ------------------------------------------------------------------------------------------------------ */

/* plan->places[]. Collective, after the groups have been made. */
int pf_places_make(pencilfft_plan plan, const pencilfft_desc *desc);
/* The torus of the descriptors, which must have one, and the node of every rank, to be freed in any case. Collective. */
int pf_places_nodes(pencilfft_plan plan, const pencilfft_desc *desc, struct torus *torus, int64_t **node);

/* ---- grid.c -------------------------------------------------------------------------------------------------------- */

/* Sizes of elements before and after the z transform. */
void pf_transform_bytes(pencilfft_plan plan, const struct pf_transform *transform);
/* The numbers of the grid, those that the descriptors leave open included. Collective. */
int pf_grid_take(pencilfft_plan plan, const pencilfft_desc *desc);

/* ---- ends.c -------------------------------------------------------------------------------------------------------- */

/* Which boxes the descriptors give for the ends of a transform, or bricks; plan->end[]. Collective. */
int pf_ends_take(pencilfft_plan plan, const pencilfft_desc *desc);
/* Once all else is there: the remaps. Collective. */
int pf_ends_make(pencilfft_plan plan);
void pf_ends_release(pencilfft_plan plan);
/* The box of a rank outside, once the grid is known and where this end is remapped; and inside, where it begins and ends its
 * transform. */
pencilfft_box pf_end_box(const struct pencilfft_plan_s *plan, int end, int rank);
pencilfft_box pf_end_inside(const struct pencilfft_plan_s *plan, int end, int rank);
/* The element of an end. */
size_t pf_end_bytes(const struct pencilfft_plan_s *plan, int end);
/* What rank `rank` sends of a field in both remaps of a forward transform, in bytes, with the grid that is in the geometry; n[2] in there is
 * that of what is exchanged. */
int64_t pf_ends_sent(const struct pencilfft_plan_s *plan, int rank);
/* A remap as part of a run, or alone; the clock runs. */
int pf_end_run(pencilfft_plan plan, int end, int backward, const void *from, void *to);

/* ---- ask.c --------------------------------------------------------------------------------------------------------- */

/* Number of an array, 0 for what a forward transform takes; -1 when there is none such. */
int pf_array_of(const struct pencilfft_plan_s *plan, int array);

/* ---- build.c ------------------------------------------------------------------------------------------------------- */

/* All that follows from plan->chosen[]: transfers, work buffers, passes, steps. Collective; fails on all ranks or on none,
 * and must be cleared then too. Clearing frees every buffer that was handed out. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);

/* ---- buffers.c ----------------------------------------------------------------------------------------------------- */

/* One buffer of so many elements, to be freed by free(raw). */
int pf_buffer_make(const struct pencilfft_plan_s *plan, int64_t elements, struct pf_buffer *buffer);
/* Outputs of so many elements each, all zeros: as many as pf_tuning.trial_outs_bytes have room for, from 1 to `most`; to be freed
 * by free(buffer.raw). */
int pf_outs_make(const struct pencilfft_plan_s *plan, int64_t elements, int most, struct pf_outs *outs);
void *pf_outs_next(struct pf_outs *outs);
/* The work buffers that are needed, in place or with two arrays, and not there yet; they are released with those that
 * pencilfft_alloc() handed out. */
int pf_works_make(pencilfft_plan plan, bool in_place);
void pf_buffers_release(pencilfft_plan plan);
/* Where the buffers of a transform are; NULL for those it does not have. */
void pf_buffers_list(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out, char *buffer[PF_BUFFERS]);

/* ---- routes.c ------------------------------------------------------------------------------------------------------ */

/* Settle a schedule for this transform, and with it parts and routes. Groups and their sizes are known. Local, and the same
 * on all ranks. */
int pf_schedule_take(pencilfft_plan plan, const struct pf_choice *choice);
/* Parts of an array: PENCILFFT_INPUT, or a number from 0 on. */
int pf_parts_of(const struct pencilfft_plan_s *plan, int array);
pencilfft_part pf_part_of(const struct pencilfft_plan_s *plan, int array, int rank, int i);

/* ---- lanes.c ------------------------------------------------------------------------------------------------------- */

int pf_lanes_make(pencilfft_plan plan);
void pf_lanes_release(pencilfft_plan plan);
/* Give each lane its slot of the work buffers; returns their elements. Transfers are planned. */
int64_t pf_lanes_place(pencilfft_plan plan);
/* Is an array of the first route cut like the lanes? */
bool pf_lane_cuts(const struct pencilfft_plan_s *plan, int array);
/* What this rank holds of an array for a lane, whose boxes are told to an exchange as if there were no other lanes: in how
 * many pieces it lies, and one of them, with the element where it begins. */
int pf_lane_pieces(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array);
pencilfft_box pf_lane_piece(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, int i,
                            int64_t *start);
/* Can a pass over this array be run for one lane? And what of the pass then is the lane's. */
bool pf_lane_runs(const struct pencilfft_plan_s *plan, const struct pf_pass *pass, int array);
struct pf_range pf_lane_range(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, const struct pf_pass *pass);

/* ---- joints.c ------------------------------------------------------------------------------------------------------ */

/* Which exchanges lie between the passes, and from where to where; nothing is made yet. */
void pf_joints_make(pencilfft_plan plan, int backward);
/* The same for an exchange alone, which leaves the caller's arrays to packing and unpacking. */
struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int route, int at);
/* Does any transform or exchange of the plan need this work buffer, also those with one array for input and output? */
bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer, bool in_place);

/* ---- transfer.c: exchange `at` of the route of a lane ---------------------------------------------------------------- */

/* Whether the algorithm plan->chosen[e] can run as the schedule needs it. */
int pf_transfer_check(const struct pencilfft_plan_s *plan, int e);
/* By that algorithm. Local. */
int pf_transfer_plan(pencilfft_plan plan, int backward, int lane, int at);
/* Collective over the group. Work buffers are there. */
int pf_transfer_connect(pencilfft_plan plan, int backward, int lane, int at);
/* Where the data lie that are sent or received, which a pass or packing writes and reads: how many pieces, and one. */
int pf_transfer_pieces(const struct pf_transfer *transfer, bool sent);
struct pf_piece pf_transfer_piece(const struct pf_lane *lane, const struct pf_transfer *transfer,
                                  const struct pf_joint *joint, bool sent, int i);
void pf_transfer_release(struct pf_transfer *transfer);

/* ---- passes.c ------------------------------------------------------------------------------------------------------ */

/* Which passes a route has, and the exchanges behind them. Groups and their sizes are known. */
void pf_passes_choose(const struct pencilfft_plan_s *plan, struct pf_route *route);
/* Makes them in one direction; transfers, joints and work buffers are there. in and out are overwritten. */
int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out);
/* Is pass i one of all routes? And is it run lane by lane, or once? */
bool pf_pass_is_shared(const struct pencilfft_plan_s *plan, int backward, int i);
bool pf_pass_runs_by_lanes(const struct pencilfft_plan_s *plan, int backward, int i);

/* ---- whole.c ------------------------------------------------------------------------------------------------------- */

/* Finds out whether the array of a single rank is transformed faster by one plan. Steps are there. in and out are
 * overwritten. */
int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out);
/* Runs it, if there is one. The clock runs. */
bool pf_whole_run(pencilfft_plan plan, int backward, const void *in, void *out);
void pf_whole_release(const struct pencilfft_plan_s *plan, struct pf_whole *whole);

/* ---- execute.c ----------------------------------------------------------------------------------------------------- */

/* Passes and exchanges of a transform, without remaps at its ends. */
int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out);

/* ---- steps.c ------------------------------------------------------------------------------------------------------- */

/* What execute is to do: the transform in one direction, and each of its exchanges alone. Passes and transfers are there. */
int pf_steps_make(pencilfft_plan plan, int backward);
/* And both directions at once, where the plan runs them so. */
int pf_steps_pair(pencilfft_plan plan);
void pf_steps_release(struct pf_steps *steps);
