#pragma once

#include "geometry/strided_copy.h"

/* Like pf_copy_run(), but adds the numbers to the target: real numbers of 4 or 8 bytes, `reals` (1 or 2) an element. */
void pf_sum_run(const struct pf_copy *copy, size_t real_bytes, int reals, const void *from, void *to);
