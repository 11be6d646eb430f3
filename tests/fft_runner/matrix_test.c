/* Every transform x precision x layout x exchange x extents x grid of as many ranks as there are, forward and backward, in
 * place and out of place, by the runner's verification: moved data exactly, a serial FFTW, direct sums.
 *
 *     mpirun -n 6 matrix_test [--pairs | --share M] [--without EXCHANGE] [--repeat N] [--list] [WORDS]
 *     matrix_test --names      all choices and their values, most of them asked of the library
 *
 * Idea:   the whole product, in an order that is shuffled but always the same, or a part: --pairs takes a case if it has two
 *         values that have not met before in its decomposition, which crosses every two choices; --share the first M-th.
 *         Cases that must be refused are included and must be refused as documented. WORDS choose cases by the words of
 *         their names, which are printed after a failure, and with --list before each case, should one crash.
 * Source: pairwise covering: Cohen, Dalal, Fredman, Patton, The AETG system, IEEE Trans. Softw. Eng. 23 (1997), 437. */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_mpi.h"
#include "matrix_cases.h"
#include "runner.h"
#include "values.h"

static struct {
    bool pairs;
    int share, repeat;
} options = {.share = 1, .repeat = 1};

static struct plan_check check;

/* ---- coverage: pairs of values of two choices, and transforms verified with each value ---------------------------- */

enum { MOST_VALUES = 32, MOST_DECOMPOSITIONS = 4 };

/* By refused or not, and by decomposition. */
static bool noted[2][MOST_DECOMPOSITIONS][N_CHOICES][N_CHOICES][MOST_VALUES][MOST_VALUES];
static int transforms[N_CHOICES][MOST_VALUES];

/* Note the pairs of a case, separately for planned and refused cases; returns the number of new pairs. */
static int note_pairs(const struct matrix_case *c, bool refused)
{
    int new_ones = 0;
    for (int a = 0; a < N_CHOICES; a++)
        for (int b = a + 1; b < N_CHOICES; b++) {
            if (c->value[a] == NOT_CHOSEN || c->value[b] == NOT_CHOSEN)
                continue;
            bool *pair = &noted[refused][c->value[DECOMPOSITION]][a][b][c->value[a]][c->value[b]];
            new_ones += !*pair;
            *pair = true;
        }
    return new_ones;
}

static void count_transforms(const struct matrix_case *c, int n)
{
    for (int choice = 0; choice < N_CHOICES; choice++)
        if (c->value[choice] != NOT_CHOSEN)
            transforms[choice][c->value[choice]] += n;
}

/* A line for each choice: all values, or the verified ones, each with its number of transforms. */
static void print_values(bool verified)
{
    const char *value;
    for (int choice = 0; choice < N_CHOICES; choice++) {
        printf("%s:", matrix_choice_name(choice));
        for (int i = 0; (value = matrix_value_name(choice, i)); i++)
            if (!verified)
                printf(" %s", value);
            else if (transforms[choice][i])
                printf(" %s=%d", value, transforms[choice][i]);
        printf("\n");
    }
}

/* ---- the walk ----------------------------------------------------------------------------------------------------- */

static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; (at = strstr(at, word)); at++)
        if ((at == name || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool is_chosen(const struct matrix_case *c)
{
    for (char **word = check.words; *word; word++)
        if (!plan_check_names_a_variant(*word) && !has_word(c->plan.name, *word))
            return false;
    return true;
}

/* All numbers below n, shuffled (Fisher and Yates), on every rank alike. */
static int *shuffled(int n)
{
    int *numbers = malloc((size_t)n * sizeof *numbers);
    if (!numbers) {
        pf_fail(PF_REFUSED, "no memory for %d cases", n);
        abort_with_message();
    }
    for (int i = 0; i < n; i++) {
        int j = (int)(value_hash((uint64_t)i) % (uint64_t)(i + 1));
        numbers[i] = numbers[j];
        numbers[j] = i;
    }
    return numbers;
}

static void check_one(const struct matrix_case *c)
{
    int before = check.transforms;
    plan_check_run(&check, &c->plan);
    count_transforms(c, check.transforms - before);
}

/* All ranks of all sizes walk alike, so that pairs are crossed once and not once for every number of ranks. */
static void walk(void)
{
    int *numbers = shuffled(matrix_size());
    for (int i = 0; i < matrix_size() / options.share && check_failures < MOST_FAILURES; i++) {
        struct matrix_case c;
        matrix_case_make(numbers[i], &c);
        if (!is_chosen(&c))
            continue;
        const pencilfft_desc *desc = &c.plan.desc;
        int new_pairs = note_pairs(&c, plan_must_be_refused(desc, check.absent));
        if (desc->R * desc->C != check.ranks || (options.pairs && !new_pairs))
            continue;
        for (int again = 0; again < options.repeat; again++)
            check_one(&c);
    }
    free(numbers);
}

static void take_options(int argc, char **argv)
{
    static const struct option table[] = {{"pairs", no_argument, NULL, 'p'},
                                          {"share", required_argument, NULL, 's'},
                                          {"without", required_argument, NULL, 'w'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"list", no_argument, NULL, 'l'},
                                          {0}};
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;)
        switch (code) {
        case 'p': options.pairs = true; break;
        case 's': options.share = atoi(optarg); break;
        case 'w': check.absent = optarg; break;
        case 'l': check.list = true; break;
        case 'r': options.repeat = atoi(optarg); break;
        default: MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    check.words = argv + optind;
}

int main(int argc, char **argv)
{
    int level;
    if (argc == 2 && !strcmp(argv[1], "--names")) {
        print_values(false);
        return EXIT_SUCCESS;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    take_options(argc, argv);
    plan_check_begin(&check);
    walk();
    if (check.rank == 0)
        print_values(true);
    int status = plan_check_end(&check);
    MPI_Finalize();
    return status;
}
