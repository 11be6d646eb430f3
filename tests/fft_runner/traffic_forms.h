/* Calls of traffic_test.c with counts of one type: F(MPI_X) is MPI_X, or MPI_X_c with large counts. */

static void F(point)(void)
{
    COUNT n = 6;
    MPI_Request request[2];
    int next = (me + 1) % P, before = (me + P - 1) % P;
#define RECEIVE MPI_Recv(in, 6, MPI_INT, before, 0, comm, MPI_STATUS_IGNORE)
#define POSTED MPI_Irecv(in, 6, MPI_INT, before, 0, comm, request), wait_for_all()
    CASE(Send, MPI_Irecv(in, 6, MPI_INT, before, 0, comm, request); F(MPI_Send)(out, n, MPI_INT, next, 0, comm);
         MPI_Wait(request, MPI_STATUS_IGNORE));
    CASE(Ssend, MPI_Irecv(in, 6, MPI_INT, before, 0, comm, request); F(MPI_Ssend)(out, n, MPI_INT, next, 0, comm);
         MPI_Wait(request, MPI_STATUS_IGNORE));
    CASE(Bsend, F(MPI_Bsend)(out, n, MPI_INT, next, 0, comm); RECEIVE);
    CASE(Rsend, POSTED; F(MPI_Rsend)(out, n, MPI_INT, next, 0, comm); MPI_Wait(request, MPI_STATUS_IGNORE));
#define STARTED(name)                                                              \
    CASE(name, POSTED; F(MPI_##name)(out, n, MPI_INT, next, 0, comm, request + 1); \
         MPI_Waitall(2, request, MPI_STATUSES_IGNORE))
    STARTED(Isend);
    STARTED(Issend);
    STARTED(Ibsend);
    STARTED(Irsend);
#define LATER(name)                                                                               \
    CASE(                                                                                         \
        name, MPI_Recv_init(in, 6, MPI_INT, before, 0, comm, request);                            \
        F(MPI_##name)(out, n, MPI_INT, next, 0, comm, request + 1); for (int i = 0; i < 3; i++) { \
            MPI_Start(request);                                                                   \
            wait_for_all();                                                                       \
            if (i)                                                                                \
                MPI_Start(request + 1);                                                           \
            else                                                                                  \
                MPI_Startall(1, request + 1);                                                     \
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);                                         \
        } MPI_Request_free(request);                                                              \
        MPI_Request_free(request + 1))
    LATER(Send_init);
    LATER(Ssend_init);
    LATER(Bsend_init);
    LATER(Rsend_init);
    CASE(Sendrecv, F(MPI_Sendrecv)(out, n, MPI_INT, next, 0, in, n, MPI_INT, before, 0, comm, MPI_STATUS_IGNORE));
    CASE(Sendrecv_replace, F(MPI_Sendrecv_replace)(in, n, MPI_INT, next, 0, before, 0, comm, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
    CASE(Isendrecv, F(MPI_Isendrecv)(out, n, MPI_INT, next, 0, in, n, MPI_INT, before, 0, comm, request);
         MPI_Wait(request, MPI_STATUS_IGNORE));
    CASE(Isendrecv_replace, F(MPI_Isendrecv_replace)(in, n, MPI_INT, next, 0, before, 0, comm, request);
         MPI_Wait(request, MPI_STATUS_IGNORE));
#endif
#undef RECEIVE
#undef POSTED
#undef STARTED
#undef LATER
}

/* All three forms of a collective; arguments before the request, and before info and request. */
static void F(collective)(void)
{
    COUNT n = 5, n_of[MOST], back[MOST];
    OFFSET at[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
    for (int i = 0; i < P; i++) {
        n_of[i] = amount(me, i);
        back[i] = amount(i, me);
        at[i] = (OFFSET)(4 * i);
        types[i] = MPI_INT;
    }
    COUNT own[MOST];
    OFFSET bytes_at[MOST];
    for (int i = 0; i < P; i++) {
        own[i] = amount(i, 1);
        bytes_at[i] = (OFFSET)(16 * i);
    }
    FORMS(Bcast, Ibcast, (in, n, MPI_INT, 1, comm));
    FORMS(Reduce, Ireduce, (out, in, n, MPI_INT, MPI_SUM, P - 1, comm));
    FORMS(Allreduce, Iallreduce, (out, in, n, MPI_INT, MPI_SUM, comm));
    FORMS(Scan, Iscan, (out, in, n, MPI_INT, MPI_SUM, comm));
    FORMS(Exscan, Iexscan, (out, in, n, MPI_INT, MPI_SUM, comm));
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, (out, in, n, MPI_INT, MPI_SUM, comm));
    FORMS(Reduce_scatter, Ireduce_scatter, (out, in, own, MPI_INT, MPI_SUM, comm));
    FORMS(Allgather, Iallgather, (out, n, MPI_INT, in, n, MPI_INT, comm));
    FORMS(Allgatherv, Iallgatherv, (out, own[me], MPI_INT, in, own, at, MPI_INT, comm));
    FORMS(Gather, Igather, (out, n, MPI_INT, in, n, MPI_INT, 1, comm));
    FORMS(Gatherv, Igatherv, (out, own[me], MPI_INT, in, own, at, MPI_INT, 1, comm));
    FORMS(Scatter, Iscatter, (out, n, MPI_INT, in, n, MPI_INT, 1, comm));
    FORMS(Scatterv, Iscatterv, (out, own, at, MPI_INT, in, own[me], MPI_INT, 1, comm));
    FORMS(Alltoall, Ialltoall, (out, n, MPI_INT, in, n, MPI_INT, comm));
    FORMS(Alltoallv, Ialltoallv, (out, n_of, at, MPI_INT, in, back, at, MPI_INT, comm));
    FORMS(Alltoallw, Ialltoallw, (out, n_of, bytes_at, types, in, back, bytes_at, types, comm));
}

static void F(neighbour)(void)
{
    COUNT n = 3, n_of[4], back[4], all[4];
    OFFSET at[4];
    MPI_Aint bytes_at[4];
    MPI_Datatype types[4];
    MPI_Request request;
    for (int i = 0; i < 4; i++) { /* a rank below 0 is MPI_PROC_NULL */
        n_of[i] = destinations[i] < 0 ? 0 : amount(me, destinations[i]);
        back[i] = sources[i] < 0 ? 0 : amount(sources[i], me);
        all[i] = sources[i] < 0 ? 0 : amount(sources[i], 2);
        at[i] = (OFFSET)(8 * i);
        bytes_at[i] = 64 * i;
        types[i] = MPI_INT;
    }
    FORMS(Neighbor_allgather, Ineighbor_allgather, (out, n, MPI_INT, in, n, MPI_INT, topology));
    FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, (out, amount(me, 2), MPI_INT, in, all, at, MPI_INT, topology));
    FORMS(Neighbor_alltoall, Ineighbor_alltoall, (out, n, MPI_INT, in, n, MPI_INT, topology));
    FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, (out, n_of, at, MPI_INT, in, back, at, MPI_INT, topology));
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, (out, n_of, bytes_at, types, in, back, bytes_at, types, topology));
}

