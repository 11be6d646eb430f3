/* Table: one-sided functions; see calls.c. Data go from the origin to the target, or back, or both ways. */
#define TO_TARGET(bytes) count(m, ONE_SIDED, target, bytes, 1);
#define FROM_TARGET(bytes) count(m, FETCHED, target, bytes, 1);
#define BODY(...)                                        \
    const struct members *m = members_of_window(window); \
    if (m) {                                             \
        __VA_ARGS__                                      \
    }
#define ONE_SIDED_CALL(name, requested, parameters, arguments, ...)                                                       \
    WRAP(JOIN(MPI_##name, SUFFIX), (UNPACK parameters), (UNPACK arguments), (void)0, BODY(__VA_ARGS__))                   \
    WRAP(JOIN(MPI_##requested, SUFFIX), (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request), (void)0, \
         BODY(__VA_ARGS__))
#define BYTES(n, type) ((uint64_t)(n) * size_of(type))

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
     BODY(if (op != MPI_NO_OP) TO_TARGET(size_of(type)) FROM_TARGET(size_of(type))))
WRAP(MPI_Compare_and_swap,
     (const void *data, const void *compared, void *result, MPI_Datatype type, int target, MPI_Aint at, MPI_Win window),
     (data, compared, result, type, target, at, window), (void)0,
     BODY(TO_TARGET(2 * size_of(type)) FROM_TARGET(size_of(type))))
#endif

#undef TO_TARGET
#undef FROM_TARGET
#undef BODY
#undef ONE_SIDED_CALL
#undef BYTES
