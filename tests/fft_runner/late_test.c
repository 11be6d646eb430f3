/* Whole transforms with every exchange, with ranks that are late in turn: data that a late rank has not read yet must not be
 * overwritten by ranks that are an exchange or a transform ahead. Nothing is transformed, so that every number can be
 * compared exactly. Run under mpirun with the grid as arguments: late_test R C. */
#include <time.h>

#include "driver.h"

enum { N = 12, LATE_US = 300, RUNS = 12, RUNS_OF_SCHEDULE = 8, FIELDS = 2 };

static bool late; /* this rank in this run */

/* The library reads the clock between all of its steps. */
double MPI_Wtime(void)
{
    static unsigned calls;
    struct timespec pause = {0, LATE_US * 1000};
    if (late && ++calls % 3 == 0)
        nanosleep(&pause, NULL);
    return PMPI_Wtime();
}

/* Number of elements of the array without the number of this run; `fill` sets the numbers first. */
static int64_t go_through(pencilfft_plan plan, int array, int run, bool fill, double *data)
{
    pencilfft_walk w;
    int64_t wrong = 0;
    OK(pencilfft_walk_begin(plan, array, &w));
    while (pencilfft_walk_next(&w)) {
        double value = (double)((((run * FIELDS + w.field) * N + w.index[0]) * N + w.index[1]) * N + w.index[2]);
        if (fill)
            data[w.at] = value;
        wrong += data[w.at] != value;
    }
    return wrong;
}

static void check_run(pencilfft_plan plan, int run, pencilfft_direction direction, double *in, double *out)
{
    bool forward = direction == PENCILFFT_FORWARD;
    go_through(plan, forward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT, run, true, in);
    late = (run + run / 4) % ranks == rank; /* not the same in each round of directions */
    OK(pencilfft_execute(plan, direction, in, out));
    CHECK_INT(go_through(plan, forward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, run, false, out), 0);
}

/* With a schedule, a pair follows. */
static void check_pair(pencilfft_plan plan, double *in, double *out)
{
    double *other_in = buffer_of(plan), *other_out = buffer_of(plan);
    for (int run = 0; run < ranks; run++) {
        go_through(plan, PENCILFFT_INPUT, run, true, in);
        go_through(plan, PENCILFFT_OUTPUT, run + RUNS, true, other_in);
        late = run % ranks == rank;
        OK(pencilfft_execute_pair(plan, in, out, other_in, other_out));
        CHECK_INT(go_through(plan, PENCILFFT_OUTPUT, run, false, out), 0);
        CHECK_INT(go_through(plan, PENCILFFT_INPUT, run + RUNS, false, other_out), 0);
    }
}

static void check_exchange(const char *decomposition, const char *exchange, const char *schedule)
{
    pencilfft_plan plan;
    pencilfft_desc desc = described(N, N, N);
    desc.decomposition = decomposition, desc.exchange = exchange, desc.schedule = schedule;
    desc.type = "dct", desc.skip = "xyz", desc.fields = FIELDS;
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (status == PENCILFFT_NOT_POSSIBLE || (status == PENCILFFT_BAD_GRID && strcmp(decomposition, "pencil") && R > 1))
        return;
    OK(status);
    double *in = buffer_of(plan), *out = buffer_of(plan);
    for (int run = 0; run < (schedule ? RUNS_OF_SCHEDULE : RUNS); run++) /* each direction twice */
        check_run(plan, run, run / 2 % 2 ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out);
    if (schedule)
        check_pair(plan, in, out);
    if (rank == 0)
        printf("%s %s%s%s\n", decomposition, exchange, schedule ? " " : "", schedule ? schedule : "");
    pencilfft_plan_destroy(plan);
}

/* Under schedules a single radix stands for all, and bricks, whose passes equal those of pencils, need one schedule. */
static bool is_new(const char *decomposition, const char *exchange, const char *schedule)
{
    bool other_radix = !strcmp(exchange, "bruck4") || !strcmp(exchange, "bruck8");
    return !schedule || (!other_radix && (strcmp(decomposition, "brick") || !strcmp(schedule, "overlap:3:x")));
}

int main(int argc, char **argv)
{
    static const char *const schedules[] = {NULL,          "overlap:3:x", "overlap:1,3:z", "overlap:2:field",
                                            "pipelined:2", "two-way",     "two-way:3",     "opposite"};
    const char *decomposition, *exchange;
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    for (int d = 0; (decomposition = pencilfft_decomposition_name(d)); d++)
        for (int i = 0; (exchange = pencilfft_exchange_name(i)); i++)
            for (size_t s = 0; s < sizeof schedules / sizeof schedules[0]; s++)
                if (strcmp(exchange, "auto") && is_new(decomposition, exchange, schedules[s]))
                    check_exchange(decomposition, exchange, schedules[s]);
    return end_tests();
}
