/* The transform of the stand-in for 2DECOMP&FFT, which is in decomp2d.f90. Its x is the nearest axis. */
#include "spread.h"

static struct spread box(const int start[3], const int extent[3])
{
    int begin[3] = {start[2] - 1, start[1] - 1, start[0] - 1}, turned[3] = {extent[2], extent[1], extent[0]};
    return spread_natural(begin, turned);
}

void decomp2d_transform(const int n[3], const char *type, const int in_start[3], const int in_extent[3], void *in,
                        const int out_start[3], const int out_extent[3], void *out)
{
    int turned[3] = {n[2], n[1], n[0]};
    struct spread first = box(in_start, in_extent), last = box(out_start, out_extent);
    spread_transform(turned, type, &first, in, &last, out, MPI_COMM_WORLD);
}
