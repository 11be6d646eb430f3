/* Input data: a value is a function of the global index, so any rank can recompute any value. No MPI. */
#pragma once

#include <stdint.h>

#include "common/complex_value.h"
#include "pencilfft.h"

/* Value of the element with that global index (counted as in pencilfft.h; field f follows field f - 1), rounded and cut to
 * the format. */
typedef double complex (*value_function)(const pencilfft_format *format, int64_t index);

double complex value_index(const pencilfft_format *format, int64_t index);  /* integers, exact; all different as far as the
                                                                               format can represent */
double complex value_index_single(const pencilfft_format *format, int64_t index); /* the same, exact in single precision */
double complex value_random(const pencilfft_format *format, int64_t index); /* both parts in -0.5..0.5 */

uint64_t value_hash(uint64_t number);

/* Element i of an array of that format. */
double complex element_load(const pencilfft_format *format, const void *array, int64_t i);
void element_store(const pencilfft_format *format, void *array, int64_t i, double complex value);

/* All fields of a part. */
void values_fill(const pencilfft_part *part, const pencilfft_format *format, value_function value, void *array);
/* Number of elements, over all fields, without their exact value; in a halo the value of the other end. */
int64_t values_wrong(const pencilfft_part *part, const pencilfft_format *format, value_function value, const void *array);

/* Weight of input j, offset <= j < offset + extent, in output k of a line. Backward sums of r2c are complex: use their real
 * part. */
void basis_line(const pencilfft_line *line, int backward, int64_t k, int64_t offset, int64_t extent, double complex *weight);
