#pragma once

#include "plan/plan.h"

/* Sets plan->chosen[] of each exchange within about that many seconds. Collective; the same choice on all ranks. The
 * plan is as pf_plan_build() takes it, before and after. */
int pf_auto_choose(pencilfft_plan plan, double budget_s);
