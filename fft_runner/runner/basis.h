#pragma once

#include <stdint.h>

#include "common/complex_value.h"
#include "pencilfft.h"

/* Weight of input j, offset <= j < offset + extent, in output k of a line. Backward sums of r2c are complex: use their real
 * part. */
void basis_line(const pencilfft_line *line, int backward, int64_t k, int64_t offset, int64_t extent, double complex *weight);
