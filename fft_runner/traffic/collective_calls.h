/* Table: collectives, each as blocking, nonblocking and persistent function. See calls.c; collectives.h has the models. */
#define BODY(...)                               \
    const struct members *m = members_of(comm); \
    if (m) {                                    \
        __VA_ARGS__                             \
    }
#define BLOCKING(name, after, parameters, arguments, ...) \
    WRAP(JOIN(MPI_##name, SUFFIX), (UNPACK parameters), (UNPACK arguments), after, BODY(__VA_ARGS__))
#define NONBLOCKING(name, parameters, arguments, ...)                                                                \
    WRAP(JOIN(MPI_##name, SUFFIX), (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request), (void)0, \
         BODY(__VA_ARGS__))
#if defined HAVE_PERSISTENT_COLLECTIVES
#define STARTED_LATER(name, parameters, arguments, ...)                                                    \
    PERSISTENT(JOIN(MPI_##name##_init, SUFFIX), (UNPACK parameters, MPI_Info info, MPI_Request * request), \
               (UNPACK arguments, info, request), BODY(__VA_ARGS__))
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define STARTED_LATER(name, parameters, arguments, ...)                                            \
    ONE_PERSISTENT(MPIX_##name##_init, (UNPACK parameters, MPI_Info info, MPI_Request * request),  \
                   (UNPACK arguments, info, request), BODY(__VA_ARGS__))                           \
    ONE_PERSISTENT(PMPIX_##name##_init, (UNPACK parameters, MPI_Info info, MPI_Request * request), \
                   (UNPACK arguments, info, request), BODY(__VA_ARGS__))
#else
#define STARTED_LATER(name, parameters, arguments, ...)
#endif
#define COLLECTIVE(name, started, after, parameters, arguments, ...) \
    BLOCKING(name, after, parameters, arguments, __VA_ARGS__)        \
    NONBLOCKING(started, parameters, arguments, __VA_ARGS__)         \
    STARTED_LATER(name, parameters, arguments, __VA_ARGS__)

#define ALL_WAIT synchronised(comm)
#define NO_WAIT (void)0
#define BYTES(n, type) ((uint64_t)(n) * size_of(type))

#ifndef LARGE
COLLECTIVE(Barrier, Ibarrier, ALL_WAIT, (MPI_Comm comm), (comm), count_barrier(m);)
#endif

COLLECTIVE(Bcast, Ibcast, NO_WAIT, (void *data, COUNT n, MPI_Datatype type, int root, MPI_Comm comm),
           (data, n, type, root, comm), count_bcast(m, root, root == MPI_PROC_NULL ? 0 : BYTES(n, type));)

COLLECTIVE(Reduce, Ireduce, NO_WAIT,
           (const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (data, result, n, type, op, root, comm), count_reduce(m, root, m->inter &&root < 0 ? 0 : BYTES(n, type));)

COLLECTIVE(Allreduce, Iallreduce, ALL_WAIT,
           (const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, result, n, type, op, comm), count_allreduce(m, BYTES(n, type));)

COLLECTIVE(Scan, Iscan, NO_WAIT, (const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, result, n, type, op, comm), count_scan(m, BYTES(n, type));)

COLLECTIVE(Exscan, Iexscan, NO_WAIT, (const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, result, n, type, op, comm), count_scan(m, BYTES(n, type));)

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, ALL_WAIT,
           (const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, result, n, type, op, comm),
           count_ring(m, ((uint64_t)m->size - 1) * BYTES(n, type), (uint64_t)m->size *BYTES(n, type));)

COLLECTIVE(Reduce_scatter, Ireduce_scatter, ALL_WAIT,
           (const void *data, void *result, const COUNT n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, result, n, type, op, comm), int own_size = m->size;
           if (m->inter) PMPI_Comm_size(comm, &own_size); uint64_t all = 0;
           for (int i = 0; i < own_size; i++) all += BYTES(n[i], type); count_ring(m, all - BYTES(n[m->me], type), all);)

COLLECTIVE(Allgather, Iallgather, ALL_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, COUNT n_all, MPI_Datatype type_all, MPI_Comm comm),
           (data, n, type, all, n_all, type_all, comm),
           count_allgather(m, ((uint64_t)m->size - 1) * BYTES(n_all, type_all), m->inter ? BYTES(n, type) : 0);)

COLLECTIVE(Allgatherv, Iallgatherv, ALL_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, const COUNT n_all[], const OFFSET at[],
            MPI_Datatype type_all, MPI_Comm comm),
           (data, n, type, all, n_all, at, type_all, comm), uint64_t sum = 0;
           for (int i = 0; i < m->size; i++) if (m->inter || i != (m->me + 1) % m->size) sum += BYTES(n_all[i], type_all);
           count_allgather(m, sum, m->inter ? BYTES(n, type) : 0);)

COLLECTIVE(Gather, Igather, NO_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, COUNT n_all, MPI_Datatype type_all, int root,
            MPI_Comm comm),
           (data, n, type, all, n_all, type_all, root, comm),
           if (root >= 0 && !is_root(m, root)) count_to(m, root, BYTES(n, type));)

COLLECTIVE(Gatherv, Igatherv, NO_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, const COUNT n_all[], const OFFSET at[],
            MPI_Datatype type_all, int root, MPI_Comm comm),
           (data, n, type, all, n_all, at, type_all, root, comm),
           if (root >= 0 && !is_root(m, root)) count_to(m, root, BYTES(n, type));)

