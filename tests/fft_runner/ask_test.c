/* What the library answers, for tests in Python:
 *     ask_test layout                     the structures that C shares with Fortran and Python, a line for each, size and
 *                                         offsets in bytes; and the values of the shared names
 *     ask_test grid FILE [RANKS_OF_A_NODE]  the grid, or the error message, of the plan of each line: NX NY NZ TYPE
 *                                         DECOMPOSITION R C, and perhaps TORUS and a node for each rank, such as 1,2 */
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

#define SIZE(structure) printf("\n" #structure " %zu", sizeof(structure))
#define AT(structure, member) printf(" %zu", offsetof(structure, member))

static void print_numbers(const char *name, const int *numbers) /* up to -100 */
{
    for (printf("\n%s", name); *numbers != -100; numbers++)
        printf(" %d", *numbers);
}
#define NUMBERS(name, ...) print_numbers(name, (const int[]){__VA_ARGS__, -100})

static void print_layout(void)
{
    SIZE(pencilfft_box), AT(pencilfft_box, offset), AT(pencilfft_box, extent), AT(pencilfft_box, stride);
    SIZE(pencilfft_grid_trial), AT(pencilfft_grid_trial, R), AT(pencilfft_grid_trial, C), AT(pencilfft_grid_trial, runs);
    AT(pencilfft_grid_trial, least), AT(pencilfft_grid_trial, median), AT(pencilfft_grid_trial, spread);
    SIZE(pencilfft_part), AT(pencilfft_part, box), AT(pencilfft_part, start), AT(pencilfft_part, first_field);
    AT(pencilfft_part, fields), AT(pencilfft_part, field_stride);
    SIZE(pencilfft_format), AT(pencilfft_format, element_bytes), AT(pencilfft_format, real_bytes);
    AT(pencilfft_format, is_complex), AT(pencilfft_format, fields), AT(pencilfft_format, field_stride);
    AT(pencilfft_format, n);
    SIZE(pencilfft_line), AT(pencilfft_line, kind), AT(pencilfft_line, number), AT(pencilfft_line, n);
    AT(pencilfft_line, points);
    SIZE(pencilfft_walk), AT(pencilfft_walk, at), AT(pencilfft_walk, index), AT(pencilfft_walk, waves);
    AT(pencilfft_walk, field);
    NUMBERS("kind", PENCILFFT_FFT, PENCILFFT_PACK, PENCILFFT_EXCHANGE, PENCILFFT_UNPACK, PENCILFFT_TOTAL, PENCILFFT_WAIT,
            PENCILFFT_HIDDEN);
    NUMBERS("line_kind", PENCILFFT_LINE_NONE, PENCILFFT_LINE_DFT, PENCILFFT_LINE_R2C, PENCILFFT_LINE_COSINE,
            PENCILFFT_LINE_SINE);
    NUMBERS("status", PENCILFFT_OK, PENCILFFT_BAD_CALL, PENCILFFT_BAD_SIZE, PENCILFFT_BAD_GRID, PENCILFFT_UNKNOWN_NAME,
            PENCILFFT_MISMATCH, PENCILFFT_TOO_LARGE, PENCILFFT_NO_MEMORY, PENCILFFT_FFTW_ERROR, PENCILFFT_MPI_ERROR,
            PENCILFFT_NOT_POSSIBLE);
    NUMBERS("norm", PENCILFFT_NORM_NONE, PENCILFFT_NORM_N, PENCILFFT_NORM_SQRT_N);
    NUMBERS("direction", PENCILFFT_FORWARD, PENCILFFT_BACKWARD);
    NUMBERS("pencil", PENCILFFT_Z_PENCIL, PENCILFFT_Y_PENCIL, PENCILFFT_X_PENCIL, PENCILFFT_INPUT, PENCILFFT_OUTPUT,
            PENCILFFT_INNER_INPUT, PENCILFFT_INNER_OUTPUT, PENCILFFT_BEFORE);
    NUMBERS("exchange", PENCILFFT_ROW, PENCILFFT_COLUMN, PENCILFFT_REMAP_IN, PENCILFFT_REMAP_OUT);
    NUMBERS("most", PENCILFFT_MAX_EXCHANGES, PENCILFFT_MAX_PHASES);
    printf("\n");
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
    if (argc == 2 && !strcmp(argv[1], "layout")) {
        print_layout();
        return EXIT_SUCCESS;
    }
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    ranks_of_a_node = argc > 3 ? atoi(argv[3]) : 0;
    if (argc > 2 && !strcmp(argv[1], "grid"))
        print_grids(argv[2]);
    MPI_Finalize();
    return check_failures > 0;
}
