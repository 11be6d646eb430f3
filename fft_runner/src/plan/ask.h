/* Questions to a plan that other files here ask too. */
#pragma once

#include "handle/plan.h"

/* Number of an array, 0 for what a forward transform takes; -1 when there is none such. */
int pf_array_of(const struct pencilfft_plan_s *plan, int array);
