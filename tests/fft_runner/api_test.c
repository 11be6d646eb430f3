/* The library as a caller sees it. Run under mpirun with the grid as arguments: api_test R C. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "pencilfft.h"

static int R, C, rank, ranks;

static pencilfft_desc description(void)
{
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = 9;
    desc.ny = 8;
    desc.nz = 10;
    desc.R = R;
    desc.C = C;
    desc.rigor = "estimate";
    return desc;
}

static pencilfft_plan make_plan(const pencilfft_desc *desc)
{
    pencilfft_plan plan = NULL;
    CHECK_INT(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    if (!plan) {
        printf("%s\n", pencilfft_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return plan;
}

static double complex *buffer_of(pencilfft_plan plan)
{
    void *buffer = NULL;
    CHECK_INT(pencilfft_alloc(plan, &buffer), PENCILFFT_OK);
    return buffer;
}

static void backward_after_forward_is_n_times_the_input(void)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = make_plan(&desc);
    int64_t elements = 0;
    pencilfft_box box;
    CHECK_INT(pencilfft_alloc_elements(plan, &elements), PENCILFFT_OK);
    CHECK_INT(pencilfft_box_mine(plan, PENCILFFT_Z_PENCIL, &box), PENCILFFT_OK);
    int64_t mine = box.extent[0] * box.extent[1] * box.extent[2];
    CHECK(mine <= elements);
    double complex *in = buffer_of(plan), *out = buffer_of(plan), *back = buffer_of(plan);
    for (int64_t i = 0; i < elements; i++)
        in[i] = CMPLX(rank + 1, (double)i);
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, out, back), PENCILFFT_OK);
    double worst = 0;
    for (int64_t i = 0; i < mine; i++) {
        CHECK(in[i] == CMPLX(rank + 1, (double)i));
        worst = fmax(worst, cabs(back[i] / 720 - in[i]));
    }
    CHECK(worst < 1e-10);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
}

/* FFTs of the unit impulse are one everywhere. */
static void an_impulse_becomes_flat(void)
{
    pencilfft_desc desc = description();
    desc.directions = PENCILFFT_BACKWARD;
    pencilfft_plan plan = make_plan(&desc);
    double complex *in = buffer_of(plan), *out = buffer_of(plan);
    pencilfft_box from, to;
    pencilfft_box_mine(plan, PENCILFFT_X_PENCIL, &from);
    pencilfft_box_mine(plan, PENCILFFT_Z_PENCIL, &to);
    for (int64_t i = 0; i < from.extent[0] * from.extent[1] * from.extent[2]; i++)
        in[i] = 0;
    if (rank == 0)
        in[0] = 1;
    CHECK_INT(pencilfft_backward(plan, in, out), PENCILFFT_OK);
    for (int64_t i = 0; i < to.extent[0] * to.extent[1] * to.extent[2]; i++)
        CHECK(cabs(out[i] - 1) < 1e-14);
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "not made for this direction");
    pencilfft_plan_destroy(plan);
}

static void phases_add_up_to_the_total(void)
{
    pencilfft_desc desc = description();
    desc.sync = "clock";
    pencilfft_plan plan = make_plan(&desc);
    double complex *in = buffer_of(plan), *out = buffer_of(plan);
    double seconds[PENCILFFT_N_PHASES], sum = 0;
    int64_t elements = 0;
    pencilfft_alloc_elements(plan, &elements);
    for (int64_t i = 0; i < elements; i++)
        in[i] = 1;
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_phase_seconds(plan, seconds), PENCILFFT_OK);
    for (int phase = 0; phase < PENCILFFT_TOTAL; phase++) {
        CHECK(seconds[phase] >= 0);
        CHECK(pencilfft_phase_name(phase) != NULL);
        sum += seconds[phase];
    }
    CHECK(fabs(sum - seconds[PENCILFFT_TOTAL]) < 1e-9);
    CHECK(!pencilfft_phase_name(PENCILFFT_N_PHASES) && !pencilfft_phase_name(-1));
    pencilfft_plan_destroy(plan);
}

static void wrong_calls_are_refused(void)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = make_plan(&desc);
    double complex *in = buffer_of(plan), *out = buffer_of(plan);
    pencilfft_box box;
    CHECK_INT(pencilfft_forward(plan, in, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_forward(NULL, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, in, in), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "overlap");
    CHECK_INT(pencilfft_forward(plan, in, in + 1), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_execute(plan, 7, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_forward(plan, (char *)in + 8, out), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "aligned");
    CHECK_INT(pencilfft_transpose(plan, 5, PENCILFFT_FORWARD, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_of(plan, PENCILFFT_Z_PENCIL, ranks, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_of(plan, 9, 0, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_mine(NULL, PENCILFFT_Z_PENCIL, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(NULL), PENCILFFT_OK);
}

/* One descriptor for all, and what is wrong with it; `only` changes the last rank's alone. */
static void refused(pencilfft_desc desc, int status, const char *part)
{
    pencilfft_plan plan = (pencilfft_plan)&desc;
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), status);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), part);
}

static void wrong_descriptors_are_refused_on_all_ranks(void)
{
    pencilfft_desc desc = description();
    desc.exchange = "teleport";
    refused(desc, PENCILFFT_UNKNOWN_NAME, "unknown exchange 'teleport'; known: alltoallv");
    desc = description();
    desc.rigor = NULL;
    refused(desc, PENCILFFT_UNKNOWN_NAME, "known: estimate, measure, patient");
    desc = description();
    desc.directions = 0;
    refused(desc, PENCILFFT_BAD_CALL, "directions");
    desc = description();
    desc.nx = 0;
    refused(desc, PENCILFFT_BAD_SIZE, "at least 1");
    pencilfft_plan plan;
    CHECK_INT(pencilfft_plan_create(NULL, MPI_COMM_WORLD, &plan), PENCILFFT_BAD_CALL);
}

static void what_is_wrong_on_one_rank_fails_on_all(void)
{
    pencilfft_desc desc = description();
    desc.ny += rank == ranks - 1;
    if (ranks > 1)
        refused(desc, PENCILFFT_MISMATCH, "different descriptors");
    desc = description();
    desc.sync = rank == ranks - 1 ? "wish" : "none";
    refused(desc, PENCILFFT_UNKNOWN_NAME, "unknown sync 'wish'");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    R = argc > 2 ? atoi(argv[1]) : ranks;
    C = argc > 2 ? atoi(argv[2]) : 1;
    backward_after_forward_is_n_times_the_input();
    an_impulse_becomes_flat();
    phases_add_up_to_the_total();
    wrong_calls_are_refused();
    wrong_descriptors_are_refused_on_all_ranks();
    what_is_wrong_on_one_rank_fails_on_all();
    MPI_Finalize();
    return check_result();
}
