/* Input data: a value is a function of the global index, so that any rank can make any value again. No MPI. */
#ifndef RUNNER_VALUES_H
#define RUNNER_VALUES_H

#include <complex.h>
#include <stdint.h>

#include "pencilfft.h"

/* Value of the element with that global index (pencilfft.h says how elements are counted). */
typedef double complex (*value_function)(int64_t index);

double complex value_index(int64_t index);  /* no two alike, all exact in a double */
double complex value_random(int64_t index); /* both parts in -0.5..0.5, the same in every run */

uint64_t value_hash(uint64_t number);

void values_fill(const pencilfft_box *box, const int64_t n[3], value_function value, double complex *a);
/* Elements of the box that do not hold exactly their value. */
int64_t values_wrong(const pencilfft_box *box, const int64_t n[3], value_function value, const double complex *a);
/* Sum of |value|^2 over the box. */
double values_energy(const pencilfft_box *box, const int64_t n[3], value_function value);

#endif
