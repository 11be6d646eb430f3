/* PFFT (https://github.com/mpip/pfft): transposed spectra, which cost it one exchange less a process axis. */
#include <pfft.h>

#include "peer.h"

static pfft_plan plan;

static void set(struct peer_array *a, const int order[3], const ptrdiff_t *extent, const ptrdiff_t *start, void *data)
{
    ptrdiff_t stride = 1;
    for (int i = 2; i >= 0; i--) {
        a->stride[order[i]] = stride;
        stride *= extent[order[i]];
    }
    for (int axis = 0; axis < 3; axis++)
        a->extent[axis] = extent[axis], a->start[axis] = start[axis];
    a->data = data;
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    static const int space[3] = {0, 1, 2}, spectrum[3] = {1, 2, 0}; /* axes as they lie in memory */
    ptrdiff_t extents[3] = {n[0], n[1], n[2]}, ni[3], starts[3], no[3], ends[3], elements;
    int backward = !strcmp(type, "c2r"), complex = !strcmp(type, "c2c");
    unsigned flags = (backward ? PFFT_TRANSPOSED_IN : PFFT_TRANSPOSED_OUT) | PFFT_MEASURE | PFFT_DESTROY_INPUT;
    MPI_Comm comm;
    if (!backward && !complex && strcmp(type, "r2c"))
        return 1;
    pfft_init();
    if (pfft_create_procmesh_2d(MPI_Comm_f2c(fortran_comm), grid[1], grid[0], &comm))
        return 1;
    if (complex)
        elements = pfft_local_size_dft_3d(extents, comm, flags, ni, starts, no, ends);
    else if (backward)
        elements = pfft_local_size_dft_c2r_3d(extents, comm, flags, ni, starts, no, ends);
    else
        elements = pfft_local_size_dft_r2c_3d(extents, comm, flags, ni, starts, no, ends);
    void *first = pfft_alloc_complex((size_t)elements), *last = pfft_alloc_complex((size_t)elements);
    if (complex)
        plan = pfft_plan_dft_3d(extents, first, last, comm, PFFT_FORWARD, flags);
    else if (backward)
        plan = pfft_plan_dft_c2r_3d(extents, first, last, comm, PFFT_BACKWARD, flags);
    else
        plan = pfft_plan_dft_r2c_3d(extents, first, last, comm, PFFT_FORWARD, flags);
    set(in, backward ? spectrum : space, ni, starts, first);
    set(out, backward ? space : spectrum, no, ends, last);
    return plan ? 0 : 1;
}

void peer_run(void)
{
    pfft_execute(plan);
}
