/* Halos of any width around bricks, pencils, slabs and boxes at random: halo_test SEED CASES. Every element of a halo is
 * compared with the formula of its global index, accumulated values with sums over all ranks, the two with each other as
 * adjoints, the traffic with a count of elements one by one; all numbers are integers, and must be exact. Then refusals. */
#include "driver.h"
#include "speed/tuning.h"

#ifdef PENCILFFT_HAVE_OPENMP
enum { MOST_RANKS = 16, MOST_THREADS = 3 };
#else
enum { MOST_RANKS = 16, MOST_THREADS = 1 };
#endif

static uint64_t thrown;

static int64_t below(int64_t n)
{
    return boxes_below(&thrown, n);
}

/* ---- a halo ----------------------------------------------------------------------------------------------------------- */

struct arrays {
    pencilfft_plan plan;
    pencilfft_halo halo;
    int array, reals;
    const char *walls;
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

/* Each number of a box: its place in the buffer, its number in the whole periodic array, whether it is mine, or behind a
 * wall. */
struct walk {
    const struct arrays *a;
    const pencilfft_box *box;
    int64_t next, local, global;
    bool inside, behind;
};

static struct walk over(const struct arrays *a, const pencilfft_box *box)
{
    return (struct walk){.a = a, .box = box};
}

static bool go_on(struct walk *w)
{
    const struct arrays *a = w->a;
    int64_t elements = box_elements(w->box), k = w->next++, at[3];
    if (k >= a->format.fields * elements * a->reals)
        return false;
    int64_t field = k / a->reals / elements, left = k / a->reals % elements;
    w->local = field * elements;
    w->global = field;
    w->inside = true, w->behind = false;
    for (int axis = 2; axis >= 0; left /= w->box->extent[axis--]) {
        at[axis] = w->box->offset[axis] + left % w->box->extent[axis];
        w->local += left % w->box->extent[axis] * w->box->stride[axis];
        w->inside = w->inside && at[axis] >= a->box.offset[axis] && at[axis] < a->box.offset[axis] + a->box.extent[axis];
        w->behind = w->behind || (strchr(a->walls, 'x' + axis) && (at[axis] < 0 || at[axis] >= a->format.n[axis]));
    }
    for (int axis = 0; axis < 3; axis++)
        w->global = w->global * a->format.n[axis] + (at[axis] % a->format.n[axis] + a->format.n[axis]) % a->format.n[axis];
    w->local = w->local * a->reals + k % a->reals;
    w->global = w->global * a->reals + k % a->reals;
    return true;
}

/* A small number that depends on the place and on the rank. */
static double drawn(int64_t local)
{
    return (double)(value_hash((uint64_t)(local * MOST_RANKS + rank)) % 7) - 3;
}

/* ---- checks ----------------------------------------------------------------------------------------------------------- */

static void need_indices(const struct arrays *a)
{
    for (struct walk w = over(a, &a->part.box); go_on(&w);)
        CHECK_INT(number(a, a->padded, w.local), w.behind ? -1 : w.global);
}

static void halo_has_the_index_formula(const struct arrays *a)
{
    for (struct walk w = over(a, &a->box); go_on(&w);)
        set(a, a->own, w.local, (double)w.global);
    for (struct walk w = over(a, &a->part.box); go_on(&w);)
        set(a, a->padded, w.local, -1);
    OK(pencilfft_halo_exchange(a->halo, a->own, a->padded));
    need_indices(a);
    for (struct walk w = over(a, &a->part.box); go_on(&w);)
        set(a, a->padded, w.local, w.inside ? (double)w.global : -1);
    OK(pencilfft_halo_exchange(a->halo, NULL, a->padded));
    need_indices(a);
}

static void sums_are_those_of_all_ranks(const struct arrays *a)
{
    int64_t n = a->format.n[0] * a->format.n[1] * a->format.n[2] * a->format.fields * a->reals;
    double *sums = calloc((size_t)n, sizeof *sums), both[2] = {0, 0};
    for (struct walk w = over(a, &a->part.box); go_on(&w);) {
        set(a, a->padded, w.local, drawn(w.local));
        if (w.behind)
            continue;
        sums[w.global] += drawn(w.local);
        both[0] += (double)w.global * drawn(w.local);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    OK(pencilfft_halo_accumulate(a->halo, a->padded, a->own));
    for (struct walk w = over(a, &a->box); go_on(&w);) {
        CHECK_INT(number(a, a->own, w.local), sums[w.global]);
        both[1] += (double)w.global * number(a, a->own, w.local);
    }
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(both[0], both[1]);
    for (int64_t i = 0; i < a->padded_elements * a->reals; i++)
        CHECK_INT(number(a, a->padded, i), drawn(i));
    OK(pencilfft_halo_accumulate(a->halo, a->padded, NULL));
    for (struct walk w = over(a, &a->part.box); go_on(&w);)
        CHECK_INT(number(a, a->padded, w.local), w.inside ? sums[w.global] : drawn(w.local));
    free(sums);
}

/* Elements of my box in the halo of another rank: index by index along each axis. */
static int64_t shared(const struct arrays *a, const pencilfft_box *mine, const pencilfft_box *theirs, const int64_t low[3],
                      const int64_t high[3])
{
    int64_t product = a->format.fields, held = box_elements(theirs);
    for (int axis = 0; axis < 3; axis++) {
        int64_t n = a->format.n[axis], count = 0, end = theirs->offset[axis] + theirs->extent[axis] + high[axis];
        for (int64_t at = theirs->offset[axis] - low[axis]; at < end; at++) {
            int64_t inside = (at % n + n) % n - mine->offset[axis];
            if (strchr(a->walls, 'x' + axis) && (at < 0 || at >= n))
                continue;
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
    OK(pencilfft_halo_traffic(a->halo, PENCILFFT_FORWARD, bytes, messages));
    OK(pencilfft_halo_traffic(a->halo, PENCILFFT_BACKWARD, added, NULL));
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
    static const char *const walls[] = {"", "x", "zy", "xyz"};
    struct arrays a = {.plan = plan, .array = array, .walls = walls[below(4)]};
    int64_t low[3], high[3];
    int halved;
    pencilfft_format input;
    OK(pencilfft_format_of(plan, array, &a.format));
    OK(pencilfft_format_of(plan, PENCILFFT_INPUT, &input));
    OK(pencilfft_box_mine(plan, array, &a.box));
    halved = input.n[2] != a.format.n[2];
    for (int axis = 0; axis < 3; axis++) { /* mostly narrow, now and then round the whole array */
        int64_t n = axis == 2 && halved && !strchr(a.walls, 'z') ? 0 : a.format.n[axis], most = below(3) ? (n + 2) / 3 : n;
        low[axis] = below(most + 1), high[axis] = below(most + 1);
    }
    OK(pencilfft_halo_create_walls(plan, array, low, high, a.walls, &a.halo));
    OK(pencilfft_halo_part(a.halo, &a.part));
    a.reals = a.format.is_complex ? 2 : 1;
    a.elements = box_elements(&a.box) * a.format.fields;
    a.padded_elements = a.part.fields * box_elements(&a.part.box);
    a.own = malloc((size_t)a.elements * a.format.element_bytes + 1); /* exactly as long: sanitizers see any access beyond */
    a.padded = malloc((size_t)a.padded_elements * a.format.element_bytes + 1);
    halo_has_the_index_formula(&a);
    sums_are_those_of_all_ranks(&a);
    traffic_is_what_halos_take(&a, low, high);
    OK(pencilfft_halo_destroy(a.halo));
    free(a.own);
    free(a.padded);
}

static void halos_at_random(int number_of_case)
{
    static const char *const decompositions[] = {"pencil", "brick", "slab", "pencil"};
    static const char *const types[] = {"c2c", "r2c", "dct"};
    pencilfft_box boxes[MOST_RANKS];
    int exchanges;
    pencilfft_desc desc = described(1 + below(9), 0, 0);
    desc.ny = 1 + below(10), desc.nz = 1 + below(11);
    desc.type = types[number_of_case % 3];
    desc.decomposition = decompositions[number_of_case % 4];
    desc.precision = below(2) ? "double" : "single";
    desc.layout = below(2) ? "natural" : "stride1";
    desc.fields = 1 + (int)below(3);
    desc.threads = 1 + (int)below(MOST_THREADS);
    if (!strcmp(desc.type, "dct") && desc.nz < 2)
        desc.nz = 2;
    boxes_cut(&thrown, (pencilfft_box){.extent = {desc.nx, desc.ny, desc.nz}}, 0, ranks, boxes);
    if (number_of_case % 4 == 3)
        desc.input_box = &boxes[rank];
    pencilfft_plan plan = made(&desc);
    OK(pencilfft_exchanges(plan, &exchanges));
    for (int array = PENCILFFT_INNER_INPUT; array <= exchanges; array++)
        check_halo(plan, array);
    OK(pencilfft_plan_destroy(plan));
}

/* ---- refusals --------------------------------------------------------------------------------------------------------- */

static void no_halo(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], int status,
                    const char *words)
{
    pencilfft_halo halo;
    REFUSED_ON_ALL(pencilfft_halo_create(plan, array, low, high, &halo), status, words);
    CHECK(halo == NULL);
}

static void refusals_are_told_on_all_ranks(void)
{
    const int64_t none[3] = {0, 0, 0}, one[3] = {1, 1, 1}, far[3] = {0, 9, 0}, negative[3] = {0, 0, -1};
    pencilfft_halo halo;
    double padded[10 * 10 * 10] = {0};
    pencilfft_desc desc = described(8, 8, 8);
    desc.type = "r2c", desc.schedule = "two-way";
    pencilfft_plan plan = made(&desc);
    no_halo(plan, PENCILFFT_INPUT, none, far, PENCILFFT_BAD_SIZE,
            "9 planes above along y, where the array has 8; give 0 to 8");
    no_halo(plan, PENCILFFT_INPUT, negative, none, PENCILFFT_BAD_SIZE, "-1 planes below along z");
    no_halo(plan, PENCILFFT_INPUT, rank ? NULL : one, one, PENCILFFT_BAD_CALL, "null widths");
    no_halo(plan, 7, one, one, PENCILFFT_BAD_CALL, "no array 7");
    no_halo(plan, PENCILFFT_INPUT, one, rank ? one : none, PENCILFFT_MISMATCH, "high[0] is 0 on rank 0 and something else");
    no_halo(plan, rank ? PENCILFFT_INPUT : PENCILFFT_Z_PENCIL, none, one, PENCILFFT_NOT_POSSIBLE, "5 of 8 modes");
    no_halo(plan, PENCILFFT_OUTPUT, none, none, PENCILFFT_NOT_POSSIBLE, "has 2 parts");
    BAD(pencilfft_halo_create(NULL, 0, one, one, &halo), "");
    REFUSED_ON_ALL(pencilfft_halo_create_walls(plan, PENCILFFT_INPUT, one, one, rank ? "xx" : "x", &halo),
                   PENCILFFT_UNKNOWN_NAME, "walls 'xx' of a halo are not understood; give letters of xyz, each once");
    REFUSED_ON_ALL(pencilfft_halo_create_walls(plan, PENCILFFT_INPUT, one, one, rank ? "yz" : "y", &halo),
                   PENCILFFT_MISMATCH, "walls along z is 0 on rank 0");
    OK(pencilfft_halo_create(plan, PENCILFFT_INPUT, one, one, &halo));
    BAD(pencilfft_halo_exchange(halo, padded + 1, padded), "overlap");
    BAD(pencilfft_halo_accumulate(halo, NULL, padded), "");
    BAD(pencilfft_halo_exchange(NULL, NULL, padded), "");
    BAD(pencilfft_halo_traffic(halo, 3, NULL, NULL), "");
    BAD(pencilfft_halo_part(halo, NULL), "");
    OK(pencilfft_plan_destroy(plan)); /* the halo lives on */
    OK(pencilfft_halo_exchange(halo, NULL, padded));
    OK(pencilfft_halo_destroy(halo));
    OK(pencilfft_halo_destroy(NULL));
}

/* If collective calls are compared, a different call on one rank fails on all. */
static void calls_are_compared(void)
{
    const int64_t one[3] = {1, 1, 1};
    pencilfft_halo halo;
    double padded[10 * 10 * 10] = {0};
    pencilfft_desc desc = described(8, 8, 8);
    desc.type = "r2c";
    setenv("PENCILFFT_CHECK_CALLS", "1", 1);
    pencilfft_plan plan = made(&desc);
    OK(pencilfft_halo_create(plan, PENCILFFT_INPUT, one, one, &halo));
    int status = rank ? pencilfft_halo_exchange(halo, NULL, padded) : pencilfft_halo_accumulate(halo, padded, NULL);
    CHECK_INT(status, ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    status = pencilfft_halo_exchange(halo, NULL, rank ? padded : NULL);
    BAD(status, "");
    CHECK(same_message_on_all());
    status = rank ? pencilfft_halo_exchange(halo, NULL, padded) : pencilfft_halo_destroy(halo);
    if (ranks > 1) {
        REFUSED(status, PENCILFFT_MISMATCH, "");
        CHECK(same_message_on_all());
        OK(pencilfft_halo_destroy(halo));
    }
    OK(pencilfft_plan_destroy(plan));
    unsetenv("PENCILFFT_CHECK_CALLS");
}

static void what_is_no_division_is_refused(void)
{
    pencilfft_desc desc = described(2 * ranks, 4, 4);
    pencilfft_box mine = {.offset = {2 * rank, 0, 0}, .extent = {2, 4, 4}};
    mine.extent[0] = rank ? 2 : 3;
    desc.output_box = &mine, no_plan(desc, PENCILFFT_BAD_SIZE, "the output boxes of ranks 0 and 1 overlap in element 2 0 0");
    mine.extent[0] = rank ? 2 : 1;
    desc.output_box = &mine,
    no_plan(desc, PENCILFFT_BAD_SIZE, "elements of the array; together they must hold each element once");
    mine.extent[0] = rank ? 2 : -2;
    desc.output_box = &mine, no_plan(desc, PENCILFFT_BAD_SIZE, "the output box of rank 0 has -2 indices of x from 0 on");
    mine.extent[0] = 2;
    desc.output_box = rank ? &mine : NULL, no_plan(desc, PENCILFFT_MISMATCH, "output_box is given on");
    desc.schedule = "two-way";
    desc.output_box = &mine, no_plan(desc, PENCILFFT_NOT_POSSIBLE, "are not remapped to boxes");
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    R = C = 0; /* chosen by the library */
    pf_tuning.thread_bytes = 0; /* use threads at any size */
    thrown = 1000000 * strtoull(argv[1], NULL, 10);
    for (int number = 0; number < atoi(argv[2]); number++)
        halos_at_random(number);
    if (ranks > 1)
        what_is_no_division_is_refused();
    if (ranks > 3)
        refusals_are_told_on_all_ranks();
    calls_are_compared();
    return end_tests();
}
