/* Distributed lines, and bricks of lines, against serial FFTW, every element, and direct sums: every algorithm and order,
 * both precisions and directions, several fields, in place and not, primes, extents that do not divide or are shorter than
 * the ranks. Lines are on 1, 2, 3, 4, 5, 6, 8, 9, ... ranks up to all, bricks on grids of 1, 2, 4, 6 and 8 (each on the
 * first ranks). */
#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <float.h>
#include <math.h>

#include "common/complex_value.h"
#include "driver.h"
#include "pencilfft_line.h"

enum { MOST = 2048, LONGEST = 400, MOST_RANKS = 64 };

static const int64_t lengths[] = {1, 2, 3, 8, 12, 17, 30, 31, 60, 64, 100, 127, 128, 240, 360};
static const int64_t sizes[][3] = {{8, 16, 8}, {5, 7, 11}, {6, 9, 10}, {24, 17, 1}, {3, 2, 24}};
static const int grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 1, 2}, {2, 2, 1}, {4, 1, 1},
                               {1, 2, 3}, {1, 6, 1}, {2, 2, 2}, {8, 1, 1}};
#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])

/* A plan of either kind; a line is a brick n x 1 x 1. */
struct lines {
    bool bricks, single;
    int64_t n[3], fields;
    int grid[3], rank, ranks;
    const char *algorithm, *order;
    MPI_Comm comm;
    pencilfft_line_plan line;
    pencilfft_brick_lines brick;
};

/* A function that both kinds have. */
#define ASK(l, name, ...) \
    ((l)->bricks ? pencilfft_brick_lines_##name((l)->brick, __VA_ARGS__) : pencilfft_line_##name((l)->line, __VA_ARGS__))

static int destroy(struct lines *l)
{
    return l->bricks ? pencilfft_brick_lines_destroy(l->brick) : pencilfft_line_destroy(l->line);
}

static pencilfft_line_desc line_of(const struct lines *l)
{
    pencilfft_line_desc d;
    pencilfft_line_desc_init(&d);
    d.n = l->n[0], d.lines = l->fields;
    d.algorithm = l->algorithm, d.order = l->order, d.precision = l->single ? "single" : "double", d.rigor = "estimate";
    return d;
}

static pencilfft_brick_lines_desc bricks_of(const struct lines *l)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines_desc_init(&d);
    d.nx = l->n[0], d.ny = l->n[1], d.nz = l->n[2], d.fields = (int)l->fields;
    memcpy(d.bricks, l->grid, sizeof d.bricks);
    d.algorithm = l->algorithm, d.order = l->order, d.precision = l->single ? "single" : "double", d.rigor = "estimate";
    return d;
}

static int create(struct lines *l)
{
    pencilfft_line_desc line = line_of(l);
    pencilfft_brick_lines_desc brick = bricks_of(l);
    MPI_Comm_rank(l->comm, &l->rank);
    MPI_Comm_size(l->comm, &l->ranks);
    return l->bricks ? pencilfft_brick_lines_create(&brick, l->comm, &l->brick)
                     : pencilfft_line_create(&line, l->comm, &l->line);
}

static int64_t points_of(const int64_t n[3])
{
    return n[0] * n[1] * n[2];
}

/* ---- a transform ----------------------------------------------------------------------------------------------------- */

/* The same on every rank; different for every field, index and side of a transform. */
static double complex given(int64_t field, int64_t index, int side)
{
    uint64_t h = (uint64_t)(field * 1000003 + index * 31 + (int64_t)side * 77 + 1) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return CMPLX((double)(h >> 40) * 0x1p-24 - 0.5, (double)(h & 0xffffff) * 0x1p-24 - 0.5);
}

static double complex load(const void *array, int64_t i, bool single)
{
    return single ? (double complex)((const float complex *)array)[i] : ((const double complex *)array)[i];
}

static void store(void *array, int64_t i, bool single, double complex value)
{
    if (single)
        ((float complex *)array)[i] = CMPLXF((float)creal(value), (float)cimag(value));
    else
        ((double complex *)array)[i] = value;
}

