// A stand-in for AccFFT: the calls that its header declares, for any rank, by FFTW on the whole array. Its ranks form a grid
// by `c_dims`; before, x and y are divided, after, y and z.
#pragma once

#include <algorithm>
#include <bitset>

#include "spread.h"

typedef double Complex[2];

#define ACCFFT_FORWARD -1
#define ACCFFT_MEASURE 2

struct accfft_plan {
    int n[3];
    MPI_Comm comm;
    spread before, after;
};

inline int accfft_init(int)
{
    return 0;
}

inline void *accfft_alloc(ptrdiff_t size)
{
    return fftw_malloc((size_t)size);
}

inline void accfft_create_comm(MPI_Comm in_comm, int *c_dims, MPI_Comm *c_comm)
{
    int periods[2] = {0, 0};
    MPI_Cart_create(in_comm, 2, c_dims, periods, 0, c_comm);
}

inline spread accfft_box(const int *n, int undivided, MPI_Comm comm)
{
    int dims[2], periods[2], coords[2], start[3] = {0, 0, 0}, extent[3] = {n[0], n[1], n[2]}, next = 0;
    MPI_Cart_get(comm, 2, dims, periods, coords);
    for (int axis = 0; axis < 3; axis++)
        if (axis != undivided) {
            int block = (n[axis] + dims[next] - 1) / dims[next]; // as FFTW divides
            start[axis] = std::min(n[axis], coords[next] * block);
            extent[axis] = std::min(n[axis], (coords[next] + 1) * block) - start[axis];
            next++;
        }
    return spread_natural(start, extent);
}

inline int accfft_tell(int *n, int *m, int *isize, int *istart, int *osize, int *ostart, MPI_Comm comm)
{
    spread in = accfft_box(n, 2, comm), out = accfft_box(m, 0, comm);
    std::copy(in.extent, in.extent + 3, isize), std::copy(in.start, in.start + 3, istart);
    std::copy(out.extent, out.extent + 3, osize), std::copy(out.start, out.start + 3, ostart);
    return 16 * std::max(isize[0] * isize[1] * isize[2], osize[0] * osize[1] * osize[2]);
}

inline int accfft_local_size_dft_c2c(int *n, int *isize, int *istart, int *osize, int *ostart, MPI_Comm c_comm)
{
    return accfft_tell(n, n, isize, istart, osize, ostart, c_comm);
}

inline int accfft_local_size_dft_r2c(int *n, int *isize, int *istart, int *osize, int *ostart, MPI_Comm c_comm)
{
    int kept[3] = {n[0], n[1], n[2] / 2 + 1};
    return accfft_tell(n, kept, isize, istart, osize, ostart, c_comm);
}

inline accfft_plan *accfft_plan_dft_3d_c2c(int *n, Complex *, Complex *, MPI_Comm c_comm, unsigned = ACCFFT_MEASURE)
{
    return new accfft_plan{{n[0], n[1], n[2]}, c_comm, accfft_box(n, 2, c_comm), accfft_box(n, 0, c_comm)};
}

inline accfft_plan *accfft_plan_dft_3d_r2c(int *n, double *, double *, MPI_Comm c_comm, unsigned = ACCFFT_MEASURE)
{
    int kept[3] = {n[0], n[1], n[2] / 2 + 1};
    return new accfft_plan{{n[0], n[1], n[2]}, c_comm, accfft_box(n, 2, c_comm), accfft_box(kept, 0, c_comm)};
}

inline void accfft_execute_c2c(accfft_plan *p, int, Complex *data = nullptr, Complex *data_out = nullptr, double * = nullptr,
                               std::bitset<3> = 7)
{
    spread_transform(p->n, "c2c", &p->before, data, &p->after, data_out, p->comm);
}

inline void accfft_execute_r2c(accfft_plan *p, double *data = nullptr, Complex *data_out = nullptr, double * = nullptr,
                               std::bitset<3> = 7)
{
    spread_transform(p->n, "r2c", &p->before, data, &p->after, data_out, p->comm);
}

inline void accfft_execute_c2r(accfft_plan *p, Complex *data = nullptr, double *data_out = nullptr, double * = nullptr,
                               std::bitset<3> = 7)
{
    spread_transform(p->n, "c2r", &p->after, data, &p->before, data_out, p->comm);
}
