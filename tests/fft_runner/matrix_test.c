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
#include "matrix_coverage.h"
#include "plan_check.h"
#include "plan_refusals.h"
#include "runner.h"
#include "values.h"

static struct {
    bool pairs;
    int share, repeat;
} options = {.share = 1, .repeat = 1};

static struct plan_check check;

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
    coverage_count_transforms(c, check.transforms - before);
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
        int new_pairs = coverage_note_pairs(&c, plan_must_be_refused(desc, check.absent));
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
        names_print();
        return EXIT_SUCCESS;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    take_options(argc, argv);
    plan_check_begin(&check);
    walk();
    if (check.rank == 0)
        coverage_print();
    int status = plan_check_end(&check);
    MPI_Finalize();
    return status;
}
