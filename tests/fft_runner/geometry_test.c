/* Blocks and pencils, by pen and paper. No MPI is started. */
#include "check.h"
#include "common/failure.h"
#include "geometry/blocks.h"
#include "geometry/pencils.h"

static void blocks_of_ten_over_three_are_4_3_3(void)
{
    const int64_t offset[] = {0, 4, 7}, extent[] = {4, 3, 3};
    for (int j = 0; j < 3; j++) {
        CHECK_INT(pf_block_of(10, 3, j).offset, offset[j]);
        CHECK_INT(pf_block_of(10, 3, j).extent, extent[j]);
    }
}

static void blocks_follow_each_other_and_differ_by_at_most_one(void)
{
    for (int64_t n = 1; n < 30; n++)
        for (int parts = 1; parts <= 12; parts++) {
            int64_t next = 0;
            for (int j = 0; j < parts; j++) {
                struct pf_block block = pf_block_of(n, parts, j);
                CHECK_INT(block.offset, next);
                CHECK(block.extent == n / parts || block.extent == n / parts + 1);
                next += block.extent;
            }
            CHECK_INT(next, n);
        }
}

static void a_product_beyond_the_limit_is_minus_one(void)
{
    const int64_t small[3] = {2, 3, 4}, huge[3] = {1 << 30, 1 << 30, 1 << 30};
    CHECK_INT(pf_bounded_product(small, 24), 24);
    CHECK_INT(pf_bounded_product(small, 23), -1);
    CHECK_INT(pf_bounded_product(huge, INT64_MAX), -1);
}

/* 5x4x7 on a 2x3 grid: x is split 2 2 1 over C = 3; y 2 2 and z 4 3 over R = 2; y 2 1 1 over C = 3. */
static const struct pf_layout stride1 = {"stride1", {{0, 1, 2}, {0, 2, 1}, {2, 1, 0}}};
static const struct pf_geometry uneven = {{5, 4, 7}, 2, 3, &stride1};

struct box_case {
    pencilfft_pencil pencil;
    int rank;
    pencilfft_box box;
};

static const struct box_case boxes[] = {
    {PENCILFFT_Z_PENCIL, 0, {{0, 0, 0}, {2, 2, 7}, {14, 7, 1}}}, {PENCILFFT_Z_PENCIL, 3, {{2, 2, 0}, {2, 2, 7}, {14, 7, 1}}},
    {PENCILFFT_Z_PENCIL, 5, {{4, 2, 0}, {1, 2, 7}, {14, 7, 1}}}, {PENCILFFT_Y_PENCIL, 0, {{0, 0, 0}, {2, 4, 4}, {16, 1, 4}}},
    {PENCILFFT_Y_PENCIL, 5, {{4, 0, 4}, {1, 4, 3}, {12, 1, 4}}}, {PENCILFFT_X_PENCIL, 0, {{0, 0, 0}, {5, 2, 4}, {1, 5, 10}}},
    {PENCILFFT_X_PENCIL, 5, {{0, 3, 4}, {5, 1, 3}, {1, 5, 5}}},
};

static void boxes_are_as_on_paper(void)
{
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        pencilfft_box box = pf_pencil_box(&uneven, boxes[i].pencil, boxes[i].rank);
        for (int axis = 0; axis < 3; axis++) {
            CHECK_INT(box.offset[axis], boxes[i].box.offset[axis]);
            CHECK_INT(box.extent[axis], boxes[i].box.extent[axis]);
            CHECK_INT(box.stride[axis], boxes[i].box.stride[axis]);
        }
    }
}

static void natural_order_keeps_z_nearest(void)
{
    const struct pf_geometry natural = {{5, 4, 7}, 2, 3, NULL};
    pencilfft_box box = pf_pencil_box(&natural, PENCILFFT_X_PENCIL, 0);
    const int64_t stride[3] = {8, 4, 1};
    for (int axis = 0; axis < 3; axis++)
        CHECK_INT(box.stride[axis], stride[axis]);
}

