/* The library as a caller sees it. Run under mpirun with the grid as arguments: api_test R C. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "common/complex_value.h"
#include "pencilfft.h"

static int R, C, rank, ranks;

/* The library's clock, set back all the time, on each rank at another moment: no time is negative, and no rank sleeps until
 * the clock has caught up. */
double MPI_Wtime(void)
{
    static int calls;
    return PMPI_Wtime() - 100. * (++calls * (rank + 3) / 7);
}

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
    double seconds[PENCILFFT_MAX_PHASES], sum = 0;
    int64_t elements = 0;
    int phases = 0, total = 0;
    pencilfft_alloc_elements(plan, &elements);
    for (int64_t i = 0; i < elements; i++)
        in[i] = 1;
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_phase_seconds(plan, seconds), PENCILFFT_OK);
    CHECK_INT(pencilfft_phase_seconds(plan, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_phase_seconds(NULL, seconds), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_phases(plan, &phases), PENCILFFT_OK);
    CHECK_INT(phases, 14);
    for (int phase = 0; phase < phases; phase++) {
        CHECK(seconds[phase] >= 0);
        CHECK(pencilfft_phase_name(plan, phase) != NULL);
        if (pencilfft_phase_kind(plan, phase) == PENCILFFT_TOTAL)
            total = phase;
        else if (pencilfft_phase_kind(plan, phase) != PENCILFFT_WAIT &&
                 pencilfft_phase_kind(plan, phase) != PENCILFFT_HIDDEN)
            sum += seconds[phase];
    }
    CHECK(fabs(sum - seconds[total]) < 1e-9);
    CHECK(!pencilfft_phase_name(plan, phases) && !pencilfft_phase_name(plan, -1) && !pencilfft_phase_name(NULL, 0));
    CHECK_INT(pencilfft_phase_kind(plan, phases), -1);
    pencilfft_plan_destroy(plan);
}

static void places_must_be_understood(void)
{
    static const struct {
        const char *torus, *node, *part;
    } cases[] = {
        {"8x", "1 2", "torus '8x' is not understood"}, {"8x8", NULL, "node is not given"},
        {"8x8", "1 2 3", "write 2 numbers"},           {"8x8", "1,2", "write 2 numbers"},
        {"8x8", "7 8", "its number 2 must be 0..7"},   {"8x8", "-1 0", "write 2 numbers"},
    };
    pencilfft_plan plan;
    pencilfft_desc desc = description();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        desc.torus = cases[i].torus;
        desc.node = cases[i].node;
        CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_BAD_CALL);
        CHECK_CONTAINS(pencilfft_error_message(), cases[i].part);
    }
    desc.torus = "8x8";
    desc.node = rank ? "3 1 " : " 0 7";
    pencilfft_plan_destroy(make_plan(&desc));
    desc.torus = rank ? "8x8" : "8x4";
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_BAD_CALL);
}

