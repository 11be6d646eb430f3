#ifndef PF_AUTO_H
#define PF_AUTO_H

#include "plan.h"

/* Sets plan->chosen[] for row and column. Collective; the same choice on all ranks. */
int pf_auto_choose(pencilfft_plan plan, const pencilfft_desc *desc);

#endif
