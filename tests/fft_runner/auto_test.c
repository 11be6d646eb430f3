/* The trials and choices of exchange "auto", with exchanges of known speed, because they alone move the clock: the table
 * here takes the place of src/exchange/exchange_table.c, and MPI_Wtime() that of MPI's own. Run under mpirun with the grid,
 * both numbers above 1: auto_test R C.
 * Idea:   ranks wait for each other thousands of times. If there are more ranks than processors, an MPI that polls without
 *         sleeping (MPICH) takes a time slice of the processor for each: so the ranks sleep between their polls. */
#include <math.h>
#include <unistd.h>

#include "choose/auto.h"
#include "common/failure.h"
#include "driver.h"
#include "exchange/message_counts.h"
#include "geometry/blocks.h"
#include "speed/tuning.h"

extern const struct pf_exchange pf_exchange_alltoallv;

enum { BASE, ROWS, COLUMNS, HOPELESS, REFUSES, HALFWAY, LAST, SHARES, N_EXCHANGES };
/* Runs of a candidate: as the base, once to warm up and once; in each turn, once to warm up and four times. If there is
 * time, a winner has six turns among all, six among the last three, and twelve among the last two. */
enum { BASE_RUNS = 2, TURN_RUNS = 5, LAST_RUNS = 24 * TURN_RUNS, DIRECTIONS = 2 };

static double now = 1000; /* s */
static double shares_ms; /* time of SHARES; 0: refuses */
static bool on_two_nodes; /* every other rank */
static bool grid_is_open;
static int runs[2][N_EXCHANGES]; /* row, column */
static int runs_before[N_EXCHANGES]; /* of any, before a row's first run by this algorithm */
enum { HISTORY = 1000 };
static int history[HISTORY], n_history; /* the algorithm of a row, run after run */
static int runs_for_rows; /* of rows by ROWS, before a column's first by COLUMNS: the row has been chosen */

double MPI_Wtime(void)
{
    return now;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *node)
{
    return on_two_nodes ? MPI_Comm_split(comm, rank % 2, key, node) : PMPI_Comm_split_type(comm, type, key, info, node);
}

enum { NAP_US = 20 };

static int wait_asleep(MPI_Request *request)
{
    int done = 0, code = MPI_SUCCESS;
    while (!code && !done) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(NAP_US);
    }
    return code;
}

int MPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;
    int code = MPI_Ibarrier(comm, &request);
    return code ? code : wait_asleep(&request);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    int code = MPI_Iallreduce(from, to, count, type, op, comm, &request);
    return code ? code : wait_asleep(&request);
}

struct timed {
    struct pf_calls alltoallv; /* unless it has memory */
    void *memory;
    int column, number;
    double ms;
};

static int make(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, int number,
                const double ms[2], struct timed *a)
{
    a->column = t->from[0].extent[0] == t->to[0].extent[0] ? 0 : 1; /* a row does not change x */
    a->number = number;
    a->ms = ms[a->column];
    struct pf_transpose returns = *t; /* at once, from its start */
    returns.beside = true;
    if (number != SHARES)
        return pf_calls_plan(&returns, sent, received, &a->alltoallv);
    size_t bytes = (size_t)pf_larger(sent->total, received->total) * t->element_bytes;
    a->memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!a->memory)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory");
    memset(a->memory, 0, bytes);
    return PENCILFFT_OK;
}

static int exchange_asleep(void *state, void *from, void *to)
{
    int done = 0, status = pf_exchange_alltoallv.start(state, from, to);
    while (!status && !done) {
        status = pf_exchange_alltoallv.progress(state, &done);
        if (!done)
            usleep(NAP_US);
    }
    return status ? status : pf_exchange_alltoallv.finish(state);
}

static int start(void *state, void *from, void *to)
{
    struct timed *a = state;
    if (!a->column && !runs[0][a->number])
        for (int i = 0; i < N_EXCHANGES; i++)
            runs_before[a->number] += runs[0][i];
    if (a->column && a->number == COLUMNS && !runs[1][COLUMNS])
        runs_for_rows = runs[0][ROWS];
    if (!a->column && n_history < HISTORY)
        history[n_history++] = a->number;
    runs[a->column][a->number]++;
    now += a->ms * 1e-3;
    return a->memory ? PENCILFFT_OK : exchange_asleep(state, from, to);
}

static void release(void *state)
{
    struct timed *a = state;
    pf_calls_release(&a->alltoallv);
    free(a->memory);
}

