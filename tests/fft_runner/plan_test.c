/* A plan as a caller sees it: its answers, its walks, and every wrong call. Run under mpirun with the grid as arguments:
 * plan_test R C. The matrix and the fuzzer check transforms. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/complex_value.h"
#include "driver.h"

/* The library's clock, set back all the time, on each rank at another moment: no time is negative, and no rank sleeps until
 * the clock has caught up. */
double MPI_Wtime(void)
{
    static int calls;
    return PMPI_Wtime() - 100. * (++calls * (rank + 3) / 7);
}

static int reductions;

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

enum { NX = 8, NY = 9, NZ = 10, MOST_RANKS = 64 };
static const double tau = 6.283185307179586;

static pencilfft_desc description(void)
{
    return described(9, 8, 10);
}

/* ---- answers --------------------------------------------------------------------------------------------------------- */

static void phases_add_up_to_the_total(void)
{
    pencilfft_desc desc = description();
    desc.sync = "clock";
    pencilfft_plan plan = made(&desc);
    int phases = 0;
    OK(pencilfft_forward(plan, buffer_of(plan), buffer_of(plan)));
    check_phase_times(plan);
    OK(pencilfft_phases(plan, &phases));
    CHECK_INT(phases, 14);
    CHECK(!pencilfft_phase_name(plan, phases) && !pencilfft_phase_name(plan, -1) && !pencilfft_phase_name(NULL, 0));
    CHECK_INT(pencilfft_phase_kind(plan, phases), -1);
    pencilfft_plan_destroy(plan);
}

/* Overwrites the lists, either of which may be NULL. The fuzzer checks the numbers. */
static void traffic_is_told(void)
{
    int64_t bytes[MOST_RANKS], messages[MOST_RANKS], alone[MOST_RANKS];
    pencilfft_desc desc = description();
    desc.exchange = "p2p";
    pencilfft_plan plan = made(&desc);
    for (int e = 0; e < 2; e++) {
        memset(bytes, 77, sizeof bytes);
        memset(messages, 77, sizeof messages);
        OK(pencilfft_traffic(plan, e, PENCILFFT_BACKWARD, bytes, messages));
        for (int j = 0; j < ranks; j++)
            CHECK(messages[j] == (bytes[j] > 0) && bytes[j] >= 0);
        OK(pencilfft_traffic(plan, e, PENCILFFT_BACKWARD, alone, NULL));
        CHECK(!memcmp(alone, bytes, (size_t)ranks * sizeof *bytes));
        OK(pencilfft_traffic(plan, e, PENCILFFT_BACKWARD, NULL, alone));
        CHECK(!memcmp(alone, messages, (size_t)ranks * sizeof *messages));
        CHECK(!strcmp(pencilfft_exchange_chosen(plan, e), "p2p"));
    }
    for (int e = -1; e < 3; e += 3) {
        BAD(pencilfft_traffic(plan, e, PENCILFFT_FORWARD, NULL, NULL), "");
        CHECK(!pencilfft_exchange_chosen(plan, e) && !pencilfft_exchange_means(plan, e));
    }
    pencilfft_plan_destroy(plan);
}

/* 9 x 8 x 10 real numbers; z of the spectrum has 6 complex numbers. */
static void formats_say_what_arrays_hold(void)
{
    pencilfft_desc desc = description();
    desc.type = "r2c", desc.precision = "single", desc.fields = 2;
    pencilfft_plan plan = made(&desc);
    pencilfft_format in, out;
    pencilfft_box in_box, out_box;
    int64_t bytes = 0, elements = 0;
    OK(pencilfft_format_of(plan, PENCILFFT_INPUT, &in));
    OK(pencilfft_format_of(plan, PENCILFFT_OUTPUT, &out));
    CHECK(in.element_bytes == 4 && out.element_bytes == 8 && !in.is_complex && out.is_complex);
    CHECK(in.n[2] == 10 && out.n[2] == 6 && out.fields == 2);
    OK(pencilfft_box_mine(plan, PENCILFFT_INPUT, &in_box));
    OK(pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &out_box));
    CHECK(in_box.extent[2] == 10 && out_box.extent[0] == 9);
    CHECK_INT(in.field_stride, box_elements(&in_box));
    OK(pencilfft_alloc_bytes(plan, &bytes));
    OK(pencilfft_alloc_elements(plan, &elements));
    CHECK_INT(bytes, 8 * elements);
    CHECK(bytes >= in.fields * in.field_stride * 4 && bytes >= out.fields * out.field_stride * 8);
    pencilfft_plan_destroy(plan);
}

