#pragma once

#include "plan/plan.h"

/* Which exchanges lie between the passes, and from where to where; nothing is made yet. */
void pf_joints_make(pencilfft_plan plan, int backward);
/* The same for an exchange alone, which leaves the caller's arrays to packing and unpacking. */
struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int e);
/* Does any transform or exchange of the plan need this work buffer? */
bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer);
