#include "check_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"
#include "watch.h"

enum { MOST_NAPS = 500 };
static const struct timespec nap = {.tv_nsec = 10000000}, time_to_forward = {.tv_nsec = 200000000};

void await_launcher(void)
{
    int unread = 0;
    struct stat file;
    fflush(stderr);
    if (!fstat(STDERR_FILENO, &file) && S_ISFIFO(file.st_mode))
        for (int i = 0; i < MOST_NAPS && !ioctl(STDERR_FILENO, FIONREAD, &unread) && unread > 0; i++)
            nanosleep(&nap, NULL);
    nanosleep(&time_to_forward, NULL);
}

void abort_with_message(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    watch_end(WATCH_SAID);
    fprintf(stderr, "%s: process %d: %s\n", RUNNER_NAME, rank, pf_message());
    await_launcher();
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void or_abort(int status)
{
    if (status)
        abort_with_message();
}

void check_mpi(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return;
    pf_fail_mpi(code, call);
    abort_with_message();
}
