/* halo_test SEED CASES: halos of any width around boxes at random, bricks, pencils and slabs. Every element of a halo is
 * compared with the formula of its global index, accumulated values with sums over all ranks, the two with each other as
 * adjoints, the traffic with a count of elements one by one; all numbers are integers, and must be exact. Then refusals. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "check.h"
#include "check_mpi.h"
#include "random_boxes.h"
#include "speed/tuning.h"

#ifdef PENCILFFT_HAVE_OPENMP
enum { MOST_THREADS = 3 };
#else
enum { MOST_THREADS = 1 };
#endif

/* ---- a halo ----------------------------------------------------------------------------------------------------------- */

struct arrays {
    pencilfft_plan plan;
    pencilfft_halo halo;
    int array, reals;
    pencilfft_format format;
    pencilfft_box box;
    pencilfft_part part;
    int64_t elements, padded_elements; /* of all fields */
    void *own, *padded;
};

static double number(const struct arrays *a, const void *buffer, int64_t at)
{
    return a->format.real_bytes == sizeof(float) ? (double)((const float *)buffer)[at] : ((const double *)buffer)[at];
}

static void set(const struct arrays *a, void *buffer, int64_t at, double value)
{
    if (a->format.real_bytes == sizeof(float))
        ((float *)buffer)[at] = (float)value;
    else
        ((double *)buffer)[at] = value;
}

/* Distance of x, y, z, at any place in the periodic array, in the number of its field and part, from the first element. */
static int64_t global(const struct arrays *a, const int64_t at[3], int field, int part)
{
    int64_t index = field;
    for (int axis = 0; axis < 3; axis++)
        index = index * a->format.n[axis] + (at[axis] % a->format.n[axis] + a->format.n[axis]) % a->format.n[axis];
    return index * a->reals + part;
}

/* Calls `act` for each number of a box. */
typedef void action(const struct arrays *a, int64_t local, int64_t global_number, bool inside, void *data);

static void each(const struct arrays *a, const pencilfft_box *box, action *act, void *data)
{
    int64_t elements = box->extent[0] * box->extent[1] * box->extent[2], at[3];
    for (int field = 0; field < a->format.fields; field++)
        for (int64_t i = 0; i < elements; i++) {
            int64_t local = field * elements, left = i;
            bool inside = true;
            for (int axis = 2; axis >= 0; axis--) {
                at[axis] = box->offset[axis] + left % box->extent[axis];
                local += left % box->extent[axis] * box->stride[axis];
                left /= box->extent[axis];
                inside = inside && at[axis] >= a->box.offset[axis] && at[axis] < a->box.offset[axis] + a->box.extent[axis];
            }
            for (int part = 0; part < a->reals; part++)
                act(a, local * a->reals + part, global(a, at, field, part), inside, data);
        }
}

static void set_index(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    set(a, data, local, inside ? (double)at : -1);
}

static void need_index(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    (void)inside;
    CHECK_INT(number(a, data, local), at);
}

/* A small number that depends on the place and on the rank. */
static double drawn(int64_t local)
{
    return (double)(value_hash((uint64_t)(local * MOST_RANKS + rank)) % 7) - 3;
}

static void set_drawn(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    (void)at, (void)inside;
    set(a, data, local, drawn(local));
}

static void add_drawn(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    (void)a, (void)inside;
    ((double *)data)[at] += drawn(local);
}

struct result {
    const double *sums;
    const void *found;
};

static void need_sum(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    const struct result *r = data;
    if (inside)
        CHECK_INT(number(a, r->found, local), r->sums[at]);
    else
        CHECK_INT(number(a, r->found, local), drawn(local));
}

static void dot_with_drawn(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    (void)a, (void)inside;
    *(double *)data += (double)at * drawn(local);
}

struct dot {
    const void *values;
    double sum;
};

