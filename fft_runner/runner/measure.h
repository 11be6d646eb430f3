#pragma once

#include "verify.h"

/* Seconds by phase and repetition: mine[phase * reps + repetition], and likewise over ranks, on rank 0 of the grid. */
struct samples {
    int reps, ranks, phases;
    double *mine, *max, *mean, *min, *deviation; /* of one allocation; the standard deviation over the ranks */
    double *all;                     /* all[(rank * phases + phase) * reps + repetition]; NULL if not requested */
    double *sorted;                  /* room for the repetitions of a phase */
};

struct measure_request {
    int warmup, reps;
    bool per_rank; /* keep the times of every rank */
};

/* All these are collective and fail on all or none; release the samples in any case. */
int measure(const struct problem *problem, const struct measure_request *request, struct samples *samples);
int samples_make(int phases, int reps, MPI_Comm comm, struct samples *samples);
/* Repetitions after some for warming up. `once` starts from a barrier, and sets the seconds of each phase. */
int samples_take(struct samples *samples, int warmup, int (*once)(const void *of, double *seconds), const void *of);
int samples_reduce(MPI_Comm comm, struct samples *samples);
void samples_release(struct samples *samples);
double samples_median(const double *values, const struct samples *samples, int phase);
/* The first phase of that kind; every plan has such a phase. */
int phase_of(pencilfft_plan plan, pencilfft_kind kind);
