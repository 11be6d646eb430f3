#pragma once

#include "geometry/strided_copy.h"

/* As pf_copy_run(), but the numbers are added to those of the target: real numbers of 4 or 8 bytes, one or two of them an element. */
void pf_sum_run(const struct pf_copy *copy, size_t real_bytes, int reals, const void *from, void *to);
