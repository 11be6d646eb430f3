/* Questions to a plan that other files here ask too. */
#pragma once

#include "handle/plan.h"

/* Number of an array, 0 for the input of a forward transform; -1 if there is no such array. */
int pf_array_of(const struct pencilfft_plan_s *plan, int array);
