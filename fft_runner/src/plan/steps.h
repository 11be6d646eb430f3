#pragma once

#include "plan/plan.h"

/* What execute is to do: the transform in one direction, and each of its exchanges alone. Passes and transfers are there. */
int pf_steps_make(pencilfft_plan plan, int backward);
void pf_steps_release(struct pf_steps *steps);