/* Of x, y and z: 2(9 - 1), 2 * 8 and 2(10 + 1), 9 * 8 * 2(10 - 1), ... */
static void scales_are_those_of_the_types(void)
{
    static const struct {
        const char *type, *kinds, *skip;
        double scale;
    } rows[] = {{"c2c", NULL, NULL, 720},
                {"r2c", NULL, NULL, 720},
                {"dct", "1,2,s1", NULL, 16. * 16 * 22},
                {"dst", NULL, "y", 18. * 20},
                {"chebyshev", NULL, NULL, 16. * 8 * 10},
                {"empty", NULL, NULL, 8. * 10},
                {"dst1,none,r2c", NULL, NULL, 20. * 10},
                {"c2c,dct1,dst4", NULL, NULL, 9. * 14 * 20}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        pencilfft_desc desc = description();
        desc.type = rows[row].type, desc.kinds = rows[row].kinds, desc.skip = rows[row].skip;
        pencilfft_plan plan = made(&desc);
        double scale = 0;
        OK(pencilfft_scale(plan, &scale));
        CHECK(scale == rows[row].scale);
        pencilfft_plan_destroy(plan);
    }
}

/* ---- walks ----------------------------------------------------------------------------------------------------------- */

static pencilfft_plan walked(const char *type, const char *kinds, const char *skip, const char *layout, const char *schedule,
                             int fields)
{
    pencilfft_desc desc = described(NX, NY, NZ);
    desc.type = type, desc.kinds = kinds, desc.skip = skip, desc.layout = layout, desc.schedule = schedule;
    desc.fields = fields;
    return made(&desc);
}

/* The place of the element by the parts; -1 if the element is not mine. */
static int64_t place_of(pencilfft_plan plan, int array, const int64_t index[3], int field)
{
    int parts;
    OK(pencilfft_parts(plan, array, &parts));
    for (int i = 0; i < parts; i++) {
        pencilfft_part part;
        OK(pencilfft_part_mine(plan, array, i, &part));
        int64_t at = part.start + (field - part.first_field) * part.field_stride;
        bool inside = field >= part.first_field && field < part.first_field + part.fields;
        for (int axis = 0; axis < 3; axis++) {
            int64_t local = index[axis] - part.box.offset[axis];
            inside = inside && local >= 0 && local < part.box.extent[axis];
            at += local * part.box.stride[axis];
        }
        if (inside)
            return at;
    }
    return -1;
}

/* Every element of mine once, in the order of memory, with the waves of its mode. */
static void walk_visits_all_that_is_mine(pencilfft_plan plan, int array)
{
    pencilfft_walk walk;
    pencilfft_format format;
    pencilfft_part first;
    int parts;
    int64_t visited = 0, mine = 0, wrong = 0, last = -1;
    OK(pencilfft_format_of(plan, array, &format));
    OK(pencilfft_parts(plan, array, &parts));
    OK(pencilfft_part_mine(plan, array, 0, &first));
    CHECK_INT(format.field_stride, parts > 1 ? 0 : first.field_stride);
    OK(pencilfft_walk_begin(plan, array, &walk));
    for (; pencilfft_walk_next(&walk); visited++) {
        wrong += walk.at != place_of(plan, array, walk.index, walk.field) || walk.at <= last;
        last = walk.at;
        for (int axis = 0; axis < 3 && array == PENCILFFT_OUTPUT; axis++) {
            double waves;
            OK(pencilfft_waves(plan, axis, walk.index[axis], &waves));
            wrong += waves != walk.waves[axis];
        }
    }
    CHECK_INT(pencilfft_walk_next(&walk), 0);
    for (int field = 0; field < format.fields; field++)
        for (int64_t x = 0; x < format.n[0]; x++)
            for (int64_t y = 0; y < format.n[1]; y++)
                for (int64_t z = 0; z < format.n[2]; z++)
                    mine += place_of(plan, array, (int64_t[]){x, y, z}, field) >= 0;
    CHECK_INT(wrong, 0);
    CHECK_INT(visited, mine);
}

