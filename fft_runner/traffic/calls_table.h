/* The functions of MPI that send or receive data, a row for each; calls.c has the macros, and includes the table for both
 * types of counts. */

/* ---- from point to point ---- */

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
POINT_CALL(MPI_Sendrecv, (SENDRECV_PARAMETERS, MPI_Status *state), (SENDRECV_ARGUMENTS, state), waited())
POINT_CALL(MPI_Sendrecv_replace, (REPLACE_PARAMETERS, MPI_Status *state), (REPLACE_ARGUMENTS, state), waited())
#ifdef HAVE_PARTITIONED
POINT_CALL(MPI_Isendrecv, (SENDRECV_PARAMETERS, MPI_Request *request), (SENDRECV_ARGUMENTS, request), (void)0)
POINT_CALL(MPI_Isendrecv_replace, (REPLACE_PARAMETERS, MPI_Request *request), (REPLACE_ARGUMENTS, request), (void)0)
#endif

WRAP(JOIN(MPI_Recv, SUFFIX), (void *data, COUNT n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *state),
     (data, n, type, from, tag, comm, state), waited(), )
WRAP(JOIN(MPI_Mrecv, SUFFIX), (void *data, COUNT n, MPI_Datatype type, MPI_Message *message, MPI_Status *state),
     (data, n, type, message, state), waited(), )

/* ---- one-sided: data go from the origin to the target, or back, or both ways ---- */

ONE_SIDED_CALL(Put, Rput,
               (const void *data, COUNT n, MPI_Datatype type, int target, MPI_Aint at, COUNT n_at, MPI_Datatype type_at,
                MPI_Win window),
               (data, n, type, target, at, n_at, type_at, window), TO_TARGET(BYTES(n, type)))

ONE_SIDED_CALL(Accumulate, Raccumulate,
               (const void *data, COUNT n, MPI_Datatype type, int target, MPI_Aint at, COUNT n_at, MPI_Datatype type_at,
                MPI_Op op, MPI_Win window),
               (data, n, type, target, at, n_at, type_at, op, window), TO_TARGET(BYTES(n, type)))

ONE_SIDED_CALL(Get, Rget,
               (void *data, COUNT n, MPI_Datatype type, int target, MPI_Aint at, COUNT n_at, MPI_Datatype type_at,
                MPI_Win window),
               (data, n, type, target, at, n_at, type_at, window), FROM_TARGET(BYTES(n, type)))

/* With MPI_NO_OP nothing goes to the target, and the arguments of the origin have no meaning. */
ONE_SIDED_CALL(Get_accumulate, Rget_accumulate,
               (const void *data, COUNT n, MPI_Datatype type, void *result, COUNT n_result, MPI_Datatype type_result,
                int target, MPI_Aint at, COUNT n_at, MPI_Datatype type_at, MPI_Op op, MPI_Win window),
               (data, n, type, result, n_result, type_result, target, at, n_at, type_at, op, window),
               if (op != MPI_NO_OP) TO_TARGET(BYTES(n, type)) FROM_TARGET(BYTES(n_result, type_result)))

#ifndef LARGE
WRAP(MPI_Fetch_and_op,
     (const void *data, void *result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win window),
     (data, result, type, target, at, op, window), (void)0,
     BODY(members_of_window(window), if (op != MPI_NO_OP) TO_TARGET(size_of(type)) FROM_TARGET(size_of(type))))
WRAP(MPI_Compare_and_swap,
     (const void *data, const void *compared, void *result, MPI_Datatype type, int target, MPI_Aint at, MPI_Win window),
     (data, compared, result, type, target, at, window), (void)0,
     BODY(members_of_window(window), TO_TARGET(2 * size_of(type)) FROM_TARGET(size_of(type))))
#endif

/* ---- collectives; those marked ALL_WAIT end on no rank before all have begun ---- */

#ifndef LARGE
COLLECTIVE(Barrier, Ibarrier, ALL_WAIT, ((MPI_Comm comm), (comm)), count_barrier(m);)
#endif

COLLECTIVE(Bcast, Ibcast, NO_WAIT,
           ((void *data, COUNT n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm)),
           count_bcast(m, root, root == MPI_PROC_NULL ? 0 : BYTES(n, type));)
