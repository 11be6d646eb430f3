/* The cases of the matrix: the choices of a plan, and the plan of a case number. */
#pragma once

#include "plan_check.h"
#include "plan_refusals.h"

/* Choices up to the type are crossed with each other; the rest is drawn by the number of the case. */
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
    PADDING,
    SENT,
    ORDER,
    KIND_X,
    KIND_Y,
    KIND_Z,
    N_CHOICES
};
enum { NOT_CHOSEN = -1 };

struct matrix_case {
    int value[N_CHOICES]; /* number of the value, or NOT_CHOSEN */
    struct plan_case plan;
    char kinds[16]; /* memory of the descriptor's texts */
    struct plan_texts turned;
};

const char *matrix_choice_name(int choice);
/* The i-th value of a choice, NULL after the last. */
const char *matrix_value_name(int choice, int i);

/* Cases are numbered from 0 to matrix_size() - 1. */
int matrix_size(void);
void matrix_case_make(int number, struct matrix_case *c);
