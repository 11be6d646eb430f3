/* Prints a plan of rank 0; test_print.py compares the output with the stored text. Run under mpirun: print_test
 * DECOMPOSITION R C NX NY NZ TYPE EXCHANGE [SCHEDULE [LAYOUT]]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pencilfft.h"

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan plan = NULL;
    const char *text;
    int rank, status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    if (argc < 9 || argc > 11)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    desc.decomposition = argv[1];
    desc.R = atoi(argv[2]), desc.C = atoi(argv[3]);
    desc.nx = atoi(argv[4]), desc.ny = atoi(argv[5]), desc.nz = atoi(argv[6]);
    desc.type = argv[7];
    desc.exchange = argv[8];
    desc.schedule = argv[9]; /* or NULL */
    if (argc > 10)
        desc.layout = argv[10];
    desc.rigor = "estimate"; /* the clock decides nothing */
    status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (!status && rank == 0)
        status = pencilfft_plan_print(plan, stdout);
    if (!status)
        status = pencilfft_plan_text(plan, &text);
    if (!status && rank == 0)
        printf("%zu\n", strlen(text));
    if (status)
        fprintf(stderr, "%s\n", pencilfft_error_message());
    pencilfft_plan_destroy(plan);
    MPI_Finalize();
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