static double complex direct(int64_t n, int64_t field, int64_t k, int backward)
{
    long double complex sum = 0;
    for (int64_t j = 0; j < n; j++) {
        long double angle = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
        sum += given(field, j, backward) * (cosl(angle) + (backward ? 1 : -1) * sinl(angle) * I);
    }
    return (double complex)sum;
}

static void serial(const int64_t n[3], int64_t field, int backward, double complex *data)
{
    fftw_plan plan = fftw_plan_dft_3d((int)n[0], (int)n[1], (int)n[2], data, data, backward ? FFTW_BACKWARD : FFTW_FORWARD,
                                      FFTW_ESTIMATE);
    for (int64_t i = 0; i < points_of(n); i++)
        data[i] = given(field, i, backward);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

/* Index of every element of a rank along each axis. */
static void find_indices(const struct lines *l, int array, int of, int64_t extent[3], int64_t at[3][LONGEST])
{
    int64_t one;
    extent[1] = extent[2] = 1;
    at[1][0] = at[2][0] = 0;
    OK(l->bricks ? pencilfft_brick_lines_extent(l->brick, array, of, extent)
                 : pencilfft_line_points(l->line, array, of, extent));
    for (int axis = 0; axis < (l->bricks ? 3 : 1); axis++) {
        OK(l->bricks ? pencilfft_brick_lines_indices(l->brick, array, of, axis, at[axis])
                     : pencilfft_line_indices(l->line, array, of, at[axis]));
        for (int64_t i = 0; i < extent[axis]; i++) {
            OK(l->bricks ? pencilfft_brick_lines_index(l->brick, array, of, axis, i, &one)
                         : pencilfft_line_index(l->line, array, of, i, &one));
            CHECK_INT(one, at[axis][i]);
        }
    }
}

/* The place in the whole array of every element of a rank, in the order of its memory; returns their number. */
static int64_t places_of(const struct lines *l, int array, int of, int64_t place[MOST])
{
    int64_t extent[3], at[3][LONGEST], n = 0;
    find_indices(l, array, of, extent, at);
    for (int64_t x = 0; x < extent[0]; x++)
        for (int64_t y = 0; y < extent[1]; y++)
            for (int64_t z = 0; z < extent[2]; z++)
                place[n++] = (at[0][x] * l->n[1] + at[1][y]) * l->n[2] + at[2][z];
    return n;
}

/* Each element is held once; bricks in natural order are divided like decomposition brick. */
static void check_places(const struct lines *l)
{
    static int64_t place[MOST];
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++) {
        char seen[MOST] = {0};
        int64_t total = 0;
        for (int of = 0; of < l->ranks; of++) {
            int64_t held = places_of(l, array, of, place);
            for (int64_t i = 0; i < held; i++) {
                bool inside = place[i] >= 0 && place[i] < points_of(l->n);
                CHECK(inside && !seen[place[i]]);
                if (inside)
                    seen[place[i]] = 1;
            }
            total += held;
            int apart = 1;
            for (int axis = 0; axis < 3 && held && l->bricks && !strcmp(l->order, "natural"); apart *= l->grid[axis++]) {
                int64_t first, j = of / apart % l->grid[axis], each = l->n[axis] / l->grid[axis],
                               more = l->n[axis] % l->grid[axis];
                OK(pencilfft_brick_lines_index(l->brick, array, of, axis, 0, &first));
                CHECK_INT(first, j * each + (j < more ? j : more));
            }
        }
        CHECK_INT(total, points_of(l->n));
    }
}

/* One direction; the error over the root mean square of the result on this rank. */
static double error_of(const struct lines *l, int backward, bool in_place)
{
    static double complex expected[MOST];
    static int64_t from[MOST], to[MOST];
    int64_t elements, taken = places_of(l, backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, l->rank, from);
    int64_t made_here = places_of(l, backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT, l->rank, to);
    OK(ASK(l, elements, &elements));
    CHECK(taken * l->fields <= elements && made_here * l->fields <= elements);
    size_t bytes = ((size_t)elements + 1) * sizeof(double complex);
    void *in = fftw_malloc(bytes), *out = in_place ? in : fftw_malloc(bytes), *kept = fftw_malloc(bytes);
    for (int64_t i = 0; i < taken * l->fields; i++)
        store(in, i, l->single, given(i / taken, from[i % taken], backward));
    size_t filled = (size_t)(taken * l->fields) * (l->single ? 8 : 16);
    memcpy(kept, in, filled);
    OK(ASK(l, execute, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out));
    CHECK(in_place || !memcmp(kept, in, filled));
    double worst = 0;
    for (int64_t field = 0; field < l->fields; field++) {
        serial(l->n, field, backward, expected);
        for (int64_t i = 0; i < made_here; i++) {
            double complex found = load(out, field * made_here + i, l->single);
            double error = cabs(found - expected[to[i]]);
            if (!l->bricks && l->n[0] < 130 && field == l->fields - 1)
                error = fmax(error, cabs(found - direct(l->n[0], field, to[i], backward)));
            worst = error <= worst ? worst : error; /* NaN too */
        }
    }
    if (!in_place)
        fftw_free(out);
    fftw_free(in);
    fftw_free(kept);
    return worst / sqrt((double)points_of(l->n) / 6);
}

