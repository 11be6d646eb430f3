/* MPI calls of the runner: one that fails ends all ranks with one message; it does not return. */
#ifndef RUNNER_CHECK_MPI_H
#define RUNNER_CHECK_MPI_H

#include <mpi.h>

#define CHECK_MPI(call) check_mpi((call), #call)

void check_mpi(int code, const char *call);
/* Print the message pf_fail() kept, with this process's rank, and end all. */
void abort_with_message(void) __attribute__((noreturn));
/* For what can fail on one rank while the others go on and wait for it: transforms and transposes. */
void or_abort(int status);

#endif
