/* The functions of MPI that send, under both names, MPI_X and PMPI_X: each counts and goes on to the next function of its
 * name.
 *
 * Idea:  no wrapper of Fortran is needed. The Fortran layers of Open MPI call PMPI_X, those of MPICH MPI_X or PMPI_X, with
 *        handles and constants of C. A thread counts only the outermost call, so neither the calls of a Fortran layer nor
 *        those that the MPI library makes itself are counted again. Calls that receive, probe or wait need no wrapper.
 * Rows:  the three tables point_calls.h, collective_calls.h and one_sided_calls.h have a row for each function. They are
 *        included once for counts of type int, and again for the large counts of MPI-4 (MPI_X_c). */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for RTLD_NEXT */
#include <dlfcn.h>
#include <stdlib.h>
#pragma GCC visibility push(default) /* the functions of MPI are all that the library shows */
#include <mpi.h>
#pragma GCC visibility pop

#include "collectives.h"
#include "count.h"
#include "members.h"
#include "pairs.h"
#include "state.h"
#include "windows.h"
#include "write.h"

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

static bool enter(void)
{
    bool counts = depth++ == 0 && traffic.active;
    if (counts)
        traffic_lock();
    return counts;
}

static void leave(void)
{
    depth--;
}

static void *next_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        traffic_say("the MPI library of this program has no %s; use the tracer that was built for this MPI", name);
        abort();
    }
    return found;
}

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define UNPACK(...) __VA_ARGS__

#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (!next)                     \
    *(void **)&next = next_function(#name)

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

/* A blocking collective of all ranks ends a window. */
static void synchronised(MPI_Comm comm)
{
    traffic_lock();
    const struct members *m = members_of(comm);
    if (m && !m->inter && m->size == traffic.ranks)
        window_synchronised();
    traffic_unlock();
}

/* ---- begin and end -------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    MPI_Comm parent;
    int level;
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
    PMPI_Comm_group(MPI_COMM_WORLD, &traffic.world);
    PMPI_Query_thread(&level);
    traffic.threaded = level == MPI_THREAD_MULTIPLE;
    members_begin();
    traffic.begin_s = PMPI_Wtime();
    traffic.counting = traffic.active = true;
}

/* MPI_Init may call PMPI_Init_thread: only the outermost call begins. */
static void begun(int status)
{
    if (depth == 1 && status == MPI_SUCCESS)
        begin();
    leave();
}

static void end(void)
{
    if (traffic.active && depth == 1)
        traffic_write();
    traffic.active = false;
}

static void control(int level)
{
    if (!enter()) {
        leave();
        return;
    }
    if (level >= 2)
        window_level(level);
    else
        traffic.counting = level != 0;
    traffic_unlock();
    leave();
}

#define BOUNDARIES(MPI)                                                         \
    int MPI##_Init(int *argc, char ***argv)                                     \
    {                                                                           \
        NEXT(MPI##_Init);                                                       \
        depth++;                                                                \
        int status = next(argc, argv);                                          \
        begun(status);                                                          \
        return status;                                                          \
    }                                                                           \
    int MPI##_Init_thread(int *argc, char ***argv, int required, int *provided) \
    {                                                                           \
        NEXT(MPI##_Init_thread);                                                \
        depth++;                                                                \
        int status = next(argc, argv, required, provided);                      \
        begun(status);                                                          \
        return status;                                                          \
    }                                                                           \
    int MPI##_Finalize(void)                                                    \
    {                                                                           \
        NEXT(MPI##_Finalize);                                                   \
        depth++;                                                                \
        end();                                                                  \
        int status = next();                                                    \
        leave();                                                                \
        return status;                                                          \
    }                                                                           \
    int MPI##_Pcontrol(const int level, ...)                                    \
    {                                                                           \
        control(level);                                                         \
        return MPI_SUCCESS;                                                     \
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

/* ---- the tables -------------------------------------------------------------------------------------------------- */

#define COUNT int
#define OFFSET int
#define SUFFIX
#include "collective_calls.h"
#include "one_sided_calls.h"
#include "point_calls.h"

#ifdef HAVE_LARGE_COUNTS
#undef COUNT
#undef OFFSET
#undef SUFFIX
#define COUNT MPI_Count
#define OFFSET MPI_Aint
#define SUFFIX _c
#define LARGE
#include "collective_calls.h"
#include "one_sided_calls.h"
#include "point_calls.h"
#endif
