/* Distributed lines against serial FFTW and direct sums: every algorithm and order, both precisions, 1, 2, 3, 4, 5, 6, 8, 9,
 * ... ranks up to all of the run (each on the first ranks), primes, several lines, both directions, in place and not. */
#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "check.h"
#include "common/complex_value.h"
#include "complex_values.h"
#include "pencilfft_line.h"

enum { LINES = 3, LONGEST = 400 };

static const int64_t lengths[] = {1, 2, 3, 8, 12, 17, 30, 31, 60, 64, 100, 127, 128, 240, 360};

static double complex direct(int64_t n, int64_t line, int64_t k, int sign)
{
    long double complex sum = 0;
    for (int64_t j = 0; j < n; j++) {
        long double angle = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
        sum += given(line, j, sign > 0) * (cosl(angle) + sign * sinl(angle) * I);
    }
    return (double complex)sum;
}

static void serial(int64_t n, int64_t line, int sign, double complex *result)
{
    double complex *in = fftw_malloc((size_t)n * sizeof *in);
    fftw_plan plan = fftw_plan_dft_1d((int)n, in, result, sign, FFTW_ESTIMATE);
    for (int64_t j = 0; j < n; j++)
        in[j] = given(line, j, sign > 0);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    fftw_free(in);
}

/* One direction of a plan; the error over the root mean square of the result, of the worst rank. */
static double error_of(pencilfft_line_plan plan, const pencilfft_line_desc *d, int rank, int backward, int in_place)
{
    int single = !strcmp(d->precision, "single"), sign = backward ? 1 : -1;
    int before = backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, after = backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
    int64_t elements, points[2], index;
    CHECK(!pencilfft_line_elements(plan, &elements));
    CHECK(!pencilfft_line_points(plan, before, rank, &points[0]) && !pencilfft_line_points(plan, after, rank, &points[1]));
    CHECK(points[0] * d->lines <= elements && points[1] * d->lines <= elements);
    size_t bytes = ((size_t)elements + 1) * sizeof(double complex);
    void *in = fftw_malloc(bytes), *out = in_place ? in : fftw_malloc(bytes);
    for (int64_t i = 0; i < points[0] * d->lines; i++) {
        CHECK(!pencilfft_line_index(plan, before, rank, i % points[0], &index));
        store(in, i, single, given(i / points[0], index, backward));
    }
    CHECK(!pencilfft_line_execute(plan, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out));
    double worst = 0;
    static double complex expected[LONGEST];
    for (int64_t line = 0; line < d->lines; line++) {
        serial(d->n, line, sign, expected);
        for (int64_t i = 0; i < points[1]; i++) {
            CHECK(!pencilfft_line_index(plan, after, rank, i, &index));
            double complex found = load(out, line * points[1] + i, single);
            worst = fmax(worst, cabs(found - expected[index]));
            if (d->n < 130 && line == d->lines - 1)
                worst = fmax(worst, cabs(found - direct(d->n, line, index, sign)));
        }
    }
    for (int64_t i = 0; i < points[0] * d->lines && !in_place; i++) {
        CHECK(!pencilfft_line_index(plan, before, rank, i % points[0], &index));
        double complex kept = load(in, i, single), was = given(i / points[0], index, backward);
        CHECK(kept == (single ? (double complex)CMPLXF((float)creal(was), (float)cimag(was)) : was));
    }
    if (!in_place)
        fftw_free(out);
    fftw_free(in);
    return worst / sqrt((double)d->n / 6);
}

/* Every point of the line is held once. */
static void check_points(pencilfft_line_plan plan, int64_t n, int ranks)
{
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++) {
        char seen[LONGEST] = {0};
        int64_t total = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int64_t points, index = 0;
            CHECK(!pencilfft_line_points(plan, array, rank, &points));
            int64_t all[LONGEST];
            CHECK(points <= LONGEST && !pencilfft_line_indices(plan, array, rank, all));
            for (int64_t i = 0; i < points; i++, total++) {
                CHECK(!pencilfft_line_index(plan, array, rank, i, &index) && index == all[i]);
                if (index < 0 || index >= n) {
                    CHECK(!"an index of the line");
                    continue;
                }
                CHECK(!seen[index]);
                seen[index] = 1;
            }
        }
        CHECK(total == n);
    }
}

