// AccFFT (https://github.com/amirgholami/accfft): x over C ranks, y over R.
#include <accfft.h>

#include "peer.h"

static accfft_plan *plan;
static void *in_data, *out_data;
static int kind; // 0: c2c, 1: r2c, 2: c2r

static void set(struct peer_array *a, const int *size, const int *start, void *data)
{
    for (int i = 0; i < 3; i++)
        a->extent[i] = size[i], a->start[i] = start[i];
    a->data = data;
    peer_natural(a);
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    int extents[3] = {n[0], n[1], n[2]}, dims[2] = {grid[1], grid[0]}, isize[3], istart[3], osize[3], ostart[3];
    MPI_Comm comm;
    kind = !strcmp(type, "c2c") ? 0 : !strcmp(type, "r2c") ? 1 : !strcmp(type, "c2r") ? 2 : 3;
    if (kind == 3)
        return 1;
    accfft_create_comm(MPI_Comm_f2c(fortran_comm), dims, &comm);
    int bytes = kind ? accfft_local_size_dft_r2c(extents, isize, istart, osize, ostart, comm)
                     : accfft_local_size_dft_c2c(extents, isize, istart, osize, ostart, comm);
    void *first = accfft_alloc(bytes), *last = accfft_alloc(bytes);
    accfft_init(1);
    plan = kind ? accfft_plan_dft_3d_r2c(extents, (double *)first, (double *)last, comm, ACCFFT_MEASURE)
                : accfft_plan_dft_3d_c2c(extents, (Complex *)first, (Complex *)last, comm, ACCFFT_MEASURE);
    set(kind == 2 ? out : in, isize, istart, first);
    set(kind == 2 ? in : out, osize, ostart, last);
    in_data = kind == 2 ? last : first, out_data = kind == 2 ? first : last;
    return plan ? 0 : 1;
}

void peer_run(void)
{
    if (kind == 0)
        accfft_execute_c2c(plan, ACCFFT_FORWARD, (Complex *)in_data, (Complex *)out_data);
    else if (kind == 1)
        accfft_execute_r2c(plan, (double *)in_data, (Complex *)out_data);
    else
        accfft_execute_c2r(plan, (Complex *)in_data, (double *)out_data);
}
