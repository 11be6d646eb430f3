/* Where the data of a plan lie: routes, lanes, joints, transfers and buffers; and where ranks sit in a torus. */
#pragma once

#include "handle/plan.h"

/* ---- places.c ------------------------------------------------------------------------------------------------------ */

/* plan->places[]. Collective, after the groups have been made. */
int pf_places_make(pencilfft_plan plan, const pencilfft_desc *desc);
/* The torus of the descriptors, which must have one, and the node of every rank, to be freed in any case. Collective. */
int pf_places_nodes(pencilfft_plan plan, const pencilfft_desc *desc, struct torus *torus, int64_t **node);

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
/* Can a pass over this array be run for one lane? And what of the pass then is the lane's. */
bool pf_lane_runs(const struct pencilfft_plan_s *plan, const struct pf_pass *pass, int array);
struct pf_range pf_lane_range(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, const struct pf_pass *pass);

/* ---- joints.c ------------------------------------------------------------------------------------------------------ */

/* Which exchanges lie between the passes, and from where to where; nothing is made yet. */
void pf_joints_make(pencilfft_plan plan, int backward);
/* The same for an exchange alone, which leaves the caller's arrays to packing and unpacking. */
struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int route, int at);

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
/* All of them. */
void pf_transfers_release(pencilfft_plan plan);

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