/* Over all ranks forward and backward traffic are equal; in a group each rank gets the whole block. */
static void check_traffic(pencilfft_line_plan plan, const pencilfft_line_desc *d, int rank, MPI_Comm comm)
{
    int exchanges, ranks;
    int64_t points, bytes[64], messages[64];
    MPI_Comm_size(comm, &ranks);
    CHECK(!pencilfft_line_exchanges(plan, &exchanges) && !pencilfft_line_points(plan, PENCILFFT_INPUT, rank, &points));
    CHECK(!pencilfft_line_exchange_name(plan, exchanges) && !pencilfft_line_exchange_name(plan, -1));
    int64_t bytes_each = d->lines * (strcmp(d->precision, "single") ? 16 : 8);
    for (int e = 0; e < exchanges; e++) {
        int64_t sent[2] = {0, 0};
        for (int backward = 0; backward < 2; backward++) {
            CHECK(!pencilfft_line_traffic(plan, e, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, bytes, messages));
            CHECK(bytes[rank] == 0 && messages[rank] == 0);
            for (int r = 0; r < ranks; r++) {
                int64_t block = points * bytes_each; /* this rank's points; by reduce-scatter the other rank's */
                if (!strcmp(d->algorithm, "dft-reduce")) {
                    CHECK(!pencilfft_line_points(plan, PENCILFFT_INPUT, r, &block));
                    block *= bytes_each;
                }
                sent[backward] += bytes[r];
                CHECK(messages[r] == (bytes[r] > 0) &&
                      (pencilfft_line_is_all_to_all(plan, e) || !bytes[r] || bytes[r] == block));
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_INT64_T, MPI_SUM, comm);
        CHECK(sent[0] == sent[1]);
    }
}

/* For each exchange, the traffic of every rank: points of a line, and messages. */
static void print_counts(pencilfft_line_plan plan, const pencilfft_line_desc *d, int rank, MPI_Comm comm)
{
    int exchanges, ranks;
    int64_t bytes[64], messages[64], all[2 * 64];
    MPI_Comm_size(comm, &ranks);
    CHECK(!pencilfft_line_exchanges(plan, &exchanges));
    for (int e = 0; e < exchanges; e++) {
        int64_t mine[2] = {0, 0};
        CHECK(!pencilfft_line_traffic(plan, e, PENCILFFT_FORWARD, bytes, messages));
        for (int r = 0; r < ranks; r++) {
            mine[0] += bytes[r] / d->lines / (strcmp(d->precision, "single") ? 16 : 8);
            mine[1] += messages[r];
        }
        MPI_Gather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, 0, comm);
        if (rank > 0)
            continue;
        printf("counts %lld %d %s %s %s", (long long)d->n, ranks, d->algorithm, d->order,
               pencilfft_line_exchange_name(plan, e));
        for (int i = 0; i < 2 * ranks; i++)
            printf(" %lld", (long long)all[i]);
        printf("\n");
    }
}

static int may_refuse(const pencilfft_line_desc *d, int ranks)
{
    return !strncmp(d->algorithm, "binary", 6) && d->n % ranks;
}

static void check_one(const pencilfft_line_desc *d, MPI_Comm comm)
{
    int rank, ranks;
    pencilfft_line_plan plan;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int status = pencilfft_line_create(d, comm, &plan);
    if (may_refuse(d, ranks)) {
        CHECK(status == PENCILFFT_NOT_POSSIBLE && !plan && strstr(pencilfft_error_message(), "take"));
        return;
    }
    CHECK(status == PENCILFFT_OK);
    double error = 0, allowed = allowed_error(d->precision, (double)d->n);
    check_points(plan, d->n, ranks);
    check_traffic(plan, d, rank, comm);
    print_counts(plan, d, rank, comm);
    for (int backward = 0; backward < 2; backward++)
        error = fmax(error, error_of(plan, d, rank, backward, (int)(d->n + backward) % 2));
    if (!(error <= allowed))
        fprintf(stderr, "n %lld, %d ranks, %s, %s, %s, %lld lines: error %g, allowed %g\n", (long long)d->n, ranks,
                d->algorithm, d->order, d->precision, (long long)d->lines, error, allowed);
    CHECK(error <= allowed);
    CHECK(!pencilfft_line_destroy(plan));
}

static void check_ranks(MPI_Comm comm)
{
    pencilfft_line_desc d;
    pencilfft_line_desc_init(&d);
    d.rigor = "estimate";
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (int a = 0; (d.algorithm = pencilfft_line_algorithm_name(a)); a++)
            for (int o = 0; (d.order = pencilfft_line_order_name(o)); o++) {
                d.n = lengths[l];
                d.precision = (l + (size_t)(a + o)) % 2 ? "single" : "double";
                d.lines = l % 3 == 1 ? LINES : 1;
                check_one(&d, comm);
            }
}

