/* Plans at random, each with the checks of the matrix (plan_check.h).
 *
 *     mpirun -n 6 fuzz_test [--seed S] [--plans N] [--first I] [--without EXCHANGE] [--list]
 *     mpirun -n 6 fuzz_test [--without EXCHANGE] WORDS
 *
 * Idea:   plans I to I + N - 1 of seed S, which are always the same. A failure prints a command that checks this plan again:
 *         its members as words; change the words to find the relevant members. --list prints each plan before its run,
 *         should one crash. */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan_draw.h"
#include "runner.h"

static struct {
    uint64_t seed;
    int64_t plans, first;
} options = {.seed = 1, .plans = 100};

static struct plan_check check;

static void take_options(int argc, char **argv)
{
    static const struct option table[] = {{"seed", required_argument, NULL, 's'},  {"plans", required_argument, NULL, 'n'},
                                          {"first", required_argument, NULL, 'f'}, {"without", required_argument, NULL, 'w'},
                                          {"list", no_argument, NULL, 'l'},        {0}};
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;)
        switch (code) {
        case 's': options.seed = strtoull(optarg, NULL, 10); break;
        case 'n': options.plans = atoll(optarg); break;
        case 'f': options.first = atoll(optarg); break;
        case 'w': check.absent = optarg; break;
        case 'l': check.list = true; break;
        default: MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    check.words = argv + optind;
}

/* The name of a plan becomes the command for this plan alone. */
static void run(struct drawn_plan *drawn)
{
    char words[CASE_NAME_SIZE];
    strcpy(words, drawn->plan.name);
    snprintf(drawn->plan.name, sizeof drawn->plan.name, "mpirun -n %d fuzz_test%s%s %.*s", check.ranks,
             check.absent ? " --without " : "", check.absent ? check.absent : "", CASE_NAME_SIZE - 80, words);
    plan_check_run(&check, &drawn->plan);
}

static void run_seed(void)
{
    if (check.rank == 0)
        printf("seed %llu, plans %lld to %lld\n", (unsigned long long)options.seed, (long long)options.first,
               (long long)(options.first + options.plans - 1));
    for (int64_t i = 0; i < options.plans && check_failures < MOST_FAILURES; i++) {
        struct drawn_plan drawn;
        plan_draw(options.seed, options.first + i, &check, &drawn);
        run(&drawn);
    }
}

int main(int argc, char **argv)
{
    struct drawn_plan drawn;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    take_options(argc, argv);
    plan_check_begin(&check);
    if (!*check.words)
        run_seed();
    else if (plan_from_words(check.words, check.rank, &drawn))
        run(&drawn);
    else if (check.rank == 0)
        printf("FAILED: these words are not a plan; give member=value of pencilfft_desc, pieces=tiny, forward, in-place\n");
    int status = plan_check_end(&check);
    MPI_Finalize();
    return status;
}