COLLECTIVE(Scatter, Iscatter, NO_WAIT,
           (const void *all, COUNT n_all, MPI_Datatype type_all, void *data, COUNT n, MPI_Datatype type, int root,
            MPI_Comm comm),
           (all, n_all, type_all, data, n, type, root, comm),
           count_scatter(m, root, is_root(m, root) ? BYTES(n_all, type_all) : 0);)

COLLECTIVE(Scatterv, Iscatterv, NO_WAIT,
           (const void *all, const COUNT n_all[], const OFFSET at[], MPI_Datatype type_all, void *data, COUNT n,
            MPI_Datatype type, int root, MPI_Comm comm),
           (all, n_all, at, type_all, data, n, type, root, comm),
           for (int i = 0; i < m->size && is_root(m, root); i++) count_to(m, i, BYTES(n_all[i], type_all));)

COLLECTIVE(Alltoall, Ialltoall, ALL_WAIT,
           (const void *from, COUNT n, MPI_Datatype type, void *to, COUNT n_to, MPI_Datatype type_to, MPI_Comm comm),
           (from, n, type, to, n_to, type_to, comm),
           count_alltoall(m, from == MPI_IN_PLACE ? BYTES(n_to, type_to) : BYTES(n, type));)

COLLECTIVE(Alltoallv, Ialltoallv, ALL_WAIT,
           (const void *from, const COUNT n[], const OFFSET at[], MPI_Datatype type, void *to, const COUNT n_to[],
            const OFFSET at_to[], MPI_Datatype type_to, MPI_Comm comm),
           (from, n, at, type, to, n_to, at_to, type_to, comm),
           for (int i = 0; i < m->size; i++)
               count_to(m, i, from == MPI_IN_PLACE ? BYTES(n_to[i], type_to) : BYTES(n[i], type));)

COLLECTIVE(Alltoallw, Ialltoallw, ALL_WAIT,
           (const void *from, const COUNT n[], const OFFSET at[], const MPI_Datatype type[], void *to, const COUNT n_to[],
            const OFFSET at_to[], const MPI_Datatype type_to[], MPI_Comm comm),
           (from, n, at, type, to, n_to, at_to, type_to, comm),
           for (int i = 0; i < m->size; i++)
               count_to(m, i, from == MPI_IN_PLACE ? BYTES(n_to[i], type_to[i]) : BYTES(n[i], type[i]));)

/* ---- neighbours ---- */
#define TO_NEIGHBOURS(bytes)                                              \
    int neighbour_count, *neighbour = neighbours(comm, &neighbour_count); \
    for (int i = 0; i < neighbour_count; i++)                             \
        count_to(m, neighbour[i], bytes);                                 \
    free(neighbour);

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, NO_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, COUNT n_all, MPI_Datatype type_all, MPI_Comm comm),
           (data, n, type, all, n_all, type_all, comm), TO_NEIGHBOURS(BYTES(n, type)))

COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, NO_WAIT,
           (const void *data, COUNT n, MPI_Datatype type, void *all, const COUNT n_all[], const OFFSET at[],
            MPI_Datatype type_all, MPI_Comm comm),
           (data, n, type, all, n_all, at, type_all, comm), TO_NEIGHBOURS(BYTES(n, type)))

COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, NO_WAIT,
           (const void *from, COUNT n, MPI_Datatype type, void *to, COUNT n_to, MPI_Datatype type_to, MPI_Comm comm),
           (from, n, type, to, n_to, type_to, comm), TO_NEIGHBOURS(BYTES(n, type)))

COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, NO_WAIT,
           (const void *from, const COUNT n[], const OFFSET at[], MPI_Datatype type, void *to, const COUNT n_to[],
            const OFFSET at_to[], MPI_Datatype type_to, MPI_Comm comm),
           (from, n, at, type, to, n_to, at_to, type_to, comm), TO_NEIGHBOURS(BYTES(n[i], type)))

COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, NO_WAIT,
           (const void *from, const COUNT n[], const MPI_Aint at[], const MPI_Datatype type[], void *to, const COUNT n_to[],
            const MPI_Aint at_to[], const MPI_Datatype type_to[], MPI_Comm comm),
           (from, n, at, type, to, n_to, at_to, type_to, comm), TO_NEIGHBOURS(BYTES(n[i], type[i])))

#undef BODY
#undef BLOCKING
#undef NONBLOCKING
#undef STARTED_LATER
#undef COLLECTIVE
#undef ALL_WAIT
#undef NO_WAIT
#undef BYTES
#undef TO_NEIGHBOURS
