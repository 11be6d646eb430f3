/* The functions of MPI that send, under both names, MPI_X and PMPI_X: each counts and goes on to the next function of its
 * name.
 *
 * Idea:  no wrapper of Fortran is needed. The Fortran layers of Open MPI call PMPI_X, those of MPICH MPI_X or PMPI_X, with
 *        handles and constants of C. A thread counts only the outermost call, so neither the calls of a Fortran layer nor
 *        those that the MPI library makes itself are counted again. Calls that receive, probe or wait only stop the clock.
 * Rows:  calls_table.h has a row for each function. It is included once for counts of type int, and again for the large
 *        counts of MPI-4 (MPI_X_c). */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for pthread_getcpuclockid */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#pragma GCC visibility push(default) /* the functions of MPI are all that the library shows */
#include <mpi.h>
#pragma GCC visibility pop

#include "../common/preloaded.h"
#include "count.h"
#include "windows.h"

/* Open MPI 5 says version 3.1, but has persistent collectives, partitioned messages and MPI_Isendrecv. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT_COLLECTIVES
#define HAVE_PARTITIONED
#endif
#if MPI_VERSION >= 4
#define HAVE_LARGE_COUNTS
#endif
#if defined OPEN_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* MPIX_Alltoall_init and its like */
#endif

/* ---- wrappers ------------------------------------------------------------------------------------------------------- */

static __thread int depth __attribute__((tls_model("initial-exec")));

static __thread double left_s __attribute__((tls_model("initial-exec"))) = -1; /* of the thread of MPI_Init, else -1 */

static bool enter(void)
{
    bool counts = depth++ == 0 && traffic.active;
    if (!counts)
        return false;
    traffic_lock();
    if (left_s >= 0 && traffic.counting)
        window_computed(traffic_computing_seconds() - left_s);
    return true;
}

static void leave(void)
{
    if (--depth == 0 && left_s >= 0)
        left_s = traffic_computing_seconds();
}

static const char library[] = "traffic";

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define UNPACK(...) __VA_ARGS__

#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (!next)                     \
    *(void **)&next = preloaded_next(library, #name)

#define ONE_NAME(name, parameters, arguments, after, ...) \
    int name parameters                                   \
    {                                                     \
        NEXT(name);                                       \
        bool counts = enter();                            \
        if (counts) {                                     \
            __VA_ARGS__                                   \
            traffic_unlock();                             \
        }                                                 \
        int status = next arguments;                      \
        if (counts) {                                     \
            after;                                        \
        }                                                 \
        leave();                                          \
        return status;                                    \
    }
#define WRAP(name, parameters, arguments, after, ...)         \
    ONE_NAME(name, parameters, arguments, after, __VA_ARGS__) \
    ONE_NAME(JOIN(P, name), parameters, arguments, after, __VA_ARGS__)

/* A persistent request: its messages are counted by MPI_Start. */
#define RECORD(...)      \
    struct list list;    \
    record_begin(&list); \
    __VA_ARGS__          \
    record_end();        \
    recorded = list;
#define ONE_PERSISTENT(name, parameters, arguments, ...) \
    int name parameters                                  \
    {                                                    \
        NEXT(name);                                      \
        struct list recorded = {.used = 0};              \
        bool counts = enter();                           \
        if (counts) {                                    \
            RECORD(__VA_ARGS__)                          \
            traffic_unlock();                            \
        }                                                \
        int status = next arguments;                     \
        if (counts)                                      \
            keep(status, request, recorded);             \
        leave();                                         \
        return status;                                   \
    }
#define PERSISTENT(name, parameters, arguments, ...)         \
    ONE_PERSISTENT(name, parameters, arguments, __VA_ARGS__) \
    ONE_PERSISTENT(JOIN(P, name), parameters, arguments, __VA_ARGS__)

static void keep(int status, const MPI_Request *request, struct list list)
{
    traffic_lock();
    if (status == MPI_SUCCESS)
        request_keep(*request, list);
    else
        free(list.at);
    traffic_unlock();
}

/* A call that waits ends a window, a collective in which all ranks wait for all does so everywhere. */
static void collective(MPI_Comm comm, bool all_wait)
{
    traffic_lock();
    const struct members *m = all_wait ? members_of(comm) : NULL;
    if (m && !m->inter && m->size == traffic.ranks)
        window_synchronised();
    else
        window_waited(true);
    traffic_unlock();
}

static void waited(void)
{
    traffic_lock();
    window_waited(false);
    traffic_unlock();
}

/* ---- begin and end -------------------------------------------------------------------------------------------------- */

static void start_clocks(void)
{
    if (pthread_getcpuclockid(pthread_self(), &traffic.processor))
        traffic.processor = CLOCK_PROCESS_CPUTIME_ID;
    traffic.computing = traffic.ranks_per_core > 1 ? traffic.processor : CLOCK_MONOTONIC;
    clock_gettime(traffic.processor, &traffic.begin_processor);
    clock_gettime(CLOCK_MONOTONIC, &traffic.begin);
}

static void begin(void)
{
    MPI_Comm parent;
    if (traffic.active)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &traffic.rank);
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (traffic.rank == 0)
            traffic_say("processes that MPI_Comm_spawn started are not traced");
        return;
    }
    PMPI_Comm_size(MPI_COMM_WORLD, &traffic.ranks);
    monitoring_counts(false);
    preloaded_check_ranks(library);
    PMPI_Comm_group(MPI_COMM_WORLD, &traffic.world);
    traffic.ranks_per_core = cores_shared_by(traffic.rank, traffic.ranks);
    traffic.run = (int64_t)time(NULL) * 1000 + getpid() % 1000;
    PMPI_Bcast(&traffic.run, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    members_begin();
    monitoring_counts(true);
    start_clocks();
    cut_begin();
    left_s = 0;
    traffic.counting = traffic.active = true;
}

