/* What the stand-ins of peers compute with: the transform of an array that ranks share, by FFTW on all of it. */
#pragma once

#include <fftw3.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* The box of a rank; axes are x, y, z; strides count elements. */
struct spread {
    int start[3], extent[3], stride[3];
};

static inline struct spread spread_natural(const int start[3], const int extent[3])
{
    struct spread box = {{start[0], start[1], start[2]},
                         {extent[0], extent[1], extent[2]},
                         {extent[1] * extent[2], extent[2], 1}};
    return box;
}

/* Between a rank's part and the whole array, whose elements are so many doubles. */
static inline void spread_copy(const struct spread *box, const int n[3], int doubles, double *part, double *whole, int back)
{
    for (int x = 0; x < box->extent[0]; x++)
        for (int y = 0; y < box->extent[1]; y++)
            for (int z = 0; z < box->extent[2]; z++) {
                double *mine = part +
                               (size_t)doubles * (size_t)(x * box->stride[0] + y * box->stride[1] + z * box->stride[2]);
                double *there = whole + (size_t)doubles * (size_t)(((box->start[0] + x) * n[1] + box->start[1] + y) * n[2] +
                                                                   box->start[2] + z);
                memcpy(back ? mine : there, back ? there : mine, sizeof(double) * (size_t)doubles);
            }
}

/* Types are "c2c" (forward), "r2c", "c2r"; the real side has n[2] along z, the other one n[2] / 2 + 1. */
static inline void spread_transform(const int n[3], const char *type, const struct spread *in, void *in_data,
                                    const struct spread *out, void *out_data, MPI_Comm comm)
{
    int real_in = type[0] == 'r', real_out = type[2] == 'r', kept = n[2] / 2 + 1;
    int first[3] = {n[0], n[1], real_out ? kept : n[2]}, last[3] = {n[0], n[1], real_in ? kept : n[2]};
    size_t lines = (size_t)n[0] * (size_t)n[1];
    size_t in_doubles = lines * (size_t)first[2] * (real_in ? 1 : 2),
           out_doubles = lines * (size_t)last[2] * (real_out ? 1 : 2);
    double *all = (double *)calloc(in_doubles, sizeof *all), *result = (double *)calloc(out_doubles, sizeof *result);
    spread_copy(in, first, real_in ? 1 : 2, (double *)in_data, all, 0);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)in_doubles, MPI_DOUBLE, MPI_SUM, comm);
    fftw_plan plan = real_in    ? fftw_plan_dft_r2c_3d(n[0], n[1], n[2], all, (fftw_complex *)result, FFTW_ESTIMATE)
                     : real_out ? fftw_plan_dft_c2r_3d(n[0], n[1], n[2], (fftw_complex *)all, result, FFTW_ESTIMATE)
                                : fftw_plan_dft_3d(n[0], n[1], n[2], (fftw_complex *)all, (fftw_complex *)result,
                                                   FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    spread_copy(out, last, real_out ? 1 : 2, (double *)out_data, result, 1);
    free(all), free(result);
}
