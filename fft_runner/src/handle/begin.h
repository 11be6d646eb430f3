/* How every plan begins: memory for it, and communicators. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "exchange/communicators.h"

/* Collective. Zeroed memory of so many bytes, and the communicators of plans on comm; on a failure that MPI did not cause,
 * neither. `function` is who was called, and `given` whether it got all that it needs. */
int pf_begin(const char *function, bool given, size_t bytes, MPI_Comm comm, void **made,
             struct pf_communicators **communicators);