/* MPI_Init may call PMPI_Init_thread: only the outermost call begins. */
static int begun(int status)
{
    if (depth == 1 && status == MPI_SUCCESS)
        begin();
    leave();
    return status;
}

static void end(void)
{
    if (enter()) {
        traffic_unlock();
        traffic_write();
    }
    traffic.active = false;
    left_s = -1;
}

static void control(int level)
{
    if (!enter()) {
        leave();
        return;
    }
    if (level >= 2) {
        window_level(level);
    } else {
        window_passes();
        traffic.counting = level != 0;
    }
    traffic_unlock();
    leave();
}

#define BOUNDARIES(MPI)                             \
    PRELOADED_STARTS(MPI)                           \
    int MPI##_Finalize(void)                        \
    {                                               \
        NEXT(MPI##_Finalize);                       \
        end();                                      \
        int status = next();                        \
        leave();                                    \
        return status;                              \
    }                                               \
    int MPI##_Abort(MPI_Comm comm, int code)        \
    {                                               \
        NEXT(MPI##_Abort);                          \
        if (traffic.active && traffic_try_lock()) { \
            cut_write();                            \
            traffic_unlock();                       \
        }                                           \
        return next(comm, code);                    \
    }                                               \
    int MPI##_Pcontrol(const int level, ...)        \
    {                                               \
        control(level);                             \
        return MPI_SUCCESS;                         \
    }
BOUNDARIES(MPI)
BOUNDARIES(PMPI)

#if MPI_VERSION >= 4
#define SESSION(MPI)                                                                       \
    int MPI##_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) \
    {                                                                                      \
        NEXT(MPI##_Session_init);                                                          \
        if (depth++ == 0 && !traffic.active)                                               \
            traffic_say("MPI sessions are not traced, only programs that call MPI_Init");  \
        int status = next(info, errhandler, session);                                      \
        leave();                                                                           \
        return status;                                                                     \
    }
SESSION(MPI)
SESSION(PMPI)
#endif

/* ---- calls that wait ---------------------------------------------------------------------------------------------- */

#define WAIT(name, parameters, arguments) WRAP(MPI_##name, parameters, arguments, waited(), )
#define TIMED(name, parameters, arguments) WRAP(MPI_##name, parameters, arguments, (void)0, )
WAIT(Wait, (MPI_Request * request, MPI_Status *state), (request, state))
WAIT(Waitall, (int n, MPI_Request requests[], MPI_Status states[]), (n, requests, states))
WAIT(Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *state), (n, requests, index, state))
WAIT(Waitsome, (int n, MPI_Request requests[], int *done, int indices[], MPI_Status states[]),
     (n, requests, done, indices, states))
TIMED(Test, (MPI_Request * request, int *flag, MPI_Status *state), (request, flag, state))
TIMED(Testall, (int n, MPI_Request requests[], int *flag, MPI_Status states[]), (n, requests, flag, states))
TIMED(Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *state), (n, requests, index, flag, state))
TIMED(Testsome, (int n, MPI_Request requests[], int *done, int indices[], MPI_Status states[]),
      (n, requests, done, indices, states))
WAIT(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *state), (from, tag, comm, state))
TIMED(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *state), (from, tag, comm, flag, state))
WAIT(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *state), (from, tag, comm, message, state))
TIMED(Improbe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *state),
      (from, tag, comm, flag, message, state))
