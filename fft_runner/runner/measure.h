#pragma once

#include "verify.h"

/* Seconds by phase and repetition: mine[phase * reps + repetition], and likewise over ranks, on rank 0 of the grid. */
struct samples {
    int reps, ranks, phases;
    double *mine, *max, *mean, *min, *deviation; /* one block; the standard deviation over the ranks */
    double *all;                     /* all[(rank * phases + phase) * reps + repetition]; NULL when not asked for */
    double *sorted;                  /* room for the repetitions of one phase */
};

struct measure_request {
    int warmup, reps;
    bool per_rank; /* keep the times of every rank */
};

/* All three are collective and fail on all or none; to be released in any case. */
int measure(const struct problem *problem, const struct measure_request *request, struct samples *samples);
int samples_make(int phases, int reps, MPI_Comm comm, struct samples *samples);
int samples_reduce(MPI_Comm comm, struct samples *samples);
void samples_release(struct samples *samples);
double samples_median(const double *values, const struct samples *samples, int phase);
/* The first phase of that kind; every plan has one. */
int phase_of(pencilfft_plan plan, pencilfft_kind kind);
