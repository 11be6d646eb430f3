/* Candidates of "auto": a plan is made whole with each, and whole transforms are timed. trial.c */
#pragma once

#include "handle/plan.h"

enum { PF_MOST_TIMES = 128 };

/* Seconds of whole transforms, the slowest rank's: the same numbers on all ranks. */
struct pf_times {
    int n;
    double seconds[PF_MOST_TIMES]; /* infinity where it was not run, for it was hopeless */
    bool refused; /* the algorithm, or the MPI, cannot do these extents */
};

struct pf_trial {
    pencilfft_plan plan;
    double started, spent; /* seconds; started is 0 before the first plan */
    double limit;          /* of spent */
    struct pf_buffer in;
    struct pf_outs outs;
    int64_t elements; /* of each */
    struct pf_buffer work[PF_WORKS]; /* of all plans, where one has had it before */
    int64_t work_elements;
    bool works[PF_WORKS]; /* which ones plans have had */
    bool anew; /* whatever wisdom knows */
};

/* What is tried side by side. */
struct pf_candidates {
    int n;
    void (*take)(void *of, int i); /* sets plan->chosen[] and its schedule for the i-th */
    void *of;
    struct pf_times **times; /* of each; new ones are added, and n is 0 for the ones that were never tried */
};

/* How often they are repeated. */
struct pf_patience {
    int reps;       /* at most, and at least 1 */
    double share;   /* no repetition starts when this many seconds were spent on them */
    double give_up; /* nor of one whose median is above so many times the least */
};

/* The median of those that were run; infinity where there is none. */
double pf_times_median(const struct pf_times *times);
/* The median of what it took over the median of all n at the same time, itself among them; at most PF_MOST_TIMES. */
double pf_times_beside(const struct pf_times *times, struct pf_times *const *all, int n);
/* By how much that may be wrong for the luck of single runs, as a share of it: one standard error. 0 where there is none. */
double pf_times_doubt(const struct pf_times *times);
/* Adds times of plans with each of them. `why` is the status of the last that refuses; may be NULL. Collective. Only a failure
 * of MPI, or of memory for all of this, is a failure. */
int pf_trial_run(struct pf_trial *trial, const struct pf_candidates *candidates, struct pf_patience patience, int *why);
/* What the trial has allocated. */
void pf_trial_release(struct pf_trial *trial);
