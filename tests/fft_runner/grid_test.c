/* The grid that the library chooses: grid_test FILE [RANKS_OF_A_NODE] prints the grid, or the error message, of the plan of
 * each line: NX NY NZ TYPE DECOMPOSITION R C, and perhaps TORUS and a node for each rank, such as 1,2. */
#include "driver.h"

enum { LINE = 4096, WORDS = 64, NODE = 64 };
static int ranks_of_a_node; /* 0: ask the machine */

/* In place of MPI's own. */
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *node)
{
    int me;
    if (!ranks_of_a_node)
        return PMPI_Comm_split_type(comm, type, key, info, node);
    PMPI_Comm_rank(comm, &me);
    return PMPI_Comm_split(comm, me / ranks_of_a_node, key, node);
}

static void print_grid(int words, char *word[WORDS])
{
    char node[NODE] = "";
    pencilfft_plan plan;
    pencilfft_desc desc = described(atoll(word[0]), atoll(word[1]), atoll(word[2]));
    int rows = -1, columns = -1;
    desc.type = word[3], desc.decomposition = word[4];
    desc.R = atoi(word[5]), desc.C = atoi(word[6]);
    if (words > 8 + rank) {
        snprintf(node, sizeof node, "%s", word[8 + rank]);
        for (char *at = node; (at = strchr(at, ',')); at++)
            *at = ' ';
        desc.torus = word[7], desc.node = node;
    }
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (!status)
        status = pencilfft_grid(plan, &rows, &columns);
    if (!rank && status)
        printf("%s\n", pencilfft_error_message());
    else if (!rank)
        printf("%dx%d\n", rows, columns);
    pencilfft_plan_destroy(plan);
}

static void print_grids(const char *path)
{
    char line[LINE], *word[WORDS];
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        int words = 0;
        for (char *at = strtok(line, " \n"); at && words < WORDS; at = strtok(NULL, " \n"))
            word[words++] = at;
        if (words >= 7)
            print_grid(words, word);
    }
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    ranks_of_a_node = argc > 2 ? atoi(argv[2]) : 0;
    print_grids(argc > 1 ? argv[1] : "");
    MPI_Finalize();
    return check_failures > 0;
}