static void every_array_is_walked(void)
{
    static const char *const layouts[] = {"natural", "stride1"}, *const schedules[] = {"sequence", "two-way", "opposite"};
    for (int i = 0; i < 6; i++) {
        pencilfft_plan plan = walked("r2c", NULL, NULL, layouts[i / 3], schedules[i % 3], 3);
        walk_visits_all_that_is_mine(plan, PENCILFFT_INPUT);
        walk_visits_all_that_is_mine(plan, PENCILFFT_OUTPUT);
        OK(pencilfft_plan_destroy(plan));
    }
}

/* A mode f of w waves in n steps is an eigenvector of f(j+1) + f(j-1) with eigenvalue 2 cos(2 pi w / n). */
static void modes_have_that_many_waves(const char *type, const char *kinds, int64_t modes)
{
    pencilfft_plan plan = walked(type, kinds, "xy", "natural", NULL, 1);
    pencilfft_format format;
    pencilfft_walk walk;
    double *mode = buffer_of(plan), *f = buffer_of(plan), waves;
    for (int64_t index = 0; index < modes; index++) {
        double off = 0;
        OK(pencilfft_waves(plan, 2, index, &waves));
        OK(pencilfft_format_of(plan, PENCILFFT_OUTPUT, &format));
        for (pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &walk); pencilfft_walk_next(&walk);)
            for (int part = 0; part < 1 + format.is_complex; part++)
                mode[walk.at * (1 + format.is_complex) + part] = walk.index[2] == index && part == 0;
        OK(pencilfft_backward(plan, mode, f));
        OK(pencilfft_format_of(plan, PENCILFFT_INPUT, &format));
        int step = 1 + format.is_complex;
        for (pencilfft_walk_begin(plan, PENCILFFT_INPUT, &walk); pencilfft_walk_next(&walk);)
            if (walk.index[2] > 0 && walk.index[2] < NZ - 1)
                off = fmax(off, fabs(f[(walk.at - 1) * step] + f[(walk.at + 1) * step] -
                                     2 * cos(tau * waves / NZ) * f[walk.at * step]));
        CHECK(off < 1e-12);
    }
    OK(pencilfft_plan_destroy(plan));
}

static void waves_are_those_of_the_modes(void)
{
    static const char *const kinds[] = {"1,1,1", "2,2,2", "3,3,3", "4,4,4"};
    static const double x[NX] = {0, 1, 2, 3, 4, -3, -2, -1}, y[NY] = {0, 1, 2, 3, 4, -4, -3, -2, -1};
    modes_have_that_many_waves("c2c", NULL, NZ);
    modes_have_that_many_waves("r2c", NULL, NZ / 2 + 1);
    for (int k = 0; k < 4; k++) {
        modes_have_that_many_waves("dct", kinds[k], NZ);
        modes_have_that_many_waves("dst", kinds[k], NZ);
    }
    pencilfft_plan plan = walked("c2c", NULL, "z", "natural", NULL, 1);
    pencilfft_walk walk;
    double waves;
    for (int i = 0; i < NX; i++)
        CHECK(!pencilfft_waves(plan, 0, i, &waves) && waves == x[i]);
    for (int i = 0; i < NY; i++)
        CHECK(!pencilfft_waves(plan, 1, i, &waves) && waves == y[i]);
    CHECK(!pencilfft_waves(plan, 2, 3, &waves) && waves == 0);
    BAD(pencilfft_waves(plan, 0, NX, &waves), "");
    BAD(pencilfft_waves(plan, 3, 0, &waves), "");
    BAD(pencilfft_waves(plan, -1, 0, &waves), "");
    BAD(pencilfft_waves(plan, 0, 0, NULL), "");
    BAD(pencilfft_waves(NULL, 0, 0, &waves), "");
    BAD(pencilfft_walk_begin(NULL, 0, NULL), "");
    memset(&walk, 1, sizeof walk);
    BAD(pencilfft_walk_begin(NULL, 0, &walk), "");
    CHECK(!pencilfft_walk_next(&walk) && !pencilfft_walk_next(NULL));
    OK(pencilfft_plan_destroy(plan));
}

/* ---- wrong calls ----------------------------------------------------------------------------------------------------- */

