/* The choices when a plan is made: the grid, exchanges, a schedule. */
#pragma once

#include "handle/plan.h"

/* ---- grid.c -------------------------------------------------------------------------------------------------------- */

/* Sizes of elements before and after the z transform. */
void pf_transform_bytes(pencilfft_plan plan, const struct pf_transform *transform);
/* The numbers of the grid, including numbers that the descriptors leave open. Collective. */
int pf_grid_take(pencilfft_plan plan, const pencilfft_desc *desc);

/* ---- auto.c ---------------------------------------------------------------------------------------------------------- */

/* Sets plan->chosen[] of each exchange, and the schedule if that is open, within about that many seconds. Collective; the
 * same choice on all ranks. The plan is ready for pf_plan_build() before and after the call. `anew`: ignore wisdom. */
int pf_auto_choose(pencilfft_plan plan, double budget_s, bool anew);
