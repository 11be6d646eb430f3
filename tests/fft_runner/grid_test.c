/* Prints the grid of a plan: grid_test NX NY NZ TYPE DECOMPOSITION R C [TORUS NODE...], a node for each rank, such as "1 2". */
#include <mpi.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, R = -1, C = -1;
    pencilfft_desc desc;
    pencilfft_plan plan;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 8)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    pencilfft_desc_init(&desc);
    desc.nx = atoll(argv[1]), desc.ny = atoll(argv[2]), desc.nz = atoll(argv[3]);
    desc.type = argv[4], desc.decomposition = argv[5], desc.rigor = "estimate";
    desc.R = atoi(argv[6]), desc.C = atoi(argv[7]);
    if (argc > 8) {
        desc.torus = argv[8];
        desc.node = argv[9 + rank];
    }
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (!status)
        status = pencilfft_grid(plan, &R, &C);
    if (!rank && status)
        printf("%s\n", pencilfft_error_message());
    else if (!rank)
        printf("%dx%d\n", R, C);
    pencilfft_plan_destroy(plan);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
