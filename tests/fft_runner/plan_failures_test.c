/* Plans that cannot be made: memory that runs out at any place on one rank, and ranks that ask for different things.
 * All ranks must get the same status and message, no plan, and must not wait for each other.
 * Run under mpirun with the grid: plan_failures_test R C. Linked so that the library's calls of malloc, calloc and
 * aligned_alloc come here; those of MPI and FFTW do not. */
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "pencilfft.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static int R, C, rank, ranks;
static long countdown = -1; /* the allocation that fails; -1: none */

static int fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, bytes);
}

static pencilfft_desc description(const char *exchange)
{
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 12;
    desc.R = R;
    desc.C = C;
    desc.exchange = exchange;
    desc.rigor = "estimate";
    desc.auto_budget_s = 0;
    return desc;
}

static int same_on_all(int value)
{
    int both[2] = {value, -value}, largest[2];
    MPI_Allreduce(both, largest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] == -largest[1];
}

static int message_number(void)
{
    int number = 0;
    for (const char *at = pencilfft_error_message(); *at; at++)
        number = (number * 31 + *at) & 0xffffff;
    return number;
}

/* Fails allocation after allocation of the last rank, until a plan is made. */
static void memory_runs_out_anywhere(const char *exchange)
{
    pencilfft_desc desc = description(exchange);
    int status = PENCILFFT_NO_MEMORY, tries = 0;
    for (; status && tries < 2000 && !check_failures; tries++) {
        pencilfft_plan plan = NULL;
        countdown = rank == ranks - 1 ? tries : -1;
        status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
        long unused = countdown;
        countdown = -1;
        CHECK(same_on_all(status));
        CHECK(status == PENCILFFT_OK || (plan == NULL && same_on_all(message_number())));
        CHECK(status == PENCILFFT_OK || status == PENCILFFT_NO_MEMORY || status == PENCILFFT_NOT_POSSIBLE ||
              status == PENCILFFT_FFTW_ERROR);
        if (status == PENCILFFT_OK)
            CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
        else if (rank == ranks - 1 && unused >= 0) /* it failed for another reason */
            break;
        int end = status == PENCILFFT_NOT_POSSIBLE;
        MPI_Bcast(&end, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
        if (end)
            break;
    }
    if (rank == 0)
        printf("%s: %d allocations failed\n", exchange, tries - 1);
    CHECK(tries > 1 && tries < 2000);
}

static void expect_mismatch(const pencilfft_desc *desc)
{
    pencilfft_plan plan = NULL;
    CHECK_INT(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan), PENCILFFT_MISMATCH);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), "different descriptors");
}

static void ranks_that_differ_get_no_plan(void)
{
    int last = rank == ranks - 1;
    pencilfft_desc desc = description(last ? "p2p" : "alltoallv");
    expect_mismatch(&desc);
    desc = description("alltoallv");
    desc.precision = last ? "single" : "double";
    expect_mismatch(&desc);
    desc = description("alltoallv");
    desc.type = last ? "r2c" : "c2c";
    expect_mismatch(&desc);
    desc = description("alltoallv");
    desc.fields = 1 + last;
    expect_mismatch(&desc);
    desc = description("alltoallv");
    desc.layout = last ? "natural" : "stride1";
    expect_mismatch(&desc);
    desc = description("alltoallv");
    desc.nz += last;
    expect_mismatch(&desc);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    R = argc > 2 ? atoi(argv[1]) : ranks;
    C = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; pencilfft_exchange_name(i); i++)
        if (strcmp(pencilfft_exchange_name(i), "auto")) /* which goes on without a candidate that fails */
            memory_runs_out_anywhere(pencilfft_exchange_name(i));
    if (ranks > 1)
        ranks_that_differ_get_no_plan();
    MPI_Finalize();
    return check_result();
}
