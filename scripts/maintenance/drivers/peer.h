/* What a driver gives: one transform of a library that is installed, in double precision. contestants.py builds each into
 * a shared library, and loads it. Axes are x, y, z; strides count elements, real or complex. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peer_array {
    void *data;
    int64_t start[3], extent[3], stride[3];
};

/* Plans n[0] x n[1] x n[2] of type "c2c", "r2c" (forward) or "c2r" on R x C = grid; 0, or 1 where the library has no such
 * transform. Collective. */
int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out);
void peer_run(void);

#ifdef __cplusplus
}
#endif

/* z lies nearest together. */
static inline void peer_natural(struct peer_array *a)
{
    a->stride[2] = 1;
    a->stride[1] = a->extent[2];
    a->stride[0] = a->extent[1] * a->extent[2];
}