static void wrong_calls_are_refused(void)
{
    pencilfft_desc desc = description(), one_way = desc;
    one_way.directions = PENCILFFT_BACKWARD;
    pencilfft_plan plan = made(&desc), backward = made(&one_way);
    double complex *in = buffer_of(plan), *out = buffer_of(plan);
    double seconds[PENCILFFT_MAX_PHASES];
    pencilfft_format format;
    pencilfft_box box;
    pencilfft_part part;
    char words[64];
    snprintf(words, sizeof words, "rank %d; ranks are 0..%d", ranks, ranks - 1);
    BAD(pencilfft_forward(plan, in, NULL), "");
    BAD(pencilfft_forward(NULL, in, out), "");
    BAD(pencilfft_forward(plan, in, in + 1), "");
    BAD(pencilfft_forward(plan, (char *)in + 8, out), "aligned");
    BAD(pencilfft_forward(backward, in, out), "not made for this direction");
    BAD(pencilfft_execute(plan, 7, in, out), "");
    BAD(pencilfft_transpose(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, in, in), "overlap");
    BAD(pencilfft_transpose(plan, 5, PENCILFFT_FORWARD, in, out), "");
    BAD(pencilfft_traffic(plan, PENCILFFT_ROW, 3, NULL, NULL), "");
    BAD(pencilfft_traffic(NULL, 0, PENCILFFT_FORWARD, NULL, NULL), "");
    BAD(pencilfft_traffic(backward, 0, PENCILFFT_FORWARD, NULL, NULL), "no such exchange in this direction");
    OK(pencilfft_traffic(backward, 0, PENCILFFT_BACKWARD, NULL, NULL));
    BAD(pencilfft_box_of(plan, PENCILFFT_Z_PENCIL, ranks, &box), words);
    BAD(pencilfft_box_of(plan, PENCILFFT_Z_PENCIL, -1, &box), "");
    BAD(pencilfft_box_of(plan, 9, 0, &box), "");
    BAD(pencilfft_box_of(plan, 3, 0, &box), ""); /* arrays are 0..2, and input and output */
    BAD(pencilfft_box_mine(NULL, PENCILFFT_Z_PENCIL, &box), "");
    BAD(pencilfft_part_of(plan, 0, 0, -1, &part), "");
    OK(pencilfft_part_of(plan, 0, 0, 0, &part));
    BAD(pencilfft_part_of(plan, 0, 0, 1, &part), "part 1; the array has parts 0..0");
    BAD(pencilfft_format_of(plan, 9, &format), "");
    BAD(pencilfft_scale(plan, NULL), "");
    BAD(pencilfft_phase_seconds(plan, NULL), "");
    BAD(pencilfft_phase_seconds(NULL, seconds), "");
    OK(pencilfft_plan_destroy(plan));
    OK(pencilfft_plan_destroy(backward));
    OK(pencilfft_plan_destroy(NULL));
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
    pencilfft_desc desc = description();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        desc.torus = cases[i].torus, desc.node = cases[i].node;
        no_plan(desc, PENCILFFT_BAD_CALL, cases[i].part);
    }
    desc.torus = "8x8", desc.node = rank ? "3 1 " : " 0 7";
    pencilfft_plan_destroy(made(&desc));
    desc.torus = rank ? "8x8" : "8x4";
    no_plan(desc, ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_BAD_CALL, "");
}

/* A program compiled with an older header, whose descriptor ended earlier; and one with a newer header. */
static void descriptors_of_other_releases_are_taken(void)
{
    struct {
        pencilfft_desc desc;
        int64_t behind[8];
    } of;
    const size_t sizes[] = {offsetof(pencilfft_desc, padded_nx), sizeof of};
    const pencilfft_desc whole = description();
    pencilfft_plan plan;
    memset(&of, 'b', sizeof of);
    for (int newer = 0; newer < 2; newer++) {
        pencilfft_desc_init_bytes(&of.desc, sizes[newer]);
        CHECK((newer || ((const char *)&of)[sizes[0]] == 'b') && of.desc.fields == 1);
        of.desc.nx = whole.nx, of.desc.ny = whole.ny, of.desc.nz = whole.nz, of.desc.R = whole.R, of.desc.C = whole.C;
        OK(pencilfft_plan_destroy(made(&of.desc)));
    }
    of.behind[7] = 1;
    REFUSED(pencilfft_plan_create(&of.desc, MPI_COMM_WORLD, &plan), PENCILFFT_NOT_POSSIBLE,
            "compiled with a newer pencilfft.h");
}

