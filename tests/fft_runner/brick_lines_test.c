/* Bricks on which distributed lines run directly, against serial FFTW in three dimensions, every element: every algorithm
 * and order, both precisions and directions, in place and not, brick grids of 1, 2, 4, 6 and 8 ranks (each on the first
 * ranks), primes, extents that do not divide or are shorter than the ranks, two dimensions. Prints the traffic of every
 * rank. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "check.h"
#include "complex_values.h"
#include "pencilfft_line.h"

enum { MOST = 2048, MOST_FIELDS = 2, MOST_RANKS = 64 };

static const int64_t sizes[][3] = {{8, 16, 8}, {5, 7, 11}, {6, 9, 10}, {24, 17, 1}, {3, 2, 24}};
static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 1, 2}, {2, 2, 1}, {4, 1, 1},
                               {1, 2, 3}, {1, 6, 1}, {2, 2, 2}, {8, 1, 1}};

static int64_t points_of(const int64_t n[3])
{
    return n[0] * n[1] * n[2];
}

static void serial(const int64_t n[3], int64_t field, int sign, double complex *data)
{
    fftw_plan plan = fftw_plan_dft_3d((int)n[0], (int)n[1], (int)n[2], data, data, sign, FFTW_ESTIMATE);
    for (int64_t i = 0; i < points_of(n); i++)
        data[i] = given(field, i, 0);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

/* Index in the array of every element of a rank, in the order of its memory; returns their number. */
static int64_t indices_of(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *d, int array, int rank,
                          int64_t index[MOST])
{
    int64_t extent[3], at[3], n = 0, all[MOST];
    CHECK(!pencilfft_brick_lines_extent(plan, array, rank, extent));
    for (int axis = 0; axis < 3; axis++) {
        CHECK(!pencilfft_brick_lines_indices(plan, array, rank, axis, all));
        for (int64_t i = 0; i < extent[axis]; i++)
            CHECK(!pencilfft_brick_lines_index(plan, array, rank, axis, i, &at[0]) && at[0] == all[i]);
    }
    for (int64_t x = 0; x < extent[0]; x++)
        for (int64_t y = 0; y < extent[1]; y++)
            for (int64_t z = 0; z < extent[2]; z++) {
                CHECK(!pencilfft_brick_lines_index(plan, array, rank, 0, x, &at[0]) &&
                      !pencilfft_brick_lines_index(plan, array, rank, 1, y, &at[1]) &&
                      !pencilfft_brick_lines_index(plan, array, rank, 2, z, &at[2]));
                index[n++] = (at[0] * d->ny + at[1]) * d->nz + at[2];
            }
    return n;
}

/* Each element of an array is held once; in natural order divided like decomposition brick. */
static void check_places(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *d, int ranks)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++) {
        char seen[MOST] = {0};
        int64_t total = 0;
        static int64_t index[MOST];
        for (int rank = 0; rank < ranks; rank++) {
            int64_t held = indices_of(plan, d, array, rank, index);
            for (int64_t i = 0; i < held; i++) {
                CHECK(index[i] >= 0 && index[i] < points_of(n) && !seen[index[i]]);
                seen[index[i]] = 1;
            }
            total += held;
            int apart = 1;
            for (int axis = 0; axis < 3 && held && !strcmp(d->order, "natural"); apart *= d->bricks[axis++]) {
                int64_t first, j = rank / apart % d->bricks[axis], each = n[axis] / d->bricks[axis],
                               more = n[axis] % d->bricks[axis];
                CHECK(!pencilfft_brick_lines_index(plan, array, rank, axis, 0, &first));
                CHECK_INT(first, j * each + (j < more ? j : more));
            }
        }
        CHECK_INT(total, points_of(n));
    }
}

