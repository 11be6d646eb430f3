/* The places of a plan's data: routes, lanes, joints, transfers and buffers; and the nodes of ranks in a torus. */
#pragma once

#include "handle/plan.h"

/* ---- places.c ------------------------------------------------------------------------------------------------------ */

/* plan->layout.places[]. Collective, after the groups have been made. */
int pf_places_make(pencilfft_plan plan, const pencilfft_desc *desc);
/* The torus of the descriptors, which must have one, and the node of every rank; always free *node. Collective. */
int pf_places_nodes(pencilfft_plan plan, const pencilfft_desc *desc, struct torus *torus, int64_t **node);

/* ---- routes.c ------------------------------------------------------------------------------------------------------ */

/* Settle a schedule for this transform, and with the schedule parts and routes. Groups and their sizes are known. Local, and
 * the same on all ranks. */
int pf_schedule_take(pencilfft_plan plan, const struct pf_choice *choice);
/* Parts of an array: PENCILFFT_INPUT, or a number from 0 on. */
int pf_parts_of(const struct pencilfft_plan_s *plan, int array);
pencilfft_part pf_part_of(const struct pencilfft_plan_s *plan, int array, int rank, int i);
/* Bytes of all its parts. */
int64_t pf_array_bytes(const struct pencilfft_plan_s *plan, int array, int rank);

/* ---- lanes.c ------------------------------------------------------------------------------------------------------- */

int pf_lanes_make(pencilfft_plan plan);
void pf_lanes_release(pencilfft_plan plan);
/* Give each lane its slot of the work buffers; returns the elements of the slots. Transfers are planned. */
int64_t pf_lanes_place(pencilfft_plan plan);
/* Whether a pass over this array can run for a single lane, and the lane's part of the pass. */
bool pf_lane_runs(const struct pencilfft_plan_s *plan, const struct pf_pass *pass, int array);
struct pf_range pf_lane_range(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, const struct pf_pass *pass);

/* ---- joints.c ------------------------------------------------------------------------------------------------------ */

/* The exchanges between the passes, and their buffers; nothing is made yet. */
void pf_joints_make(pencilfft_plan plan, int backward);
/* The same for an exchange alone, which leaves the caller's arrays to packing and unpacking. */
struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int route, int at);
/* Bytes of its messages in the caller's output, and in the input; 0 if they lie elsewhere. */
void pf_joint_alone_bytes(const struct pencilfft_plan_s *plan, int backward, int at, int64_t *room, int64_t *work);

/* ---- transfer.c: exchange `at` of the route of a lane ---------------------------------------------------------------- */

/* Whether the algorithm plan->chosen.exchange[e] can run in the schedule. */
int pf_transfer_check(const struct pencilfft_plan_s *plan, int e);
/* Plan with plan->chosen.exchange[e]. No communication. */
int pf_transfer_plan(pencilfft_plan plan, int backward, int lane, int at);
/* Collective over the group. Work buffers are there. */
int pf_transfer_connect(pencilfft_plan plan, int backward, int lane, int at);
/* The place of the sent or received data for passes and packing: the number of pieces, and one piece. */
int pf_transfer_pieces(const struct pf_transfer *transfer, bool sent);
struct pf_piece pf_transfer_piece(const struct pf_lane *lane, const struct pf_transfer *transfer,
                                  const struct pf_joint *joint, bool sent, int i);
void pf_transfers_release(pencilfft_plan plan);

/* ---- buffers.c ----------------------------------------------------------------------------------------------------- */

/* Allocate a buffer of so many elements; to be freed by free(raw). */
int pf_buffer_make(const struct pencilfft_plan_s *plan, int64_t elements, struct pf_buffer *buffer);
/* Outputs of so many elements each, all zeros: as many as fit into so many bytes, from 1 to `most`; to be freed by
 * free(buffer.raw). */
int pf_outs_make(const struct pencilfft_plan_s *plan, int64_t elements, int most, int64_t bytes, struct pf_outs *outs);
void *pf_outs_next(struct pf_outs *outs);
/* Make the missing work buffers for runs in place or with two arrays. They are released with the buffers of
 * pencilfft_alloc(). */
int pf_works_make(pencilfft_plan plan, bool in_place);
/* The bytes of all work buffers, each at whole cache lines, those that only runs in place need last. They are taken from
 * `memory`, at whole cache lines, unless it is NULL. */
int64_t pf_works_lay(pencilfft_plan plan, bool in_place, char *memory);
void pf_buffers_release(pencilfft_plan plan);
/* The same, released with the plan. */
int pf_buffer_add(pencilfft_plan plan, int64_t elements, void **data);
/* A buffer of the plan in place of an array that is not longer than its elements; made at its first use. */
int pf_extra_make(pencilfft_plan plan, int extra);
/* The addresses of the buffers of a transform; NULL for missing buffers. */
void pf_buffers_list(const struct pencilfft_plan_s *plan, int backward, const struct pf_arrays *arrays,
                     char *buffer[PF_BUFFERS]);
/* Arrays as long as pencilfft_alloc() makes them. */
static inline struct pf_arrays pf_arrays_full(const void *in, void *out)
{
    return (struct pf_arrays){in, out, out, (void *)in};
}
