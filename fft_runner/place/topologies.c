/* Communicators with a topology. If only these get the placement, a call with reorder over all processes is answered by it:
 * a split gives the ranks, and MPI makes the topology without reorder. Open MPI and MPICH themselves ignore reorder. */
#include "place.h"

#include <stdlib.h>

/* The communicator in the order of the placement, with the processes of `comm`; MPI_COMM_NULL if the call stays as it is. */
static int in_order(MPI_Comm comm, int reorder, MPI_Comm *made)
{
    int inter = 1, alike = MPI_UNEQUAL, size = 0, status = MPI_SUCCESS;
    *made = MPI_COMM_NULL;
    if (!reorder || !place.for_topologies || !place.rank_of || comm == MPI_COMM_NULL)
        return status;
    status = PMPI_Comm_test_inter(comm, &inter);
    if (status == MPI_SUCCESS && !inter)
        status = PMPI_Comm_size(comm, &size);
    if (status == MPI_SUCCESS && size == place.ranks)
        status = PMPI_Comm_compare(comm, MPI_COMM_WORLD, &alike);
    if (status == MPI_SUCCESS && alike != MPI_UNEQUAL)
        status = PMPI_Comm_split(comm, 0, place.rank_of[place.launched], made);
    return status;
}

/* Free the communicator and return the first status that is none of success. */
static int without(MPI_Comm *made, int status)
{
    int freed = PMPI_Comm_free(made);
    return status == MPI_SUCCESS ? freed : status;
}

#define REORDERED(name, parameters, arguments, in_new_order)                          \
    int name parameters                                                               \
    {                                                                                 \
        NEXT(name);                                                                   \
        MPI_Comm made;                                                                \
        int status = in_order(comm, reorder, &made);                                  \
        if (status != MPI_SUCCESS)                                                    \
            return status;                                                            \
        return made == MPI_COMM_NULL ? next arguments : without(&made, in_new_order); \
    }

#define CART(MPI)                                                                                               \
    REORDERED(MPI##_Cart_create,                                                                                \
              (MPI_Comm comm, int n, const int extents[], const int periodic[], int reorder, MPI_Comm *result), \
              (PLACED(comm), n, extents, periodic, reorder, result), next(made, n, extents, periodic, 0, result))
CART(MPI)
CART(PMPI)

#define GRAPH(MPI)                                                                                         \
    REORDERED(MPI##_Graph_create,                                                                          \
              (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *result), \
              (PLACED(comm), n, index, edges, reorder, result), next(made, n, index, edges, 0, result))
GRAPH(MPI)
GRAPH(PMPI)

/* Edges may be given anywhere, so they stay as they are: i is the process of rank i in the result. */
#define DIST_GRAPH(MPI)                                                                                          \
    REORDERED(MPI##_Dist_graph_create,                                                                           \
              (MPI_Comm comm, int n, const int from[], const int degrees[], const int to[], const int weights[], \
               MPI_Info info, int reorder, MPI_Comm *result),                                                    \
              (PLACED(comm), n, from, degrees, to, weights, info, reorder, result),                              \
              next(made, n, from, degrees, to, weights, info, 0, result))
DIST_GRAPH(MPI)
DIST_GRAPH(PMPI)

/* ---- adjacency lists: those of rank i of `comm` are of the process that has rank i in the result ----------------- */

struct adjacency {
    int n_in, n_out;
    int *in, *in_weight, *out, *out_weight;
    int *numbers; /* memory of all */
};

enum { LENGTHS_TAG = 1, NUMBERS_TAG = 2 };

