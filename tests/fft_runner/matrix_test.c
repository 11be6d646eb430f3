/* Every transform x precision x layout x exchange x extents x grid of as many ranks as there are, forward and backward, in
 * place and out of place, by the runner's verification: moved data exactly, a serial FFTW, direct sums.
 *
 *     mpirun -n 6 matrix_test [--pairs | --share M] [--without EXCHANGE] [--repeat N] [--list] [WORDS]
 *     matrix_test --names      all choices and their values, most of them asked of the library
 *
 * Idea:   the whole product, in an order that is shuffled but always the same, or a part of it: --pairs takes a case when
 *         it has two values that have not met before in its decomposition, which crosses every two choices; --share the
 *         first M-th. Cases that must be refused are in it and must be refused as documented. WORDS choose cases by the
 *         words of their names, which are printed when one fails, and with --list before each, should one crash. Ranks are
 *         numbered backwards, so that nobody takes one numbering for another.
 * Source: pairwise covering: Cohen, Dalal, Fredman, Patton, The AETG system, IEEE Trans. Softw. Eng. 23 (1997), 437. */
#include <complex.h>
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"
#include "check_mpi.h"
#include "matrix_coverage.h"
#include "runner.h"
#include "speed/tuning.h"
#include "values.h"
#include "verify.h"

/* A case that takes more of a processor's time hangs; when so many have failed, the rest will, too. */
enum { SECONDS_A_CASE = 30, MOST_FAILURES = 20 };

static struct {
    bool pairs, list;
    int share, repeat;
    const char *absent;
    char **words;
} options = {.share = 1, .repeat = 1};

static const struct pf_tuning tiny = {.block_bytes = 1024, .message_bytes = 64, .row_bytes = 4, .direct = PF_ALWAYS};
static struct pf_tuning usual;

static MPI_Comm grid;
static int rank, ranks;
static struct {
    int plans, transforms, refused;
} done;

static char now[CASE_NAME_SIZE + 32]; /* what is being checked */

/* ---- one case --------------------------------------------------------------------------------------------------- */

static const struct variant {
    pencilfft_direction direction;
    bool in_place;
    const char *words[2];
} variants[] = {
    {PENCILFFT_FORWARD, false, {"forward", "out-of-place"}},
    {PENCILFFT_FORWARD, true, {"forward", "in-place"}},
    {PENCILFFT_BACKWARD, false, {"backward", "out-of-place"}},
    {PENCILFFT_BACKWARD, true, {"backward", "in-place"}},
};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

static void start(const struct matrix_case *c, const struct variant *variant)
{
    static const struct variant none = {.words = {"", ""}};
    variant = variant ? variant : &none;
    snprintf(now, sizeof now, "%s %s %s", c->name, variant->words[0], variant->words[1]);
    if (options.list && rank == 0)
        fprintf(stderr, "%s\n", now);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_A_CASE}, NULL);
}

/* On all ranks alike. */
static void fail(const char *what)
{
    check_failures++;
    if (rank == 0)
        printf("FAILED %s: %s\n", now, what);
}

/* Collective. */
static bool somewhere(bool here)
{
    int mine = here, any;
    CHECK_MPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, grid));
    return any;
}

static bool input_was_lost(const struct problem *p)
{
    struct side in;
    int64_t wrong = side_of(p, input_array(p), &in);
    for (int i = 0; i < in.parts && !wrong; i++)
        wrong = values_wrong(&in.part[i], &in.format, value_random, p->in);
    return wrong;
}

static void judge(const struct problem *p, const struct verification *v)
{
    char what[256];
    snprintf(what, sizeof what, "moved data %s, error %.3g to serial FFTW%s, %.3g to the direct sum, allowed %.3g",
             v->moved_data_exact ? "exact" : "wrong", v->error_fftw, v->fftw_done ? "" : " (not done)", v->error_direct,
             v->tolerance);
    if (!v->passed || !v->fftw_done)
        fail(what);
    if (p->in != p->out && somewhere(input_was_lost(p)))
        fail("the input was overwritten");
}

/* Grid ranks that exchange: of a row, of a column, all. */
static bool is_member(const char *stage, const pencilfft_desc *desc, int j)
{
    return !strcmp(stage, "row") ? j / desc->R == rank / desc->R : strcmp(stage, "column") || j % desc->R == rank % desc->R;
}

/* Nothing goes to oneself or out of the group, and bytes go in messages. */
static void check_traffic(const struct problem *p, const pencilfft_desc *desc)
{
    int64_t bytes[64], messages[64];
    bool wrong = false;
    const char *stage;
    for (int e = 0; (stage = pencilfft_exchange_stage(p->plan, e)); e++) {
        wrong |= pencilfft_traffic(p->plan, e, p->direction, bytes, messages) != PENCILFFT_OK;
        for (int j = 0; j < ranks && !wrong; j++)
            wrong = bytes[j] < 0 || (bytes[j] > 0) != (messages[j] > 0) ||
                    (bytes[j] > 0 && (!is_member(stage, desc, j) || j == rank));
    }
    if (somewhere(wrong))
        fail("the traffic is not that of the exchange's group");
}

static bool is_among(const char *word, const struct variant *variant)
{
    return !strcmp(word, variant->words[0]) || !strcmp(word, variant->words[1]);
}

static bool names_a_variant(const char *word)
{
    for (int i = 0; i < N_VARIANTS; i++)
        if (is_among(word, &variants[i]))
            return true;
    return false;
}

