#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "verify.h"

/* Seconds by phase and repetition over ranks, on rank 0 of the grid: max[phase * reps + repetition]. */
struct samples {
    int reps;
    double *max, *mean, *min;
};

/* Collective; fails on all or none. */
int measure(const struct problem *problem, int warmup, int reps, struct samples *samples);
void samples_release(struct samples *samples);
double samples_median(const double *values, const struct samples *samples, int phase);

#endif
