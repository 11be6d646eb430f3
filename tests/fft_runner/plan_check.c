#include "plan_check.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "boxes.h"
#include "check.h"
#include "plan_refusals.h"
#include "runner.h"
#include "values.h"
#include "verify.h"

/* A plan that takes more of a processor's time hangs. */
enum { SECONDS_A_PLAN = 30 };

const char *const plan_pieces[] = {"usual", "tiny", "clocked", "direct", NULL};

struct pf_tuning plan_tuning(int pieces, struct pf_tuning of)
{
    static const struct pf_tuning tiny = {.block_bytes = 1024,
                                          .message_bytes = 64,
                                          .row_bytes = 4,
                                          .whole_bytes = 1 << 26,
                                          .direct = PF_ALWAYS,
                                          .past_bytes = 1 << 12};
    if (pieces == 1)
        return tiny;
    if (pieces == 2) { /* as in arrays beyond the caches, whose ways the clock chooses */
        of.direct_bytes = of.whole_bytes = of.thread_bytes = 0;
        of.block_bytes = 1 << 11;
        of.ask_bytes = of.past_bytes = 1 << 8;
    }
    if (pieces == 3) { /* FFTW's own plans on one rank, and threads at any size */
        of.direct = PF_ALWAYS;
        of.thread_bytes = 0;
    }
    return of;
}

static struct pf_tuning usual;

static struct plan_check *check;
static char now[CASE_NAME_SIZE + 32]; /* name of the current check */

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

static void start(const struct plan_case *c, const struct variant *variant)
{
    static const struct variant none = {.words = {"", ""}};
    variant = variant ? variant : &none;
    snprintf(now, sizeof now, "%s %s %s", c->name, variant->words[0], variant->words[1]);
    if (check->list && check->rank == 0)
        fprintf(stderr, "%s\n", now);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_A_PLAN}, NULL);
}

static void *buffer_of(pencilfft_plan plan)
{
    void *buffer;
    or_abort(pencilfft_alloc(plan, &buffer));
    return buffer;
}

/* On all ranks alike. */
static void fail(const char *what)
{
    check_failures++;
    if (check->rank == 0)
        printf("FAILED %s: %s\n", now, what);
}

/* Collective. */
static bool somewhere(bool here)
{
    int mine = here, any;
    CHECK_MPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, check->grid));
    return any;
}

static void fail_if(bool wrong_here, const char *what)
{
    if (somewhere(wrong_here))
        fail(what);
}

static bool input_was_lost(const struct problem *p)
{
    struct side in;
    int64_t wrong = side_of(p, input_of(p->direction), &in);
    for (int i = 0; i < in.parts && !wrong; i++)
        wrong = values_wrong(&in.part[i], &in.format, value_random, p->in);
    return wrong;
}

static void judge(const struct problem *p, const pencilfft_desc *desc, const struct verification *v)
{
    char what[256];
    snprintf(what, sizeof what, "moved data %s, error %.3g to serial FFTW%s, %.3g to the direct sum, allowed %.3g",
             v->moved_data_exact ? "exact" : "wrong", v->error_fftw, v->fftw_done ? "" : " (not done)", v->error_direct,
             v->tolerance);
    if (!v->passed || !v->fftw_done)
        fail(what);
    if (p->in != p->out && !desc->destroy_input && somewhere(input_was_lost(p)))
        fail("the input was overwritten");
}

/* Grid ranks that exchange: of a row, of a column, all. */
static bool is_member(const char *stage, const pencilfft_desc *desc, int j)
{
    return !strcmp(stage, "row") ? j / desc->R == check->rank / desc->R
                                 : strcmp(stage, "column") || j % desc->R == check->rank % desc->R;
}

/* Bytes of an element in a message. */
static int64_t bytes_sent(const pencilfft_desc *desc, const pencilfft_format *format)
{
    return (int64_t)format->element_bytes / (plan_rounds(desc) ? 2 : 1);
}

