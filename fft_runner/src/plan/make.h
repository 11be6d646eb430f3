/* What makes and unmakes a plan, and who of the files here calls whom for it. */
#pragma once

#include "plan/plan.h"

/* ---- build.c ------------------------------------------------------------------------------------------------------- */

/* All that follows from plan->chosen[]: transfers, work buffers, passes, steps. Collective; fails on all ranks or on none,
 * and must be cleared then too. Clearing frees every buffer that was handed out. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);

/* ---- buffers.c ----------------------------------------------------------------------------------------------------- */

/* One buffer of the plan's size, to be freed by free(raw). */
int pf_buffer_make(const struct pencilfft_plan_s *plan, struct pf_buffer *buffer);
/* All that pencilfft_alloc() handed out. */
void pf_buffers_release(pencilfft_plan plan);
/* Where the buffers of a transform are; NULL for those it does not have. */
void pf_buffers_list(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out, char *buffer[PF_BUFFERS]);

/* ---- joints.c ------------------------------------------------------------------------------------------------------ */

/* Which exchanges lie between the passes, and from where to where; nothing is made yet. */
void pf_joints_make(pencilfft_plan plan, int backward);
/* The same for an exchange alone, which leaves the caller's arrays to packing and unpacking. */
struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int e);
/* Does any transform or exchange of the plan need this work buffer? */
bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer);

/* ---- transfer.c ---------------------------------------------------------------------------------------------------- */

/* By the algorithm plan->chosen[e]. Local. */
int pf_transfer_plan(pencilfft_plan plan, int backward, int e);
/* Collective over the group. Work buffers are there. */
int pf_transfer_connect(pencilfft_plan plan, int backward, int e);
void pf_transfer_release(struct pf_transfer *transfer);

/* ---- passes.c ------------------------------------------------------------------------------------------------------ */

/* Which passes a transform has, and the exchanges behind them. Groups and their sizes are known. */
void pf_passes_choose(pencilfft_plan plan);
/* Makes them in one direction; transfers, joints and work buffers are there. in and out are overwritten. */
int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out);

/* ---- steps.c ------------------------------------------------------------------------------------------------------- */

/* What execute is to do: the transform in one direction, and each of its exchanges alone. Passes and transfers are there. */
int pf_steps_make(pencilfft_plan plan, int backward);
void pf_steps_release(struct pf_steps *steps);