static void dot_with_index(const struct arrays *a, int64_t local, int64_t at, bool inside, void *data)
{
    struct dot *d = data;
    (void)inside;
    d->sum += (double)at * number(a, d->values, local);
}

/* ---- checks ----------------------------------------------------------------------------------------------------------- */

static void halo_has_the_index_formula(const struct arrays *a)
{
    each(a, &a->box, set_index, a->own);
    memset(a->padded, 0xff, (size_t)a->padded_elements * a->format.element_bytes);
    CHECK_INT(pencilfft_halo_exchange(a->halo, a->own, a->padded), PENCILFFT_OK);
    each(a, &a->part.box, need_index, a->padded);
    each(a, &a->part.box, set_index, a->padded); /* and -1 outside */
    CHECK_INT(pencilfft_halo_exchange(a->halo, NULL, a->padded), PENCILFFT_OK);
    each(a, &a->part.box, need_index, a->padded);
}

static void sums_are_those_of_all_ranks(const struct arrays *a)
{
    int64_t n = a->format.n[0] * a->format.n[1] * a->format.n[2] * a->format.fields * a->reals;
    double *sums = calloc((size_t)n, sizeof *sums), both[2] = {0, 0};
    each(a, &a->part.box, set_drawn, a->padded);
    each(a, &a->part.box, add_drawn, sums);
    each(a, &a->part.box, dot_with_drawn, &both[0]);
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(pencilfft_halo_accumulate(a->halo, a->padded, a->own), PENCILFFT_OK);
    each(a, &a->box, need_sum, &(struct result){sums, a->own});
    struct dot dot = {a->own, 0};
    each(a, &a->box, dot_with_index, &dot);
    both[1] = dot.sum;
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(both[0], both[1]);
    for (int64_t i = 0; i < a->padded_elements * a->reals; i++)
        CHECK_INT(number(a, a->padded, i), drawn(i));
    CHECK_INT(pencilfft_halo_accumulate(a->halo, a->padded, NULL), PENCILFFT_OK);
    each(a, &a->part.box, need_sum, &(struct result){sums, a->padded});
    free(sums);
}

/* Elements of my box in the halo of another rank: index by index along each axis. */
static int64_t shared(const struct arrays *a, const pencilfft_box *mine, const pencilfft_box *theirs, const int64_t low[3],
                      const int64_t high[3])
{
    int64_t product = a->format.fields, held = theirs->extent[0] * theirs->extent[1] * theirs->extent[2];
    for (int axis = 0; axis < 3; axis++) {
        int64_t n = a->format.n[axis], count = 0, end = theirs->offset[axis] + theirs->extent[axis] + high[axis];
        for (int64_t at = theirs->offset[axis] - low[axis]; at < end; at++) {
            int64_t inside = (at % n + n) % n - mine->offset[axis];
            count += inside >= 0 && inside < mine->extent[axis];
        }
        product *= count;
    }
    return held ? product : 0;
}

static void traffic_is_what_halos_take(const struct arrays *a, const int64_t low[3], const int64_t high[3])
{
    int64_t bytes[MOST_RANKS], messages[MOST_RANKS], added[MOST_RANKS];
    pencilfft_box other;
    CHECK_INT(pencilfft_halo_traffic(a->halo, PENCILFFT_FORWARD, bytes, messages), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_traffic(a->halo, PENCILFFT_BACKWARD, added, NULL), PENCILFFT_OK);
    for (int j = 0; j < ranks; j++) {
        pencilfft_box_of(a->plan, a->array, j, &other);
        int64_t elements = j == rank ? 0 : shared(a, &a->box, &other, low, high);
        CHECK_INT(bytes[j], elements * (int64_t)a->format.element_bytes);
        CHECK_INT(messages[j], elements > 0);
        elements = j == rank ? 0 : shared(a, &other, &a->box, low, high);
        CHECK_INT(added[j], elements * (int64_t)a->format.element_bytes);
    }
}

