/* Arithmetic on complex numbers of either precision, as a table of functions: complex_calls.c has the same text
 * (complex_calls_body.h) for each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/complex_value.h"

struct pf_complex {
    size_t bytes;
    void (*store)(void *array, int64_t i, double complex value);
    /* to[i] = from[i] * weight[i], or its conjugate */
    void (*scale)(const void *from, const void *weight, bool conjugate, int64_t n, void *to);
    /* to[i] (=, for the first, or +=) weight * from[i] */
    void (*add)(const void *from, double complex weight, bool first, int64_t n, void *to);
};

extern const struct pf_complex pf_complex_double, pf_complex_single;
