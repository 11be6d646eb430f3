#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "verify.h"

/* Seconds by phase and repetition over ranks, on rank 0 of the grid: max[phase * reps + repetition]. */
struct samples {
    int reps, ranks, phases;
    double *max, *mean, *min;
    double *all; /* all[(rank * phases + phase) * reps + repetition]; NULL when not asked for */
    double *sorted; /* room for the repetitions of one phase, or the phases of one repetition */
};

/* Collective; fails on all or none. */
struct measure_request {
    int warmup, reps;
    bool per_rank; /* keep the times of every rank */
};
int measure(const struct problem *problem, const struct measure_request *request, struct samples *samples);
void samples_release(struct samples *samples);
double samples_median(const double *values, const struct samples *samples, int phase);

#endif