/* One direction of a plan; the error over the root mean square of the result on this rank. */
static double error_of(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *d, int rank, int backward, int in_place)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    static double complex expected[MOST];
    static int64_t from[MOST], to[MOST];
    int single = !strcmp(d->precision, "single");
    int64_t elements, given_here = indices_of(plan, d, backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, rank, from);
    int64_t made_here = indices_of(plan, d, backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT, rank, to);
    CHECK(!pencilfft_brick_lines_elements(plan, &elements));
    CHECK(given_here * d->fields <= elements && made_here * d->fields <= elements);
    size_t bytes = ((size_t)elements + 1) * sizeof(double complex);
    void *in = fftw_malloc(bytes), *out = in_place ? in : fftw_malloc(bytes), *kept = fftw_malloc(bytes);
    for (int64_t i = 0; i < given_here * d->fields; i++)
        store(in, i, single, given(i / given_here, from[i % given_here], 0));
    size_t filled = (size_t)(given_here * d->fields) * (single ? 8 : 16);
    memcpy(kept, in, filled);
    CHECK(!pencilfft_brick_lines_execute(plan, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out));
    CHECK(in_place || !memcmp(kept, in, filled));
    double worst = 0;
    for (int64_t field = 0; field < d->fields; field++) {
        serial(n, field, backward ? FFTW_BACKWARD : FFTW_FORWARD, expected);
        for (int64_t i = 0; i < made_here; i++) {
            double error = cabs(load(out, field * made_here + i, single) - expected[to[i]]);
            worst = error <= worst ? worst : error; /* NaN too */
        }
    }
    if (!in_place)
        fftw_free(out);
    fftw_free(in);
    fftw_free(kept);
    return worst / sqrt((double)points_of(n) / 6);
}

/* Prints each exchange's traffic from every rank: elements of a field, and messages. Only ranks of the same line get
 * messages, and over all ranks forward and backward traffic are equal. */
static void check_traffic(pencilfft_brick_lines plan, const pencilfft_brick_lines_desc *d, int rank, MPI_Comm comm)
{
    int exchanges, ranks;
    int64_t bytes[MOST_RANKS], messages[MOST_RANKS], all[2 * MOST_RANKS];
    MPI_Comm_size(comm, &ranks);
    CHECK(!pencilfft_brick_lines_exchanges(plan, &exchanges));
    CHECK(!pencilfft_brick_lines_exchange_name(plan, exchanges) && !pencilfft_brick_lines_exchange_name(plan, -1));
    for (int e = 0; e < exchanges; e++) {
        const char *name = pencilfft_brick_lines_exchange_name(plan, e);
        int axis = name[0] - 'x', apart = axis == 0 ? 1 : axis == 1 ? d->bricks[0] : d->bricks[0] * d->bricks[1];
        int64_t mine[2] = {0, 0}, sent[2] = {0, 0};
        for (int backward = 1; backward >= 0; backward--) {
            CHECK(
                !pencilfft_brick_lines_traffic(plan, e, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, bytes, messages));
            CHECK(bytes[rank] == 0);
            for (int r = 0; r < ranks; r++) {
                bool line = (r - rank) % apart == 0 && r / apart / d->bricks[axis] == rank / apart / d->bricks[axis];
                CHECK(messages[r] == (bytes[r] > 0) && (line || !bytes[r]));
                sent[backward] += bytes[r];
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_INT64_T, MPI_SUM, comm);
        CHECK(sent[0] == sent[1]);
        for (int r = 0; r < ranks; r++) {
            mine[0] += bytes[r] / d->fields / (strcmp(d->precision, "single") ? 16 : 8);
            mine[1] += messages[r];
        }
        MPI_Gather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, 0, comm);
        if (rank > 0)
            continue;
        printf("counts %lldx%lldx%lld %dx%dx%d %s %s %s", (long long)d->nx, (long long)d->ny, (long long)d->nz, d->bricks[0],
               d->bricks[1], d->bricks[2], d->algorithm, d->order, name);
        for (int i = 0; i < 2 * ranks; i++)
            printf(" %lld", (long long)all[i]);
        printf("\n");
    }
}

