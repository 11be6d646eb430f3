/* How every plan begins: memory for it and a communicator of its own. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Collective. Zeroed memory of so many bytes, and a duplicate of comm whose errors are returned; on a failure that MPI did
 * not cause, neither. `function` is who was called, and `given` whether it got all that it needs. */
int pf_begin(const char *function, bool given, size_t bytes, MPI_Comm comm, void **made, MPI_Comm *own);
