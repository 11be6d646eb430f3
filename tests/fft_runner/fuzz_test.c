/* Plans at random, each with the checks of plan_check.h.
 *
 *     mpirun -n 6 fuzz_test [--seed S] [--plans N] [--first I] [--pairs] [--only WORD]... [--without EXCHANGE] [--list]
 *     mpirun -n 6 fuzz_test [--without EXCHANGE] WORDS [/ WORDS]...
 *
 * Idea:   plans I to I + N - 1 of seed S, which are always the same. A failure prints a command that checks this plan again:
 *         its members as words; change the words to find the relevant members. --list prints each plan before its run,
 *         should one crash. --pairs takes a plan if two of its words have not met before, which crosses every two choices;
 *         --only takes the plans that have this word.
 * Source: pairwise covering: Cohen, Dalal, Fredman, Patton, The AETG system, IEEE Trans. Softw. Eng. 23 (1997), 437. */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan_draw.h"
#include "runner.h"

enum { MOST_WORDS = 256, WORDS_OF_PLAN = 32, MOST_ONLY = 4 };

static struct {
    uint64_t seed;
    int64_t plans, first;
    bool pairs;
    const char *only[MOST_ONLY + 1];
} options = {.seed = 1, .plans = 100};

static struct plan_check check;

static void take_options(int argc, char **argv)
{
    static const struct option table[] = {{"seed", required_argument, NULL, 's'},    {"plans", required_argument, NULL, 'n'},
                                          {"first", required_argument, NULL, 'f'},   {"pairs", no_argument, NULL, 'p'},
                                          {"only", required_argument, NULL, 'o'},    {"list", no_argument, NULL, 'l'},
                                          {"without", required_argument, NULL, 'w'}, {0}};
    int only = 0;
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;)
        switch (code) {
        case 's': options.seed = strtoull(optarg, NULL, 10); break;
        case 'n': options.plans = atoll(optarg); break;
        case 'f': options.first = atoll(optarg); break;
        case 'p': options.pairs = true; break;
        case 'o': options.only[only < MOST_ONLY ? only++ : 0] = optarg; break;
        case 'w': check.absent = optarg; break;
        case 'l': check.list = true; break;
        default: MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    check.words = argv + optind;
}

/* ---- words that have met in a plan -------------------------------------------------------------------------------- */

static char words[MOST_WORDS][PLAN_TEXT_SIZE];
static int transforms[MOST_WORDS];
static bool met[MOST_WORDS][MOST_WORDS];

/* Of the word up to a colon. */
static int number_of(const char *word, int length)
{
    int i = 0;
    while (words[i][0] && ((int)strlen(words[i]) != length || strncmp(words[i], word, (size_t)length) != 0))
        i++;
    if (i >= MOST_WORDS - 1)
        abort();
    snprintf(words[i], sizeof words[i], "%.*s", length, word);
    return i;
}

/* The kinds of a type that lists them are words of their own: "x=dct1". Returns how many. */
static int find_kinds(const char *list, int found[WORDS_OF_PLAN])
{
    int n = 0;
    for (const char *at = list; n == 0 || *at++ == ','; at += strcspn(at, ", "), n++) {
        char word[PLAN_TEXT_SIZE];
        snprintf(word, sizeof word, "%c=%.*s", 'x' + n, (int)strcspn(at, ", "), at);
        found[n] = number_of(word, (int)strlen(word));
    }
    return n;
}

/* Words but those with any number; returns how many. */
static int find_words(const char *name, int found[WORDS_OF_PLAN])
{
    static const char *const numbers[] = {"nx=", "ny=", "nz=", "padded_n", "kinds=", "torus="};
    int n = 0;
    for (const char *at = name; *at && n < WORDS_OF_PLAN - 2; at += strcspn(at, " "), at += *at == ' ') {
        bool numeric = false;
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            numeric |= !strncmp(at, numbers[i], strlen(numbers[i]));
        if (!strncmp(at, "type=", 5) && at[strcspn(at, ", ")] == ',')
            n += find_kinds(at + 5, found + n);
        else if (!numeric)
            found[n++] = number_of(at, strncmp(at, "boxes=", 6) ? (int)strcspn(at, ": ") : 6); /* with any seed */
    }
    return n;
}

/* Whether two words meet here first; notes all. */
static bool meet_first(const int found[WORDS_OF_PLAN], int n)
{
    bool first = false;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            first |= !met[found[i]][found[k]];
            met[found[i]][found[k]] = true;
        }
    return first;
}

static bool is_wanted(const int found[WORDS_OF_PLAN], int n)
{
    for (const char *const *only = options.only; *only; only++) {
        bool has = false;
        for (int i = 0; i < n; i++)
            has |= !strcmp(words[found[i]], *only);
        if (!has)
            return false;
    }
    return true;
}

/* ---- runs --------------------------------------------------------------------------------------------------------- */

/* The name of a plan becomes the command for this plan alone. */
static void run(struct drawn_plan *drawn)
{
    char name[CASE_NAME_SIZE];
    strcpy(name, drawn->plan.name);
    snprintf(drawn->plan.name, sizeof drawn->plan.name, "mpirun -n %d fuzz_test%s%s %.*s", check.ranks,
             check.absent ? " --without " : "", check.absent ? check.absent : "", CASE_NAME_SIZE - 80, name);
    plan_check_run(&check, &drawn->plan);
}

static void run_seed(void)
{
    if (check.rank == 0)
        printf("seed %llu, plans %lld to %lld\n", (unsigned long long)options.seed, (long long)options.first,
               (long long)(options.first + options.plans - 1));
    for (int64_t i = 0; i < options.plans && check_failures < MOST_FAILURES; i++) {
        struct drawn_plan drawn;
        int found[WORDS_OF_PLAN], before = check.transforms;
        plan_draw(options.seed, options.first + i, &check, &drawn);
        int n = find_words(drawn.plan.name, found);
        bool fails = drawn.plan.desc.R && plan_must_be_refused(&drawn.plan.desc, check.absent);
        if (!is_wanted(found, n) || (options.pairs && !fails && !meet_first(found, n)))
            continue;
        run(&drawn);
        for (int k = 0; k < n; k++)
            transforms[found[k]] += check.transforms - before;
    }
    for (int i = 0; words[i][0] && check.rank == 0; i++)
        if (transforms[i])
            printf("verified %s: %d\n", words[i], transforms[i]);
}

/* A plan, or several with a word "/" between them. */
static void run_words(void)
{
    for (char **word = check.words; *word;) {
        struct drawn_plan drawn;
        check.words = word;
        while (*word && strcmp(*word, "/") != 0)
            word++;
        if (*word)
            *word++ = NULL;
        bool is_plan = plan_from_words(check.words, &check, &drawn);
        if (is_plan)
            run(&drawn);
        else if (check.rank == 0)
            printf(
                "FAILED: these words are not a plan; give member=value of pencilfft_desc, pieces=tiny, forward, in-place\n");
        check_failures += !is_plan;
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    take_options(argc, argv);
    plan_check_begin(&check);
    if (*check.words)
        run_words();
    else
        run_seed();
    int status = plan_check_end(&check);
    MPI_Finalize();
    return status;
}