static void wrong_calls_are_refused(void)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = make_plan(&desc);
    double complex *in = buffer_of(plan), *out = buffer_of(plan);
    pencilfft_box box;
    pencilfft_part part;
    char words[64];
    CHECK_INT(pencilfft_forward(plan, in, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_forward(NULL, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, in, in), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "overlap");
    CHECK_INT(pencilfft_forward(plan, in, in + 1), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_execute(plan, 7, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_forward(plan, (char *)in + 8, out), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "aligned");
    CHECK_INT(pencilfft_transpose(plan, 5, PENCILFFT_FORWARD, in, out), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_traffic(plan, PENCILFFT_ROW, 3, NULL, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_of(plan, PENCILFFT_Z_PENCIL, ranks, &box), PENCILFFT_BAD_CALL);
    snprintf(words, sizeof words, "rank %d; ranks are 0..%d", ranks, ranks - 1);
    CHECK_CONTAINS(pencilfft_error_message(), words);
    CHECK_INT(pencilfft_box_of(plan, PENCILFFT_Z_PENCIL, -1, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_of(plan, 9, 0, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_box_of(plan, 3, 0, &box), PENCILFFT_BAD_CALL); /* arrays are 0..2, and input and output */
    for (int i = -1; i <= 1; i++)
        CHECK_INT(pencilfft_part_of(plan, 0, 0, i, &part), i ? PENCILFFT_BAD_CALL : PENCILFFT_OK);
    CHECK_CONTAINS(pencilfft_error_message(), "part 1; the array has parts 0..0");
    CHECK_INT(pencilfft_box_mine(NULL, PENCILFFT_Z_PENCIL, &box), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(NULL), PENCILFFT_OK);
}

enum { MOST_RANKS = 64, UNSET = 77, FIELDS = 2 };

static int64_t common(const pencilfft_box *a, const pencilfft_box *b)
{
    int64_t n = 1;
    for (int i = 0; i < 3; i++) {
        int64_t low = a->offset[i] > b->offset[i] ? a->offset[i] : b->offset[i];
        int64_t end_a = a->offset[i] + a->extent[i], end_b = b->offset[i] + b->extent[i];
        int64_t end = end_a < end_b ? end_a : end_b;
        n *= end > low ? end - low : 0;
    }
    return n;
}

/* For an exchange and direction, from the boxes of all ranks; overwrites the lists. */
static void check_traffic(pencilfft_plan plan, int e, pencilfft_direction direction, int most)
{
    int64_t bytes[MOST_RANKS], messages[MOST_RANKS], alone[MOST_RANKS];
    pencilfft_box mine, theirs;
    bool backward = direction == PENCILFFT_BACKWARD;
    for (int j = 0; j < ranks; j++)
        bytes[j] = messages[j] = alone[j] = UNSET;
    CHECK_INT(pencilfft_traffic(plan, e, direction, bytes, messages), PENCILFFT_OK);
    CHECK_INT(pencilfft_box_mine(plan, backward ? e + 1 : e, &mine), PENCILFFT_OK);
    for (int j = 0; j < ranks; j++) {
        CHECK_INT(pencilfft_box_of(plan, backward ? e : e + 1, j, &theirs), PENCILFFT_OK);
        bool partner = j != rank && (e ? j % R == rank % R : j / R == rank / R);
        int64_t expected = partner ? common(&mine, &theirs) * FIELDS * (int64_t)sizeof(double complex) : 0;
        CHECK_INT(bytes[j], expected);
        CHECK(expected ? messages[j] >= 1 && messages[j] <= most : messages[j] == 0);
    }
    CHECK_INT(pencilfft_traffic(plan, e, direction, alone, NULL), PENCILFFT_OK);
    CHECK(!memcmp(alone, bytes, (size_t)ranks * sizeof *bytes));
    CHECK_INT(pencilfft_traffic(plan, e, direction, NULL, alone), PENCILFFT_OK);
    CHECK(!memcmp(alone, messages, (size_t)ranks * sizeof *messages));
    CHECK_INT(pencilfft_traffic(plan, e, direction, NULL, NULL), PENCILFFT_OK);
}

static void traffic_follows_from_the_boxes(const char *exchange, const char *schedule, int most)
{
    pencilfft_desc desc = description();
    desc.exchange = exchange;
    desc.schedule = schedule;
    desc.fields = FIELDS;
    pencilfft_plan plan = make_plan(&desc);
    for (int e = 0; e < 2; e++) {
        check_traffic(plan, e, PENCILFFT_FORWARD, most);
        check_traffic(plan, e, PENCILFFT_BACKWARD, most);
        CHECK(!strcmp(pencilfft_exchange_chosen(plan, e), exchange));
    }
    for (int e = -1; e < 3; e += 3) {
        CHECK_INT(pencilfft_traffic(plan, e, PENCILFFT_FORWARD, NULL, NULL), PENCILFFT_BAD_CALL);
        CHECK(!pencilfft_exchange_chosen(plan, e) && !pencilfft_exchange_means(plan, e));
    }
    CHECK_INT(pencilfft_traffic(NULL, 0, PENCILFFT_FORWARD, NULL, NULL), PENCILFFT_BAD_CALL);
    pencilfft_plan_destroy(plan);
    desc.directions = PENCILFFT_FORWARD;
    plan = make_plan(&desc);
    CHECK_INT(pencilfft_traffic(plan, 0, PENCILFFT_BACKWARD, NULL, NULL), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "no such exchange in this direction");
    CHECK_INT(pencilfft_traffic(plan, 0, PENCILFFT_FORWARD, NULL, NULL), PENCILFFT_OK);
    pencilfft_plan_destroy(plan);
}

/* 9 x 8 x 10 real numbers; z of the spectrum has 6 complex numbers. */
static void formats_say_what_arrays_hold(void)
{
    pencilfft_desc desc = description();
    desc.type = "r2c";
    desc.precision = "single";
    desc.fields = 2;
    pencilfft_plan plan = make_plan(&desc);
    pencilfft_format in, out;
    pencilfft_box in_box, out_box;
    double scale = 0;
    int64_t bytes = 0, elements = 0;
    CHECK_INT(pencilfft_format_of(plan, PENCILFFT_INPUT, &in), PENCILFFT_OK);
    CHECK_INT(pencilfft_format_of(plan, PENCILFFT_OUTPUT, &out), PENCILFFT_OK);
    CHECK_INT((int)in.element_bytes, 4);
    CHECK_INT((int)out.element_bytes, 8);
    CHECK(!in.is_complex && out.is_complex);
    CHECK_INT(in.n[2], 10);
    CHECK_INT(out.n[2], 6);
    CHECK_INT(pencilfft_box_mine(plan, PENCILFFT_INPUT, &in_box), PENCILFFT_OK);
    CHECK_INT(pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &out_box), PENCILFFT_OK);
    CHECK_INT(in_box.extent[2], 10);
    CHECK_INT(out_box.extent[0], 9);
    CHECK_INT(in.field_stride, in_box.extent[0] * in_box.extent[1] * in_box.extent[2]);
    CHECK_INT(out.fields, 2);
    CHECK_INT(pencilfft_scale(plan, &scale), PENCILFFT_OK);
    CHECK(scale == 720);
    CHECK_INT(pencilfft_alloc_bytes(plan, &bytes), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc_elements(plan, &elements), PENCILFFT_OK);
    CHECK_INT(bytes, 8 * elements);
    CHECK(bytes >= in.fields * in.field_stride * 4 && bytes >= out.fields * out.field_stride * 8);
    CHECK_INT(pencilfft_format_of(plan, 9, &in), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_scale(plan, NULL), PENCILFFT_BAD_CALL);
    pencilfft_plan_destroy(plan);
}

/* Of x, y and z: 2(9 - 1), 2 * 8 and 2(10 + 1), 9 * 8 * 2(10 - 1), ...; and in place, in the caller's own memory. */
static void backward_after_forward_is_scale_times_the_input(const char *type, const char *kinds, const char *skip,
                                                            double expected)
{
    pencilfft_desc desc = description();
    desc.type = type;
    desc.kinds = kinds;
    desc.skip = skip;
    pencilfft_plan plan = make_plan(&desc);
    pencilfft_format in;
    double scale = 0, worst = 0;
    int64_t bytes = 0;
    pencilfft_scale(plan, &scale);
    CHECK(scale == expected);
    pencilfft_format_of(plan, PENCILFFT_INPUT, &in);
    pencilfft_alloc_bytes(plan, &bytes);
    double *data = aligned_alloc(16, (size_t)bytes / 16 * 16 + 16);
    for (int64_t i = 0; i < in.field_stride; i++)
        data[i] = sin((double)(i * (rank + 1)));
    CHECK_INT(pencilfft_forward(plan, data, data), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, data, data), PENCILFFT_OK);
    for (int64_t i = 0; i < in.field_stride; i++)
        worst = fmax(worst, fabs(data[i] / scale - sin((double)(i * (rank + 1)))));
    CHECK(worst < 1e-13);
    free(data);
    pencilfft_plan_destroy(plan);
}

static void scales_are_those_of_the_types(void)
{
    backward_after_forward_is_scale_times_the_input("r2c", NULL, NULL, 720);
    backward_after_forward_is_scale_times_the_input("dct", "1,2,s1", NULL, 16. * 16 * 22);
    backward_after_forward_is_scale_times_the_input("dst", NULL, "y", 18. * 20);
    backward_after_forward_is_scale_times_the_input("chebyshev", NULL, NULL, 16. * 8 * 10);
    backward_after_forward_is_scale_times_the_input("empty", NULL, NULL, 8. * 10);
}

/* A descriptor for all ranks, and its error; `only` changes the last rank's alone. */
static void refused(pencilfft_desc desc, int status, const char *part)
{
    pencilfft_plan plan = (pencilfft_plan)&desc;
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), status);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), part);
}

