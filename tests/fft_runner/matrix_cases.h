/* The cases of the matrix: the choices a plan is made of, the plan that a number stands for, and what must be refused. */
#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* Those up to the type are crossed with each other; the rest is drawn by the number of the case. */
enum matrix_choice {
    GRID,
    DECOMPOSITION,
    EXTENTS,
    PRECISION,
    LAYOUT,
    EXCHANGE,
    TYPE,
    SCHEDULE,
    FIELDS,
    PIECES,
    RIGOR,
    SYNC,
    SKIP,
    KIND_X,
    KIND_Y,
    KIND_Z,
    N_CHOICES
};
enum { NOT_CHOSEN = -1, CASE_NAME_SIZE = 224 };

struct matrix_case {
    int value[N_CHOICES]; /* number of the value, or NOT_CHOSEN */
    pencilfft_desc desc;
    bool tiny_pieces;          /* small arrays are cut like large ones: tuning.h */
    char kinds[16];            /* what desc points to */
    char name[CASE_NAME_SIZE]; /* words that say all of it */
};

const char *matrix_choice_name(int choice);
/* The i-th value of a choice, NULL after the last. */
const char *matrix_value_name(int choice, int i);

/* Cases are numbered from 0 to matrix_size() - 1. */
int matrix_size(void);
void matrix_case_make(int number, struct matrix_case *c);

/* Whether header and README say that this case must be refused. `absent` is an exchange that this MPI does not have, or
 * NULL. */
bool matrix_must_be_refused(const struct matrix_case *c, const char *absent);
/* Whether a refusal is one of them, with its status and message. */
bool matrix_refused_rightly(const struct matrix_case *c, const char *absent, int status, const char *message);
