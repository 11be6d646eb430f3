/* The points of a line that a rank holds, and their order. A point has a label of 0..n - 1: its index in the line, or its
 * place in the matrix of a six-step transform. */
#pragma once

#include <stdint.h>

enum pf_line_order {
    PF_LINE_BLOCKS, /* label by label: block r of n */
    PF_LINE_COLUMNS, /* label a * n2 + b: block r of the columns b, each with all n1 rows a consecutively */
    PF_LINE_ROWS, /* the same labels: block r of the rows a, each with all n2 columns b */
    PF_LINE_SPECTRUM, /* the memory of ROWS, whose element (a, b) is label a + n1 * b */
    PF_LINE_DIGITS /* label d(r) + ranks * i, where d reverses the digits of r, whose weights are the factors' products */
};

enum { PF_LINE_FACTORS = 32 };

struct pf_line_layout {
    enum pf_line_order order;
    int ranks;
    int64_t n, n1, n2;
    int factors, factor[PF_LINE_FACTORS]; /* of the ranks, the factor of the largest digit last */
};

int64_t pf_line_points(const struct pf_line_layout *layout, int rank);
int64_t pf_line_label(const struct pf_line_layout *layout, int rank, int64_t i);
int pf_line_owner(const struct pf_line_layout *layout, int64_t label);