/* A remap sends exactly the elements that change their rank; exchange node gathers messages, which go other ways. */
static bool remap_is_wrong(const struct problem *p, int remap, const pencilfft_desc *desc)
{
    int outer = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
    int inner = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INNER_INPUT : PENCILFFT_INNER_OUTPUT;
    bool inwards = (remap == PENCILFFT_REMAP_IN) == (p->direction == PENCILFFT_FORWARD);
    int64_t bytes[64], messages[64];
    pencilfft_box mine, theirs;
    pencilfft_format format;
    if (!pencilfft_exchange_stage(p->plan, remap))
        return false;
    bool gathers = !strcmp(desc->exchange, "node");
    bool wrong = pencilfft_traffic(p->plan, remap, p->direction, bytes, messages) ||
                 pencilfft_box_mine(p->plan, inwards ? outer : inner, &mine) || pencilfft_format_of(p->plan, outer, &format);
    for (int j = 0; j < check->ranks && gathers && !wrong; j++)
        wrong = bytes[j] < 0 || messages[j] < 0 || (bytes[j] > 0) != (messages[j] > 0) || (bytes[j] && j == check->rank);
    for (int j = 0; j < check->ranks && !gathers && !wrong; j++) {
        wrong = pencilfft_box_of(p->plan, inwards ? inner : outer, j, &theirs);
        int64_t sent = j == check->rank ? 0 : shared_elements(&mine, &theirs);
        wrong |= bytes[j] != sent * format.fields * bytes_sent(desc, &format) || messages[j] != (sent > 0);
    }
    return wrong;
}

/* The exchanges carry kept modes, and points of axes that are not yet transformed; an exchange that sends each message
 * straight to its rank sends exactly the elements that change their rank. */
static bool exchange_is_wrong(const struct problem *p, int e, const pencilfft_desc *desc, const int64_t *bytes)
{
    static const char *const straight[] = {"alltoall", "alltoallv", "alltoallw", "p2p", "persistent", "put"};
    const int64_t n[2][3] = {{plan_extent(desc, 0), plan_extent(desc, 1), plan_extent(desc, 2)},
                             {plan_extent(desc, 0), desc->ny, plan_extent(desc, 2)}};
    const char *name = pencilfft_exchange_chosen(p->plan, e);
    int array[2] = {e, PENCILFFT_BEFORE + e + 1}, backward = p->direction == PENCILFFT_BACKWARD, parts;
    bool wrong = false, is_straight = false;
    pencilfft_format format;
    pencilfft_box mine, theirs;
    for (size_t i = 0; i < sizeof straight / sizeof straight[0]; i++)
        is_straight |= !strcmp(name, straight[i]);
    if (pencilfft_parts(p->plan, PENCILFFT_INNER_OUTPUT, &parts) || parts > 1)
        return false;
    for (int after = 0; after < 2; after++) {
        wrong |= pencilfft_format_of(p->plan, array[after], &format) != PENCILFFT_OK;
        for (int axis = 0; axis < 3; axis++)
            wrong |= format.n[axis] != n[e][axis];
    }
    wrong |= pencilfft_box_mine(p->plan, array[backward], &mine) != PENCILFFT_OK;
    for (int j = 0; j < check->ranks && is_straight && !wrong; j++) {
        wrong = pencilfft_box_of(p->plan, array[!backward], j, &theirs);
        int64_t sent = j == check->rank || bytes[j] == 0 ? 0 : shared_elements(&mine, &theirs);
        wrong |= bytes[j] != sent * format.fields * bytes_sent(desc, &format);
    }
    return wrong;
}

/* A rank sends nothing to itself or out of the group, and bytes go in messages. */
static void check_traffic(const struct problem *p, const pencilfft_desc *desc)
{
    int64_t bytes[64], messages[64];
    bool wrong = false;
    const char *stage;
    for (int e = 0; (stage = pencilfft_exchange_stage(p->plan, e)); e++) {
        wrong |= pencilfft_traffic(p->plan, e, p->direction, bytes, messages) != PENCILFFT_OK;
        for (int j = 0; j < check->ranks && !wrong; j++)
            wrong = bytes[j] < 0 || (bytes[j] > 0) != (messages[j] > 0) ||
                    (bytes[j] > 0 && (!is_member(stage, desc, j) || j == check->rank));
        wrong |= exchange_is_wrong(p, e, desc, bytes);
    }
    wrong |= remap_is_wrong(p, PENCILFFT_REMAP_IN, desc) || remap_is_wrong(p, PENCILFFT_REMAP_OUT, desc);
    fail_if(wrong, "the traffic is not that of the exchange's group");
}

static bool is_among(const char *word, const struct variant *variant)
{
    return !strcmp(word, variant->words[0]) || !strcmp(word, variant->words[1]);
}