static bool variant_is_chosen(const struct variant *variant, int directions)
{
    if (!(directions & (int)variant->direction))
        return false;
    for (char **word = options.words; *word; word++)
        if (names_a_variant(*word) && !is_among(*word, variant))
            return false;
    return true;
}

static void check_variants(const struct matrix_case *c, struct problem *p)
{
    for (int i = 0; i < N_VARIANTS; i++) {
        struct verification v;
        if (!variant_is_chosen(&variants[i], c->desc.directions))
            continue;
        start(c, &variants[i]);
        p->direction = variants[i].direction;
        p->out = variants[i].in_place ? p->in : p->other;
        if (verify(p, &v))
            abort_with_message();
        judge(p, &v);
        check_traffic(p, &c->desc);
        coverage_count_transform(c);
        done.transforms++;
    }
}

/* Bits of an array that two buffers hold alike. */
static bool same_array(const struct problem *p, int array, const void *a, const void *b)
{
    struct side side;
    if (side_of(p, array, &side))
        return false;
    return !memcmp(a, b, (size_t)side_elements(&side) * side.format.element_bytes);
}

/* A pair gives what the two transforms give that it consists of, in place and out of place. */
static void check_pair(const struct matrix_case *c, struct problem *p)
{
    void *in[2], *expected[2], *out[2];
    bool wrong = false;
    if (c->desc.directions != (PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        return;
    start(c, NULL);
    for (int i = 0; i < 2; i++) {
        if (pencilfft_alloc(p->plan, &in[i]) || pencilfft_alloc(p->plan, &expected[i]) || pencilfft_alloc(p->plan, &out[i]))
            abort_with_message();
        p->direction = i ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD;
        p->in = in[i];
        if (fill_input(p) || pencilfft_execute(p->plan, p->direction, in[i], expected[i]))
            abort_with_message();
    }
    if (pencilfft_execute_pair(p->plan, in[0], out[0], in[1], out[1]))
        abort_with_message();
    wrong = !same_array(p, PENCILFFT_OUTPUT, out[0], expected[0]) || !same_array(p, PENCILFFT_INPUT, out[1], expected[1]);
    if (pencilfft_execute_pair(p->plan, in[0], in[0], in[1], in[1]))
        abort_with_message();
    wrong |= !same_array(p, PENCILFFT_OUTPUT, in[0], expected[0]) || !same_array(p, PENCILFFT_INPUT, in[1], expected[1]);
    if (somewhere(wrong))
        fail("a pair of transforms is not what they are one by one");
}

static void check_plan(const struct matrix_case *c, pencilfft_plan plan)
{
    struct problem p;
    if (problem_make(plan, grid, &p))
        abort_with_message();
    check_variants(c, &p);
    check_pair(c, &p);
    done.plans++;
}

static void check_refusal(const struct matrix_case *c, int status)
{
    if (!matrix_refused_rightly(c, options.absent, status, pencilfft_error_message()))
        fail(pencilfft_error_message());
    done.refused++;
}

static void check_case(const struct matrix_case *c)
{
    pencilfft_plan plan;
    pf_tuning = c->tiny_pieces ? tiny : usual;
    start(c, NULL);
    int status = pencilfft_plan_create(&c->desc, grid, &plan);
    if (status == PENCILFFT_MPI_ERROR)
        abort_with_message();
    if (status)
        check_refusal(c, status);
    else if (matrix_must_be_refused(c, options.absent))
        fail("this must be refused, and was not");
    else
        check_plan(c, plan);
    if (pencilfft_plan_destroy(plan))
        abort_with_message();
}

/* ---- all cases -------------------------------------------------------------------------------------------------- */

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
    for (char **word = options.words; *word; word++)
        if (!names_a_variant(*word) && !has_word(c->name, *word))
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

/* All ranks of all sizes walk alike, so that pairs are crossed once and not once for every number of ranks. */
static void walk(void)
{
    int *numbers = shuffled(matrix_size());
    for (int i = 0; i < matrix_size() / options.share && check_failures < MOST_FAILURES; i++) {
        struct matrix_case c;
        matrix_case_make(numbers[i], &c);
        if (!is_chosen(&c))
            continue;
        int new_pairs = coverage_note_pairs(&c, matrix_must_be_refused(&c, options.absent));
        if (c.desc.R * c.desc.C != ranks || (options.pairs && !new_pairs))
            continue;
        for (int again = 0; again < options.repeat; again++)
            check_case(&c);
    }
    free(numbers);
}

static void say_that_it_hangs(int signal_number)
{
    (void)signal_number;
    dprintf(STDERR_FILENO, "FAILED %s: not finished in %d s of processor time\n", now, SECONDS_A_CASE);
    _exit(EXIT_FAILURE);
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
        case 'w': options.absent = optarg; break;
        case 'l': options.list = true; break;
        case 'r': options.repeat = atoi(optarg); break;
        default: MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    options.words = argv + optind;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--names")) {
        names_print();
        return EXIT_SUCCESS;
    }
    MPI_Init(&argc, &argv);
    take_options(argc, argv);
    usual = pf_tuning;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &grid));
    CHECK_MPI(MPI_Comm_rank(grid, &rank));
    CHECK_MPI(MPI_Comm_size(grid, &ranks));
    signal(SIGPROF, say_that_it_hangs);
    walk();
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    if (rank == 0) {
        coverage_print();
        printf("%d plans, %d transforms, %d refused, %d failures\n", done.plans, done.transforms, done.refused,
               check_failures);
    }
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return check_failures || !(done.plans + done.refused);
}
