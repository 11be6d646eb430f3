/* The choices when a plan is made: the grid, exchanges, a schedule. */
#pragma once

#include "handle/plan.h"

/* ---- grid.c -------------------------------------------------------------------------------------------------------- */

/* Sizes of elements before and after the z transform. */
void pf_transform_bytes(pencilfft_plan plan, const struct pf_transform *transform);
/* The numbers of the grid, including numbers that the descriptors leave open. Collective. */
int pf_grid_take(pencilfft_plan plan, const pencilfft_desc *desc);
/* All that follows from the grid: groups, places, the input, the schedule. Collective; to be left after a failure, too. */
int pf_grid_use(pencilfft_plan plan, const pencilfft_desc *desc);
int pf_grid_leave(pencilfft_plan plan);
/* Takes and uses the grid of the rule again, after a choice that does not work. Collective. */
int pf_grid_again(pencilfft_plan plan, const pencilfft_desc *desc);
/* Grids to try, as numbers of tasks in a row, the grid at hand first; returns their number. */
int pf_grid_candidates(pencilfft_plan plan, int most, int *R);

/* ---- default_exchange.c --------------------------------------------------------------------------------------------- */

/* Sets plan->chosen.exchange[] to `node` where that suits a plan that names no exchange. Collective; the same on all
 * ranks. */
int pf_default_exchange(pencilfft_plan plan);

/* ---- auto.c ---------------------------------------------------------------------------------------------------------- */

/* Sets plan->chosen.exchange[] of each exchange, and the schedule and the grid if they are open, within about the budget of
 * the descriptor. Collective; the same choice on all ranks. The plan is ready for pf_plan_build() before and after the call.
 * `anew`: ignore wisdom. */
int pf_auto_choose(pencilfft_plan plan, const pencilfft_desc *desc, bool anew);
