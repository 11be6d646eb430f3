/* The choices of "auto" when the plan is made: the exchanges, then the schedule. */
#pragma once

#include "choose/trial.h"
#include "handle/plan.h"

enum { PF_AUTO_KEY_SIZE = 320 };

/* Candidates that race until one is left: race.c. */
enum { PF_MOST_RACERS = 32 };
struct pf_race {
    struct pf_trial *trial;
    int n, alive[PF_MOST_RACERS]; /* numbers of those left, the fastest first after a round */
    struct pf_times *times; /* by number */
    void (*take)(void *of, int number); /* sets what the candidate needs, as in struct pf_candidates */
    bool (*is_favoured)(void *of, int number); /* where runs cannot separate two candidates; may be NULL */
    void *of;
};

/* Until one is left, or the limit of the trial is reached. */
int pf_race_run(struct pf_race *race);
/* Choose the grid within the budget, if the descriptor leaves it open; and write the table of the trials (auto_grid.c). */
int pf_auto_grid(struct pf_trial *trial, const pencilfft_desc *desc, double budget_s, int nodes);

/* The key of exchange e of this transform in wisdom. auto_exchanges.c */
void pf_auto_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[PF_AUTO_KEY_SIZE]);
/* Choose each exchange of the plan that wisdom does not know, until the budget is used up. auto_exchanges.c */
int pf_auto_exchanges(struct pf_trial *trial, double budget_s, int nodes);
/* Choose the schedule, with exchanges that can run in that schedule, until the budget is used up. auto_schedule.c */
int pf_auto_schedule(struct pf_trial *trial, double budget_s, int nodes);
