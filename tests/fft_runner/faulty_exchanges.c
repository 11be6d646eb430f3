/* Exchanges that err, to prove that the runner sees it. This table takes the place of src/exchange/exchange_table.c. */
#include <complex.h>
#include <math.h>

#include "common/failure.h"
#include "exchange/exchange.h"
#include "exchange/exchange_alltoallv.h"

/* The check of moved data runs both exchanges once; faults that come later are left to the numerical checks. */
enum { MOVED_DATA_RUNS = 2 };
static int runs;

static int run_swapped(void *state, const struct pf_run *run, void *from, void *to)
{
    double complex *data = to;
    int status = pf_alltoallv_run(state, run, from, to);
    double complex first = data[0];
    data[0] = data[1];
    data[1] = first;
    return status;
}

static int run_forgetful(void *state, const struct pf_run *run, void *from, void *to)
{
    double complex kept = *(double complex *)to;
    int status = pf_alltoallv_run(state, run, from, to);
    *(double complex *)to = kept;
    return status;
}

/* A few values a little too large; turning spreads them over the result. */
static int run_scaled(void *state, const struct pf_run *run, void *from, void *to)
{
    double complex *data = to;
    int status = pf_alltoallv_run(state, run, from, to);
    if (++runs > MOVED_DATA_RUNS)
        for (int i = 0; i < 8; i++)
            data[i] *= 1 + 1e-9;
    return status;
}

static int run_nan(void *state, const struct pf_run *run, void *from, void *to)
{
    int status = pf_alltoallv_run(state, run, from, to);
    if (++runs > MOVED_DATA_RUNS)
        *(double complex *)to = NAN;
    return status;
}

/* MPI refuses a negative count on one rank, while the others wait for it. */
static int run_mpi_error(void *state, const struct pf_run *run, void *from, void *to)
{
    int rank, status = PENCILFFT_OK;
    (void)state, (void)from;
    PF_MPI(MPI_Comm_rank(run->all, &rank));
    PF_MPI(MPI_Bcast(to, rank == 1 ? -1 : 1, MPI_INT, 0, run->all));
    PF_MPI(MPI_Barrier(run->all));
done:
    return status;
}

static int plan_out_of_memory(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                              void **state)
{
    *state = NULL;
    return transpose->me == 1 ? pf_fail(PENCILFFT_NO_MEMORY, "no memory on purpose")
                              : pf_alltoallv_plan(transpose, sent, received, state);
}

static const struct pf_exchange rows[] = {
    {"right", pf_alltoallv_plan, pf_alltoallv_run, pf_alltoallv_destroy},
    {"swapped", pf_alltoallv_plan, run_swapped, pf_alltoallv_destroy},
    {"forgetful", pf_alltoallv_plan, run_forgetful, pf_alltoallv_destroy},
    {"scaled", pf_alltoallv_plan, run_scaled, pf_alltoallv_destroy},
    {"nan", pf_alltoallv_plan, run_nan, pf_alltoallv_destroy},
    {"mpi-error", pf_alltoallv_plan, run_mpi_error, pf_alltoallv_destroy},
    {"out-of-memory", plan_out_of_memory, pf_alltoallv_run, pf_alltoallv_destroy},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);
