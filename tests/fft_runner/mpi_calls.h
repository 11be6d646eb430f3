/* The calls of MPI that the library and FFTW's MPI library make, each as DEFINE(name, its name in the profiling interface,
 * communicator, note, parameters, arguments). A note tells what is sent: ONE message, EACH partner's, EVEN parts to all,
 * FAR without a communicator, or ANY number. */
#include <mpi.h>
#ifdef PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#endif

#define CALL(function, comm, note, parameters, arguments) \
    DEFINE(MPI_##function, PMPI_##function, comm, note, parameters, arguments)
#define WORLD MPI_COMM_WORLD
#define REQUEST MPI_Request *request

/* Parameters for counts of type N and displacements of type D, and their names. */
#define SENT(N) const void *data, N n, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define GOT(N) void *data, N n, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define ONES data, n, type, peer, tag, comm
#define BOTH(N)                                                                                                        \
    const void *from, N n, MPI_Datatype type, int peer, int tag, void *to, N m, MPI_Datatype other, int its, int mark, \
        MPI_Comm comm, MPI_Status *about
#define BOTHS from, n, type, peer, tag, to, m, other, its, mark, comm, about
#define ALL(N) const void *from, N n, MPI_Datatype type, void *to, N m, MPI_Datatype other, MPI_Comm comm
#define ALLS from, n, type, to, m, other, comm
#define ALLV(N, D)                                                                                          \
    const void *from, const N n[], const D at[], MPI_Datatype type, void *to, const N m[], const D there[], \
        MPI_Datatype other, MPI_Comm comm
#define ALLW                                                                                                                \
    const void *from, const int n[], const int at[], const MPI_Datatype type[], void *to, const int m[], const int there[], \
        const MPI_Datatype other[], MPI_Comm comm
#define ALLVS from, n, at, type, to, m, there, other, comm
#define FAR_PUT(N) \
    const void *data, N n, MPI_Datatype type, int peer, MPI_Aint at, N n_at, MPI_Datatype type_at, MPI_Win window
#define FAR_PUTS data, n, type, peer, at, n_at, type_at, window

/* ---- communicators ------------------------------------------------------------------------------------------ */

CALL(Comm_dup, comm, NO_NOTE, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CALL(Comm_create_keyval, WORLD, NO_NOTE,
     (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *end, int *key, void *extra),
     (copy, end, key, extra))
CALL(Comm_get_attr, comm, NO_NOTE, (MPI_Comm comm, int key, void *value, int *there), (comm, key, value, there))
CALL(Comm_set_attr, comm, NO_NOTE, (MPI_Comm comm, int key, void *value), (comm, key, value))
CALL(Comm_free, *comm, NO_NOTE, (MPI_Comm * comm), (comm))
CALL(Comm_rank, comm, NO_NOTE, (MPI_Comm comm, int *rank), (comm, rank))
CALL(Comm_size, comm, NO_NOTE, (MPI_Comm comm, int *size), (comm, size))
CALL(Comm_set_errhandler, comm, NO_NOTE, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
CALL(Comm_compare, comm, NO_NOTE, (MPI_Comm comm, MPI_Comm other, int *found), (comm, other, found))
CALL(Comm_test_inter, comm, NO_NOTE, (MPI_Comm comm, int *inter), (comm, inter))
CALL(Query_thread, WORLD, NO_NOTE, (int *level), (level))
CALL(Comm_split, comm, NO_NOTE, (MPI_Comm comm, int colour, int key, MPI_Comm *made), (comm, colour, key, made))
CALL(Comm_split_type, comm, NO_NOTE, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
     (comm, type, key, info, made))

/* ---- collectives -------------------------------------------------------------------------------------------- */

CALL(Barrier, comm, EVEN(0, MPI_INT), (MPI_Comm comm), (comm))
CALL(Ibarrier, comm, EVEN(0, MPI_INT), (MPI_Comm comm, REQUEST), (comm, request))
CALL(Bcast, comm, NO_NOTE, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
CALL(Allreduce, comm, NO_NOTE, (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm))
CALL(Allgather, comm, NO_NOTE, (ALL(int)), (ALLS))
CALL(Alltoall, comm, EVEN(n, type), (ALL(int)), (ALLS))
CALL(Ialltoall, comm, EVEN(n, type), (ALL(int), REQUEST), (ALLS, request))
CALL(Alltoallv, comm, EACH(n, &type, 0), (ALLV(int, int)), (ALLVS))
CALL(Ialltoallv, comm, EACH(n, &type, 0), (ALLV(int, int), REQUEST), (ALLVS, request))
CALL(Alltoallw, comm, EACH(n, type, 1), (ALLW), (ALLVS))
CALL(Ialltoallw, comm, EACH(n, type, 1), (ALLW, REQUEST), (ALLVS, request))

/* ---- messages, at once and persistent ------------------------------------------------------------------------- */

CALL(Send, comm, ONE(n, type, peer, tag), (SENT(int)), (ONES))
CALL(Recv, comm, ONE(n, type, peer, tag), (GOT(int), MPI_Status *about), (ONES, about))
CALL(Isend, comm, ONE(n, type, peer, tag), (SENT(int), REQUEST), (ONES, request))
CALL(Irecv, comm, ONE(n, type, peer, tag), (GOT(int), REQUEST), (ONES, request))
CALL(Sendrecv, comm, ONE(n, type, peer, tag); ONE(-m, other, its, mark), (BOTH(int)), (BOTHS))
CALL(Wait, WORLD, NO_NOTE, (REQUEST, MPI_Status *about), (request, about))
CALL(Test, WORLD, NO_NOTE, (REQUEST, int *there, MPI_Status *about), (request, there, about))
CALL(Request_get_status, WORLD, NO_NOTE, (MPI_Request request, int *there, MPI_Status *about), (request, there, about))
CALL(Testall, WORLD, NO_NOTE, (int n, MPI_Request requests[], int *all, MPI_Status about[]), (n, requests, all, about))
CALL(Waitall, WORLD, NO_NOTE, (int n, MPI_Request requests[], MPI_Status about[]), (n, requests, about))
CALL(Startall, WORLD, ANY(n), (int n, MPI_Request requests[]), (n, requests))
CALL(Send_init, comm, ONE(n, type, peer, tag), (SENT(int), REQUEST), (ONES, request))
CALL(Recv_init, comm, ONE(n, type, peer, tag), (GOT(int), REQUEST), (ONES, request))
#if defined PENCILFFT_HAVE_ALLTOALLV_INIT
CALL(Alltoallv_init, comm, EACH(n, &type, 0), (ALLV(int, int), MPI_Info info, REQUEST), (ALLVS, info, request))
#elif defined PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
DEFINE(MPIX_Alltoallv_init, PMPIX_Alltoallv_init, comm, EACH(n, &type, 0), (ALLV(int, int), MPI_Info info, REQUEST),
       (ALLVS, info, request))
#endif

/* ---- one-sided messages: windows keep the error handler that MPI gives them -------------------------------------- */

#define WINDOW MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window
CALL(Win_allocate, comm, NO_NOTE, (WINDOW), (bytes, unit, info, comm, memory, window))
CALL(Win_allocate_shared, comm, NO_NOTE, (WINDOW), (bytes, unit, info, comm, memory, window))
CALL(Info_create, WORLD, NO_NOTE, (MPI_Info * info), (info))
CALL(Info_set, WORLD, NO_NOTE, (MPI_Info info, const char *key, const char *value), (info, key, value))
CALL(Info_free, WORLD, NO_NOTE, (MPI_Info * info), (info))
CALL(Win_set_errhandler, WORLD, NO_NOTE, (MPI_Win window, MPI_Errhandler handler), (window, handler))
CALL(Win_fence, WORLD, ANY(assert), (int assert, MPI_Win window), (assert, window))
CALL(Win_free, WORLD, NO_NOTE, (MPI_Win * window), (window))
CALL(Put, WORLD, FAR(n, type, peer), (FAR_PUT(int)), (FAR_PUTS))

/* ---- large counts -------------------------------------------------------------------------------------------- */

#ifdef PENCILFFT_HAVE_LARGE_COUNTS
CALL(Alltoall_c, comm, NO_NOTE, (ALL(MPI_Count)), (ALLS))
CALL(Ialltoall_c, comm, NO_NOTE, (ALL(MPI_Count), REQUEST), (ALLS, request))
CALL(Alltoallv_c, comm, NO_NOTE, (ALLV(MPI_Count, MPI_Aint)), (ALLVS))
CALL(Ialltoallv_c, comm, NO_NOTE, (ALLV(MPI_Count, MPI_Aint), REQUEST), (ALLVS, request))
CALL(Alltoallv_init_c, comm, NO_NOTE, (ALLV(MPI_Count, MPI_Aint), MPI_Info info, REQUEST), (ALLVS, info, request))
CALL(Isend_c, comm, NO_NOTE, (SENT(MPI_Count), REQUEST), (ONES, request))
CALL(Irecv_c, comm, NO_NOTE, (GOT(MPI_Count), REQUEST), (ONES, request))
CALL(Sendrecv_c, comm, NO_NOTE, (BOTH(MPI_Count)), (BOTHS))
CALL(Put_c, WORLD, NO_NOTE, (FAR_PUT(MPI_Count)), (FAR_PUTS))
CALL(Send_init_c, comm, NO_NOTE, (SENT(MPI_Count), REQUEST), (ONES, request))
CALL(Recv_init_c, comm, NO_NOTE, (GOT(MPI_Count), REQUEST), (ONES, request))
#endif

/* ---- data types ------------------------------------------------------------------------------------------------ */

CALL(Type_contiguous, WORLD, NO_NOTE, (int n, MPI_Datatype type, MPI_Datatype *made), (n, type, made))
CALL(Type_create_hvector, WORLD, NO_NOTE, (int n, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *made),
     (n, length, stride, type, made))
CALL(Type_create_hindexed, WORLD, NO_NOTE,
     (int n, const int lengths[], const MPI_Aint at[], MPI_Datatype type, MPI_Datatype *made), (n, lengths, at, type, made))
CALL(Type_create_struct, WORLD, NO_NOTE,
     (int n, const int lengths[], const MPI_Aint at[], const MPI_Datatype types[], MPI_Datatype *made),
     (n, lengths, at, types, made))
CALL(Type_get_extent, WORLD, NO_NOTE, (MPI_Datatype type, MPI_Aint *low, MPI_Aint *extent), (type, low, extent))
CALL(Type_commit, WORLD, NO_NOTE, (MPI_Datatype * type), (type))
CALL(Type_free, WORLD, NO_NOTE, (MPI_Datatype * type), (type))