/* Their sum is the total, and each has its own name. */
static void check_phases(pencilfft_brick_lines plan)
{
    int n;
    double sum = 0, seconds[1024];
    CHECK(!pencilfft_brick_lines_phases(plan, &n) && !pencilfft_brick_lines_phase_seconds(plan, seconds));
    for (int i = 0; i < n - 1; i++) {
        sum += seconds[i];
        for (int j = 0; j < i; j++)
            CHECK(strcmp(pencilfft_brick_lines_phase_name(plan, i), pencilfft_brick_lines_phase_name(plan, j)) != 0);
    }
    CHECK(!strcmp(pencilfft_brick_lines_phase_name(plan, n - 1), "total") && fabs(sum - seconds[n - 1]) <= 1e-9);
    CHECK(!pencilfft_brick_lines_phase_name(plan, n));
}

static int may_refuse(const pencilfft_brick_lines_desc *d)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    for (int axis = 0; axis < 3; axis++)
        if (!strncmp(d->algorithm, "binary", 6) && n[axis] > 1 && n[axis] % d->bricks[axis])
            return 1;
    return 0;
}

static void check_one(const pencilfft_brick_lines_desc *d, MPI_Comm comm)
{
    int rank, ranks;
    pencilfft_brick_lines plan;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int status = pencilfft_brick_lines_create(d, comm, &plan);
    if (may_refuse(d)) {
        CHECK(status == PENCILFFT_NOT_POSSIBLE && !plan && strstr(pencilfft_error_message(), "along "));
        return;
    }
    CHECK(status == PENCILFFT_OK);
    if (status)
        return;
    double error = 0, allowed = allowed_error(d->precision, (double)(d->nx * d->ny * d->nz));
    check_places(plan, d, ranks);
    check_traffic(plan, d, rank, comm);
    for (int backward = 0; backward < 2; backward++) {
        double one = error_of(plan, d, rank, backward, (int)(d->nx + ranks + backward) % 2);
        error = one <= error ? error : one;
    }
    check_phases(plan);
    if (!(error <= allowed))
        fprintf(stderr, "%lld %lld %lld on %dx%dx%d, %s, %s, %s, %d fields: error %g, allowed %g\n", (long long)d->nx,
                (long long)d->ny, (long long)d->nz, d->bricks[0], d->bricks[1], d->bricks[2], d->algorithm, d->order,
                d->precision, d->fields, error, allowed);
    CHECK(error <= allowed);
    CHECK(!pencilfft_brick_lines_destroy(plan));
}

static void check_grid(const int bricks[3], int turn, MPI_Comm comm)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines_desc_init(&d);
    d.rigor = "estimate";
    memcpy(d.bricks, bricks, sizeof d.bricks);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int a = 0; (d.algorithm = pencilfft_line_algorithm_name(a)); a++)
            for (int o = 0; (d.order = pencilfft_line_order_name(o)); o++) {
                int number = turn + (int)s + a + o;
                d.nx = sizes[s][0];
                d.ny = sizes[s][1];
                d.nz = sizes[s][2];
                d.precision = number % 2 ? "single" : "double";
                d.fields = number % 3 ? 1 : MOST_FIELDS;
                if (o == 0 || number % 2) /* natural always */
                    check_one(&d, comm);
            }
}

