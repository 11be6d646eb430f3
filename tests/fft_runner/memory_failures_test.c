/* Memory that runs out, and planners of FFTW that give nothing, on one rank: when exchange "auto" tries the others, and when
 * wisdom is read and written. All ranks must get the same status, must not wait for each other, and keep what they had.
 * Run under mpirun with the grid and a file for wisdom: memory_failures_test R C FILE. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "failing_memory.h"
#include "pencilfft.h"

enum { MOST_TRIES = 5000 };
static int R, C, rank, ranks;
static const char *file;

static int same_on_all(int value)
{
    int both[2] = {value, -value}, largest[2];
    MPI_Allreduce(both, largest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] == -largest[1];
}

static int make_plan(const char *exchange, const char *type)
{
    pencilfft_desc desc;
    pencilfft_plan plan = NULL;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 8;
    desc.R = R, desc.C = C;
    desc.type = type;
    desc.exchange = exchange;
    desc.rigor = "estimate";
    desc.auto_budget_s = 0;
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    CHECK((status == PENCILFFT_OK) == (plan != NULL));
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    return status;
}

static int plan_by_auto(void)
{
    pencilfft_wisdom_forget();
    return make_plan("auto", "c2c");
}

static int plan_real(void)
{
    return make_plan("alltoallv", "r2c");
}

static int plan_cosines(void)
{
    return make_plan("alltoallv", "dct");
}

static int save(void)
{
    return pencilfft_wisdom_save(file, MPI_COMM_WORLD);
}

static int load(void)
{
    int found = 0, status = pencilfft_wisdom_load(file, MPI_COMM_WORLD, &found);
    CHECK(status || found);
    return status;
}

/* Whatever happened, a whole file is there. */
static int file_is_whole(void)
{
    int found = 0;
    return pencilfft_wisdom_load(file, MPI_COMM_WORLD, &found) == PENCILFFT_OK && found;
}

/* Fails call after call on one rank until none is left to fail. */
static void fails_anywhere(const char *what, int (*act)(void), int failing)
{
    int more = 1, failed = 0, tries = 0;
    for (; more && tries < MOST_TRIES && !check_failures; tries++) {
        failing_memory_after(rank == failing ? tries : -1);
        int status = act();
        more = rank == failing && failing_memory_left() < 0;
        failing_memory_after(-1);
        MPI_Bcast(&more, 1, MPI_INT, failing, MPI_COMM_WORLD);
        CHECK(same_on_all(status));
        CHECK(status == PENCILFFT_OK || status == PENCILFFT_NO_MEMORY || status == PENCILFFT_FFTW_ERROR);
        failed += status != PENCILFFT_OK;
    }
    CHECK(tries > 1 && tries < MOST_TRIES && failed > 0);
    if (rank == 0)
        printf("%s: %d of %d calls failed it on rank %d\n", what, failed, tries - 1, failing);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    R = argc > 3 ? atoi(argv[1]) : ranks;
    C = argc > 3 ? atoi(argv[2]) : 1;
    file = argc > 3 ? argv[3] : "wisdom";
    for (int failing = 0; failing < ranks; failing += ranks > 1 ? ranks - 1 : 1) {
        fails_anywhere("auto", plan_by_auto, failing);
        fails_anywhere("r2c", plan_real, failing);
        fails_anywhere("dct", plan_cosines, failing);
    }
    CHECK_INT(plan_by_auto(), PENCILFFT_OK); /* something to keep */
    CHECK_INT(save(), PENCILFFT_OK);
    fails_anywhere("save", save, 0); /* the last rank only gives what FFTW wrote for it */
    CHECK(file_is_whole());
    fails_anywhere("load", load, 0);
    fails_anywhere("load", load, ranks - 1);
    CHECK(file_is_whole());
    MPI_Finalize();
    return check_result();
}
