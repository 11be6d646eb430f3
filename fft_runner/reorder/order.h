/* The rank of each process by a list of hosts or ranks, or by a placement as text. */
#pragma once

#include <mpi.h>

/* Collective over world, with so many ranks. `text` is the value of PENCILMAP_PLACEMENT on rank 0, and is not read on
 * others. On success, rank_of[i] is the new rank of process i of world, and the same on all processes. A status, with the
 * same message on all processes. */
int order_read(MPI_Comm world, const char *text, int ranks, int *rank_of);
/* The same for a list alone: ranks as text, or a file of ranks or of the host of each rank. The text is the same on all. */
int order_of_list(MPI_Comm world, const char *text, int ranks, int *rank_of);
