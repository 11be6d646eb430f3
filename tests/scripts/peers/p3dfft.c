/* The calls of the stand-in for P3DFFT 2, by FFTW on the whole array. Its x is the nearest axis, and halved; it counts from 1.
 * Pencils of x, with y over dims[0] and z over dims[1], become pencils of z with x over dims[0] and y over dims[1]. Built with
 * STRIDE1, z is the nearest axis of these, then y, and the axes are told in this order. */
#define GNU
#include "p3dfft.h"

#include "spread.h"

static int n[3], dims[2]; /* of x, y, z */
static MPI_Comm comm;

static void pencil(int whole, int start[3], int size[3]) /* counting from 0 */
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    int place[2] = {rank % dims[0], rank / dims[0]};
    for (int axis = 0, next = 0; axis < 3; axis++) {
        int extent = axis == 0 && whole == 2 ? n[0] / 2 + 1 : n[axis];
        start[axis] = 0, size[axis] = extent;
        if (axis == whole)
            continue;
        start[axis] = extent * place[next] / dims[next];
        size[axis] = extent * (place[next] + 1) / dims[next] - start[axis];
        next++;
    }
}

static struct spread box(int whole)
{
    int start[3], size[3];
    pencil(whole, start, size);
    int begin[3] = {start[2], start[1], start[0]}, extent[3] = {size[2], size[1], size[0]};
    struct spread found = spread_natural(begin, extent);
#ifdef STRIDE1
    if (whole == 2)
        found.stride[0] = 1, found.stride[1] = extent[0], found.stride[2] = extent[0] * extent[1];
#endif
    return found;
}

static void transform(const char *type, int first, double *in, int last, double *out, const unsigned char *op,
                      const char *right)
{
    int turned[3] = {n[2], n[1], n[0]};
    struct spread before = box(first), after = box(last);
    if (strncmp((const char *)op, right, 3))
        abort();
    spread_transform(turned, type, &before, in, &after, out, comm);
}

void FORT_MOD_NAME(p3dfft_get_dims)(int *start, int *end, int *size, int *conf)
{
    int begin[3], extent[3], turned = 0;
#ifdef STRIDE1
    turned = *conf == 2;
#endif
    pencil(*conf == 1 ? 0 : 2, begin, extent);
    for (int i = 0; i < 3; i++) {
        int axis = turned ? 2 - i : i;
        start[i] = begin[axis] + 1, size[i] = extent[axis], end[i] = begin[axis] + extent[axis];
    }
}

void FORT_MOD_NAME(p3dfft_setup)(int *grid, int *nx, int *ny, int *nz, int *fortran_comm, int *nxc, int *nyc, int *nzc,
                                 int *ow, int *memsize)
{
    if (*nxc != *nx || *nyc != *ny || *nzc != *nz || !*ow)
        abort();
    n[0] = *nx, n[1] = *ny, n[2] = *nz;
    dims[0] = grid[0], dims[1] = grid[1];
    comm = MPI_Comm_f2c(*fortran_comm);
    memsize[0] = n[0], memsize[1] = n[1], memsize[2] = n[2];
}

void FORT_MOD_NAME(p3dfft_ftran_r2c)(double *A, double *B, unsigned char *op)
{
    transform("r2c", 0, A, 2, B, op, "fft");
}

void FORT_MOD_NAME(p3dfft_btran_c2r)(double *A, double *B, unsigned char *op)
{
    transform("c2r", 2, A, 0, B, op, "tff");
}
