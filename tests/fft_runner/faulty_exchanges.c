/* Exchanges with errors, which the runner must find. This table replaces src/exchange/exchange_table.c. */
#include <complex.h>
#include <math.h>

#include "common/failure.h"
#include "exchange/message_counts.h"

extern const struct pf_exchange pf_exchange_alltoallv;

/* The check of moved data runs both exchanges once; faults after that are left to the numerical checks. */
enum { MOVED_DATA_RUNS = 2 };
static int runs;

static int swapped(void *state, void *from, void *to)
{
    double complex *data = to;
    int status = pf_exchange_alltoallv.start(state, from, to);
    double complex first = data[0];
    data[0] = data[1];
    data[1] = first;
    return status;
}

static int forgetful(void *state, void *from, void *to)
{
    double complex kept = *(double complex *)to;
    int status = pf_exchange_alltoallv.start(state, from, to);
    *(double complex *)to = kept;
    return status;
}

/* A few values a little too large; transforms spread the errors over the result. */
static int scaled(void *state, void *from, void *to)
{
    double complex *data = to;
    int status = pf_exchange_alltoallv.start(state, from, to);
    if (++runs > MOVED_DATA_RUNS)
        for (int i = 0; i < 8; i++)
            data[i] *= 1 + 1e-9;
    return status;
}

static int not_a_number(void *state, void *from, void *to)
{
    int status = pf_exchange_alltoallv.start(state, from, to);
    if (++runs > MOVED_DATA_RUNS)
        *(double complex *)to = NAN;
    return status;
}

/* MPI refuses a negative count on one rank, while the other ranks wait. */
static int mpi_error(void *state, void *from, void *to)
{
    int rank;
    (void)state, (void)from;
    PF_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    PF_MPI(MPI_Bcast(to, rank == 1 ? -1 : 1, MPI_INT, 0, MPI_COMM_WORLD));
    PF_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return PENCILFFT_OK;
}

static int plan_out_of_memory(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                              void *state)
{
    return transpose->me == 1 ? pf_fail(PENCILFFT_NO_MEMORY, "no memory on purpose")
                              : pf_exchange_alltoallv.plan(transpose, sent, received, state);
}

static int plan_right(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                      void *state)
{
    struct pf_transpose waits = *transpose; /* in its start, so that the faults come behind it */
    waits.beside = false;
    return pf_exchange_alltoallv.plan(&waits, sent, received, state);
}

static int start_right(void *state, void *from, void *to)
{
    return pf_exchange_alltoallv.start(state, from, to);
}

static void release(void *state)
{
    pf_exchange_alltoallv.release(state);
}

#define ROW(NAME, PLAN, START) \
    .name = NAME, .bytes = sizeof(struct pf_calls), .plan = PLAN, .start = START, .release = release
static const struct pf_exchange rows[] = {
    {ROW("right", plan_right, start_right), .beside = true},   {ROW("swapped", plan_right, swapped), .beside = true},
    {ROW("forgetful", plan_right, forgetful), .beside = true}, {ROW("scaled", plan_right, scaled), .beside = true},
    {ROW("nan", plan_right, not_a_number), .beside = true},    {ROW("mpi-error", plan_right, mpi_error)},
    {ROW("out-of-memory", plan_out_of_memory, start_right)},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);