/* Buffers of another plan, one of which is too short on some rank or on all. */
static void short_buffers_are_refused_on_all_ranks(void)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = made(&desc), other;
    void *in = buffer_of(plan), *out = buffer_of(plan);
    const int64_t none[3] = {0}, one[3] = {1, 1, 1};
    pencilfft_halo halo;
    desc.nx++;
    other = made(&desc);
    double complex *longer = buffer_of(other);
    BAD(pencilfft_forward(other, in, longer), "bytes from there on, and the array has");
    OK(pencilfft_forward(plan, longer, out));
    OK(pencilfft_backward(plan, out, longer));
    OK(pencilfft_halo_create(plan, PENCILFFT_INPUT, none, one, &halo));
    BAD(pencilfft_halo_exchange(halo, in, out), "`padded` lies in a buffer");
    OK(pencilfft_halo_destroy(halo));
    pencilfft_plan_destroy(plan);
    pencilfft_plan_destroy(other);
}

/* Of a plan with slabs of two planes, whose input has planes first to end - 1 on this rank. */
static int reductions_of_plan(int first, int end)
{
    pencilfft_box mine = {.offset = {first, 0, 0}, .extent = {end - first, 2 * ranks, 4}};
    pencilfft_desc desc = described(2 * ranks, 2 * ranks, 4);
    desc.decomposition = "slab", desc.R = 1, desc.C = ranks, desc.input_box = &mine;
    reductions = 0;
    OK(pencilfft_plan_destroy(made(&desc)));
    return reductions;
}

/* Each rank sends a plane to the rank before: one group, found in as many rounds as pairs of ranks. */
static void a_long_chain_of_messages_takes_no_more_rounds(void)
{
    bool first = rank % 2 == 0, last = rank == ranks - 1;
    int pairs = reductions_of_plan(2 * rank + !first, 2 * rank + 2 + (first && !last));
    CHECK_INT(reductions_of_plan(2 * rank - (rank > 0), 2 * rank + 1 + last), pairs);
}

/* This program starts MPI by MPI_THREAD_SINGLE. */
static void threads_must_be_possible(void)
{
    pencilfft_desc desc = description();
    int level, threads;
    desc.threads = -2;
    no_plan(desc, PENCILFFT_BAD_CALL, "threads is -2; give 1 or more, or PENCILFFT_OMP_THREADS (-1)");
    MPI_Query_thread(&level);
    desc.threads = 2;
#ifndef PENCILFFT_HAVE_OPENMP
    no_plan(desc, PENCILFFT_NOT_POSSIBLE, "threads is 2, but this library was built without OpenMP");
#else
    if (level < MPI_THREAD_FUNNELED)
        no_plan(desc, PENCILFFT_NOT_POSSIBLE,
                "threads is 2, but MPI runs with MPI_THREAD_SINGLE; start it by MPI_Init_thread");
    desc.threads = 1025;
    no_plan(desc, PENCILFFT_BAD_CALL, "threads is 1025; a rank has at most 1024");
#endif
    desc.threads = 0;
    pencilfft_plan plan = made(&desc);
    OK(pencilfft_threads(plan, &threads));
    CHECK_INT(threads, 1);
    BAD(pencilfft_threads(NULL, &threads), "");
    pencilfft_plan_destroy(plan);
}

/* As other languages make a descriptor. Members set by name equal members of the structure. */
static void descriptors_are_made_by_name(void)
{
    static const char *const numbers[] = {"nx", "ny", "nz", "R", "C", "directions", "fields"};
    static const char *const texts[] = {"type", "kinds", "skip", "precision", "layout", "exchange", "rigor", "sync"};
    pencilfft_desc *desc = pencilfft_desc_new();
    pencilfft_desc same;
    pencilfft_desc_init(&same);
    CHECK(desc->directions == same.directions && desc->fields == same.fields && desc->auto_budget_s == same.auto_budget_s);
    for (int i = 0; i < 7; i++)
        OK(pencilfft_desc_set_integer(desc, numbers[i], 11 + i));
    CHECK(desc->nx == 11 && desc->ny == 12 && desc->nz == 13 && desc->R == 14 && desc->C == 15);
    CHECK(desc->directions == 16 && desc->fields == 17);
    OK(pencilfft_desc_set_integer(desc, "nx", (int64_t)1 << 40));
    CHECK_INT(desc->nx, (int64_t)1 << 40);
    for (int i = 0; i < 8; i++)
        OK(pencilfft_desc_set_text(desc, texts[i], texts[i]));
    CHECK(desc->type == texts[0] && desc->kinds == texts[1] && desc->skip == texts[2] && desc->precision == texts[3]);
    CHECK(desc->layout == texts[4] && desc->exchange == texts[5] && desc->rigor == texts[6] && desc->sync == texts[7]);
    OK(pencilfft_desc_set_text(desc, "kinds", NULL));
    CHECK(!desc->kinds);
    OK(pencilfft_desc_set_real(desc, "auto_budget_s", 0.5));
    CHECK(desc->auto_budget_s == 0.5);
    OK(pencilfft_desc_set_integer(desc, "auto_budget_s", 3));
    CHECK(desc->auto_budget_s == 3);
    REFUSED(pencilfft_desc_set_integer(desc, "nw", 1), PENCILFFT_UNKNOWN_NAME,
            "unknown member of a descriptor 'nw'; known: nx, ny, nz, R, C, directions");
    BAD(pencilfft_desc_set_integer(desc, "R", (int64_t)1 << 40),
        "R is 1099511627776; it must be in -2147483648..2147483647");
    BAD(pencilfft_desc_set_integer(desc, "type", 1), "type is a text; an integer was given");
    BAD(pencilfft_desc_set_real(desc, "nx", 1.5), "nx is an integer; a real number was given");
    BAD(pencilfft_desc_set_text(desc, "fields", "two"), "");
    BAD(pencilfft_desc_set_text(NULL, "type", "c2c"), "");
    pencilfft_desc_free(desc);
}

