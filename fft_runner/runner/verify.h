#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* A transform of the runner. */
struct problem {
    pencilfft_direction direction;
    pencilfft_plan plan;
    MPI_Comm grid; /* rank = grid rank */
    pencilfft_line line[3]; /* along x, y, z */
    void *in, *out; /* the same if in place */
    void *other;    /* always a second buffer */
    bool refill;    /* a run overwrites its input */
    const struct problem *beside; /* the other direction with its own buffers, if both run at once; or NULL */
};

/* The transform, and its partner, if any. A failure ends the program. */
void problem_run(const struct problem *problem);

/* Lines and buffers of a plan; direction, out and refill are the caller's to set. Collective; fails on all or none. */
int problem_make(pencilfft_plan plan, MPI_Comm grid, struct problem *problem);

struct verification {
    bool passed;
    bool moved_data_exact;
    double tolerance;
    bool fftw_done; /* error_fftw has a value */
    double error_fftw, error_direct;
    int points;
    char note[256];
};

/* Numbers of the remaps and exchanges of a transform, in forward order; returns the count. */
enum { MOST_MOVES = PENCILFFT_MAX_EXCHANGES + 2 };
int moves_of(pencilfft_plan plan, int number[MOST_MOVES]);

static inline int input_of(pencilfft_direction direction)
{
    return direction == PENCILFFT_FORWARD ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
}
static inline int output_of(pencilfft_direction direction)
{
    return direction == PENCILFFT_FORWARD ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
}

/* This rank's parts and the format of an array. */
enum { MOST_PARTS = 2 };
struct side {
    int parts;
    pencilfft_part part[MOST_PARTS];
    pencilfft_format format;
};
int side_of(const struct problem *problem, int array, struct side *side);
/* The number of elements of the parts, with all fields. */
int64_t side_elements(const struct side *side);

/* Random values into the input, and into that of the other direction. */
int fill_inputs(const struct problem *problem);

/* The three checks. Collective; the same result on every rank. The status tells whether they could run; result->passed tells
 * whether they passed. */
int verify(const struct problem *problem, struct verification *result);

/* Largest relative error allowed for N elements of reals of that size. */
double tolerance_of(size_t real_bytes, int64_t elements);

/* Root mean square of the elements of all ranks. If a transform is wrong, so is its scale, but then the errors are large. */
double scale_of(const pencilfft_format *format, const void *array, int64_t elements, MPI_Comm comm);
/* Whether the field is one of the part. */
static inline bool has_field(const pencilfft_part *part, int field)
{
    return field >= part->first_field && field < part->first_field + part->fields;
}

/* Larger of two errors; NaN if either is NaN. */
double worse_error(double one, double other);

/* The parts of verify(); errors are relative to the root mean square of the result. */
int verify_moved(const struct problem *problem, bool *exact);
int verify_serial(const struct problem *problem, double scale, struct verification *result);
int verify_direct(const struct problem *problem, double scale, struct verification *result);