/* Also if only the last point of a buffer is the first point of the other. */
static void buffers_that_overlap_are_refused(int rank)
{
    pencilfft_line_desc d;
    pencilfft_line_plan plan;
    double complex buffer[128];
    pencilfft_line_desc_init(&d);
    d.n = 16;
    d.lines = 3;
    d.rigor = "estimate";
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_OK);
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++) { /* of the transformed dimension, the first */
        pencilfft_direction direction = array == PENCILFFT_INPUT ? PENCILFFT_FORWARD : PENCILFFT_BACKWARD;
        int64_t points;
        CHECK(!pencilfft_line_points(plan, array, rank, &points));
        if (points == 0)
            continue;
        CHECK(pencilfft_line_execute(plan, direction, buffer, buffer + 3 * points - 1) == PENCILFFT_BAD_CALL);
        CHECK(strstr(pencilfft_error_message(), "overlap"));
    }
    pencilfft_line_destroy(plan);
}

static void check_refusals(int rank, int ranks)
{
    pencilfft_line_desc d, *none = NULL;
    pencilfft_line_plan plan;
    pencilfft_line_desc_init(none); /* refused below */
    pencilfft_line_desc_init(&d);
    CHECK(pencilfft_line_create(none, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_create(&d, MPI_COMM_NULL, &plan) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
    d.n = 16 + rank;
    if (ranks > 1)
        CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_MISMATCH &&
              strstr(pencilfft_error_message(), ": n is "));
    d.n = 16;
    d.lines = 0;
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
    d.lines = (int64_t)1 << 52;
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
    d.lines = 1;
    d.algorithm = "fastest";
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_UNKNOWN_NAME);
    CHECK(strstr(pencilfft_error_message(), "known: transpose, binary2, binary4, dft"));
    d.algorithm = "dft";
    d.order = "any";
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_UNKNOWN_NAME);
    d.order = "natural";
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_OK);
    double complex buffer[64];
    int64_t n;
    CHECK(pencilfft_line_execute(plan, (pencilfft_direction)3, buffer, buffer) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_execute(plan, PENCILFFT_FORWARD, NULL, buffer) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_execute(plan, PENCILFFT_FORWARD, (char *)buffer + 8, buffer) == PENCILFFT_BAD_CALL);
    if (ranks < 9) /* two points on each at least */
        CHECK(pencilfft_line_execute(plan, PENCILFFT_BACKWARD, buffer, buffer + 1) == PENCILFFT_BAD_CALL &&
              strstr(pencilfft_error_message(), "overlap"));
    CHECK(pencilfft_line_points(plan, 5, 0, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_points(plan, PENCILFFT_INPUT, 1000, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_index(plan, PENCILFFT_INPUT, 0, 16, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_index(plan, PENCILFFT_INPUT, 0, -1, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_indices(plan, PENCILFFT_OUTPUT, -1, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_traffic(plan, 9, PENCILFFT_FORWARD, NULL, NULL) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_line_destroy(plan) == PENCILFFT_OK && pencilfft_line_destroy(NULL) == PENCILFFT_OK);
}

/* If collective calls are compared: a different call on one rank, and an impossible call, fail on all ranks. */
static void calls_are_compared(int rank, int ranks)
{
    pencilfft_line_desc d;
    pencilfft_line_plan plan;
    double complex in[64] = {0}, out[64];
    CHECK(setenv("PENCILFFT_CHECK_CALLS", rank ? "0" : "60", 1) == 0);
    pencilfft_line_desc_init(&d);
    d.n = 16;
    d.rigor = "estimate";
    CHECK(pencilfft_line_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_OK);
    bool last = ranks > 1 && rank == ranks - 1;
    int status = last ? pencilfft_line_destroy(plan) : pencilfft_line_execute(plan, PENCILFFT_FORWARD, in, out);
    CHECK(status == (ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK) && same_message_on_all());
    if (ranks > 1)
        CHECK_CONTAINS(pencilfft_error_message(), "pencilfft_line_execute, direction 1, exchange 0, in place 0");
    status = pencilfft_line_execute(plan, last ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out);
    CHECK(status == (ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK) && same_message_on_all());
    CHECK(pencilfft_line_execute(plan, PENCILFFT_FORWARD, rank == ranks - 1 ? NULL : in, out) == PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "null plan or buffer");
    CHECK(same_message_on_all());
    CHECK(pencilfft_line_execute(plan, PENCILFFT_FORWARD, in, out) == PENCILFFT_OK);
    CHECK(pencilfft_line_destroy(plan) == PENCILFFT_OK);
    unsetenv("PENCILFFT_CHECK_CALLS");
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_refusals(rank, ranks);
    buffers_that_overlap_are_refused(rank);
    calls_are_compared(rank, ranks);
    for (int some = 1; some <= ranks; some += some == 6 ? 2 : 1) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm != MPI_COMM_NULL) {
            check_ranks(comm);
            MPI_Comm_free(&comm);
        }
    }
    MPI_Finalize();
    return check_result();
}
