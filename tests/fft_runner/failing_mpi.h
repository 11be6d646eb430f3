/* MPI calls that fail on purpose, in programs that link failing_mpi.c. */
#pragma once

/* Begin to count calls; the at-th one (from 1) of that function fails on this rank. NULL: none does. */
void failing_mpi_start(const char *function, long at);
/* Stop counting, and failing. */
void failing_mpi_stop(void);
/* The i-th function that was called and how often; NULL after the last. */
const char *failing_mpi_called(int i, long *times);