static void check_halo(pencilfft_plan plan, int array)
{
    struct arrays a = {.plan = plan, .array = array};
    int64_t low[3], high[3];
    int halved;
    pencilfft_format input;
    CHECK_INT(pencilfft_format_of(plan, array, &a.format), PENCILFFT_OK);
    CHECK_INT(pencilfft_format_of(plan, PENCILFFT_INPUT, &input), PENCILFFT_OK);
    CHECK_INT(pencilfft_box_mine(plan, array, &a.box), PENCILFFT_OK);
    halved = input.n[2] != a.format.n[2];
    for (int axis = 0; axis < 3; axis++) { /* mostly narrow, now and then round the whole array */
        int64_t most = axis == 2 && halved ? 0 : below(3) ? (a.format.n[axis] + 2) / 3 : a.format.n[axis];
        low[axis] = below(most + 1), high[axis] = below(most + 1);
    }
    if (pencilfft_halo_create(plan, array, low, high, &a.halo))
        abort_with_message();
    CHECK_INT(pencilfft_halo_part(a.halo, &a.part), PENCILFFT_OK);
    a.reals = a.format.is_complex ? 2 : 1;
    a.elements = a.box.extent[0] * a.box.extent[1] * a.box.extent[2] * a.format.fields;
    a.padded_elements = a.part.fields * a.part.box.extent[0] * a.part.box.extent[1] * a.part.box.extent[2];
    a.own = malloc((size_t)a.elements * a.format.element_bytes + 1); /* exactly as long: sanitizers see any access beyond */
    a.padded = malloc((size_t)a.padded_elements * a.format.element_bytes + 1);
    halo_has_the_index_formula(&a);
    sums_are_those_of_all_ranks(&a);
    traffic_is_what_halos_take(&a, low, high);
    CHECK_INT(pencilfft_halo_destroy(a.halo), PENCILFFT_OK);
    free(a.own);
    free(a.padded);
}

static void halos_at_random(int number_of_case)
{
    static const char *const decompositions[] = {"pencil", "brick", "slab", "pencil"};
    static const char *const types[] = {"c2c", "r2c", "dct"};
    pencilfft_box boxes[MOST_RANKS];
    pencilfft_desc desc;
    pencilfft_plan plan;
    int exchanges;
    pencilfft_desc_init(&desc);
    desc.nx = 1 + below(9), desc.ny = 1 + below(10), desc.nz = 1 + below(11);
    desc.type = types[number_of_case % 3];
    desc.decomposition = decompositions[number_of_case % 4];
    desc.precision = below(2) ? "double" : "single";
    desc.layout = below(2) ? "natural" : "stride1";
    desc.fields = 1 + (int)below(3);
    desc.threads = 1 + (int)below(MOST_THREADS);
    desc.rigor = "estimate";
    if (!strcmp(desc.type, "dct") && desc.nz < 2)
        desc.nz = 2;
    cut((pencilfft_box){.extent = {desc.nx, desc.ny, desc.nz}}, 0, ranks, boxes);
    if (number_of_case % 4 == 3)
        desc.input_box = &boxes[rank];
    if (pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan))
        abort_with_message();
    CHECK_INT(pencilfft_exchanges(plan, &exchanges), PENCILFFT_OK);
    for (int array = PENCILFFT_INNER_INPUT; array <= exchanges; array++)
        check_halo(plan, array);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
}

/* ---- refusals --------------------------------------------------------------------------------------------------------- */

static void refuses(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], int status,
                    const char *words)
{
    pencilfft_halo halo;
    CHECK_INT(pencilfft_halo_create(plan, array, low, high, &halo), status);
    CHECK_CONTAINS(pencilfft_error_message(), words);
    CHECK(same_message_on_all() && halo == NULL);
}

