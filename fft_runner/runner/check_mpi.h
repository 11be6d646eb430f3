/* MPI calls of the runner. A failing call prints a message and ends all ranks, without a return. */
#pragma once

#include <mpi.h>

#include "common/await_launcher.h"

#define CHECK_MPI(call) check_mpi((call), #call)

void check_mpi(int code, const char *call);
/* Print the message kept by pf_fail() with this process's rank, and end all ranks. */
void abort_with_message(void) __attribute__((noreturn));
/* For calls that can fail on one rank while the other ranks wait: transforms and transposes. */
void or_abort(int status);
