#pragma once

#include "plan/plan.h"

/* By the algorithm plan->chosen[e]. Local. */
int pf_transfer_plan(pencilfft_plan plan, int backward, int e);
/* Collective over the group. Work buffers are there. */
int pf_transfer_connect(pencilfft_plan plan, int backward, int e);
void pf_transfer_release(struct pf_transfer *transfer);
