/* The choices of "auto" when the plan is made: the exchanges, then the schedule. */
#pragma once

#include "choose/trial.h"

enum { PF_AUTO_KEY_SIZE = 320 };

/* The key of exchange e of this transform in wisdom. auto_exchanges.c */
void pf_auto_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[PF_AUTO_KEY_SIZE]);
/* Choose each exchange of the plan that wisdom does not know, until the budget is used up. auto_exchanges.c */
int pf_auto_exchanges(struct pf_trial *trial, double budget_s, int nodes);
/* Choose the schedule, with exchanges that can run in that schedule, until the budget is used up. auto_schedule.c */
int pf_auto_schedule(struct pf_trial *trial, double budget_s, int nodes);
