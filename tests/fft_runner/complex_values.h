/* Complex numbers of the tests of distributed lines, in both precisions. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/complex_value.h"

/* The same on every rank; different for every array, index and side of a transform. */
static inline double complex given(int64_t array, int64_t index, int side)
{
    uint64_t h = (uint64_t)(array * 1000003 + index * 31 + (int64_t)side * 77 + 1) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return CMPLX((double)(h >> 40) * 0x1p-24 - 0.5, (double)(h & 0xffffff) * 0x1p-24 - 0.5);
}

static inline double complex load(const void *array, int64_t i, int single)
{
    return single ? (double complex)((const float complex *)array)[i] : ((const double complex *)array)[i];
}

static inline void store(void *array, int64_t i, int single, double complex value)
{
    if (single)
        ((float complex *)array)[i] = CMPLXF((float)creal(value), (float)cimag(value));
    else
        ((double complex *)array)[i] = value;
}

/* Error of a transform of so many points over the root mean square of its result. */
static inline double allowed_error(const char *precision, double points)
{
    return (strcmp(precision, "single") ? DBL_EPSILON : FLT_EPSILON) * 10 * fmax(1, log2(points));
}
