/* Blocks, boxes and images of halos, element by element. No MPI is started. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "common/failure.h"
#include "geometry/blocks.h"
#include "geometry/geometry.h"

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

extern const struct pf_decomposition pf_decomposition_pencil, pf_decomposition_slab;

static void boxes_of_all_ranks_hold_every_element_once(const struct pf_geometry *g)
{
    int ranks = 1;
    for (int i = 0; i < g->decomposition->dimensions; i++)
        ranks *= g->grid[i];
    for (int array = 0; array <= g->decomposition->exchanges; array++) {
        int64_t elements = 0;
        for (int rank = 0; rank < ranks; rank++) {
            pencilfft_box box = pf_array_box(g, array, rank);
            elements += pf_box_elements(&box);
            for (int other = 0; other < rank; other++) {
                pencilfft_box second = pf_array_box(g, array, other), common = pf_box_common(&box, &second);
                CHECK_INT(pf_box_elements(&common), 0);
            }
        }
        CHECK_INT(elements, g->n[0] * g->n[1] * g->n[2]);
    }
}

static void a_grid_fills_its_ranks_or_not(void)
{
    static const struct {
        int64_t n[3];
        int R, C;
        bool fills;
    } cases[] = {{{4, 4, 2}, 2, 4, true},  {{3, 4, 2}, 2, 4, false}, {{4, 3, 2}, 2, 4, false},
                 {{2, 3, 4}, 4, 2, false}, {{4, 4, 1}, 2, 4, false}, {{1, 1, 1}, 1, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pf_geometry g = {.decomposition = &pf_decomposition_pencil, .grid = {cases[i].R, cases[i].C}};
        memcpy(g.n, cases[i].n, sizeof g.n);
        CHECK_INT(pf_geometry_fills(&g), cases[i].fills);
        CHECK_INT(pf_geometry_check(&g, 8 / (i == 5 ? 8 : 1)), PENCILFFT_OK);
    }
}

/* Uneven blocks, ranks without any, and 2512^3 real numbers on 512 ranks, of which mpiFFT4py held 2496 x 2512 x 2512 (its
 * issue 11). */
static const struct pf_geometry divided[] = {
    {.n = {5, 4, 7}, .decomposition = &pf_decomposition_pencil, .grid = {2, 3}},
    {.n = {5, 4, 7}, .decomposition = &pf_decomposition_slab, .grid = {3}},
    {.n = {2, 1, 3}, .decomposition = &pf_decomposition_pencil, .grid = {2, 3}},
    {.n = {2512, 2512, 2512 / 2 + 1}, .decomposition = &pf_decomposition_pencil, .grid = {16, 32}},
};

static bool is_in(const pencilfft_box *box, const int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < box->offset[axis] || at[axis] >= box->offset[axis] + box->extent[axis])
            return false;
    return true;
}

/* The number of images with an element of the box with its halo; each at its place in the periodic array. */
static int images_with(const struct pf_image *image, int images, const pencilfft_box *held, const int64_t n[3],
                       const int64_t at[3])
{
    int found = 0;
    for (int i = 0; i < images; i++) {
        if (!is_in(&image[i].here, at))
            continue;
        int64_t there[3];
        for (int axis = 0; axis < 3; axis++) {
            there[axis] = at[axis] - image[i].here.offset[axis] + image[i].there.offset[axis];
            CHECK_INT(image[i].there.extent[axis], image[i].here.extent[axis]);
            CHECK_INT((there[axis] - at[axis]) % n[axis], 0);
        }
        CHECK(is_in(&image[i].there, there) && is_in(held, there));
        found++;
    }
    return found;
}

static void images_of_all_boxes_fill_a_halo_once(void)
{
    static const int64_t n[3] = {5, 4, 3}, low[3] = {2, 1, 0}, high[3] = {5, 0, 3};
    const pencilfft_box box[2] = {{.offset = {0, 0, 0}, .extent = {3, 4, 3}}, {.offset = {3, 0, 0}, .extent = {2, 4, 3}}};
    for (int mine = 0; mine < 2; mine++) {
        const pencilfft_box grown = pf_halo_box(&box[mine], low, high);
        struct pf_image image[2][PF_MAX_IMAGES];
        int images[2];
        for (int other = 0; other < 2; other++)
            images[other] = pf_halo_images(n, &grown, &box[other], other == mine, image[other]);
        for (int64_t x = -low[0]; x < box[mine].extent[0] + high[0]; x++)
            for (int64_t y = -low[1]; y < box[mine].extent[1] + high[1]; y++)
                for (int64_t z = -low[2]; z < box[mine].extent[2] + high[2]; z++) {
                    const int64_t at[3] = {box[mine].offset[0] + x, y, z};
                    int found = 0;
                    for (int other = 0; other < 2; other++)
                        found += images_with(image[other], images[other], &box[other], n, at);
                    CHECK(is_in(&grown, at));
                    CHECK_INT(found, is_in(&box[mine], at) ? 0 : 1);
                }
    }
    const pencilfft_box none = {.offset = {3, 0, 0}, .extent = {0, 4, 3}};
    CHECK_INT(pf_box_elements(&none), 0);
    const pencilfft_box same = pf_halo_box(&none, low, high);
    CHECK_INT(same.extent[1], 4);
}

static void boxes_outside_the_array_are_refused(void)
{
    static const int64_t n[3] = {4, 3, 2};
    static const pencilfft_box halves[2] = {{.offset = {0, 0, 0}, .extent = {2, 3, 2}},
                                            {.offset = {2, 0, 0}, .extent = {2, 3, 2}}};
    for (int me = 0; me < 2; me++)
        CHECK_INT(pf_boxes_check(n, halves, 2, me, "input"), PENCILFFT_OK);
    for (int axis = 0; axis < 3; axis++) {
        static const int64_t wrong[3][2] = {{-1, 1}, {0, 5}, {1, 4}};
        for (int i = 0; i < 3; i++) {
            char part[128];
            pencilfft_box given[2] = {halves[0], halves[1]};
            given[1].offset[axis] = wrong[i][0];
            given[1].extent[axis] = wrong[i][1];
            snprintf(part, sizeof part, "box of rank 1 has %d indices of %c from %d on, but the array has 0..%d",
                     (int)wrong[i][1], 'x' + axis, (int)wrong[i][0], (int)n[axis] - 1);
            CHECK_INT(pf_boxes_check(n, given, 2, 1, "input"), PENCILFFT_BAD_SIZE);
            CHECK_CONTAINS(pf_message(), part);
        }
    }
    const pencilfft_box over[2] = {halves[0], {.offset = {1, 0, 0}, .extent = {3, 3, 2}}};
    CHECK_INT(pf_boxes_check(n, over, 2, 1, "output"), PENCILFFT_BAD_SIZE);
    CHECK_CONTAINS(pf_message(), "the output boxes of ranks 0 and 1 overlap in element 1 0 0");
    CHECK_INT(pf_boxes_check(n, halves, 1, 0, "output"), PENCILFFT_BAD_SIZE);
    CHECK_CONTAINS(pf_message(), "hold 12 of the 24 elements");
}

int main(void)
{
    blocks_follow_each_other_and_differ_by_at_most_one();
    a_product_beyond_the_limit_is_minus_one();
    for (size_t i = 0; i < sizeof divided / sizeof divided[0]; i++)
        boxes_of_all_ranks_hold_every_element_once(&divided[i]);
    a_grid_fills_its_ranks_or_not();
    images_of_all_boxes_fill_a_halo_once();
    boxes_outside_the_array_are_refused();
    return check_result();
}
