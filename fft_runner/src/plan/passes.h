#pragma once

#include "plan/plan.h"

/* Which passes a transform has, and the exchanges behind them. Groups and their sizes are known. */
void pf_passes_choose(pencilfft_plan plan);
/* Makes them in one direction; transfers, joints and work buffers are there. in and out are overwritten. */
int pf_passes_make(pencilfft_plan plan, int backward, void *in, void *out);