static void check_refusals(int rank, int ranks)
{
    pencilfft_brick_lines_desc d, *none = NULL;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(none); /* refused below */
    pencilfft_brick_lines_desc_init(&d);
    CHECK(pencilfft_brick_lines_create(none, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_NULL, &plan) == PENCILFFT_BAD_CALL);
    int64_t *extents[3] = {&d.nx, &d.ny, &d.nz};
    for (int none_of = 0; none_of < 3; none_of++) {
        d.nx = d.ny = d.nz = 8;
        *extents[none_of] = 0;
        CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
        CHECK_CONTAINS(pencilfft_error_message(), "; each is 1 or more");
    }
    d.nx = d.ny = d.nz = 8;
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_GRID);
    CHECK_CONTAINS(pencilfft_error_message(), "bricks 0x0x0 on");
    d.bricks[0] = d.bricks[1] = 1;
    d.bricks[2] = ranks + 1;
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_GRID);
    for (int whole = 0; whole < 3; whole++) { /* the product fits, but two numbers are negative */
        for (int axis = 0; axis < 3; axis++)
            d.bricks[axis] = axis == whole ? ranks : -1;
        CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_GRID);
    }
    d.bricks[0] = d.bricks[1] = 1;
    d.bricks[2] = ranks;
    d.ny = 8 + rank;
    if (ranks > 1)
        CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_MISMATCH &&
              strstr(pencilfft_error_message(), "bricks of lines differ between ranks: ny is 8 on rank 0 and"));
    d.ny = (int64_t)1 << 52;
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
    d.ny = 8;
    d.fields = 0;
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_BAD_SIZE);
    d.fields = 1;
    d.algorithm = "fastest";
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_UNKNOWN_NAME && !plan);
    CHECK_CONTAINS(pencilfft_error_message(), "known: transpose, binary2, binary4, dft");
    d.algorithm = "dft";
    d.precision = "half";
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_UNKNOWN_NAME);
    d.precision = "double";
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_OK);
    double complex *buffer = fftw_malloc(1024 * sizeof *buffer);
    int64_t n, extent[3];
    CHECK(pencilfft_brick_lines_execute(plan, (pencilfft_direction)3, buffer, buffer) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, NULL, buffer) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, (char *)buffer + 8, buffer) == PENCILFFT_BAD_CALL);
    CHECK(!pencilfft_brick_lines_extent(plan, PENCILFFT_INPUT, rank, extent));
    if (extent[2] > 0) /* an empty rank shares no element */
        for (int backward = 0; backward < 2; backward++) {
            pencilfft_direction direction = backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD;
            CHECK(pencilfft_brick_lines_execute(plan, direction, buffer, buffer + 1) == PENCILFFT_BAD_CALL);
            CHECK_CONTAINS(pencilfft_error_message(), "in and out overlap");
            CHECK(pencilfft_brick_lines_execute(plan, direction, buffer + 1, buffer) == PENCILFFT_BAD_CALL);
        }
    CHECK(pencilfft_brick_lines_indices(plan, PENCILFFT_INPUT, 0, 3, &n) == PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "axis 3; axes are 0..2");
    CHECK(pencilfft_brick_lines_indices(plan, PENCILFFT_INPUT, -1, 0, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_extent(plan, 5, 0, extent) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_extent(plan, PENCILFFT_INPUT, ranks, extent) == PENCILFFT_BAD_CALL);
    for (int axis = -1; axis < 4; axis += 4) {
        CHECK(pencilfft_brick_lines_index(plan, PENCILFFT_INPUT, 0, axis, 0, &n) == PENCILFFT_BAD_CALL);
        CHECK_CONTAINS(pencilfft_error_message(), "; axes are 0..2");
    }
    CHECK(pencilfft_brick_lines_index(plan, PENCILFFT_INPUT, 0, 0, 8, &n) == PENCILFFT_BAD_CALL);
    CHECK(pencilfft_brick_lines_traffic(plan, 9, PENCILFFT_FORWARD, NULL, NULL) == PENCILFFT_BAD_CALL);
    CHECK(!pencilfft_brick_lines_destroy(plan) && !pencilfft_brick_lines_destroy(NULL));
    fftw_free(buffer);
}