static void F(one_sided)(void)
{
    COUNT n = 7;
    MPI_Request request;
    int target = (me + 1) % P;
#define REQUESTED(call) \
    call;               \
    MPI_Wait(&request, MPI_STATUS_IGNORE)
    CASE(Put, F(MPI_Put)(out, n, MPI_INT, target, 0, n, MPI_INT, window));
    CASE(Rput, REQUESTED(F(MPI_Rput)(out, n, MPI_INT, target, 0, n, MPI_INT, window, &request)));
    CASE(Get, F(MPI_Get)(in, n, MPI_INT, target, 0, n, MPI_INT, window));
    CASE(Rget, REQUESTED(F(MPI_Rget)(in, n, MPI_INT, target, 0, n, MPI_INT, window, &request)));
    CASE(Accumulate, F(MPI_Accumulate)(out, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, window));
    CASE(Raccumulate, REQUESTED(F(MPI_Raccumulate)(out, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, window, &request)));
    CASE(Get_accumulate, F(MPI_Get_accumulate)(out, n, MPI_INT, in, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, window));
    CASE(Rget_accumulate, REQUESTED(F(MPI_Rget_accumulate)(out, n, MPI_INT, in, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM,
                                                           window, &request)));
    CASE(Get_accumulate_no_op,
         F(MPI_Get_accumulate)(NULL, 0, MPI_INT, in, n, MPI_INT, target, 0, n, MPI_INT, MPI_NO_OP, window));
#undef REQUESTED
}
