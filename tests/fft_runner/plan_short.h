/* Runs of a plan on arrays that end with their last element. */
#pragma once

#include "pencilfft.h"

/* What is wrong with them on this rank: bytes outside the arrays that were written, or results other than those in buffers
 * of pencilfft_alloc(); NULL if nothing. Collective. */
const char *plan_short_wrong(pencilfft_plan plan, int directions);
