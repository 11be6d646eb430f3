/* What the cases that were walked cover: pairs of values of two choices, and transforms verified with each value. */
#pragma once

#include "matrix_cases.h"

/* Take note of the pairs of a case, of those that plan and of those that are refused apart; how many are new. */
int coverage_note_pairs(const struct matrix_case *c, bool refused);

void coverage_count_transforms(const struct matrix_case *c, int n);
/* A line for each choice: its name, the values that were verified, and in how many transforms. */
void coverage_print(void);
/* All choices and their values. */
void names_print(void);
