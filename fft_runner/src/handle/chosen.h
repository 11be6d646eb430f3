/* The choices of a plan: exchanges, schedule, and the table of "auto". */
#pragma once

#include "exchange/exchange.h"
#include "geometry/decomposition.h"
#include "schedule/schedule.h"

struct pf_plan_chosen {
    const struct pf_exchange *exchange[PF_MAX_EXCHANGES];
    struct pf_choice choice; /* of a schedule */
    char schedule[PF_SCHEDULE_TEXT];
    const struct pf_schedule *asked; /* the schedule above, unless nothing is exchanged */
    bool beside; /* exchanges run beside passes or each other: the schedule says so, and there are exchanges */
    int grid_trials;
    pencilfft_grid_trial *grid_trial; /* the table of "auto"; NULL without trials */
    double *auto_seconds[PF_MAX_EXCHANGES]; /* by number of the exchange; NULL without "auto" */
    bool recalled; /* wisdom gave some choice of "auto" */
};
