#pragma once

#include <stdint.h>

struct pf_block {
    int64_t offset, extent;
};

struct pf_block pf_block_of(int64_t n, int parts, int j);
/* Product of three positive numbers, or -1 beyond limit. */
int64_t pf_bounded_product(const int64_t n[3], int64_t limit);

static inline int64_t pf_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t pf_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
