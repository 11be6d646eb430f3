/* P3DFFT 2 (https://github.com/sdsc/p3dfft): real transforms; its x is our z. Its own answer to where elements are, and to
 * their order (compiled with -DSTRIDE1 as the library was, or without), is taken. */
#include <p3dfft.h>

#include "peer.h"

static int backward;
static double *in_data, *out_data;

static void set(struct peer_array *a, const int start[3], const int size[3], int transposed, double *data)
{
    for (int i = 0; i < 3; i++)
        a->start[i] = start[2 - i] - 1, a->extent[i] = size[2 - i];
    a->data = data;
    peer_natural(a);
    if (transposed) { /* x nearest together, then y */
        a->stride[0] = 1;
        a->stride[1] = a->extent[0];
        a->stride[2] = a->extent[0] * a->extent[1];
    }
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    int dims[2] = {grid[0], grid[1]}, memory[3], start[2][3], end[3], size[2][3], transposed = 0;
    backward = !strcmp(type, "c2r");
    if (!backward && strcmp(type, "r2c"))
        return 1;
#ifdef STRIDE1
    transposed = 1;
#endif
    p3dfft_setup(dims, n[2], n[1], n[0], fortran_comm, n[2], n[1], n[0], 1, memory);
    p3dfft_get_dims(start[0], end, size[0], 1);
    p3dfft_get_dims(start[1], end, size[1], 2);
    size_t bytes = sizeof(double) * (size_t)memory[0] * (size_t)memory[1] * (size_t)memory[2] * 2;
    double *first = malloc(bytes), *last = malloc(bytes);
    if (!first || !last)
        return 1;
    set(backward ? out : in, start[0], size[0], 0, first);
    set(backward ? in : out, start[1], size[1], transposed, last);
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
