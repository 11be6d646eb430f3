/* strided_copy.c against three plain loops, for every pair of memory orders. */
#include <complex.h>
#include <stdlib.h>

#include "check.h"
#include "geometry/strided_copy.h"
#include "speed/tuning.h"

static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static int64_t dense(const int64_t extent[3], const int order[3], int64_t stride[3])
{
    int64_t next = 1;
    for (int i = 2; i >= 0; i--) {
        stride[order[i]] = next;
        next *= extent[order[i]];
    }
    return next;
}

static int64_t wrong_elements(const struct pf_copy *c, const double complex *from, const double complex *to)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->extent[0]; i++)
        for (int64_t j = 0; j < c->extent[1]; j++)
            for (int64_t k = 0; k < c->extent[2]; k++)
                wrong += from[c->from_start + i * c->from_stride[0] + j * c->from_stride[1] + k * c->from_stride[2]] !=
                         to[c->to_start + i * c->to_stride[0] + j * c->to_stride[1] + k * c->to_stride[2]];
    return wrong;
}

/* The part of that extent out of an array that is one larger each way, into a dense one. */
static void copy_is_exact(const int64_t extent[3], const int from_order[3], const int to_order[3], int threads)
{
    int64_t larger[3] = {extent[0] + 1, extent[1] + 1, extent[2] + 1};
    struct pf_copy copy = {.extent = {extent[0], extent[1], extent[2]}, .to_start = 3, .fields = 1, .threads = threads};
    int64_t source = dense(larger, from_order, copy.from_stride), target = dense(extent, to_order, copy.to_stride);
    copy.from_start = copy.from_stride[0] + copy.from_stride[1] + copy.from_stride[2];
    double complex *from = calloc((size_t)source, sizeof *from), *to = calloc((size_t)target + 4, sizeof *to);
    CHECK(from && to);
    for (int64_t i = 0; from && i < source; i++)
        from[i] = CMPLX((double)i + 1, -(double)i);
    if (from && to) {
        pf_copy_run(&copy, sizeof *from, from, to);
        CHECK_INT(wrong_elements(&copy, from, to), 0);
        CHECK(to[2] == 0 && to[3 + target] == 0);
    }
    free(from);
    free(to);
}

int main(void)
{
    const int64_t extents[][3] = {{1, 1, 1}, {2, 3, 4}, {17, 5, 33}, {1, 16, 16}, {40, 1, 7}, {3, 35, 1}, {0, 2, 2}};
    pf_tuning.thread_bytes = 0; /* threads share whatever there is */
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
        for (int from = 0; from < 6; from++)
            for (int to = 0; to < 6; to++)
                for (int threads = 1; threads <= 3; threads++)
                    copy_is_exact(extents[e], orders[from], orders[to], threads);
    return check_result();
}
