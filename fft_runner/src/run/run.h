/* Building what a plan runs, and running it. */
#pragma once

#include "handle/plan.h"

/* ---- build.c ------------------------------------------------------------------------------------------------------- */

/* All that follows from plan->chosen[]: transfers, work buffers, passes, steps. Collective; fails on all ranks or on none,
 * and must be cleared then too. Clearing frees every buffer that was handed out. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);

/* ---- execute.c ----------------------------------------------------------------------------------------------------- */

/* Passes and exchanges of a transform, without remaps at its ends. */
int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out);
