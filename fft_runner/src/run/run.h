/* Building the steps of a plan, and running them. */
#pragma once

#include "handle/plan.h"

/* ---- build.c ------------------------------------------------------------------------------------------------------- */

/* All parts that follow from plan->chosen.exchange[]: transfers, work buffers, passes, steps. Collective; fails on all ranks
 * or on none, and must be cleared then too. Clearing frees every buffer given to the caller. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);

/* ---- work.c -------------------------------------------------------------------------------------------------------- */

/* Releases the work buffers of a new plan whose caller is to give others. */
void pf_work_leave(pencilfft_plan plan);
/* Work buffers for a run: makes those that a run in place lacks, or checks the memory of the caller. */
int pf_work_get(pencilfft_plan plan, bool in_place);

/* ---- arrays.c ------------------------------------------------------------------------------------------------------ */

/* Bytes of an array of the caller on a rank, by its number in pencilfft.h. */
int64_t pf_array_length(const struct pencilfft_plan_s *plan, int array, int rank);
/* Elements of the largest array on a rank: the least length of a buffer of pencilfft_alloc(). */
int64_t pf_largest_elements(const struct pencilfft_plan_s *plan, int rank);
/* Lengths of these buffers on all ranks, if some are longer. Collective, for a complete plan. */
int pf_allocs_share(pencilfft_plan plan);

/* ---- execute.c ----------------------------------------------------------------------------------------------------- */

/* Passes and exchanges of a transform, without remaps at its ends. */
int pf_transform_by_steps(pencilfft_plan plan, int backward, const void *in, void *out);

/* ---- calls.c ------------------------------------------------------------------------------------------------------- */

/* pencilfft_execute() after checks of the caller, whose status is `given`. Collective. */
int pf_execute(pencilfft_plan plan, int given, pencilfft_direction direction, const void *in, void *out);
