/* The collectives of MPI alone, without a plan: messages of any number of bytes, also none. */
#pragma once

#include <stdbool.h>

#include "measure.h"

struct bare_case {
    const char *name; /* a name of bare_name() */
    MPI_Comm group;
    int ranks; /* of the group */
    long long bytes;
    int warmup, reps;
};

/* Their names, FFTW's transposes after those of MPI; NULL after the last. */
const char *bare_name(int i);
bool bare_is_known(const char *name);

/* Collective in the group. Time the collective into all phases of the samples alike, and check the received data. PF_REFUSED
 * on all ranks of the group if MPI cannot count so many bytes or memory is short. */
int bare_run(const struct bare_case *bare, struct samples *samples);
/* The same for FFTW's transpose, in the linear layout or as a matrix of doubles. */
int bare_fftw_run(const struct bare_case *bare, bool linear, struct samples *samples);
/* One run after a barrier; its seconds are those of two phases. */
int bare_once(MPI_Comm group, int (*exchange)(const void *of), const void *of, double *seconds);
