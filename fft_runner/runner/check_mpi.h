/* MPI calls of the runner. A failing call prints one message and ends all ranks; it does not return. */
#pragma once

#include <mpi.h>

#define CHECK_MPI(call) check_mpi((call), #call)

void check_mpi(int code, const char *call);
/* Print the message kept by pf_fail() with this process's rank, and end all ranks. */
void abort_with_message(void) __attribute__((noreturn));
/* For calls that can fail on one rank while the others wait for it: transforms and transposes. */
void or_abort(int status);

/* Before an abort, which may overtake what was printed: waits until the launcher has read stderr, at most 5 s, and some
 * time for it to pass that on (MPICH's mpiexec). */
void await_launcher(void);
