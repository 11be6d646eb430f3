/* MPI calls that fail on purpose, in programs that link failing_mpi.c. */
#pragma once

/* Begin to count calls; call number `at` (from 1) of that function fails on this rank. NULL: none fails. */
void failing_mpi_start(const char *function, long at);
/* Stop counting, and failing. */
void failing_mpi_stop(void);
/* The i-th function called and its number of calls; NULL after the last. */
const char *failing_mpi_called(int i, long *times);