static void boxes_of_all_ranks_hold_every_element_once(const struct pf_geometry *g)
{
    for (int pencil = PENCILFFT_Z_PENCIL; pencil <= PENCILFFT_X_PENCIL; pencil++) {
        int64_t elements = 0;
        for (int rank = 0; rank < g->R * g->C; rank++) {
            pencilfft_box box = pf_pencil_box(g, pencil, rank);
            elements += pf_box_elements(&box);
            for (int other = 0; other < rank; other++) {
                pencilfft_box second = pf_pencil_box(g, pencil, other), common = pf_box_common(&box, &second);
                CHECK_INT(pf_box_elements(&common), 0);
            }
        }
        CHECK_INT(elements, g->n[0] * g->n[1] * g->n[2]);
    }
}

/* 2512^3 real numbers on 512 ranks, of which mpiFFT4py held 2496 x 2512 x 2512 (its issue 11). */
static const struct pf_geometry lost_in_mpifft4py = {{2512, 2512, 2512 / 2 + 1}, 16, 32, NULL};

/* Rank 0's Z pencil and rank 1's Y pencil: x 0..1, y 0..1, z 4..6, which begins at local element 4. */
static void what_passes_between_two_ranks_is_the_common_part(void)
{
    pencilfft_box from = pf_pencil_box(&uneven, PENCILFFT_Z_PENCIL, 0);
    pencilfft_box to = pf_pencil_box(&uneven, PENCILFFT_Y_PENCIL, 1), common = pf_box_common(&from, &to);
    CHECK_INT(pf_box_elements(&common), 2 * 2 * 3);
    CHECK_INT(pf_box_start(&from, &common), 4);
    CHECK_INT(pf_box_start(&to, &common), 0);
}

struct refusal {
    struct pf_geometry geometry;
    int ranks, status;
    const char *part;
};

static const struct refusal refusals[] = {
    {{{8, 8, 8}, 2, 4, NULL}, 8, PENCILFFT_OK, ""},
    {{{8, 8, 2}, 2, 4, NULL}, 8, PENCILFFT_OK, ""},
    {{{0, 8, 8}, 2, 4, NULL}, 8, PENCILFFT_BAD_SIZE, "every extent must be at least 1"},
    {{{1 << 20, 1 << 20, 1 << 20}, 2, 4, NULL}, 8, PENCILFFT_BAD_SIZE, "more than 2^53"},
    {{{8, 8, 8}, 2, 3, NULL}, 8, PENCILFFT_BAD_GRID, "choose RxC with R*C = 8"},
    {{{8, 8, 8}, 0, 3, NULL}, 8, PENCILFFT_BAD_GRID, "at least 1"},
    {{{8, 8, 8}, -2, -4, NULL}, 8, PENCILFFT_BAD_GRID, "at least 1"}, /* cuDecomp took it (its pull request 141) */
    {{{3, 8, 8}, 2, 4, NULL}, 8, PENCILFFT_BAD_GRID, "nx is 3; choose a grid with C <= 3"},
    {{{8, 3, 8}, 2, 4, NULL}, 8, PENCILFFT_BAD_GRID, "ny is 3; choose a grid with C <= 3"},
    {{{8, 3, 8}, 4, 2, NULL}, 8, PENCILFFT_BAD_GRID, "ny is 3; choose a grid with R <= 3"},
    {{{8, 8, 1}, 2, 4, NULL}, 8, PENCILFFT_BAD_GRID, "nz is 1; choose a grid with R <= 1"},
};

static void grids_that_do_not_fit_are_refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        CHECK_INT(pf_geometry_check(&refusals[i].geometry, refusals[i].ranks), refusals[i].status);
        CHECK_CONTAINS(pf_message(), refusals[i].part);
    }
}

int main(void)
{
    blocks_of_ten_over_three_are_4_3_3();
    blocks_follow_each_other_and_differ_by_at_most_one();
    a_product_beyond_the_limit_is_minus_one();
    boxes_are_as_on_paper();
    natural_order_keeps_z_nearest();
    boxes_of_all_ranks_hold_every_element_once(&uneven);
    boxes_of_all_ranks_hold_every_element_once(&lost_in_mpifft4py);
    what_passes_between_two_ranks_is_the_common_part();
    grids_that_do_not_fit_are_refused();
    return check_result();
}
