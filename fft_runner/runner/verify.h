#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* One transform as the runner runs it. */
struct problem {
    pencilfft_direction direction;
    pencilfft_plan plan;
    MPI_Comm grid; /* rank = grid rank */
    pencilfft_line line[3]; /* along x, y, z */
    int64_t points[3];      /* of these lines, on the real side of r2c */
    void *in, *out; /* the same when in place */
    void *other;    /* always a second buffer */
    bool refill;    /* a run overwrites its input */
    const struct problem *beside; /* the other direction with buffers of its own, when both run at once; NULL: alone */
};

/* The transform, and what runs beside it. A failure ends the program. */
void problem_run(const struct problem *problem);

/* Lines and buffers of a plan; direction, out and refill are the caller's to set. Collective; fails on all or none. */
int problem_make(pencilfft_plan plan, MPI_Comm grid, struct problem *problem);

struct verification {
    bool passed;
    bool moved_data_exact;
    double tolerance;
    bool fftw_done; /* error_fftw means something */
    double error_fftw, error_direct;
    int points;
    char note[256];
};

/* Numbers of the remaps and exchanges of a transform, in forward order; returns how many. */
enum { MOST_MOVES = PENCILFFT_MAX_EXCHANGES + 2 };
int moves_of(pencilfft_plan plan, int number[MOST_MOVES]);

int input_array(const struct problem *problem);
int output_array(const struct problem *problem);

/* My parts and the format of one array. */
enum { MOST_PARTS = 2 };
struct side {
    int parts;
    pencilfft_part part[MOST_PARTS];
    pencilfft_format format;
};
int side_of(const struct problem *problem, int array, struct side *side);
/* How many elements they have, with all fields. */
int64_t side_elements(const struct side *side);

/* Random values into the input. */
int fill_input(const struct problem *problem);

/* The three checks. Collective; the same result on every rank. The status says whether they could be done; result->passed
 * says whether they passed. */
int verify(const struct problem *problem, struct verification *result);

/* Largest relative error allowed for N elements of reals of that size. */
double tolerance_of(size_t real_bytes, int64_t elements);

/* Larger of two errors; NaN if one of them is NaN. */
double worse_error(double one, double other);

/* The parts of verify(); errors are relative to the root mean square of the result. */
int verify_moved(const struct problem *problem, bool *exact);
int verify_serial(const struct problem *problem, double scale, struct verification *result);
int verify_direct(const struct problem *problem, double scale, struct verification *result);