static void refuses_communicator(MPI_Comm comm, const char *part)
{
    pencilfft_desc desc = description();
    pencilfft_plan plan = (pencilfft_plan)&desc;
    int found;
    BAD(pencilfft_plan_create(&desc, comm, &plan), part);
    CHECK(plan == NULL);
    BAD(pencilfft_wisdom_load("none", comm, &found), part);
    BAD(pencilfft_wisdom_save("none", comm), part);
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

/* A pipe stands for a device, whose place the file would also take; the same behind a link. */
static void wisdom_replaces_files_alone(void)
{
    char folder[] = "/tmp/pencilfft-XXXXXX", pipe[64], link[64];
    struct stat about = {.st_mode = 0};
    bool mine = rank == 0 && mkdtemp(folder);
    int found;
    BAD(pencilfft_wisdom_load(NULL, MPI_COMM_WORLD, &found), "null path");
    BAD(pencilfft_wisdom_save(NULL, MPI_COMM_WORLD), "null path");
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK(rank != 0 || (mine && !mkfifo(pipe, S_IRUSR | S_IWUSR) && !symlink("pipe", link)));
    BAD(pencilfft_wisdom_save(link, MPI_COMM_WORLD), "cannot be written: it is a folder, a pipe or a device");
    BAD(pencilfft_wisdom_save(pipe, MPI_COMM_WORLD), "cannot be written: it is a folder, a pipe or a device");
    if (!mine)
        return;
    CHECK(!lstat(pipe, &about) && S_ISFIFO(about.st_mode));
    CHECK(!unlink(link) && !unlink(pipe) && !rmdir(folder));
}

static void *fail_otherwise(void *nothing)
{
    BAD(pencilfft_desc_set_integer(nothing, "nx", 1), "null descriptor");
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

int main(int argc, char **argv)
{
    double complex buffer[2][16] = {{0}};
    refuses_communicator(MPI_COMM_WORLD, "call MPI_Init first");
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    phases_add_up_to_the_total();
    traffic_is_told();
    formats_say_what_arrays_hold();
    scales_are_those_of_the_types();
    every_array_is_walked();
    waves_are_those_of_the_modes();
    wrong_calls_are_refused();
    places_must_be_understood();
    descriptors_of_other_releases_are_taken();
    short_buffers_are_refused_on_all_ranks();
    a_long_chain_of_messages_takes_no_more_rounds();
    threads_must_be_possible();
    descriptors_are_made_by_name();
    refuses_communicator(MPI_COMM_NULL, "null communicator");
    communicators_between_groups_are_refused();
    wisdom_replaces_files_alone();
    each_thread_hears_of_its_own_failures();
    pencilfft_desc desc = description();
    pencilfft_plan left = made(&desc); /* when MPI ends */
    MPI_Finalize();
    BAD(pencilfft_forward(left, buffer[0], buffer[1]), "before MPI_Finalize");
    BAD(pencilfft_plan_destroy(left), "before MPI_Finalize");
    refuses_communicator(MPI_COMM_WORLD, "before MPI_Finalize");
    return check_result();
}