/* A program compiled with an older header, whose descriptor ended earlier; and one with a newer header. */
static void descriptors_of_other_releases_are_taken(void)
{
    struct {
        pencilfft_desc desc;
        int64_t behind[8];
    } of;
    const size_t before = offsetof(pencilfft_desc, padded_nx);
    const pencilfft_desc whole = description();
    pencilfft_plan plan;
    memset(&of, 'b', sizeof of);
    pencilfft_desc_init_bytes(&of.desc, before);
    CHECK(((const char *)&of)[before] == 'b' && of.desc.fields == 1);
    of.desc.nx = whole.nx, of.desc.ny = whole.ny, of.desc.nz = whole.nz, of.desc.R = whole.R, of.desc.C = whole.C;
    CHECK_INT(pencilfft_plan_create(&of.desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    pencilfft_desc_init_bytes(&of.desc, sizeof of);
    of.desc.nx = whole.nx, of.desc.ny = whole.ny, of.desc.nz = whole.nz, of.desc.R = whole.R, of.desc.C = whole.C;
    CHECK_INT(pencilfft_plan_create(&of.desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    of.behind[7] = 1;
    CHECK_INT(pencilfft_plan_create(&of.desc, MPI_COMM_WORLD, &plan), PENCILFFT_NOT_POSSIBLE);
    CHECK_CONTAINS(pencilfft_error_message(), "compiled with a newer pencilfft.h");
}

/* Buffers of another plan, one of which is too short on some rank or on all. */
static void short_buffers_are_refused_on_all_ranks(void)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = make_plan(&desc), other;
    void *in = buffer_of(plan), *out = buffer_of(plan);
    const int64_t none[3] = {0}, one[3] = {1, 1, 1};
    pencilfft_halo halo;
    desc.nx++;
    other = make_plan(&desc);
    double complex *longer = buffer_of(other);
    CHECK_INT(pencilfft_forward(other, in, longer), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "bytes from there on, and the array has");
    CHECK_INT(pencilfft_forward(plan, longer, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, out, longer), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_create(plan, PENCILFFT_INPUT, none, one, &halo), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_exchange(halo, in, out), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "`padded` lies in a buffer");
    CHECK_INT(pencilfft_halo_destroy(halo), PENCILFFT_OK);
    pencilfft_plan_destroy(plan);
    pencilfft_plan_destroy(other);
}

/* Half of the bytes, and an error between nothing and what the plan tells; against a plan that sends doubles. */
static void exchanges_in_single_precision_round(const char *type, const char *exchange, const char *schedule)
{
    pencilfft_desc desc = description();
    double told[2] = {1, 1}, sums[2] = {0, 0};
    double complex *in, *out[2];
    int64_t bytes[2][MOST_RANKS], n = 0;
    pencilfft_plan plan[2];
    desc.type = type;
    desc.exchange = exchange;
    desc.schedule = schedule;
    desc.fields = 2;
    for (int i = 0; i < 2; i++) {
        desc.exchange_precision = i ? "single" : NULL;
        plan[i] = make_plan(&desc);
        out[i] = buffer_of(plan[i]);
        CHECK_INT(pencilfft_exchange_error(plan[i], &told[i]), PENCILFFT_OK);
    }
    in = buffer_of(plan[0]);
    CHECK(told[0] == 0 && told[1] == ((R > 1) + (C > 1)) * 0x1p-24);
    CHECK_INT(pencilfft_alloc_elements(plan[0], &n), PENCILFFT_OK);
    for (int64_t i = 0; i < n; i++)
        in[i] = CMPLX(sin((double)(i + 100 * rank)), cos((double)(3 * i)));
    for (int i = 0; i < 2; i++)
        CHECK_INT(pencilfft_forward(plan[i], in, out[i]), PENCILFFT_OK);
    pencilfft_walk w;
    CHECK_INT(pencilfft_walk_begin(plan[0], PENCILFFT_OUTPUT, &w), PENCILFFT_OK);
    while (pencilfft_walk_next(&w)) {
        sums[0] += pow(cabs(out[0][w.at]), 2);
        sums[1] += pow(cabs(out[1][w.at] - out[0][w.at]), 2);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(ranks == 1 ? sums[1] == 0 : sums[1] > 0 && sqrt(sums[1] / sums[0]) <= told[1]);
    for (int e = 0; e < 2; e++) {
        for (int i = 0; i < 2; i++)
            CHECK_INT(pencilfft_traffic(plan[i], e, PENCILFFT_FORWARD, bytes[i], NULL), PENCILFFT_OK);
        for (int j = 0; j < ranks && strcmp(exchange, "auto"); j++) /* which may take two exchanges */
            CHECK_INT(2 * bytes[1][j], bytes[0][j]);
    }
    for (int i = 0; i < 2; i++)
        pencilfft_plan_destroy(plan[i]);
}

/* The text of the plan shows destroy_input. */
static void destroyed_inputs_are_work_buffers(void)
{
    pencilfft_desc desc = description();
    const char *text;
    desc.destroy_input = 1;
    desc.exchange = "alltoallv";
    pencilfft_plan plan = make_plan(&desc);
    CHECK_INT(pencilfft_plan_text(plan, &text), PENCILFFT_OK);
    CHECK_CONTAINS(text, desc.R * desc.C > 1 ? "to in or work 0\n" : "joint: nothing, in out\n");
    CHECK_CONTAINS(text, "0 work buffers;");
    pencilfft_plan_destroy(plan);
}

/* This program starts MPI by MPI_Init, which promises no threads. */
static void threads_must_be_possible(void)
{
    pencilfft_desc desc = description();
    int level, threads;
    desc.threads = -2;
    refused(desc, PENCILFFT_BAD_CALL, "threads is -2; give 1 or more, or PENCILFFT_OMP_THREADS (-1)");
    MPI_Query_thread(&level);
    desc.threads = 2;
#ifndef PENCILFFT_HAVE_OPENMP
    refused(desc, PENCILFFT_NOT_POSSIBLE, "threads is 2, but this library was built without OpenMP");
#else
    if (level < MPI_THREAD_FUNNELED)
        refused(desc, PENCILFFT_NOT_POSSIBLE,
                "threads is 2, but MPI runs with MPI_THREAD_SINGLE; start it by MPI_Init_thread");
    desc.threads = 1025;
    refused(desc, PENCILFFT_BAD_CALL, "threads is 1025; a rank has at most 1024");
#endif
    desc.threads = 0;
    pencilfft_plan plan = make_plan(&desc);
    CHECK_INT(pencilfft_threads(plan, &threads), PENCILFFT_OK);
    CHECK_INT(threads, 1);
    CHECK_INT(pencilfft_threads(NULL, &threads), PENCILFFT_BAD_CALL);
    pencilfft_plan_destroy(plan);
}

/* As other languages make a descriptor. Members set by name equal members of the structure. */
static void descriptors_are_made_by_name(void)
{
    pencilfft_desc *desc = pencilfft_desc_new();
    pencilfft_desc same;
    pencilfft_desc_init(&same);
    CHECK(desc->directions == same.directions && desc->fields == same.fields && desc->auto_budget_s == same.auto_budget_s);
    const char *const numbers[] = {"nx", "ny", "nz", "R", "C", "directions", "fields"};
    for (int i = 0; i < 7; i++)
        CHECK_INT(pencilfft_desc_set_integer(desc, numbers[i], 11 + i), PENCILFFT_OK);
    CHECK(desc->nx == 11 && desc->ny == 12 && desc->nz == 13 && desc->R == 14 && desc->C == 15);
    CHECK(desc->directions == 16 && desc->fields == 17);
    CHECK_INT(pencilfft_desc_set_integer(desc, "nx", (int64_t)1 << 40), PENCILFFT_OK);
    CHECK_INT(desc->nx, (int64_t)1 << 40);
    const char *const texts[] = {"type", "kinds", "skip", "precision", "layout", "exchange", "rigor", "sync"};
    for (int i = 0; i < 8; i++)
        CHECK_INT(pencilfft_desc_set_text(desc, texts[i], texts[i]), PENCILFFT_OK);
    CHECK(desc->type == texts[0] && desc->kinds == texts[1] && desc->skip == texts[2] && desc->precision == texts[3]);
    CHECK(desc->layout == texts[4] && desc->exchange == texts[5] && desc->rigor == texts[6] && desc->sync == texts[7]);
    CHECK_INT(pencilfft_desc_set_text(desc, "kinds", NULL), PENCILFFT_OK);
    CHECK(!desc->kinds);
    CHECK_INT(pencilfft_desc_set_real(desc, "auto_budget_s", 0.5), PENCILFFT_OK);
    CHECK(desc->auto_budget_s == 0.5);
    CHECK_INT(pencilfft_desc_set_integer(desc, "auto_budget_s", 3), PENCILFFT_OK);
    CHECK(desc->auto_budget_s == 3);
    pencilfft_desc_free(desc);
}

static void wrong_members_are_refused(void)
{
    pencilfft_desc *desc = pencilfft_desc_new();
    CHECK_INT(pencilfft_desc_set_integer(desc, "nw", 1), PENCILFFT_UNKNOWN_NAME);
    CHECK_CONTAINS(pencilfft_error_message(), "unknown member of a descriptor 'nw'; known: nx, ny, nz, R, C, directions");
    CHECK_INT(pencilfft_desc_set_integer(desc, "R", (int64_t)1 << 40), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "R is 1099511627776; it must be in -2147483648..2147483647");
    CHECK_INT(pencilfft_desc_set_integer(desc, "type", 1), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "type is a text; an integer was given");
    CHECK_INT(pencilfft_desc_set_real(desc, "nx", 1.5), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "nx is an integer; a real number was given");
    CHECK_INT(pencilfft_desc_set_text(desc, "fields", "two"), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_desc_set_text(NULL, "type", "c2c"), PENCILFFT_BAD_CALL);
    pencilfft_desc_free(desc);
}

static void refuses_communicator(MPI_Comm comm, const char *part)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = (pencilfft_plan)&desc;
    int found;
    CHECK_INT(pencilfft_plan_create(&desc, comm, &plan), PENCILFFT_BAD_CALL);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), part);
    CHECK_INT(pencilfft_wisdom_load("none", comm, &found), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), part);
    CHECK_INT(pencilfft_wisdom_save("none", comm), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), part);
}

