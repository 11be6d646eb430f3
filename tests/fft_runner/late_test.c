/* Whole transforms with every exchange, with ranks that are late in turn: data that a late rank has not read yet must not be
 * overwritten by ranks that are an exchange or a transform ahead. Nothing is transformed, so that every number can be
 * compared exactly. Run under mpirun with the grid as arguments: late_test R C. */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "pencilfft.h"
#include "start_on_grid.h"

enum { N = 12, LATE_US = 300, RUNS = 12, RUNS_OF_SCHEDULE = 8, FIELDS = 2 };

static int R, C, rank, ranks;
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

static double value(int run, int64_t x, int64_t y, int64_t z)
{
    return (double)(((run * N + x) * N + y) * N + z);
}

static int64_t go_through_part(const pencilfft_part *part, int run, bool fill, double *data)
{
    const pencilfft_box *b = &part->box;
    int64_t wrong = 0;
    for (int f = 0; f < part->fields; f++)
        for (int64_t x = 0; x < b->extent[0]; x++)
            for (int64_t y = 0; y < b->extent[1]; y++)
                for (int64_t z = 0; z < b->extent[2]; z++) {
                    double *at =
                        &data[part->start + f * part->field_stride + x * b->stride[0] + y * b->stride[1] + z * b->stride[2]];
                    double wanted = value(run * FIELDS + part->first_field + f, x + b->offset[0], y + b->offset[1],
                                          z + b->offset[2]);
                    if (fill)
                        *at = wanted;
                    wrong += *at != wanted;
                }
    return wrong;
}

/* Number of elements of the array without the number of this run; `fill` sets the numbers first. */
static int64_t go_through(pencilfft_plan plan, int array, int run, bool fill, double *data)
{
    int64_t wrong = 0;
    int parts = 0;
    CHECK_INT(pencilfft_parts(plan, array, &parts), PENCILFFT_OK);
    for (int i = 0; i < parts; i++) {
        pencilfft_part part;
        CHECK_INT(pencilfft_part_mine(plan, array, i, &part), PENCILFFT_OK);
        wrong += go_through_part(&part, run, fill, data);
    }
    return wrong;
}

static void check_run(pencilfft_plan plan, int run, pencilfft_direction direction, double *in, double *out)
{
    bool forward = direction == PENCILFFT_FORWARD;
    go_through(plan, forward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT, run, true, in);
    late = (run + run / 4) % ranks == rank; /* not the same in each round of directions */
    CHECK_INT(pencilfft_execute(plan, direction, in, out), PENCILFFT_OK);
    CHECK_INT(go_through(plan, forward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, run, false, out), 0);
}

/* With a schedule, a pair follows. */
static void check_pair(pencilfft_plan plan, void *in, void *out)
{
    void *other_in, *other_out;
    CHECK_INT(pencilfft_alloc(plan, &other_in), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &other_out), PENCILFFT_OK);
    for (int run = 0; run < ranks; run++) {
        go_through(plan, PENCILFFT_INPUT, run, true, in);
        go_through(plan, PENCILFFT_OUTPUT, run + RUNS, true, other_in);
        late = run % ranks == rank;
        CHECK_INT(pencilfft_execute_pair(plan, in, out, other_in, other_out), PENCILFFT_OK);
        CHECK_INT(go_through(plan, PENCILFFT_OUTPUT, run, false, out), 0);
        CHECK_INT(go_through(plan, PENCILFFT_INPUT, run + RUNS, false, other_out), 0);
    }
}

static void check_exchange(const char *decomposition, const char *exchange, const char *schedule)
{
    static const pencilfft_direction order[] = {PENCILFFT_FORWARD, PENCILFFT_FORWARD, PENCILFFT_BACKWARD,
                                                PENCILFFT_BACKWARD};
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = N;
    desc.R = R;
    desc.C = C;
    desc.decomposition = decomposition;
    desc.type = "dct";
    desc.skip = "xyz";
    desc.exchange = exchange;
    desc.schedule = schedule;
    desc.fields = FIELDS;
    pencilfft_plan plan;
    void *in, *out;
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (status == PENCILFFT_NOT_POSSIBLE || (status == PENCILFFT_BAD_GRID && strcmp(decomposition, "pencil") && R > 1))
        return;
    CHECK_INT(status, PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &in), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &out), PENCILFFT_OK);
    for (int run = 0; run < (schedule ? RUNS_OF_SCHEDULE : RUNS); run++)
        check_run(plan, run, order[run % 4], in, out);
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
    start_on_grid(argc, argv, &rank, &ranks, &R, &C);
    for (int d = 0; pencilfft_decomposition_name(d); d++)
        for (int i = 0; pencilfft_exchange_name(i); i++)
            for (size_t s = 0; s < sizeof schedules / sizeof schedules[0]; s++)
                if (strcmp(pencilfft_exchange_name(i), "auto") &&
                    is_new(pencilfft_decomposition_name(d), pencilfft_exchange_name(i), schedules[s]))
                    check_exchange(pencilfft_decomposition_name(d), pencilfft_exchange_name(i), schedules[s]);
    MPI_Finalize();
    return check_result();
}
