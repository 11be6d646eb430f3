/* One candidate of "auto": the plan is made whole with it, and whole transforms are timed. trial.c */
#pragma once

#include "plan/plan.h"

enum { PF_MOST_TIMES = 64 };

/* Seconds of whole transforms, the slowest rank's: the same numbers on all ranks. */
struct pf_times {
    int n;
    double seconds[PF_MOST_TIMES];
    bool refused; /* the algorithm, or the MPI, cannot do these extents */
};

struct pf_trial {
    pencilfft_plan plan;
    double started, spent; /* seconds; started is 0 before the first plan */
    double limit;          /* of spent */
    struct pf_buffer in, out;
    int64_t elements; /* of each of the two */
    bool anew; /* whatever wisdom knows */
};

/* How to repeat a candidate. */
struct pf_patience {
    int reps;       /* at most, and at least 1 */
    double share;   /* no repetition starts when this many seconds were spent on it */
    double give_up; /* nor when its median is above these */
};

/* The median; infinity where there is none. */
double pf_times_median(const struct pf_times *times);
/* Adds times of the plan with plan->chosen[] and its schedule as they are, or says why it refuses. Collective. Only a failure
 * of MPI is a failure. */
int pf_trial_run(struct pf_trial *trial, struct pf_patience patience, struct pf_times *times, int *why);
/* What the trial has allocated. */
void pf_trial_release(struct pf_trial *trial);