static void refusals_are_told_on_all_ranks(void)
{
    const int64_t none[3] = {0, 0, 0}, one[3] = {1, 1, 1}, far[3] = {0, 9, 0}, negative[3] = {0, 0, -1};
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_halo halo;
    double padded[10 * 10 * 10] = {0};
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 8;
    desc.type = "r2c", desc.rigor = "estimate", desc.schedule = "two-way";
    if (pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan))
        abort_with_message();
    refuses(plan, PENCILFFT_INPUT, none, far, PENCILFFT_BAD_SIZE,
            "9 planes above along y, where the array has 8; give 0 to 8");
    refuses(plan, PENCILFFT_INPUT, negative, none, PENCILFFT_BAD_SIZE, "-1 planes below along z");
    refuses(plan, PENCILFFT_INPUT, rank ? NULL : one, one, PENCILFFT_BAD_CALL, "null widths");
    refuses(plan, 7, one, one, PENCILFFT_BAD_CALL, "no array 7");
    refuses(plan, PENCILFFT_INPUT, one, rank ? one : none, PENCILFFT_MISMATCH, "high[0] is 0 on rank 0 and something else");
    refuses(plan, rank ? PENCILFFT_INPUT : PENCILFFT_Z_PENCIL, none, one, PENCILFFT_NOT_POSSIBLE, "5 of 8 modes");
    refuses(plan, PENCILFFT_OUTPUT, none, none, PENCILFFT_NOT_POSSIBLE, "has 2 parts");
    CHECK_INT(pencilfft_halo_create(NULL, 0, one, one, &halo), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_halo_create(plan, PENCILFFT_INPUT, one, one, &halo), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_exchange(halo, padded + 1, padded), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "overlap");
    CHECK_INT(pencilfft_halo_accumulate(halo, NULL, padded), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_halo_exchange(NULL, NULL, padded), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_halo_traffic(halo, 3, NULL, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_halo_part(halo, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK); /* the halo lives on */
    CHECK_INT(pencilfft_halo_exchange(halo, NULL, padded), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_destroy(halo), PENCILFFT_OK);
    CHECK_INT(pencilfft_halo_destroy(NULL), PENCILFFT_OK);
}

/* If collective calls are compared, a different call on one rank fails on all. */
static void calls_are_compared(void)
{
    const int64_t one[3] = {1, 1, 1};
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_halo halo;
    double padded[10 * 10 * 10] = {0};
    setenv("PENCILFFT_CHECK_CALLS", "1", 1);
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 8;
    desc.type = "r2c", desc.rigor = "estimate";
    if (pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan) || pencilfft_halo_create(plan, PENCILFFT_INPUT, one, one, &halo))
        abort_with_message();
    int status = rank ? pencilfft_halo_exchange(halo, NULL, padded) : pencilfft_halo_accumulate(halo, padded, NULL);
    CHECK_INT(status, ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    status = pencilfft_halo_exchange(halo, NULL, rank ? padded : NULL);
    CHECK_INT(status, PENCILFFT_BAD_CALL);
    CHECK(same_message_on_all());
    status = rank ? pencilfft_halo_exchange(halo, NULL, padded) : pencilfft_halo_destroy(halo);
    if (ranks > 1) {
        CHECK_INT(status, PENCILFFT_MISMATCH);
        CHECK(same_message_on_all());
        CHECK_INT(pencilfft_halo_destroy(halo), PENCILFFT_OK);
    }
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    unsetenv("PENCILFFT_CHECK_CALLS");
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    pf_tuning.thread_bytes = 0; /* use threads at any size */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    thrown = argc > 1 ? 1000000 * strtoull(argv[1], NULL, 10) : 0;
    for (int number_of_case = 0; number_of_case < (argc > 2 ? atoi(argv[2]) : 12); number_of_case++)
        halos_at_random(number_of_case);
    if (ranks > 3)
        refusals_are_told_on_all_ranks();
    calls_are_compared();
    MPI_Finalize();
    return check_result();
}
