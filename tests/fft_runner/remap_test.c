/* remap_test SEED CASES: boxes at random, by cutting the array in two again and again; every transform between them is
 * verified, the traffic is counted element by element, and boxes that do not divide the array are refused. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_mpi.h"
#include "random_boxes.h"
#include "verify.h"

static void draw_boxes(const int64_t n[3], pencilfft_box *boxes)
{
    cut((pencilfft_box){.extent = {n[0], n[1], n[2]}}, 0, ranks, boxes);
    for (int i = ranks - 1; i > 0; i--) {
        int j = (int)below(i + 1);
        pencilfft_box one = boxes[i];
        boxes[i] = boxes[j];
        boxes[j] = one;
    }
}

static int64_t common(const pencilfft_box *a, const pencilfft_box *b)
{
    int64_t n = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t shared = 0;
        for (int64_t at = a->offset[axis]; at < a->offset[axis] + a->extent[axis]; at++)
            shared += at >= b->offset[axis] && at < b->offset[axis] + b->extent[axis];
        n *= shared;
    }
    return n;
}

static void check_bytes(const struct problem *p, int remap, int outer, int inner)
{
    bool inwards = (remap == PENCILFFT_REMAP_IN) == (p->direction == PENCILFFT_FORWARD);
    int64_t bytes[MOST_RANKS];
    pencilfft_format format;
    pencilfft_box mine, theirs;
    pencilfft_format_of(p->plan, outer, &format);
    CHECK_INT(pencilfft_traffic(p->plan, remap, p->direction, bytes, NULL), PENCILFFT_OK);
    pencilfft_box_mine(p->plan, inwards ? outer : inner, &mine);
    for (int j = 0; j < ranks; j++) {
        pencilfft_box_of(p->plan, inwards ? inner : outer, j, &theirs);
        CHECK_INT(bytes[j], j == rank ? 0 : common(&mine, &theirs) * format.fields * (int64_t)format.element_bytes);
    }
}

/* Exchange node gathers messages, which go other ways. */
static void verify_plan(pencilfft_plan plan, pencilfft_direction direction, bool in_place, bool node)
{
    struct problem p;
    struct verification v;
    if (problem_make(plan, MPI_COMM_WORLD, &p))
        abort_with_message();
    p.direction = direction;
    p.out = in_place ? p.in : p.other;
    if (verify(&p, &v))
        abort_with_message();
    CHECK(v.passed && v.fftw_done);
    if (node)
        return;
    check_bytes(&p, PENCILFFT_REMAP_IN, PENCILFFT_INPUT, PENCILFFT_INNER_INPUT);
    check_bytes(&p, PENCILFFT_REMAP_OUT, PENCILFFT_OUTPUT, PENCILFFT_INNER_OUTPUT);
}

static void boxes_at_random_are_remapped(int number)
{
    static const char *const exchanges[] = {"alltoallv", "alltoallw", "p2p", "persistent", "node", "put", "padded", "auto"};
    static const char *const types[] = {"c2c", "r2c", "dct", "chebyshev"};
    pencilfft_box before[MOST_RANKS], after[MOST_RANKS];
    pencilfft_desc desc;
    pencilfft_plan plan;
    pencilfft_desc_init(&desc);
    desc.nx = 2 + below(9), desc.ny = 1 + below(12), desc.nz = 1 + below(14);
    desc.type = types[number % 4];
    desc.precision = below(2) ? "double" : "single";
    desc.layout = below(2) ? "natural" : "stride1";
    desc.exchange = exchanges[number % 8];
    desc.decomposition = below(2) ? "pencil" : "slab";
    desc.fields = 1 + (int)below(3);
    desc.rigor = "estimate";
    desc.auto_budget_s = 0;
    draw_boxes((int64_t[]){desc.nx, desc.ny, desc.nz}, before);
    draw_boxes((int64_t[]){desc.nx, desc.ny, number % 2 ? desc.nz / 2 + 1 : desc.nz}, after);
    desc.input_box = &before[rank];
    desc.output_box = &after[rank];
    if (pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan))
        abort_with_message();
    bool node = !strcmp(desc.exchange, "node");
    for (int way = 0; way < 4; way++)
        verify_plan(plan, way % 2 ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD, way > 1, node);
    pencilfft_plan_destroy(plan);
}

static void refuses(pencilfft_desc *desc, const pencilfft_box *box, int status, const char *words)
{
    pencilfft_plan plan;
    desc->output_box = box;
    CHECK_INT(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan), status);
    CHECK_CONTAINS(pencilfft_error_message(), words);
}

static void what_is_no_division_is_refused(void)
{
    pencilfft_desc desc;
    pencilfft_box mine = {.offset = {2 * rank, 0, 0}, .extent = {2, 4, 4}};
    pencilfft_desc_init(&desc);
    desc.nx = 2 * ranks, desc.ny = desc.nz = 4;
    desc.rigor = "estimate";
    mine.extent[0] = rank ? 2 : 3;
    refuses(&desc, &mine, PENCILFFT_BAD_SIZE, "the output boxes of ranks 0 and 1 overlap in element 2 0 0");
    mine.extent[0] = rank ? 2 : 1;
    refuses(&desc, &mine, PENCILFFT_BAD_SIZE, "elements of the array; together they must hold each element once");
    mine.extent[0] = rank ? 2 : -2;
    refuses(&desc, &mine, PENCILFFT_BAD_SIZE, "the output box of rank 0 has -2 indices of x from 0 on");
    mine.extent[0] = 2;
    refuses(&desc, rank ? &mine : NULL, PENCILFFT_MISMATCH, "output_box is given on");
    desc.schedule = "two-way";
    refuses(&desc, &mine, PENCILFFT_NOT_POSSIBLE, "are not remapped to boxes");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    thrown = argc > 1 ? 1000000 * strtoull(argv[1], NULL, 10) : 0;
    for (int number = 0; number < (argc > 2 ? atoi(argv[2]) : 14); number++)
        boxes_at_random_are_remapped(number);
    what_is_no_division_is_refused();
    MPI_Finalize();
    return check_result();
}
