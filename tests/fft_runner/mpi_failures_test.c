/* A call of MPI that fails on one rank: the library must report the failure there, and the caller ends all ranks.
 *     mpi_failures_test R C EXCHANGE SCHEDULE                the calls and their numbers, on the first and the last rank;
 *                                                            printed after every success
 *     mpi_failures_test R C EXCHANGE SCHEDULE RANK CALL AT   the AT-th CALL on that RANK fails
 * EXCHANGE halo is a halo instead of transforms, line-ALGORITHM is distributed lines instead of a plan for arrays,
 * bricks-ALGORITHM bricks of such lines. */
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_mpi.h"
#include "pencilfft_line.h"
#include "runner/check_mpi.h"

static int rank;

/* As documented in pencilfft.h: after a failure of MPI, and of execute, call MPI_Abort. */
static void need(int status, const char *during)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "mpi_failures_test: rank %d, %s: %s (status %d)\n", rank, during, pencilfft_error_message(), status);
    await_launcher();
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void use(pencilfft_plan plan)
{
    static const pencilfft_direction directions[] = {PENCILFFT_FORWARD, PENCILFFT_BACKWARD};
    void *in, *out, *other;
    int parts;
    need(pencilfft_alloc(plan, &in), "alloc");
    need(pencilfft_alloc(plan, &out), "alloc");
    need(pencilfft_alloc(plan, &other), "alloc");
    need(pencilfft_parts(plan, PENCILFFT_OUTPUT, &parts), "parts");
    need(pencilfft_execute_pair(plan, in, out, other, other), "execute_pair");
    for (int i = 0; i < 2; i++) {
        need(pencilfft_execute(plan, directions[i], in, out), "execute");
        if (parts > 1)
            continue;
        need(pencilfft_transpose(plan, PENCILFFT_ROW, directions[i], in, out), "transpose");
        need(pencilfft_transpose(plan, PENCILFFT_COLUMN, directions[i], in, out), "transpose");
    }
}

static void use_halo(pencilfft_plan plan)
{
    static double complex array[2 * 8 * 8 * 8], padded[2 * 10 * 10 * 10];
    const int64_t one[3] = {1, 1, 1};
    pencilfft_halo halo;
    need(pencilfft_halo_create(plan, PENCILFFT_INPUT, one, one, &halo), "halo");
    need(pencilfft_halo_exchange(halo, array, padded), "halo_exchange");
    need(pencilfft_halo_accumulate(halo, padded, NULL), "halo_accumulate");
    failing_mpi_stop();
    need(pencilfft_halo_destroy(halo), "halo_destroy");
}

/* Both ways, of a prime if the algorithm allows: on three ranks a chirp, and a gathered line. */
static void use_lines(const char *algorithm)
{
    static double complex in[128], out[128];
    pencilfft_line_desc desc;
    pencilfft_line_plan plan;
    pencilfft_line_desc_init(&desc);
    desc.n = strncmp(algorithm, "binary", 6) ? 31 : 36;
    desc.lines = 2;
    desc.algorithm = algorithm;
    desc.rigor = "estimate";
    desc.sync = "barrier";
    need(pencilfft_line_create(&desc, MPI_COMM_WORLD, &plan), "line plan");
    need(pencilfft_line_execute(plan, PENCILFFT_FORWARD, in, out), "line_execute");
    need(pencilfft_line_execute(plan, PENCILFFT_BACKWARD, out, in), "line_execute");
    failing_mpi_stop();
    need(pencilfft_line_destroy(plan), "line_destroy");
}

/* Both ways; x and z lie on several ranks if there are several. */
static void use_bricks(const char *algorithm, int R, int C)
{
    static double complex in[512], out[512];
    pencilfft_brick_lines_desc desc;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(&desc);
    desc.nx = 6;
    desc.ny = 5;
    desc.nz = 12;
    desc.bricks[0] = R, desc.bricks[1] = 1, desc.bricks[2] = C;
    desc.algorithm = algorithm;
    desc.rigor = "estimate";
    desc.sync = "barrier";
    need(pencilfft_brick_lines_create(&desc, MPI_COMM_WORLD, &plan), "bricks of lines");
    need(pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, in, out), "brick_lines_execute");
    need(pencilfft_brick_lines_execute(plan, PENCILFFT_BACKWARD, out, in), "brick_lines_execute");
    failing_mpi_stop();
    need(pencilfft_brick_lines_destroy(plan), "brick_lines_destroy");
}

static void use_arrays(pencilfft_desc *desc, bool halo)
{
    pencilfft_plan plan;
    need(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan), "plan");
    if (halo)
        use_halo(plan);
    else
        use(plan);
    failing_mpi_stop();
    need(pencilfft_plan_destroy(plan), "destroy");
}

static void print_calls(void)
{
    long times;
    const char *name;
    for (int i = 0; (name = failing_mpi_called(i, &times)); i++)
        printf("rank %d called %s %ld times\n", rank, name, times);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5 && argc != 8) {
        fprintf(stderr, "mpi_failures_test R C EXCHANGE SCHEDULE [RANK CALL AT]\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 8;
    desc.R = atoi(argv[1]), desc.C = atoi(argv[2]);
    bool halo = !strcmp(argv[3], "halo");
    desc.exchange = halo ? "alltoallv" : argv[3], desc.schedule = argv[4];
    desc.fields = 2;
    desc.rigor = "estimate";
    desc.sync = "barrier";
    int fail = argc == 8 && rank == atoi(argv[5]);
    failing_mpi_start(fail ? argv[6] : NULL, fail ? atol(argv[7]) : 0);
    if (!strncmp(argv[3], "line-", 5))
        use_lines(argv[3] + 5);
    else if (!strncmp(argv[3], "bricks-", 7))
        use_bricks(argv[3] + 7, desc.R, desc.C);
    else
        use_arrays(&desc, halo);
    if (rank == 0 || rank == ranks - 1)
        print_calls();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
