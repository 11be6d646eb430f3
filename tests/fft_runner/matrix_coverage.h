/* The coverage of the cases so far: pairs of values of two choices, and transforms verified with each value. */
#pragma once

#include "matrix_cases.h"

/* Note the pairs of a case, separately for planned and refused cases; returns the number of new pairs. */
int coverage_note_pairs(const struct matrix_case *c, bool refused);

void coverage_count_transforms(const struct matrix_case *c, int n);
/* A line for each choice: its name, the verified values, and the number of transforms of each. */
void coverage_print(void);
/* All choices and their values. */
void names_print(void);
