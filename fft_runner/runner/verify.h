#ifndef RUNNER_VERIFY_H
#define RUNNER_VERIFY_H

#include <stdbool.h>

#include "pencilfft.h"

/* One transform as the runner runs it. */
struct problem {
    int64_t n[3];
    pencilfft_direction direction;
    pencilfft_plan plan;
    MPI_Comm grid; /* rank = grid rank */
    void *in, *out;
};

struct verification {
    bool passed;
    bool moved_data_exact;
    double tolerance;
    bool fftw_done; /* error_fftw means something */
    double error_fftw, error_direct;
    int points;
    char note[256];
};

pencilfft_pencil input_pencil(const struct problem *problem);
pencilfft_pencil output_pencil(const struct problem *problem);

/* The three checks. Collective; the same result on every rank. A status when they could not be done, not when they
 * failed: that is result->passed. Leaves the random input in problem->in and its transform in problem->out. */
int verify(const struct problem *problem, struct verification *result);

/* Largest relative error allowed for N elements. */
double tolerance_of(const char *precision, int64_t elements);

/* Larger of two errors; once one is not a number, that stays. */
double worse_error(double one, double other);

/* The parts of verify(); errors are relative to the root mean square of the exact result. */
int verify_moved(const struct problem *problem, bool *exact);
int verify_serial(const struct problem *problem, double scale, struct verification *result);
int verify_direct(const struct problem *problem, double scale, struct verification *result);

#endif