/* A transform uses the full length of its buffers, also if input and output are shorter. A refusal fails on all ranks. */
static void buffers_of_full_length_must_not_overlap(int rank, int ranks)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines plan;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 4 && ranks >= 4 ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    CHECK(setenv("PENCILFFT_CHECK_CALLS", "1", 1) == 0);
    pencilfft_brick_lines_desc_init(&d);
    d.nx = 10, d.ny = 7, d.nz = 13;
    d.bricks[0] = 1, d.bricks[1] = d.bricks[2] = 2;
    d.order = "transposed-both";
    d.rigor = "estimate";
    CHECK(pencilfft_brick_lines_create(&d, comm, &plan) == PENCILFFT_OK);
    int64_t elements, extent[2][3];
    CHECK(!pencilfft_brick_lines_elements(plan, &elements));
    for (int end = 0; end < 2; end++)
        CHECK(!pencilfft_brick_lines_extent(plan, PENCILFFT_INPUT + end, rank, extent[end]));
    double complex *buffer = fftw_malloc((size_t)(3 * elements + 1) * sizeof *buffer);
    memset(buffer, 0, (size_t)(3 * elements + 1) * sizeof *buffer);
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
        for (int out_first = 0; out_first < 2; out_first++) {
            int64_t apart = points_of(extent[(direction == PENCILFFT_BACKWARD) != out_first]) - 1;
            double complex *in = buffer + out_first * apart, *out = buffer + !out_first * apart;
            CHECK(pencilfft_brick_lines_execute(plan, (pencilfft_direction)direction, in, out) == PENCILFFT_BAD_CALL);
            CHECK_CONTAINS(pencilfft_error_message(), "in and out overlap");
        }
    CHECK(pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, buffer, buffer + elements) == PENCILFFT_OK);
    fftw_free(buffer);
    CHECK(!pencilfft_brick_lines_destroy(plan));
    unsetenv("PENCILFFT_CHECK_CALLS");
    MPI_Comm_free(&comm);
}

/* If collective calls are compared: a different call on one rank, and an impossible call, fail on all ranks. */
static void calls_are_compared(int rank, int ranks)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines plan;
    double complex *buffer = fftw_malloc(1024 * sizeof *buffer);
    memset(buffer, 0, 1024 * sizeof *buffer);
    CHECK(setenv("PENCILFFT_CHECK_CALLS", "1", 1) == 0);
    pencilfft_brick_lines_desc_init(&d);
    d.nx = d.ny = d.nz = 8;
    d.bricks[0] = d.bricks[1] = 1;
    d.bricks[2] = ranks;
    d.rigor = "estimate";
    CHECK(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan) == PENCILFFT_OK);
    bool last = rank == ranks - 1;
    int status = last ? pencilfft_brick_lines_destroy(plan)
                      : pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, buffer, buffer);
    CHECK(status == PENCILFFT_MISMATCH && same_message_on_all());
    status = pencilfft_brick_lines_execute(plan, last ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, buffer, buffer);
    CHECK(status == PENCILFFT_MISMATCH && same_message_on_all());
    status = pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, buffer, last ? NULL : buffer);
    CHECK(status == PENCILFFT_BAD_CALL && same_message_on_all());
    CHECK(pencilfft_brick_lines_execute(plan, PENCILFFT_FORWARD, buffer, buffer) == PENCILFFT_OK);
    CHECK(pencilfft_brick_lines_destroy(plan) == PENCILFFT_OK);
    fftw_free(buffer);
    unsetenv("PENCILFFT_CHECK_CALLS");
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_refusals(rank, ranks);
    if (ranks > 1)
        calls_are_compared(rank, ranks);
    buffers_of_full_length_must_not_overlap(rank, ranks);
    for (int g = 0; g < (int)(sizeof grids / sizeof grids[0]); g++) {
        MPI_Comm comm;
        int some = grids[g][0] * grids[g][1] * grids[g][2];
        if (some > ranks)
            continue;
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm != MPI_COMM_NULL) {
            check_grid(grids[g], g, comm);
            MPI_Comm_free(&comm);
        }
    }
    MPI_Finalize();
    return check_result();
}