#define TIMED(name, number, row_ms, column_ms)                                                                   \
    static int plan_##name(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, \
                           void *state)                                                                          \
    {                                                                                                            \
        static const double ms[2] = {row_ms, column_ms};                                                         \
        return make(t, sent, received, number, ms, state);                                                       \
    }
TIMED(base, BASE, 5, 5)
TIMED(rows, ROWS, 1, 15)
TIMED(columns, COLUMNS, 15, 1)
TIMED(hopeless, HOPELESS, 50, 50)
TIMED(last, LAST, 4, 4)

static int plan_refuses(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    (void)t, (void)sent, (void)received, (void)state;
    return pf_fail(PENCILFFT_NOT_POSSIBLE, "not with these");
}

static int plan_halfway(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    static const double ms[2] = {0, 0};
    return rank == 1 ? pf_fail(PENCILFFT_NO_MEMORY, "no memory on purpose") : make(t, sent, received, HALFWAY, ms, state);
}

/* Its messages are written directly to the reader. */
static int plan_shares(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    const double ms[2] = {shares_ms, shares_ms};
    return shares_ms > 0 ? make(t, sent, received, SHARES, ms, state) : pf_fail(PENCILFFT_NOT_POSSIBLE, "not now");
}

static void *memory(const void *state)
{
    return ((const struct timed *)state)->memory;
}

static const struct pf_exchange rows[] = {
    [BASE] = {"base", sizeof(struct timed), plan_base, start, release},
    [ROWS] = {"rows", sizeof(struct timed), plan_rows, start, release},
    [COLUMNS] = {"columns", sizeof(struct timed), plan_columns, start, release},
    [HOPELESS] = {"hopeless", sizeof(struct timed), plan_hopeless, start, release},
    [REFUSES] = {"refuses", sizeof(struct timed), plan_refuses, start, release},
    [HALFWAY] = {"halfway", sizeof(struct timed), plan_halfway, start, release},
    [LAST] = {"last", sizeof(struct timed), plan_last, start, release},
    [SHARES] = {"shares", sizeof(struct timed), plan_shares, start, release, .memory = memory, .direct = true},
    {.name = "auto"},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);

static pencilfft_plan make_plan_again(double budget_s, const char *skip)
{
    pencilfft_desc desc = described(12, 12, 12);
    if (grid_is_open)
        desc.R = desc.C = 0;
    desc.exchange = "auto";
    desc.skip = skip;
    desc.auto_budget_s = budget_s;
    memset(runs, 0, sizeof runs);
    memset(runs_before, 0, sizeof runs_before);
    n_history = 0;
    return made(&desc);
}

/* Forget all choices of exchanges. */
static pencilfft_plan make_plan(double budget_s)
{
    pencilfft_wisdom_forget();
    return make_plan_again(budget_s, NULL);
}

static double seconds(pencilfft_plan plan, int e, int i)
{
    double value = -1;
    OK(pencilfft_auto_seconds(plan, e, i, &value));
    return value;
}

static void took(pencilfft_plan plan, const char *row, const char *column)
{
    CHECK(!strcmp(pencilfft_exchange_chosen(plan, PENCILFFT_ROW), row));
    CHECK(!strcmp(pencilfft_exchange_chosen(plan, PENCILFFT_COLUMN), column));
}

/* Of odd and even counts, in any order; of no runs there is none. */
static void the_median_is_in_the_middle(void)
{
    struct pf_times times = {.seconds = {5, 1, 3, 4, 2, 7}};
    static const double expected[] = {INFINITY, 5, 3, 3, 3.5, 3, 3.5};
    for (times.n = 0; times.n <= 6; times.n++)
        CHECK(pf_times_median(&times) == expected[times.n]);
}

/* A time that was slow for all at once is not slow; a candidate that did not run then has no time. */
static void times_are_compared_with_those_beside_them(void)
{
    struct pf_times one = {.n = 3, .seconds = {2, 20, 2}}, other = {.n = 3, .seconds = {1, 10, 3}},
                    third = {.n = 2, .seconds = {4, INFINITY}}, none = {0};
    struct pf_times *all[] = {&one, &other, &third, &none};
    CHECK(pf_times_beside(&one, all, 4) == 1); /* 2/2, 20/15, 2/2.5 */
    CHECK(pf_times_beside(&other, all, 4) == 10 / 15.); /* 1/2, 10/15, 3/2.5 */
    CHECK(pf_times_beside(&third, all, 4) == 2); /* 4/2 */
    CHECK(isinf(pf_times_beside(&none, all, 4)));
}

