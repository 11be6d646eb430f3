/* Splitting n indices into blocks.
 * Idea:  the first n % parts blocks hold one more index than the others, so that block sizes differ by at most one.
 * Cost:  O(1), without a table of blocks.
 * Needs: parts >= 1; no MPI. The last blocks are empty if n < parts. */
#include "geometry/blocks.h"

struct pf_block pf_block_of(int64_t n, int parts, int j)
{
    int64_t size = n / parts, longer = n % parts;
    struct pf_block block = {.offset = j * size + (j < longer ? j : longer), .extent = size + (j < longer)};
    return block;
}

int64_t pf_bounded_product(const int64_t n[3], int64_t limit)
{
    int64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (limit < 1 || n[i] > limit / product)
            return -1;
        product *= n[i];
    }
    return product;
}
