/* A distributed line, or bricks on which such lines run, for the runner: the same questions to either plan. */
#pragma once

#include "pencilfft_line.h"

struct line_problem {
    pencilfft_line_plan plan;    /* NULL: bricks */
    pencilfft_brick_lines brick; /* NULL: a line */
    pencilfft_line_desc desc;    /* of a line; of bricks with n and lines, the points and fields of the array */
    int64_t n[3];                /* of a line 1, 1, n */
    pencilfft_direction direction;
    MPI_Comm comm;
    int rank, ranks;
    pencilfft_format format; /* of its elements */
    void *in, *out;          /* the same if in place */
};

/* Plans, with the bricks along x, y and z or NULL for a line. A status, the same on all ranks. */
int line_problem_plan(struct line_problem *problem, const int bricks[3]);
int line_problem_destroy(struct line_problem *problem);
int line_elements(const struct line_problem *problem, int64_t *elements);
int line_execute(const struct line_problem *problem);
/* The number of points of a line or of a field on a rank, and the index there of the i-th of these. */
int64_t line_points(const struct line_problem *problem, int array, int rank);
int64_t line_index(const struct line_problem *problem, int array, int rank, int64_t i);
int line_exchanges(const struct line_problem *problem, int *n);
const char *line_exchange_name(const struct line_problem *problem, int exchange);
int line_is_all_to_all(const struct line_problem *problem, int exchange);
int line_traffic(const struct line_problem *problem, int exchange, int64_t *bytes, int64_t *messages);
int line_phases(const struct line_problem *problem, int *n);
const char *line_phase_name(const struct line_problem *problem, int phase);
int line_phase_seconds(const struct line_problem *problem, double *seconds);
