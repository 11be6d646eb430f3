/* Stands before MPI by its profiling interface (MPI 4.0, section 15.2): every call of libpencilfft to MPI, and every call of
 * FFTW's MPI library for it, comes here first. A failing call does only the error handling of MPI: the error handler of its
 * communicator and, if that returns, the error code. */
#include "failing_mpi.h"

#include <mpi.h>
#include <string.h>

enum { MOST = 64 };
static struct {
    const char *name;
    long times;
} called[MOST];
static const char *to_fail;
static long fail_at;
static int counting;

void failing_mpi_start(const char *function, long at)
{
    memset(called, 0, sizeof called);
    to_fail = function;
    fail_at = at;
    counting = 1;
}

void failing_mpi_stop(void)
{
    counting = 0;
}

const char *failing_mpi_called(int i, long *times)
{
    *times = i < MOST ? called[i].times : 0;
    return i < MOST ? called[i].name : NULL;
}

static int fails(const char *name)
{
    int i = 0;
    if (!counting)
        return 0;
    while (called[i].name && strcmp(called[i].name, name))
        i++;
    called[i].name = name;
    return ++called[i].times == fail_at && to_fail && !strcmp(to_fail, name);
}

static int failure(MPI_Comm comm)
{
    counting = 0; /* do not disturb later calls on this rank */
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

/* Calls without a communicator use the error handler of MPI_COMM_WORLD, as in MPI 3. */
#define DEFINE(name, its_name, comm, note, parameters, arguments) \
    int name parameters                                           \
    {                                                             \
        return fails(#name) ? failure(comm) : its_name arguments; \
    }
#include "mpi_calls.h"
