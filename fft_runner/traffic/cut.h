/* What is left of a program that does not come to MPI_Finalize: a time limit, MPI_Abort, or an end of a rank. */
#pragma once

/* Catch the signals with which launchers and schedulers end a program, unless the program has a use for them. */
void cut_begin(void);

/* Write the counts of this rank, at most once; the caller has the lock. */
void cut_write(void);