WAIT(Win_fence, (int assertion, MPI_Win window), (assertion, window))
TIMED(Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
TIMED(Win_complete, (MPI_Win window), (window))
WAIT(Win_wait, (MPI_Win window), (window))
TIMED(Win_lock, (int type, int rank, int assertion, MPI_Win window), (type, rank, assertion, window))
WAIT(Win_unlock, (int rank, MPI_Win window), (rank, window))
TIMED(Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
WAIT(Win_unlock_all, (MPI_Win window), (window))
WAIT(Win_flush, (int rank, MPI_Win window), (rank, window))
WAIT(Win_flush_all, (MPI_Win window), (window))
TIMED(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
TIMED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))

/* ---- requests --------------------------------------------------------------------------------------------------------- */

WRAP(MPI_Start, (MPI_Request * request), (request), (void)0, request_start(*request);)
WRAP(MPI_Startall, (int n, MPI_Request requests[]), (n, requests), (void)0,
     for (int i = 0; i < n; i++) request_start(requests[i]);)
WRAP(MPI_Request_free, (MPI_Request * request), (request), (void)0, request_forget(*request);)

#ifdef HAVE_PARTITIONED
PERSISTENT(MPI_Psend_init,
           (const void *data, int partitions, MPI_Count n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Info info,
            MPI_Request *request),
           (data, partitions, n, type, to, tag, comm, info, request), const struct members *m = members_of(comm);
           if (m) count(m, POINT, to, (uint64_t)partitions *(uint64_t)n *size_of(type), (uint64_t)partitions);)
#endif

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define BODY(whose, ...)             \
    const struct members *m = whose; \
    if (m) {                         \
        __VA_ARGS__                  \
    }
#define BYTES(n, type) ((uint64_t)(n) * size_of(type))

/* From point to point, to rank `to`. */
#define SENT BODY(members_of(comm), count(m, POINT, to, BYTES(n, type), 1);)
#define POINT_CALL(name, parameters, arguments, after) WRAP(JOIN(name, SUFFIX), parameters, arguments, after, SENT)
#define SENDRECV_PARAMETERS                                                                          \
    const void *data, COUNT n, MPI_Datatype type, int to, int tag, void *received, COUNT n_received, \
        MPI_Datatype type_received, int from, int tag_received, MPI_Comm comm
#define SENDRECV_ARGUMENTS data, n, type, to, tag, received, n_received, type_received, from, tag_received, comm
#define REPLACE_PARAMETERS void *data, COUNT n, MPI_Datatype type, int to, int tag, int from, int tag_received, MPI_Comm comm
#define REPLACE_ARGUMENTS data, n, type, to, tag, from, tag_received, comm
#define SEND(name)                                                                                   \
    POINT_CALL(name, (const void *data, COUNT n, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
               (data, n, type, to, tag, comm), (void)0)
#define STARTED_PARAMETERS \
    (const void *data, COUNT n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
#define STARTED_ARGUMENTS (data, n, type, to, tag, comm, request)
#define STARTED_SEND(name) POINT_CALL(name, STARTED_PARAMETERS, STARTED_ARGUMENTS, (void)0)
#define PERSISTENT_SEND(name) PERSISTENT(JOIN(name, SUFFIX), STARTED_PARAMETERS, STARTED_ARGUMENTS, SENT)

/* With a request behind the other arguments. */
#define REQUESTED(name, parameters, arguments, ...)                                                                  \
    WRAP(JOIN(MPI_##name, SUFFIX), (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request), (void)0, \
         __VA_ARGS__)

/* One-sided: data go from the origin to the target, or back, or both ways. */
#define TO_TARGET(bytes) count(m, ONE_SIDED, target, bytes, 1);
#define FROM_TARGET(bytes) count(m, FETCHED, target, bytes, 1);
#define ONE_SIDED_CALL(name, requested, parameters, arguments, ...)                                              \
    WRAP(JOIN(MPI_##name, SUFFIX), parameters, arguments, (void)0, BODY(members_of_window(window), __VA_ARGS__)) \
    REQUESTED(requested, parameters, arguments, BODY(members_of_window(window), __VA_ARGS__))

/* Collectives, each as blocking, nonblocking and persistent function; count.h has the models. */
#if defined HAVE_PERSISTENT_COLLECTIVES
#define STARTED_LATER(name, parameters, arguments, ...)                                                    \
    PERSISTENT(JOIN(MPI_##name##_init, SUFFIX), (UNPACK parameters, MPI_Info info, MPI_Request * request), \
               (UNPACK arguments, info, request), __VA_ARGS__)
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define STARTED_LATER(name, parameters, arguments, ...)                                            \
    ONE_PERSISTENT(MPIX_##name##_init, (UNPACK parameters, MPI_Info info, MPI_Request * request),  \
                   (UNPACK arguments, info, request), __VA_ARGS__)                                 \
    ONE_PERSISTENT(PMPIX_##name##_init, (UNPACK parameters, MPI_Info info, MPI_Request * request), \
                   (UNPACK arguments, info, request), __VA_ARGS__)
#else
#define STARTED_LATER(name, parameters, arguments, ...)
#endif
#define ALL_KINDS(name, started, after, parameters, arguments, ...)           \
    WRAP(JOIN(MPI_##name, SUFFIX), parameters, arguments, after, __VA_ARGS__) \
    REQUESTED(started, parameters, arguments, __VA_ARGS__)                    \
    STARTED_LATER(name, parameters, arguments, __VA_ARGS__)
/* The signature is (parameters), (arguments), perhaps as one of the names below. */
#define COLLECTIVE(name, started, after, signature, ...) \
    WITH_SIGNATURE(name, started, after, UNPACK signature, BODY(members_of(comm), __VA_ARGS__))
#define WITH_SIGNATURE(...) ALL_KINDS(__VA_ARGS__)

#define REDUCTION                                                                            \
    ((const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
     (data, result, n, type, op, comm))
#define WITH_ROOT                                                                                                         \
    ((const void *from, COUNT n, MPI_Datatype type, void *to, COUNT n_to, MPI_Datatype type_to, int root, MPI_Comm comm), \
     (from, n, type, to, n_to, type_to, root, comm))
#define TO_ALL                                                                                                  \
    ((const void *from, COUNT n, MPI_Datatype type, void *to, COUNT n_to, MPI_Datatype type_to, MPI_Comm comm), \
     (from, n, type, to, n_to, type_to, comm))
#define FROM_ALL_OF_SIZES                                                                                                  \
    ((const void *from, COUNT n, MPI_Datatype type, void *to, const COUNT n_to[], const OFFSET at[], MPI_Datatype type_to, \
      MPI_Comm comm),                                                                                                      \
     (from, n, type, to, n_to, at, type_to, comm))
#define TO_ALL_OF_SIZES                                                                                      \
    ((const void *from, const COUNT n[], const OFFSET at[], MPI_Datatype type, void *to, const COUNT n_to[], \
      const OFFSET at_to[], MPI_Datatype type_to, MPI_Comm comm),                                            \
     (from, n, at, type, to, n_to, at_to, type_to, comm))
#define TO_ALL_OF_TYPES(offset)                                                                                      \
    ((const void *from, const COUNT n[], const offset at[], const MPI_Datatype type[], void *to, const COUNT n_to[], \
      const offset at_to[], const MPI_Datatype type_to[], MPI_Comm comm),                                            \
     (from, n, at, type, to, n_to, at_to, type_to, comm))

#define ALL_WAIT collective(comm, true)
#define NO_WAIT collective(comm, false)
#define TO_NEIGHBOURS(bytes)                                              \
    int neighbour_count, *neighbour = neighbours(comm, &neighbour_count); \
    for (int i = 0; i < neighbour_count; i++)                             \
        count_to(m, neighbour[i], bytes);                                 \
    free(neighbour);

#define COUNT int
#define OFFSET int
#define SUFFIX
#include "calls_table.h"

#ifdef HAVE_LARGE_COUNTS
#undef COUNT
#undef OFFSET
#undef SUFFIX
#define COUNT MPI_Count
#define OFFSET MPI_Aint
#define SUFFIX _c
#define LARGE
#include "calls_table.h"
#endif