/* Four runs halve the doubt of a single run; skipped runs do not count. */
static void more_runs_leave_less_doubt(void)
{
    struct pf_times one = {.n = 2, .seconds = {2, INFINITY}}, four = {.n = 4, .seconds = {2, 20, 2, 1}}, none = {0};
    CHECK(pf_times_doubt(&one) > 0 && pf_times_doubt(&one) == 2 * pf_times_doubt(&four));
    CHECK(pf_times_doubt(&none) == 0);
}

/* The base alone; then all are warmed up, and then they run in turn. */
static void they_run_in_turn(void)
{
    static const int each[] = {BASE, ROWS, COLUMNS, HOPELESS, LAST};
    enum { GO = sizeof each / sizeof each[0] };
    pencilfft_plan plan = make_plan(60);
    CHECK(n_history > (BASE_RUNS + 2 * GO) * DIRECTIONS);
    for (int i = 0; i < (BASE_RUNS + 2 * GO) * DIRECTIONS; i++)
        CHECK_INT(history[i], i < BASE_RUNS * DIRECTIONS ? BASE : each[(i / DIRECTIONS - BASE_RUNS) % GO]);
    OK(pencilfft_plan_destroy(plan));
}

/* Arrays larger than the caches are not warmed up. */
static void large_arrays_run_in_turn_at_once(void)
{
    static const int each[] = {BASE, ROWS, COLUMNS, HOPELESS, LAST};
    enum { GO = sizeof each / sizeof each[0] };
    int64_t bytes = pf_tuning.trial_outs_bytes;
    pf_tuning.trial_outs_bytes = 0;
    pencilfft_plan plan = make_plan(60);
    pf_tuning.trial_outs_bytes = bytes;
    CHECK(n_history > (1 + GO) * DIRECTIONS);
    for (int i = 0; i < (1 + GO) * DIRECTIONS; i++)
        CHECK_INT(history[i], i < DIRECTIONS ? BASE : each[i / DIRECTIONS - 1]);
    OK(pencilfft_plan_destroy(plan));
}

static void row_and_column_take_their_own(void)
{
    pencilfft_plan plan = make_plan(60);
    took(plan, "rows", "columns");
    CHECK_INT(runs_for_rows >= LAST_RUNS * DIRECTIONS, 1);
    CHECK_INT(runs[1][COLUMNS] >= LAST_RUNS * DIRECTIONS, 1);
    for (int e = 0; e < 2; e++) {
        CHECK_INT(runs[e][HOPELESS], 2 * DIRECTIONS); /* once to warm up, and once */
        CHECK_INT(runs[e][HALFWAY], 0);
        CHECK(isinf(seconds(plan, e, REFUSES)) && isinf(seconds(plan, e, HALFWAY)));
    }
    OK(pencilfft_plan_destroy(plan));
}

/* Of both directions. */
static void takes_ms(pencilfft_plan plan, int e, int i, double ms)
{
    CHECK(fabs(seconds(plan, e, i) - DIRECTIONS * ms * 1e-3) < 1e-9);
}

/* The other exchange runs too: its time is included, and the column's base is the row's choice. */
static void whole_transforms_are_timed(void)
{
    pencilfft_plan plan = make_plan(60);
    takes_ms(plan, 0, BASE, 5 + 5);
    takes_ms(plan, 0, ROWS, 1 + 5);
    takes_ms(plan, 0, HOPELESS, 50 + 5);
    takes_ms(plan, 1, BASE, 1 + 5);
    takes_ms(plan, 1, COLUMNS, 1 + 1);
    OK(pencilfft_plan_destroy(plan));
}

/* Within a node an exchange by shared memory is chosen if slower by less than the doubt: by 0.8 % in the row, not by 2.4 %
 * in the column, of which the last two, timed 48 times and more, leave less than 2 %. Not on several nodes. */
static void what_shares_memory_has_the_benefit_of_the_doubt(void)
{
    shares_ms = 1.05;
    pencilfft_plan plan = make_plan(60);
    took(plan, "shares", "columns");
    OK(pencilfft_plan_destroy(plan));
    on_two_nodes = true;
    plan = make_plan(60);
    took(plan, "rows", "columns");
    OK(pencilfft_plan_destroy(plan));
    on_two_nodes = false;
    shares_ms = 0;
}