COLLECTIVE(Reduce, Ireduce, NO_WAIT,
           ((const void *data, void *result, COUNT n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
            (data, result, n, type, op, root, comm)),
           count_reduce(m, root, m->inter &&root < 0 ? 0 : BYTES(n, type));)

COLLECTIVE(Allreduce, Iallreduce, ALL_WAIT, REDUCTION, count_allreduce(m, BYTES(n, type));)
COLLECTIVE(Scan, Iscan, NO_WAIT, REDUCTION, count_scan(m, BYTES(n, type));)
COLLECTIVE(Exscan, Iexscan, NO_WAIT, REDUCTION, count_scan(m, BYTES(n, type));)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, ALL_WAIT, REDUCTION,
           count_ring(m, ((uint64_t)m->size - 1) * BYTES(n, type), (uint64_t)m->size *BYTES(n, type));)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, ALL_WAIT,
           ((const void *data, void *result, const COUNT n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (data, result, n, type, op, comm)),
           int own_size = m->size;
           if (m->inter) PMPI_Comm_size(comm, &own_size); uint64_t all = 0;
           for (int i = 0; i < own_size; i++) all += BYTES(n[i], type); count_ring(m, all - BYTES(n[m->me], type), all);)

COLLECTIVE(Gather, Igather, NO_WAIT, WITH_ROOT, if (root >= 0 && !is_root(m, root)) count_to(m, root, BYTES(n, type));)
COLLECTIVE(Gatherv, Igatherv, NO_WAIT,
           ((const void *from, COUNT n, MPI_Datatype type, void *to, const COUNT n_to[], const OFFSET at[],
             MPI_Datatype type_to, int root, MPI_Comm comm),
            (from, n, type, to, n_to, at, type_to, root, comm)),
           if (root >= 0 && !is_root(m, root)) count_to(m, root, BYTES(n, type));)
COLLECTIVE(Scatter, Iscatter, NO_WAIT, WITH_ROOT, count_scatter(m, root, is_root(m, root) ? BYTES(n, type) : 0);)
COLLECTIVE(Scatterv, Iscatterv, NO_WAIT,
           ((const void *from, const COUNT n[], const OFFSET at[], MPI_Datatype type, void *to, COUNT n_to,
             MPI_Datatype type_to, int root, MPI_Comm comm),
            (from, n, at, type, to, n_to, type_to, root, comm)),
           for (int i = 0; i < m->size && is_root(m, root); i++) count_to(m, i, BYTES(n[i], type));)

COLLECTIVE(Allgather, Iallgather, ALL_WAIT, TO_ALL,
           count_allgather(m, ((uint64_t)m->size - 1) * BYTES(n_to, type_to), m->inter ? BYTES(n, type) : 0);)
COLLECTIVE(Allgatherv, Iallgatherv, ALL_WAIT, FROM_ALL_OF_SIZES, uint64_t sum = 0;
           for (int i = 0; i < m->size; i++) if (m->inter || i != (m->me + 1) % m->size) sum += BYTES(n_to[i], type_to);
           count_allgather(m, sum, m->inter ? BYTES(n, type) : 0);)
COLLECTIVE(Alltoall, Ialltoall, ALL_WAIT, TO_ALL,
           count_alltoall(m, from == MPI_IN_PLACE ? BYTES(n_to, type_to) : BYTES(n, type));)
COLLECTIVE(Alltoallv, Ialltoallv, ALL_WAIT, TO_ALL_OF_SIZES,
           for (int i = 0; i < m->size; i++)
               count_to(m, i, from == MPI_IN_PLACE ? BYTES(n_to[i], type_to) : BYTES(n[i], type));)
COLLECTIVE(Alltoallw, Ialltoallw, ALL_WAIT, TO_ALL_OF_TYPES(OFFSET),
           for (int i = 0; i < m->size; i++)
               count_to(m, i, from == MPI_IN_PLACE ? BYTES(n_to[i], type_to[i]) : BYTES(n[i], type[i]));)

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, NO_WAIT, TO_ALL, TO_NEIGHBOURS(BYTES(n, type)))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, NO_WAIT, FROM_ALL_OF_SIZES, TO_NEIGHBOURS(BYTES(n, type)))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, NO_WAIT, TO_ALL, TO_NEIGHBOURS(BYTES(n, type)))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, NO_WAIT, TO_ALL_OF_SIZES, TO_NEIGHBOURS(BYTES(n[i], type)))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, NO_WAIT, TO_ALL_OF_TYPES(MPI_Aint), TO_NEIGHBOURS(BYTES(n[i], type[i])))
