/* Stands before MPI by its profiling interface (MPI 4.0, section 15.2): every call of libpencilfft to MPI, and every call of
 * FFTW's MPI library for it, comes here first. A failing call does only the error handling of MPI: the error handler of its
 * communicator and, if that returns, the error code. */
#include "failing_mpi.h"

#include <mpi.h>
#include <string.h>
#ifdef PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#endif

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
#define CALL(function, comm, parameters, arguments)                                 \
    int MPI_##function parameters                                                   \
    {                                                                               \
        return fails("MPI_" #function) ? failure(comm) : PMPI_##function arguments; \
    }
#define WORLD MPI_COMM_WORLD

/* ---- communicators ------------------------------------------------------------------------------------------ */

CALL(Comm_dup, comm, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CALL(Comm_create_keyval, WORLD,
     (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end, int *key, void *extra),
     (copy, end, key, extra))
CALL(Comm_get_attr, comm, (MPI_Comm comm, int key, void *value, int *there), (comm, key, value, there))
CALL(Comm_set_attr, comm, (MPI_Comm comm, int key, void *value), (comm, key, value))
CALL(Comm_free, *comm, (MPI_Comm * comm), (comm))
CALL(Comm_rank, comm, (MPI_Comm comm, int *rank), (comm, rank))
CALL(Comm_size, comm, (MPI_Comm comm, int *size), (comm, size))
CALL(Comm_set_errhandler, comm, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
CALL(Comm_compare, comm, (MPI_Comm comm, MPI_Comm other, int *found), (comm, other, found))
CALL(Comm_test_inter, comm, (MPI_Comm comm, int *inter), (comm, inter))
CALL(Query_thread, WORLD, (int *level), (level))
CALL(Comm_split, comm, (MPI_Comm comm, int colour, int key, MPI_Comm *made), (comm, colour, key, made))
CALL(Comm_split_type, comm, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made))

/* ---- collectives -------------------------------------------------------------------------------------------- */

CALL(Barrier, comm, (MPI_Comm comm), (comm))
CALL(Ibarrier, comm, (MPI_Comm comm, MPI_Request *request), (comm, request))
CALL(Bcast, comm, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
CALL(Allreduce, comm, (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm))
CALL(Allgather, comm, (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other, MPI_Comm comm),
     (from, n, type, to, m, other, comm))
CALL(Alltoall, comm, (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other, MPI_Comm comm),
     (from, n, type, to, m, other, comm))
CALL(Alltoallv, comm,
     (const void *from, const int n[], const int at[], MPI_Datatype type, void *to, const int m[], const int there[],
      MPI_Datatype other, MPI_Comm comm),
     (from, n, at, type, to, m, there, other, comm))
CALL(Ialltoall, comm,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other, MPI_Comm comm, MPI_Request *request),
     (from, n, type, to, m, other, comm, request))
CALL(Ialltoallv, comm,
     (const void *from, const int n[], const int at[], MPI_Datatype type, void *to, const int m[], const int there[],
      MPI_Datatype other, MPI_Comm comm, MPI_Request *request),
     (from, n, at, type, to, m, there, other, comm, request))
CALL(Ialltoallw, comm,
     (const void *from, const int n[], const int at[], const MPI_Datatype type[], void *to, const int m[], const int there[],
      const MPI_Datatype other[], MPI_Comm comm, MPI_Request *request),
     (from, n, at, type, to, m, there, other, comm, request))
CALL(Alltoallw, comm,
     (const void *from, const int n[], const int at[], const MPI_Datatype type[], void *to, const int m[], const int there[],
      const MPI_Datatype other[], MPI_Comm comm),
     (from, n, at, type, to, m, there, other, comm))

/* ---- messages ----------------------------------------------------------------------------------------------- */

CALL(Send, comm, (const void *data, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm),
     (data, n, type, target, tag, comm))
CALL(Recv, comm, (void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *about),
     (data, n, type, source, tag, comm, about))
CALL(Isend, comm, (const void *data, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, target, tag, comm, request))
CALL(Irecv, comm, (void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, source, tag, comm, request))
CALL(Sendrecv, comm,
     (const void *from, int n, MPI_Datatype type, int target, int tag, void *to, int m, MPI_Datatype other, int source,
      int its_tag, MPI_Comm comm, MPI_Status *about),
     (from, n, type, target, tag, to, m, other, source, its_tag, comm, about))
CALL(Wait, WORLD, (MPI_Request * request, MPI_Status *about), (request, about))
CALL(Test, WORLD, (MPI_Request * request, int *there, MPI_Status *about), (request, there, about))
CALL(Request_get_status, WORLD, (MPI_Request request, int *there, MPI_Status *about), (request, there, about))
CALL(Testall, WORLD, (int n, MPI_Request requests[], int *all, MPI_Status about[]), (n, requests, all, about))
CALL(Waitall, WORLD, (int n, MPI_Request requests[], MPI_Status about[]), (n, requests, about))

/* ---- persistent requests ------------------------------------------------------------------------------------- */

CALL(Startall, WORLD, (int n, MPI_Request requests[]), (n, requests))
CALL(Send_init, comm, (const void *data, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, target, tag, comm, request))
CALL(Recv_init, comm, (void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, source, tag, comm, request))
#define ALLTOALLV_INIT_PARAMETERS                                                                                    \
    (const void *from, const int n[], const int at[], MPI_Datatype type, void *to, const int m[], const int there[], \
     MPI_Datatype other, MPI_Comm comm, MPI_Info info, MPI_Request *request)
#define ALLTOALLV_INIT_ARGUMENTS (from, n, at, type, to, m, there, other, comm, info, request)
#if defined PENCILFFT_HAVE_ALLTOALLV_INIT
CALL(Alltoallv_init, comm, ALLTOALLV_INIT_PARAMETERS, ALLTOALLV_INIT_ARGUMENTS)
#elif defined PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
int MPIX_Alltoallv_init ALLTOALLV_INIT_PARAMETERS
{
    return fails("MPIX_Alltoallv_init") ? failure(comm) : PMPIX_Alltoallv_init ALLTOALLV_INIT_ARGUMENTS;
}
#endif

/* ---- one-sided messages: windows keep the error handler that MPI gives them -------------------------------------- */

CALL(Win_allocate, comm, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
     (bytes, unit, info, comm, memory, window))
CALL(Win_allocate_shared, comm, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
     (bytes, unit, info, comm, memory, window))
CALL(Info_create, WORLD, (MPI_Info * info), (info))
CALL(Info_set, WORLD, (MPI_Info info, const char *key, const char *value), (info, key, value))
CALL(Info_free, WORLD, (MPI_Info * info), (info))
CALL(Win_set_errhandler, WORLD, (MPI_Win window, MPI_Errhandler handler), (window, handler))
CALL(Win_fence, WORLD, (int assert, MPI_Win window), (assert, window))
CALL(Win_free, WORLD, (MPI_Win * window), (window))
CALL(Put, WORLD,
     (const void *data, int n, MPI_Datatype type, int target, MPI_Aint at, int n_at, MPI_Datatype type_at, MPI_Win window),
     (data, n, type, target, at, n_at, type_at, window))

/* ---- large counts -------------------------------------------------------------------------------------------- */

#ifdef PENCILFFT_HAVE_LARGE_COUNTS
CALL(Alltoall_c, comm,
     (const void *from, MPI_Count n, MPI_Datatype type, void *to, MPI_Count m, MPI_Datatype other, MPI_Comm comm),
     (from, n, type, to, m, other, comm))
CALL(Ialltoall_c, comm,
     (const void *from, MPI_Count n, MPI_Datatype type, void *to, MPI_Count m, MPI_Datatype other, MPI_Comm comm,
      MPI_Request *request),
     (from, n, type, to, m, other, comm, request))
CALL(Alltoallv_c, comm,
     (const void *from, const MPI_Count n[], const MPI_Aint at[], MPI_Datatype type, void *to, const MPI_Count m[],
      const MPI_Aint there[], MPI_Datatype other, MPI_Comm comm),
     (from, n, at, type, to, m, there, other, comm))
CALL(Ialltoallv_c, comm,
     (const void *from, const MPI_Count n[], const MPI_Aint at[], MPI_Datatype type, void *to, const MPI_Count m[],
      const MPI_Aint there[], MPI_Datatype other, MPI_Comm comm, MPI_Request *request),
     (from, n, at, type, to, m, there, other, comm, request))
CALL(Alltoallv_init_c, comm,
     (const void *from, const MPI_Count n[], const MPI_Aint at[], MPI_Datatype type, void *to, const MPI_Count m[],
      const MPI_Aint there[], MPI_Datatype other, MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (from, n, at, type, to, m, there, other, comm, info, request))
CALL(Isend_c, comm,
     (const void *data, MPI_Count n, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, target, tag, comm, request))
CALL(Irecv_c, comm, (void *data, MPI_Count n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, source, tag, comm, request))
CALL(Sendrecv_c, comm,
     (const void *from, MPI_Count n, MPI_Datatype type, int target, int tag, void *to, MPI_Count m, MPI_Datatype other,
      int source, int its_tag, MPI_Comm comm, MPI_Status *about),
     (from, n, type, target, tag, to, m, other, source, its_tag, comm, about))
CALL(Put_c, WORLD,
     (const void *data, MPI_Count n, MPI_Datatype type, int target, MPI_Aint at, MPI_Count n_at, MPI_Datatype type_at,
      MPI_Win window),
     (data, n, type, target, at, n_at, type_at, window))
CALL(Send_init_c, comm,
     (const void *data, MPI_Count n, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, target, tag, comm, request))
CALL(Recv_init_c, comm,
     (void *data, MPI_Count n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, source, tag, comm, request))
#endif

/* ---- data types ------------------------------------------------------------------------------------------------ */

CALL(Type_contiguous, WORLD, (int n, MPI_Datatype type, MPI_Datatype *made), (n, type, made))
CALL(Type_create_hvector, WORLD, (int n, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *made),
     (n, length, stride, type, made))
CALL(Type_create_hindexed, WORLD, (int n, const int lengths[], const MPI_Aint at[], MPI_Datatype type, MPI_Datatype *made),
     (n, lengths, at, type, made))
CALL(Type_create_struct, WORLD,
     (int n, const int lengths[], const MPI_Aint at[], const MPI_Datatype types[], MPI_Datatype *made),
     (n, lengths, at, types, made))
CALL(Type_get_extent, WORLD, (MPI_Datatype type, MPI_Aint *low, MPI_Aint *extent), (type, low, extent))
CALL(Type_commit, WORLD, (MPI_Datatype * type), (type))
CALL(Type_free, WORLD, (MPI_Datatype * type), (type))
