/* Table: functions that send from point to point. See calls.c. */
#define POINT_CALL(name, parameters, arguments)                                                          \
    WRAP(JOIN(name, SUFFIX), parameters, arguments, (void)0, const struct members *m = members_of(comm); \
         if (m) count(m, POINT, to, (uint64_t)n * size_of(type), 1);)
#define SEND(name)                                                                                   \
    POINT_CALL(name, (const void *data, COUNT n, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
               (data, n, type, to, tag, comm))
#define STARTED_SEND(name)                                                                                                 \
    POINT_CALL(name, (const void *data, COUNT n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request), \
               (data, n, type, to, tag, comm, request))
#define PERSISTENT_SEND(name)                                                                                        \
    PERSISTENT(JOIN(name, SUFFIX),                                                                                   \
               (const void *data, COUNT n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request), \
               (data, n, type, to, tag, comm, request), const struct members *m = members_of(comm);                  \
               if (m) count(m, POINT, to, (uint64_t)n * size_of(type), 1);)

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
STARTED_SEND(MPI_Isend)
STARTED_SEND(MPI_Issend)
STARTED_SEND(MPI_Ibsend)
STARTED_SEND(MPI_Irsend)
PERSISTENT_SEND(MPI_Send_init)
PERSISTENT_SEND(MPI_Ssend_init)
PERSISTENT_SEND(MPI_Bsend_init)
PERSISTENT_SEND(MPI_Rsend_init)
POINT_CALL(MPI_Sendrecv,
           (const void *data, COUNT n, MPI_Datatype type, int to, int tag, void *received, COUNT n_received,
            MPI_Datatype type_received, int from, int tag_received, MPI_Comm comm, MPI_Status *state),
           (data, n, type, to, tag, received, n_received, type_received, from, tag_received, comm, state))
POINT_CALL(MPI_Sendrecv_replace,
           (void *data, COUNT n, MPI_Datatype type, int to, int tag, int from, int tag_received, MPI_Comm comm,
            MPI_Status *state),
           (data, n, type, to, tag, from, tag_received, comm, state))
#ifdef HAVE_PARTITIONED
POINT_CALL(MPI_Isendrecv,
           (const void *data, COUNT n, MPI_Datatype type, int to, int tag, void *received, COUNT n_received,
            MPI_Datatype type_received, int from, int tag_received, MPI_Comm comm, MPI_Request *request),
           (data, n, type, to, tag, received, n_received, type_received, from, tag_received, comm, request))
POINT_CALL(MPI_Isendrecv_replace,
           (void *data, COUNT n, MPI_Datatype type, int to, int tag, int from, int tag_received, MPI_Comm comm,
            MPI_Request *request),
           (data, n, type, to, tag, from, tag_received, comm, request))
#endif

#undef POINT_CALL
#undef SEND
#undef STARTED_SEND
#undef PERSISTENT_SEND
