/* The algorithms for distributed lines: a new algorithm is a file and a line here. */
#include "lines/distributed.h"

extern const struct pf_line_algorithm pf_line_transpose, pf_line_binary2, pf_line_binary4, pf_line_dft, pf_line_dft_reduce;

static const struct pf_line_algorithm *const rows[] = {
    &pf_line_transpose, &pf_line_binary2, &pf_line_binary4, &pf_line_dft, &pf_line_dft_reduce,
};
const struct pf_table pf_line_algorithms = PF_TABLE_OF_POINTERS("algorithm", rows);
