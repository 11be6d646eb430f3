#pragma once

#include "plan/plan.h"

/* All that follows from plan->chosen[]: transfers, work buffers, passes, steps. Collective; fails on all ranks or on none,
 * and must be cleared then too. Clearing frees every buffer that was handed out. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);