static void communicators_between_groups_are_refused(void)
{
    MPI_Comm half, both;
    if (ranks == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    refuses_communicator(both, "an intercommunicator");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void wisdom_needs_a_path(void)
{
    int found;
    CHECK_INT(pencilfft_wisdom_load(NULL, MPI_COMM_WORLD, &found), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "null path");
    CHECK_INT(pencilfft_wisdom_save(NULL, MPI_COMM_WORLD), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "null path");
}

/* A pipe stands for a device, whose place the file would also take; the same behind a link. */
static void wisdom_replaces_files_alone(void)
{
    char folder[] = "/tmp/pencilfft-XXXXXX", pipe[64], link[64];
    struct stat about = {.st_mode = 0};
    bool made = rank == 0 && mkdtemp(folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK(rank != 0 || (made && !mkfifo(pipe, S_IRUSR | S_IWUSR) && !symlink("pipe", link)));
    for (int linked = 0; linked < 2; linked++) {
        CHECK_INT(pencilfft_wisdom_save(linked ? link : pipe, MPI_COMM_WORLD), PENCILFFT_BAD_CALL);
        CHECK_CONTAINS(pencilfft_error_message(), "cannot be written: it is a folder, a pipe or a device");
    }
    if (!made)
        return;
    CHECK(!lstat(pipe, &about) && S_ISFIFO(about.st_mode));
    CHECK(!unlink(link) && !unlink(pipe) && !rmdir(folder));
}

static void *fail_otherwise(void *nothing)
{
    CHECK_INT(pencilfft_desc_set_integer(nothing, "nx", 1), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "null descriptor");
    return NULL;
}

static void each_thread_hears_of_its_own_failures(void)
{
    pthread_t other;
    CHECK_INT(pencilfft_forward(NULL, NULL, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pthread_create(&other, NULL, fail_otherwise, NULL), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK_CONTAINS(pencilfft_error_message(), "null plan or buffer");
}

static pencilfft_plan left; /* when MPI ends */

static void leave_a_plan(void)
{
    pencilfft_desc desc = description();
    left = make_plan(&desc);
}

static void after_mpi_all_is_refused(void)
{
    double complex buffer[2][16] = {{0}};
    CHECK_INT(pencilfft_forward(left, buffer[0], buffer[1]), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "before MPI_Finalize");
    CHECK_INT(pencilfft_plan_destroy(left), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "before MPI_Finalize");
    refuses_communicator(MPI_COMM_WORLD, "before MPI_Finalize");
}

int main(int argc, char **argv)
{
    refuses_communicator(MPI_COMM_WORLD, "call MPI_Init first");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    R = argc > 2 ? atoi(argv[1]) : ranks;
    C = argc > 2 ? atoi(argv[2]) : 1;
    backward_after_forward_is_n_times_the_input();
    an_impulse_becomes_flat();
    phases_add_up_to_the_total();
    formats_say_what_arrays_hold();
    scales_are_those_of_the_types();
    wrong_calls_are_refused();
    traffic_follows_from_the_boxes("alltoallv", "sequence", 1);
    traffic_follows_from_the_boxes("p2p", "sequence", 1);
    traffic_follows_from_the_boxes("alltoallw", "sequence", 1);
    traffic_follows_from_the_boxes("alltoallv", "overlap:2:field", 2);
    exchanges_in_single_precision_round("c2c", "alltoallv", NULL);
    exchanges_in_single_precision_round("r2c", "alltoallw", NULL);
    exchanges_in_single_precision_round("c2c", "persistent", "pipelined:2");
    exchanges_in_single_precision_round("c2c", "auto", NULL);
    places_must_be_understood();
    descriptors_of_other_releases_are_taken();
    short_buffers_are_refused_on_all_ranks();
    destroyed_inputs_are_work_buffers();
    threads_must_be_possible();
    descriptors_are_made_by_name();
    wrong_members_are_refused();
    refuses_communicator(MPI_COMM_NULL, "null communicator");
    communicators_between_groups_are_refused();
    wisdom_needs_a_path();
    wisdom_replaces_files_alone();
    each_thread_hears_of_its_own_failures();
    leave_a_plan();
    MPI_Finalize();
    after_mpi_all_is_refused();
    return check_result();
}
