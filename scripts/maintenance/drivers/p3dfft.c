/* P3DFFT 2 (https://github.com/sdsc/p3dfft): real transforms; its x is our z. */
#include <p3dfft.h>

#include "peer.h"

static int backward;
static double *in_data, *out_data;

static void real_space(struct peer_array *a, double *data)
{
    int start[3], end[3], size[3], conf = 1;
    p3dfft_get_dims(start, end, size, &conf);
    for (int i = 0; i < 3; i++)
        a->start[i] = start[2 - i] - 1, a->extent[i] = size[2 - i];
    a->data = data;
    peer_natural(a);
}

/* A library that was built with STRIDE1 has z, which is whole, nearest together and names it first. */
static void spectrum(struct peer_array *a, int nz, double *data)
{
    int start[3], end[3], size[3], conf = 2;
    p3dfft_get_dims(start, end, size, &conf);
    int z_first = size[0] == nz && size[2] != nz;
    for (int i = 0; i < 3; i++) {
        int axis = z_first ? i : 2 - i;
        a->start[i] = start[axis] - 1, a->extent[i] = size[axis];
    }
    a->data = data;
    peer_natural(a);
    if (z_first) {
        a->stride[0] = 1;
        a->stride[1] = a->extent[0];
        a->stride[2] = a->extent[0] * a->extent[1];
    }
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    int dims[2] = {grid[0], grid[1]}, nx = n[2], ny = n[1], nz = n[0], overwrite = 1, memory[3];
    backward = !strcmp(type, "c2r");
    if (!backward && strcmp(type, "r2c"))
        return 1;
    p3dfft_setup(dims, &nx, &ny, &nz, &fortran_comm, &nx, &ny, &nz, &overwrite, memory);
    size_t bytes = sizeof(double) * (size_t)memory[0] * (size_t)memory[1] * (size_t)memory[2] * 2;
    double *first = malloc(bytes), *last = malloc(bytes);
    if (!first || !last)
        return 1;
    real_space(backward ? out : in, first);
    spectrum(backward ? in : out, nz, last);
    in_data = backward ? last : first, out_data = backward ? first : last;
    return 0;
}

void peer_run(void)
{
    if (backward)
        p3dfft_btran_c2r(in_data, out_data, (unsigned char *)"tff");
    else
        p3dfft_ftran_r2c(in_data, out_data, (unsigned char *)"fft");
}