/* Only ranks of the same line get messages, in a group each rank gets the whole block, and over all ranks forward and
 * backward traffic are equal; an all-to-all sends back what it got. python_random_plans.py compares it with the model. */
static void check_traffic(const struct lines *l)
{
    int exchanges;
    int64_t both[2][MOST_RANKS], theirs[MOST_RANKS], messages[MOST_RANKS], block, element = l->fields * (l->single ? 8 : 16);
    OK(ASK(l, exchanges, &exchanges));
    CHECK(!ASK(l, exchange_name, exchanges) && !ASK(l, exchange_name, -1));
    for (int e = 0; e < exchanges; e++) {
        const char *name = ASK(l, exchange_name, e);
        int axis = l->bricks ? name[0] - 'x' : 0, apart = 1;
        for (int i = 0; i < axis; i++)
            apart *= l->grid[i];
        int64_t sent[2] = {0, 0};
        for (int backward = 1; backward >= 0; backward--) {
            int64_t *bytes = both[backward];
            OK(ASK(l, traffic, e, backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, bytes, messages));
            CHECK(bytes[l->rank] == 0);
            for (int r = 0; r < l->ranks; r++) {
                bool on_line = (r - l->rank) % apart == 0 && r / apart / l->grid[axis] == l->rank / apart / l->grid[axis];
                CHECK(messages[r] == (bytes[r] > 0) && (on_line || !bytes[r]));
                sent[backward] += bytes[r];
                if (l->bricks || !bytes[r] || ASK(l, is_all_to_all, e))
                    continue;
                OK(pencilfft_line_points(l->line, PENCILFFT_INPUT, strcmp(l->algorithm, "dft-reduce") ? l->rank : r,
                                         &block));
                CHECK_INT(bytes[r], block * element); /* this rank's points; by reduce-scatter the other rank's */
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_INT64_T, MPI_SUM, l->comm);
        CHECK(sent[0] == sent[1]);
        MPI_Alltoall(both[0], 1, MPI_INT64_T, theirs, 1, MPI_INT64_T, l->comm);
        CHECK(!ASK(l, is_all_to_all, e) || !memcmp(theirs, both[1], (size_t)l->ranks * sizeof *theirs));
    }
}

/* Their sum is the total, and each has its own name. */
static void check_phases(const struct lines *l)
{
    int n;
    double sum = 0, seconds[1024];
    OK(ASK(l, phases, &n));
    OK(ASK(l, phase_seconds, seconds));
    for (int i = 0; i < n - 1; i++) {
        sum += seconds[i];
        for (int j = 0; j < i; j++)
            CHECK(strcmp(ASK(l, phase_name, i), ASK(l, phase_name, j)) != 0);
    }
    CHECK(!strcmp(ASK(l, phase_name, n - 1), "total") && fabs(sum - seconds[n - 1]) <= 1e-9);
    CHECK(!ASK(l, phase_name, n));
}

static bool must_be_refused(const struct lines *l)
{
    for (int axis = 0; axis < 3; axis++)
        if (!strncmp(l->algorithm, "binary", 6) && (l->n[axis] > 1 || !l->bricks) && l->n[axis] % l->grid[axis])
            return true;
    return false;
}

static void check_one(struct lines *l)
{
    int status = create(l);
    if (must_be_refused(l)) {
        REFUSED(status, PENCILFFT_NOT_POSSIBLE, l->bricks ? "along " : "take");
        CHECK(l->bricks ? !l->brick : !l->line);
        return;
    }
    OK(status);
    if (status)
        return;
    double error = 0, allowed = (l->single ? FLT_EPSILON : DBL_EPSILON) * 10 * fmax(1, log2((double)points_of(l->n)));
    check_places(l);
    check_traffic(l);
    for (int backward = 0; backward < 2; backward++) {
        double one = error_of(l, backward, (l->n[0] + (l->bricks ? l->ranks : 0) + backward) % 2);
        error = one <= error ? error : one;
    }
    check_phases(l);
    if (!(error <= allowed))
        fprintf(stderr, "%lld %lld %lld on %dx%dx%d, %s, %s, %s, %lld fields: error %g, allowed %g\n", (long long)l->n[0],
                (long long)l->n[1], (long long)l->n[2], l->grid[0], l->grid[1], l->grid[2], l->algorithm, l->order,
                l->single ? "single" : "double", (long long)l->fields, error, allowed);
    CHECK(error <= allowed);
    OK(destroy(l));
}

static void check_lines(MPI_Comm comm, int some)
{
    struct lines l = {.comm = comm, .grid = {some, 1, 1}};
    for (int i = 0; i < COUNT(lengths); i++)
        for (int a = 0; (l.algorithm = pencilfft_line_algorithm_name(a)); a++)
            for (int o = 0; (l.order = pencilfft_line_order_name(o)); o++) {
                l.n[0] = lengths[i], l.n[1] = l.n[2] = 1;
                l.single = (i + a + o) % 2;
                l.fields = i % 3 == 1 ? 3 : 1;
                check_one(&l);
            }
}

static void check_bricks(MPI_Comm comm, int g)
{
    struct lines l = {.comm = comm, .bricks = true};
    memcpy(l.grid, grids[g], sizeof l.grid);
    for (int s = 0; s < COUNT(sizes); s++)
        for (int a = 0; (l.algorithm = pencilfft_line_algorithm_name(a)); a++)
            for (int o = 0; (l.order = pencilfft_line_order_name(o)); o++) {
                int number = g + s + a + o;
                memcpy(l.n, sizes[s], sizeof l.n);
                l.single = number % 2;
                l.fields = number % 3 ? 1 : 2;
                if (o == 0 || number % 2) /* natural always */
                    check_one(&l);
            }
}

/* ---- refusals -------------------------------------------------------------------------------------------------------- */

/* A descriptor with another value of a member. */
#define WRONG(kind, right, member, value, status, words)                                  \
    do {                                                                                  \
        pencilfft_##kind##_desc wrong = right;                                            \
        wrong.member = value;                                                             \
        REFUSED(pencilfft_##kind##_create(&wrong, MPI_COMM_WORLD, &plan), status, words); \
        CHECK(!plan);                                                                     \
    } while (0)

static void no_lines(const struct lines *l)
{
    const pencilfft_line_desc right = line_of(l);
    pencilfft_line_plan plan;
    pencilfft_line_desc_init(NULL);
    BAD(pencilfft_line_create(NULL, MPI_COMM_WORLD, &plan), "null");
    BAD(pencilfft_line_create(&right, MPI_COMM_NULL, &plan), "null");
    WRONG(line, right, n, 0, PENCILFFT_BAD_SIZE, "");
    WRONG(line, right, lines, 0, PENCILFFT_BAD_SIZE, "");
    WRONG(line, right, lines, (int64_t)1 << 52, PENCILFFT_BAD_SIZE, "");
    WRONG(line, right, algorithm, "fastest", PENCILFFT_UNKNOWN_NAME, "known: transpose, binary2, binary4, dft");
    WRONG(line, right, order, "any", PENCILFFT_UNKNOWN_NAME, "");
    if (ranks > 1)
        WRONG(line, right, n, 16 + rank, PENCILFFT_MISMATCH, ": n is ");
    OK(pencilfft_line_destroy(NULL));
}

static void no_bricks(const struct lines *l)
{
    const pencilfft_brick_lines_desc right = bricks_of(l);
    pencilfft_brick_lines_desc d = right;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(NULL);
    BAD(pencilfft_brick_lines_create(NULL, MPI_COMM_WORLD, &plan), "null");
    BAD(pencilfft_brick_lines_create(&right, MPI_COMM_NULL, &plan), "null");
    WRONG(brick_lines, right, nx, 0, PENCILFFT_BAD_SIZE, "; each is 1 or more");
    WRONG(brick_lines, right, ny, 0, PENCILFFT_BAD_SIZE, "; each is 1 or more");
    WRONG(brick_lines, right, nz, 0, PENCILFFT_BAD_SIZE, "; each is 1 or more");
    WRONG(brick_lines, right, ny, (int64_t)1 << 52, PENCILFFT_BAD_SIZE, "");
    WRONG(brick_lines, right, fields, 0, PENCILFFT_BAD_SIZE, "");
    WRONG(brick_lines, right, algorithm, "fastest", PENCILFFT_UNKNOWN_NAME, "known: transpose, binary2, binary4, dft");
    WRONG(brick_lines, right, precision, "half", PENCILFFT_UNKNOWN_NAME, "");
    WRONG(brick_lines, right, bricks[2], ranks + 1, PENCILFFT_BAD_GRID, "");
    if (ranks > 1)
        WRONG(brick_lines, right, ny, 8 + rank, PENCILFFT_MISMATCH,
              "bricks of lines differ between ranks: ny is 8 on rank 0 and");
    d.bricks[0] = d.bricks[1] = d.bricks[2] = 0;
    REFUSED(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan), PENCILFFT_BAD_GRID, "bricks 0x0x0 on");
    for (int whole = 0; whole < 3; whole++) { /* the product fits, but two numbers are negative */
        for (int axis = 0; axis < 3; axis++)
            d.bricks[axis] = axis == whole ? ranks : -1;
        REFUSED(pencilfft_brick_lines_create(&d, MPI_COMM_WORLD, &plan), PENCILFFT_BAD_GRID, "");
    }
    OK(pencilfft_brick_lines_destroy(NULL));
}

static void wrong_calls_are_refused(struct lines *l)
{
    static double complex buffer[1024];
    int64_t n;
    OK(create(l));
    BAD(ASK(l, execute, (pencilfft_direction)3, buffer, buffer), "");
    BAD(ASK(l, execute, PENCILFFT_FORWARD, NULL, buffer), "null plan or buffer");
    BAD(ASK(l, execute, PENCILFFT_FORWARD, (char *)buffer + 8, buffer), "");
    BAD(ASK(l, traffic, 9, PENCILFFT_FORWARD, NULL, NULL), "");
    if (l->bricks) {
        int64_t extent[3];
        BAD(pencilfft_brick_lines_indices(l->brick, PENCILFFT_INPUT, 0, 3, &n), "axis 3; axes are 0..2");
        BAD(pencilfft_brick_lines_indices(l->brick, PENCILFFT_INPUT, -1, 0, &n), "");
        BAD(pencilfft_brick_lines_extent(l->brick, 5, 0, extent), "");
        BAD(pencilfft_brick_lines_extent(l->brick, PENCILFFT_INPUT, ranks, extent), "");
        BAD(pencilfft_brick_lines_index(l->brick, PENCILFFT_INPUT, 0, -1, 0, &n), "; axes are 0..2");
        BAD(pencilfft_brick_lines_index(l->brick, PENCILFFT_INPUT, 0, 3, 0, &n), "; axes are 0..2");
        BAD(pencilfft_brick_lines_index(l->brick, PENCILFFT_INPUT, 0, 0, 8, &n), "");
    } else {
        BAD(pencilfft_line_points(l->line, 5, 0, &n), "");
        BAD(pencilfft_line_points(l->line, PENCILFFT_INPUT, 1000, &n), "");
        BAD(pencilfft_line_index(l->line, PENCILFFT_INPUT, 0, 16, &n), "");
        BAD(pencilfft_line_index(l->line, PENCILFFT_INPUT, 0, -1, &n), "");
        BAD(pencilfft_line_indices(l->line, PENCILFFT_OUTPUT, -1, &n), "");
    }
    OK(destroy(l));
}

/* Also if the last element of a buffer alone is the first of the other. A transform uses the full length of its buffers,
 * even if input and output are shorter. A refusal fails on all ranks. */
static void buffers_that_overlap_are_refused(struct lines *l)
{
    int64_t elements, place[MOST], held[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank < l->ranks ? 0 : MPI_UNDEFINED, rank, &l->comm);
    if (l->comm == MPI_COMM_NULL)
        return;
    CHECK(setenv("PENCILFFT_CHECK_CALLS", "1", 1) == 0);
    OK(create(l));
    OK(ASK(l, elements, &elements));
    for (int end = 0; end < 2; end++)
        held[end] = places_of(l, PENCILFFT_INPUT + end, rank, place) * l->fields;
    double complex *buffer = fftw_malloc((size_t)(3 * elements + 1) * sizeof *buffer);
    memset(buffer, 0, (size_t)(3 * elements + 1) * sizeof *buffer);
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
        for (int out_first = 0; out_first < 2; out_first++) {
            int64_t apart = held[(direction == PENCILFFT_BACKWARD) != out_first] - 1;
            double complex *in = buffer + out_first * apart, *out = buffer + !out_first * apart;
            BAD(ASK(l, execute, (pencilfft_direction)direction, in, out), "in and out overlap");
        }
    OK(ASK(l, execute, PENCILFFT_FORWARD, buffer, buffer + elements));
    fftw_free(buffer);
    OK(destroy(l));
    unsetenv("PENCILFFT_CHECK_CALLS");
    MPI_Comm_free(&l->comm);
}

/* If collective calls are compared: a different call on one rank, and an impossible call, fail on all ranks. */
static void calls_are_compared(struct lines *l)
{
    static double complex in[1024], out[1024];
    int mismatch = ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK;
    bool last = ranks > 1 && rank == ranks - 1;
    CHECK(setenv("PENCILFFT_CHECK_CALLS", rank ? "0" : "60", 1) == 0);
    OK(create(l));
    REFUSED_ON_ALL(last ? destroy(l) : ASK(l, execute, PENCILFFT_FORWARD, in, out), mismatch,
                   ranks == 1  ? ""
                   : l->bricks ? "pencilfft_brick_lines_execute, direction 1, exchange 0, in place 0"
                               : "pencilfft_line_execute, direction 1, exchange 0, in place 0");
    REFUSED_ON_ALL(ASK(l, execute, last ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, in, out), mismatch, "");
    REFUSED_ON_ALL(ASK(l, execute, PENCILFFT_FORWARD, rank == ranks - 1 ? NULL : in, out), PENCILFFT_BAD_CALL,
                   "null plan or buffer");
    OK(ASK(l, execute, PENCILFFT_FORWARD, in, out));
    OK(destroy(l));
    unsetenv("PENCILFFT_CHECK_CALLS");
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    struct lines line = {.n = {16, 1, 1}, .fields = 1, .grid = {ranks, 1, 1}, .algorithm = "dft", .order = "natural"};
    struct lines brick =
        {.bricks = true, .n = {8, 8, 8}, .fields = 1, .grid = {1, 1, ranks}, .algorithm = "dft", .order = "natural"};
    struct lines three =
        {.n = {16, 1, 1}, .fields = 3, .grid = {ranks, 1, 1}, .ranks = ranks, .algorithm = "transpose", .order = "natural"};
    struct lines uneven = {.bricks = true,
                           .n = {10, 7, 13},
                           .fields = 1,
                           .grid = {1, 2, 2},
                           .ranks = ranks >= 4 ? 4 : 0,
                           .algorithm = "transpose",
                           .order = "transposed-both"};
    line.comm = brick.comm = MPI_COMM_WORLD;
    no_lines(&line);
    no_bricks(&brick);
    wrong_calls_are_refused(&line);
    wrong_calls_are_refused(&brick);
    buffers_that_overlap_are_refused(&three);
    buffers_that_overlap_are_refused(&uneven);
    calls_are_compared(&line);
    calls_are_compared(&brick);
    for (int some = 1; some <= ranks; some += some == 6 ? 2 : 1) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL)
            continue;
        check_lines(comm, some);
        for (int g = 0; g < COUNT(grids); g++)
            if (grids[g][0] * grids[g][1] * grids[g][2] == some)
                check_bricks(comm, g);
        MPI_Comm_free(&comm);
    }
    return end_tests();
}