bool plan_check_names_a_variant(const char *word)
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
    for (char **word = check->words; *word; word++)
        if (plan_check_names_a_variant(*word) && !is_among(*word, variant))
            return false;
    return true;
}

static void check_variants(const struct plan_case *c, struct problem *p)
{
    for (int i = 0; i < N_VARIANTS; i++) {
        struct verification v;
        if (!variant_is_chosen(&variants[i], c->desc.directions))
            continue;
        start(c, &variants[i]);
        p->direction = variants[i].direction;
        p->out = variants[i].in_place ? p->in : p->other;
        or_abort(verify(p, &v));
        judge(p, &c->desc, &v);
        check_traffic(p, &c->desc);
        check->transforms++;
    }
}

/* The input of a transform, filled. */
static void fill(struct problem *p, pencilfft_direction direction, void *in)
{
    p->direction = direction;
    p->in = in;
    or_abort(fill_inputs(p));
}

static int result_of(pencilfft_direction direction)
{
    return direction == PENCILFFT_FORWARD ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
}

/* Squares of an array, and of its difference from another array, over all ranks. */
static void squares(const struct problem *p, int array, const void *got, const void *expected, double sums[2])
{
    struct side side;
    or_abort(side_of(p, array, &side));
    sums[0] = sums[1] = 0;
    for (int64_t i = 0; i < side_elements(&side); i++) {
        double complex its = element_load(&side.format, expected, i), away = element_load(&side.format, got, i) - its;
        sums[0] += creal(its) * creal(its) + cimag(its) * cimag(its);
        sums[1] += creal(away) * creal(away) + cimag(away) * cimag(away);
    }
    CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, check->grid));
}

/* Exchanges and remaps among several ranks. */
static int times_sent(const struct plan_case *c, pencilfft_plan plan)
{
    int remaps = 0;
    if (check->ranks > 1)
        remaps = (pencilfft_exchange_stage(plan, PENCILFFT_REMAP_IN) != NULL) +
                 (pencilfft_exchange_stage(plan, PENCILFFT_REMAP_OUT) != NULL);
    return (c->desc.R > 1) + (c->desc.C > 1) + remaps;
}

/* Exchanges in single precision add an error, which is not above the error that the plan tells, to the same transform by
 * exchanges in double precision. Two buffers of each plan: exchange auto may choose others, which need more memory. */
static void check_rounding(const struct plan_case *c, struct problem *p)
{
    pencilfft_desc exact = c->desc;
    double told, sums[2];
    int sent = plan_rounds(&c->desc) ? times_sent(c, p->plan) : 0;
    bool wrong = false;
    pencilfft_plan plan;
    start(c, NULL);
    or_abort(pencilfft_exchange_error(p->plan, &told));
    if (told != sent * 0x1p-24)
        fail("the error of the exchanges is not that of their number");
    if (!sent)
        return;
    exact.exchange_precision = NULL;
    exact.caller_work = 0;
    or_abort(pencilfft_plan_create(&exact, check->grid, &plan));
    void *in = buffer_of(p->plan), *got = buffer_of(p->plan), *own = buffer_of(plan), *expected = buffer_of(plan);
    for (pencilfft_direction way = PENCILFFT_FORWARD; way <= PENCILFFT_BACKWARD; way++) {
        if (!(c->desc.directions & (int)way))
            continue;
        fill(p, way, in);
        or_abort(pencilfft_execute(p->plan, way, in, got));
        fill(p, way, own);
        or_abort(pencilfft_execute(plan, way, own, expected));
        squares(p, result_of(way), got, expected, sums);
        wrong |= !(sums[1] > 0) || sqrt(sums[1] / sums[0]) > told;
    }
    if (wrong)
        fail("the error of the exchanges is zero, or above the error that the plan tells");
    p->in = in;
    or_abort(pencilfft_plan_destroy(plan)); /* with its buffers */
}

/* Work memory of the caller, with a border behind it. Before it is there, no plan runs that needs it. */
enum { BORDER = 64, WORK_ALIGNMENT = 16 };

