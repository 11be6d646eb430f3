/* The stop-watch of a plan: time goes to the phase that just ended. */
#pragma once

#include "pencilfft.h"

struct pf_clock {
    double seconds[PENCILFFT_MAX_PHASES]; /* the total is set when the clock stops */
    double total;
    double started, last, unaccounted;
};

/* Seconds of MPI_Wtime(), but never less than before: some MPIs return the time of day, which can be set back. */
double pf_now(void);
void pf_clock_start(struct pf_clock *clock);
void pf_clock_lap(struct pf_clock *clock, int phase);  /* time since the last call belongs to phase */
void pf_clock_wait(struct pf_clock *clock, int phase); /* and is not part of the total */
/* After a pause, whose time belongs to no phase and not to the total. */
void pf_clock_resume(struct pf_clock *clock);
/* Time since then belongs to phase as well, and not to the total. */
void pf_clock_beside(struct pf_clock *clock, int phase, double since);
void pf_clock_stop(struct pf_clock *clock);

void pf_seconds_sort(double *seconds, int n); /* the shortest first */
