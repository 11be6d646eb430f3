/* pencilfft_walk visits every element of mine once, in the order of memory, and pencilfft_waves gives the waves of its mode.
 * Under mpirun with the grid: walk_test R C. */
#include <math.h>
#include <mpi.h>
#include <pencilfft.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { NX = 8, NY = 9, NZ = 10 };

static int R, C;

static pencilfft_plan make(const char *type, const char *kinds, const char *skip, const char *layout, const char *schedule,
                           int fields)
{
    pencilfft_desc desc;
    pencilfft_plan plan = NULL;
    pencilfft_desc_init(&desc);
    desc.nx = NX, desc.ny = NY, desc.nz = NZ, desc.R = R, desc.C = C;
    desc.type = type, desc.kinds = kinds, desc.skip = skip, desc.layout = layout, desc.schedule = schedule;
    desc.fields = fields, desc.rigor = "estimate";
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    if (!plan)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return plan;
}

/* The place of the element by the parts; -1 if the element is not mine. */
static int64_t place_of(pencilfft_plan plan, int array, const int64_t index[3], int field)
{
    int parts;
    CHECK_INT(pencilfft_parts(plan, array, &parts), PENCILFFT_OK);
    for (int i = 0; i < parts; i++) {
        pencilfft_part part;
        CHECK_INT(pencilfft_part_mine(plan, array, i, &part), PENCILFFT_OK);
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

static void walk_visits_all_that_is_mine(pencilfft_plan plan, int array)
{
    pencilfft_walk walk;
    pencilfft_format format;
    pencilfft_part first;
    int parts;
    int64_t visited = 0, mine = 0, wrong = 0, last = -1;
    CHECK_INT(pencilfft_format_of(plan, array, &format), PENCILFFT_OK);
    CHECK_INT(pencilfft_parts(plan, array, &parts), PENCILFFT_OK);
    CHECK_INT(pencilfft_part_mine(plan, array, 0, &first), PENCILFFT_OK);
    CHECK_INT(format.field_stride, parts > 1 ? 0 : first.field_stride);
    CHECK_INT(pencilfft_walk_begin(plan, array, &walk), PENCILFFT_OK);
    while (pencilfft_walk_next(&walk)) {
        wrong += walk.at != place_of(plan, array, walk.index, walk.field) || walk.at <= last;
        last = walk.at;
        for (int axis = 0; axis < 3 && array == PENCILFFT_OUTPUT; axis++) {
            double waves;
            CHECK_INT(pencilfft_waves(plan, axis, walk.index[axis], &waves), PENCILFFT_OK);
            wrong += waves != walk.waves[axis];
        }
        visited++;
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
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < 3; s++) {
            pencilfft_plan plan = make("r2c", NULL, NULL, layouts[l], schedules[s], 3);
            walk_visits_all_that_is_mine(plan, PENCILFFT_INPUT);
            walk_visits_all_that_is_mine(plan, PENCILFFT_OUTPUT);
            CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
        }
}

/* A mode f of w waves in n steps is an eigenvector of f(j+1) + f(j-1) with eigenvalue 2 cos(2 pi w / n). */
static void a_mode_has_that_many_waves(const char *type, const char *kinds, int64_t index)
{
    pencilfft_plan plan = make(type, kinds, "xy", "natural", NULL, 1);
    pencilfft_walk walk;
    pencilfft_format spectrum;
    double *mode, *f, waves, off = 0;
    CHECK_INT(pencilfft_waves(plan, 2, index, &waves), PENCILFFT_OK);
    CHECK_INT(pencilfft_format_of(plan, PENCILFFT_OUTPUT, &spectrum), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, (void **)&mode), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, (void **)&f), PENCILFFT_OK);
    for (pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &walk); pencilfft_walk_next(&walk);)
        for (int part = 0; part < 1 + spectrum.is_complex; part++)
            mode[walk.at * (1 + spectrum.is_complex) + part] = walk.index[2] == index && part == 0;
    CHECK_INT(pencilfft_backward(plan, mode, f), PENCILFFT_OK);
    pencilfft_format_of(plan, PENCILFFT_INPUT, &spectrum);
    int step = 1 + spectrum.is_complex;
    for (pencilfft_walk_begin(plan, PENCILFFT_INPUT, &walk); pencilfft_walk_next(&walk);)
        if (walk.index[2] > 0 && walk.index[2] < NZ - 1) {
            double sum = f[(walk.at - 1) * step] + f[(walk.at + 1) * step];
            off = fmax(off, fabs(sum - 2 * cos(2 * acos(-1.0) * waves / NZ) * f[walk.at * step]));
        }
    CHECK(off < 1e-12);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
}

static void all_kinds_of_modes(void)
{
    static const char *const kinds[] = {"1,1,1", "2,2,2", "3,3,3", "4,4,4"};
    for (int64_t index = 0; index < NZ; index++) {
        a_mode_has_that_many_waves("c2c", NULL, index);
        for (int k = 0; k < 4; k++) {
            a_mode_has_that_many_waves("dct", kinds[k], index);
            a_mode_has_that_many_waves("dst", kinds[k], index);
        }
    }
    for (int64_t index = 0; index <= NZ / 2; index++)
        a_mode_has_that_many_waves("r2c", NULL, index);
}

static void they_are_whole_numbers_below_and_above_zero(void)
{
    pencilfft_plan plan = make("c2c", NULL, "z", "natural", NULL, 1);
    static const double x[NX] = {0, 1, 2, 3, 4, -3, -2, -1}, y[NY] = {0, 1, 2, 3, 4, -4, -3, -2, -1};
    double waves;
    for (int i = 0; i < NX; i++)
        CHECK(!pencilfft_waves(plan, 0, i, &waves) && waves == x[i]);
    for (int i = 0; i < NY; i++)
        CHECK(!pencilfft_waves(plan, 1, i, &waves) && waves == y[i]);
    CHECK(!pencilfft_waves(plan, 2, 3, &waves) && waves == 0);
    CHECK_INT(pencilfft_waves(plan, 0, NX, &waves), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_waves(plan, 3, 0, &waves), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_waves(plan, -1, 0, &waves), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_waves(plan, 0, 0, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_waves(NULL, 0, 0, &waves), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_walk_begin(NULL, 0, NULL), PENCILFFT_BAD_CALL);
    pencilfft_walk walk;
    memset(&walk, 1, sizeof walk);
    CHECK_INT(pencilfft_walk_begin(NULL, 0, &walk), PENCILFFT_BAD_CALL);
    CHECK_INT(pencilfft_walk_next(&walk), 0);
    CHECK_INT(pencilfft_walk_next(NULL), 0);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    R = argc > 2 ? atoi(argv[1]) : 1;
    C = argc > 2 ? atoi(argv[2]) : 1;
    every_array_is_walked();
    all_kinds_of_modes();
    they_are_whole_numbers_below_and_above_zero();
    MPI_Finalize();
    return check_result();
}
