/* Shared by every file of the runner. */
#pragma once

#include <mpi.h>

#include "common/failure.h"
#include "common/message.h"

#define RUNNER_NAME "fft_runner"

/* MPI calls of the runner. A failing call prints a message and ends all ranks, without a return. */
#define CHECK_MPI(call) check_mpi((call), #call)

void check_mpi(int code, const char *call);
/* Print the message kept by pf_fail() with this process's rank, and end all ranks. */
void abort_with_message(void) __attribute__((noreturn));
/* For calls that can fail on one rank while the other ranks wait: transforms and transposes. */
void or_abort(int status);

/* With --time-limit, a watcher beside each rank: reports the last work of a rank that was killed or never ended, and ends
 * that rank. */

/* Before MPI_Init: forks. A status. The other functions do nothing without this call. */
int watch_start(double limit_s);
/* The current work of this rank; `number` follows if positive. The text must be a constant. */
void watch_mark(const char *phase, int number);
void watch_rank(int rank);
/* No more reports on this rank: the rank has ended normally, or has given the reason. */
enum watch_end { WATCH_ON, WATCH_DONE, WATCH_SAID };
void watch_end(enum watch_end how);