static void without_time_the_first_that_goes(void)
{
    pencilfft_plan plan = make_plan(0);
    took(plan, "base", "base");
    CHECK_INT(runs[0][BASE], 2 * DIRECTIONS); /* once to warm up, and once */
    CHECK(seconds(plan, 0, ROWS) == 0 && seconds(plan, 1, ROWS) == 0);
    OK(pencilfft_plan_destroy(plan));
}

/* The row's candidates share 0.3 s. The base takes 20 ms of this twice; warming up all candidates takes 200 ms and running
 * them 200 ms more, and then the time is up. */
static void none_takes_more_than_its_share(void)
{
    pencilfft_plan plan = make_plan(0.6);
    CHECK_INT(runs[0][BASE], (BASE_RUNS + 2) * DIRECTIONS);
    OK(pencilfft_plan_destroy(plan));
}

static void they_are_tried_in_the_order_of_the_table(void)
{
    pencilfft_plan plan = make_plan(60);
    CHECK_INT(runs_before[BASE], 0);
    CHECK_INT(runs_before[ROWS], (BASE_RUNS + 1) * DIRECTIONS); /* the base, and the base once more to warm up */
    CHECK_INT(runs_before[LAST], (BASE_RUNS + 4) * DIRECTIONS);
    OK(pencilfft_plan_destroy(plan));
}

/* For the same transform; a transform that skips another axis is not the same. */
static void what_was_chosen_is_known_again(void)
{
    pencilfft_plan plan = make_plan(60);
    OK(pencilfft_plan_destroy(plan));
    plan = make_plan_again(60, NULL);
    took(plan, "rows", "columns");
    CHECK_INT(runs[0][ROWS], 0);
    OK(pencilfft_plan_destroy(plan));
    plan = make_plan_again(60, "z");
    CHECK(runs[0][ROWS] > 0);
    OK(pencilfft_plan_destroy(plan));
}

static void the_plan_works(void)
{
    pencilfft_plan plan = make_plan_again(60, NULL);
    void *in = buffer_of(plan), *out = buffer_of(plan);
    if (rank == 0)
        *(double *)in = 1; /* an impulse, whose transform is 1 everywhere */
    OK(pencilfft_forward(plan, in, out));
    CHECK(*(double *)out == 1 && ((double *)out)[1] == 0);
    CHECK_INT(runs[0][ROWS] + runs[1][COLUMNS], 2);
    OK(pencilfft_plan_destroy(plan));
}

/* A grid of one exchange takes half the time of the base; the table has all grids, and wisdom keeps the choice. */
static void an_open_grid_is_tried(void)
{
    int grid[2][2], n = 0;
    grid_is_open = true;
    for (int again = 0; again < 2; again++) {
        pencilfft_plan plan = again ? make_plan_again(60, NULL) : make_plan(60);
        OK(pencilfft_grid(plan, &grid[again][0], &grid[again][1]));
        CHECK(grid[again][0] == 1 || grid[again][1] == 1);
        OK(pencilfft_grid_trials(plan, &n));
        CHECK_INT(n, again ? 0 : R * C == 4 ? 3 : 4);
        for (int i = 0; i < n; i++) {
            pencilfft_grid_trial t;
            OK(pencilfft_grid_trial_of(plan, i, &t));
            double seconds = DIRECTIONS * 5e-3 * ((t.R > 1) + (t.C > 1));
            CHECK(t.R * t.C == R * C && t.runs > 1 && t.spread < 1e-9);
            CHECK(fabs(t.least - seconds) < 1e-9 && fabs(t.median - seconds) < 1e-9);
        }
        pencilfft_grid_trial none;
        BAD(pencilfft_grid_trial_of(plan, n, &none), "");
        if (!again)
            CHECK(!strcmp(pencilfft_exchange_chosen(plan, grid[0][0] > 1 ? PENCILFFT_ROW : PENCILFFT_COLUMN),
                          grid[0][0] > 1 ? "rows" : "columns"));
        OK(pencilfft_plan_destroy(plan));
    }
    CHECK(grid[0][0] == grid[1][0]);
    grid_is_open = false;
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    the_median_is_in_the_middle();
    times_are_compared_with_those_beside_them();
    more_runs_leave_less_doubt();
    they_run_in_turn();
    large_arrays_run_in_turn_at_once();
    row_and_column_take_their_own();
    whole_transforms_are_timed();
    what_shares_memory_has_the_benefit_of_the_doubt();
    without_time_the_first_that_goes();
    none_takes_more_than_its_share();
    they_are_tried_in_the_order_of_the_table();
    what_was_chosen_is_known_again();
    the_plan_works();
    an_open_grid_is_tried();
    return end_tests();
}