static bool has_weights(const int *weights, int n)
{
    return n > 0 && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static void lay_out(struct adjacency *a)
{
    a->in = a->numbers;
    a->in_weight = a->in + a->n_in;
    a->out = a->in_weight + a->n_in;
    a->out_weight = a->out + a->n_out;
}

static void fill(int *numbers, int *weights, int n, const int *given, const int *given_weights)
{
    for (int i = 0; i < n; i++) {
        numbers[i] = given[i];
        weights[i] = has_weights(given_weights, n) ? given_weights[i] : 1;
    }
}

static int allocate(struct adjacency *a)
{
    a->numbers = malloc((2 * ((size_t)a->n_in + (size_t)a->n_out) + 1) * sizeof *a->numbers);
    if (!a->numbers)
        return MPI_ERR_NO_MEM;
    lay_out(a);
    return MPI_SUCCESS;
}

/* Send the own list to the process with the rank that this process has in `comm`, and receive one list. */
static int pass_on(const struct adjacency *own, int to, MPI_Comm made, struct adjacency *got)
{
    const int lengths[2] = {own->n_in, own->n_out};
    int received[2], status;
    MPI_Request sent[2];
    MPI_Status about;
    PMPI_Isend(lengths, 2, MPI_INT, to, LENGTHS_TAG, made, &sent[0]);
    PMPI_Isend(own->numbers, 2 * (own->n_in + own->n_out), MPI_INT, to, NUMBERS_TAG, made, &sent[1]);
    PMPI_Recv(received, 2, MPI_INT, MPI_ANY_SOURCE, LENGTHS_TAG, made, &about);
    got->n_in = received[0];
    got->n_out = received[1];
    status = allocate(got);
    if (status == MPI_SUCCESS)
        status = PMPI_Recv(got->numbers, 2 * (got->n_in + got->n_out), MPI_INT, about.MPI_SOURCE, NUMBERS_TAG, made,
                           MPI_STATUS_IGNORE);
    PMPI_Wait(&sent[0], MPI_STATUS_IGNORE);
    PMPI_Wait(&sent[1], MPI_STATUS_IGNORE);
    return status;
}

static int moved_adjacency(MPI_Comm comm, MPI_Comm made, int n_in, const int in[], const int in_weight[], int n_out,
                           const int out[], const int out_weight[], struct adjacency *got)
{
    struct adjacency own = {.n_in = n_in, .n_out = n_out};
    int rank, status = allocate(&own);
    if (status != MPI_SUCCESS)
        return status;
    fill(own.in, own.in_weight, n_in, in, in_weight);
    fill(own.out, own.out_weight, n_out, out, out_weight);
    PMPI_Comm_rank(comm, &rank);
    status = pass_on(&own, rank, made, got);
    free(own.numbers);
    return status;
}

static const int *weights_for(const int *given, const int *weights, int n)
{
    return given == MPI_UNWEIGHTED ? MPI_UNWEIGHTED : n ? weights : MPI_WEIGHTS_EMPTY;
}

#define ADJACENT(MPI)                                                                                                  \
    int MPI##_Dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int in[], const int in_weight[], int n_out,    \
                                         const int out[], const int out_weight[], MPI_Info info, int reorder,          \
                                         MPI_Comm *result)                                                             \
    {                                                                                                                  \
        NEXT(MPI##_Dist_graph_create_adjacent);                                                                        \
        MPI_Comm made;                                                                                                 \
        struct adjacency got = {.numbers = NULL};                                                                      \
        int status = in_order(comm, reorder, &made);                                                                   \
        if (status != MPI_SUCCESS)                                                                                     \
            return status;                                                                                             \
        if (made == MPI_COMM_NULL)                                                                                     \
            return next(PLACED(comm), n_in, in, in_weight, n_out, out, out_weight, info, reorder, result);             \
        status = moved_adjacency(comm, made, n_in, in, in_weight, n_out, out, out_weight, &got);                       \
        if (status == MPI_SUCCESS)                                                                                     \
            status = next(made, got.n_in, got.in, weights_for(in_weight, got.in_weight, got.n_in), got.n_out, got.out, \
                          weights_for(out_weight, got.out_weight, got.n_out), info, 0, result);                        \
        free(got.numbers);                                                                                             \
        return without(&made, status);                                                                                 \
    }
ADJACENT(MPI)
ADJACENT(PMPI)
