/* fft_runner --decomposition line: a distributed line, planned, verified, timed and reported. */
#pragma once

#include "pencilfft_line.h"
#include "report.h"

/* Collective; fails on all or none. `record` is a file descriptor, -1 for none. */
int line_run(const struct options *options, const struct processes *processes, int argc, char **argv, int record);

/* One interface of the runner to two kinds of plans: of a distributed line, and of bricks on which such lines run. */
struct line_problem {
    pencilfft_line_plan plan;    /* NULL: bricks */
    pencilfft_brick_lines brick; /* NULL: a line */
    pencilfft_line_desc desc;    /* for bricks, n is the number of points of the array, and lines its fields */
    int64_t n[3];                /* of a line 1, 1, n */
    pencilfft_direction direction;
    MPI_Comm comm;
    int rank, ranks;
    pencilfft_format format; /* of its elements */
    void *in, *out;          /* the same if in place */
};

/* Make the plan: with the numbers of bricks along x, y and z, or for a line with NULL. A status, the same on all ranks. */
int line_problem_plan(struct line_problem *problem, const int bricks[3]);
int line_problem_destroy(struct line_problem *problem);
int line_elements(const struct line_problem *problem, int64_t *elements);
int line_execute(const struct line_problem *problem);
/* The number of points of the line, or of a field, on a rank. */
int64_t line_points(const struct line_problem *problem, int array, int rank);
/* The index in the whole line or field of the i-th point of a rank. */
int64_t line_index(const struct line_problem *problem, int array, int rank, int64_t i);
int line_exchanges(const struct line_problem *problem, int *n);
const char *line_exchange_name(const struct line_problem *problem, int exchange);
int line_is_all_to_all(const struct line_problem *problem, int exchange);
int line_traffic(const struct line_problem *problem, int exchange, int64_t *bytes, int64_t *messages);
int line_phases(const struct line_problem *problem, int *n);
const char *line_phase_name(const struct line_problem *problem, int phase);
int line_phase_seconds(const struct line_problem *problem, double *seconds);

void line_fill(const struct line_problem *problem);
/* Compare the transform with a serial FFTW and the plain sum, like verify(). Collective. */
int line_verify(const struct line_problem *problem, struct verification *result);
