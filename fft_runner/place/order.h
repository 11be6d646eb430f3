/* The rank of each process by PENCILMAP_PLACEMENT. */
#pragma once

/* Collective over MPI_COMM_WORLD. `text` is the value of the variable on rank 0, and is not read on others. On success,
 * rank_of[i] is the new rank of the process that the launcher started as rank i, and the same on all processes. A status, with
 * the same message on all processes. */
int order_read(const char *text, int ranks, int *rank_of);
