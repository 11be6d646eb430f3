/* Prints the grid of plans: grid_test FILE [RANKS_OF_A_NODE], where each line is NX NY NZ TYPE DECOMPOSITION R C, and
 * perhaps TORUS and a node for each rank, such as 1,2: a grid or an error message for each. Nodes are the machine's, or of
 * RANKS_OF_A_NODE ranks. */
#include <mpi.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, WORDS = 64, NODE = 64 };
static int ranks_of_a_node; /* 0: ask the machine */

/* In place of MPI's own. */
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    int rank;
    if (!ranks_of_a_node)
        return PMPI_Comm_split_type(comm, type, key, info, made);
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank / ranks_of_a_node, key, made);
}

static void print_grid(int rank, int words, char *word[WORDS])
{
    int R = -1, C = -1;
    char node[NODE] = "";
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_desc_init(&desc);
    desc.nx = atoll(word[0]), desc.ny = atoll(word[1]), desc.nz = atoll(word[2]);
    desc.type = word[3], desc.decomposition = word[4], desc.rigor = "estimate";
    desc.R = atoi(word[5]), desc.C = atoi(word[6]);
    if (words > 8 + rank) {
        snprintf(node, sizeof node, "%s", word[8 + rank]);
        for (char *at = node; (at = strchr(at, ',')); at++)
            *at = ' ';
        desc.torus = word[7];
        desc.node = node;
    }
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (!status)
        status = pencilfft_grid(plan, &R, &C);
    if (!rank && status)
        printf("%s\n", pencilfft_error_message());
    else if (!rank)
        printf("%dx%d\n", R, C);
    pencilfft_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    int rank;
    char line[LINE], *word[WORDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    ranks_of_a_node = argc > 2 ? atoi(argv[2]) : 0;
    if (!file) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, file)) {
        int words = 0;
        for (char *at = strtok(line, " \n"); at && words < WORDS; at = strtok(NULL, " \n"))
            word[words++] = at;
        if (words >= 7)
            print_grid(rank, words, word);
    }
    fclose(file);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