static char *give_work(const struct plan_case *c, pencilfft_plan plan, int64_t *bytes)
{
    int64_t least;
    char *memory;
    or_abort(pencilfft_work_bytes(plan, 0, &least));
    or_abort(pencilfft_work_bytes(plan, 1, bytes));
    bool wrong = least < 0 || least > *bytes || (!c->desc.caller_work && *bytes > 0);
    if (!c->desc.caller_work)
        wrong |= pencilfft_set_work(plan, NULL, 0) != PENCILFFT_BAD_CALL;
    fail_if(wrong, "the bytes of work memory are wrong");
    if (!c->desc.caller_work)
        return NULL;
    if (!(memory = malloc((size_t)*bytes + BORDER + WORK_ALIGNMENT)))
        abort();
    char *start = memory + WORK_ALIGNMENT - (uintptr_t)memory % WORK_ALIGNMENT;
    memset(start, 'w', (size_t)*bytes + BORDER - WORK_ALIGNMENT);
    wrong = least && (pencilfft_set_work(plan, start, least - 1) != PENCILFFT_BAD_CALL ||
                      pencilfft_set_work(plan, start + 8, *bytes) != PENCILFFT_BAD_CALL);
    fail_if(wrong, "too little work memory, or work memory that is not aligned, was taken");
    or_abort(pencilfft_set_work(plan, start, *bytes));
    return memory;
}

static void take_work(char *memory, int64_t bytes)
{
    bool wrong = false;
    const char *start = memory ? memory + WORK_ALIGNMENT - (uintptr_t)memory % WORK_ALIGNMENT : NULL;
    for (int i = 0; memory && i < BORDER - WORK_ALIGNMENT; i++)
        wrong |= start[bytes + i] != 'w';
    fail_if(wrong, "memory behind the work memory was overwritten");
    free(memory);
}

static void check_plan(const struct plan_case *c, pencilfft_plan plan)
{
    struct problem p;
    int64_t bytes;
    char *work = give_work(c, plan, &bytes);
    or_abort(problem_make(plan, check->grid, &p));
    check_variants(c, &p);
    check_rounding(c, &p);
    take_work(work, bytes);
    check->plans++;
}

static void check_refusal(const struct plan_case *c, int status)
{
    if (!plan_refused_rightly(&c->desc, check->ranks, check->absent, status, pencilfft_error_message()))
        fail(pencilfft_error_message());
    check->refused++;
}

/* The same with the grid that the library chose, if the grid was open. */
static struct plan_case settled(const struct plan_case *c, pencilfft_plan plan)
{
    struct plan_case on = *c;
    if (pencilfft_grid(plan, &on.desc.R, &on.desc.C) || on.desc.R * on.desc.C != check->ranks)
        fail("the grid has not as many tasks as there are ranks");
    if (c->desc.R && (on.desc.R != c->desc.R || on.desc.C != c->desc.C))
        fail("the grid is not that of the descriptor");
    return on;
}

void plan_check_run(struct plan_check *of, const struct plan_case *given)
{
    struct plan_case on, *c = &on;
    pencilfft_plan plan;
    on = *given;
    check = of;
    pf_tuning = plan_tuning(c->pieces, usual);
    start(c, NULL);
    int status = pencilfft_plan_create(&c->desc, check->grid, &plan);
    or_abort(status == PENCILFFT_MPI_ERROR);
    if (!status)
        on = settled(given, plan);
    if (status)
        check_refusal(c, status);
    else if (plan_must_be_refused(&c->desc, check->absent))
        fail("this must be refused, and was not");
    else
        check_plan(c, plan);
    or_abort(pencilfft_plan_destroy(plan));
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static void say_that_it_hangs(int signal_number)
{
    (void)signal_number;
    dprintf(STDERR_FILENO, "FAILED %s: not finished in %d s of processor time\n", now, SECONDS_A_PLAN);
    _exit(EXIT_FAILURE);
}

void plan_check_begin(struct plan_check *of)
{
    int rank;
    usual = pf_tuning;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &of->grid));
    CHECK_MPI(MPI_Comm_rank(of->grid, &of->rank));
    CHECK_MPI(MPI_Comm_size(of->grid, &of->ranks));
    signal(SIGPROF, say_that_it_hangs);
}

int plan_check_end(struct plan_check *of)
{
    if (of->rank == 0)
        printf("%d plans, %d transforms, %d refused, %d failures\n", of->plans, of->transforms, of->refused, check_failures);
    MPI_Comm_free(&of->grid);
    return check_failures || !(of->plans + of->refused);
}
