/* Boxes before and after a transform.
 * Cost:  each rank looks at all boxes once: O(P) time and memory on each rank. Needs: no MPI. */
#include "geometry/geometry.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool parse_bricks(const char *text, int dimensions, int bricks[3])
{
    bricks[2] = 1;
    for (int i = 0; i < dimensions; i++) {
        char *end;
        long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
        if (value < 1 || value > INT_MAX || *end != (i < dimensions - 1 ? 'x' : '\0'))
            return false;
        bricks[i] = (int)value;
        text = end + 1;
    }
    return true;
}

const struct pf_decomposition *pf_decomposition_find(const char *text, int dimensions, int bricks[3])
{
    enum { MOST = 64 };
    char name[MOST] = "";
    const char *colon = text ? strchr(text, ':') : NULL;
    bricks[0] = bricks[1] = bricks[2] = 0;
    if (!colon || colon - text >= MOST)
        return pf_table_find(&pf_decompositions, text);
    memcpy(name, text, (size_t)(colon - text));
    const struct pf_decomposition *found = pf_table_find(&pf_decompositions, name);
    if (found && (!found->bricks || !parse_bricks(colon + 1, dimensions, bricks))) {
        pf_fail(PENCILFFT_UNKNOWN_NAME, "decomposition '%.60s' is not understood; write %s", text,
                !found->bricks    ? name
                : dimensions == 2 ? "brick:PxQ with the numbers of bricks along x and y, or brick"
                                  : "brick:PxQxS with the numbers of bricks along x, y and z, or brick");
        return NULL;
    }
    return found;
}

/* Twice the elements on the surfaces between bricks, in planes of the array: the fewer the better. */
static double surface(const int64_t n[3], const int bricks[3])
{
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += (double)bricks[axis] / (double)n[axis];
    return sum;
}

void pf_bricks_choose(const int64_t n[3], int dimensions, int ranks, int bricks[3])
{
    bool any = false;
    for (int a = 1; a <= ranks; a++)
        for (int b = 1; ranks % a == 0 && b <= ranks / a; b++) {
            const int one[3] = {a, b, ranks / a / b};
            bool goes = ranks / a % b == 0 && (dimensions == 3 || one[2] == 1);
            if (goes && (!any || surface(n, one) < surface(n, bricks))) {
                memcpy(bricks, one, sizeof one);
                any = true;
            }
        }
}

pencilfft_box pf_brick_of(const int64_t n[3], const int bricks[3], int rank)
{
    pencilfft_box box = {.offset = {0}};
    for (int axis = 0; axis < 3; axis++) {
        struct pf_block block = pf_block_of(n[axis], bricks[axis], rank % bricks[axis]);
        rank /= bricks[axis];
        box.offset[axis] = block.offset;
        box.extent[axis] = block.extent;
    }
    return box;
}

static int check_inside(const int64_t n[3], const pencilfft_box *box, int rank, const char *what)
{
    for (int axis = 0; axis < 3; axis++) {
        int64_t offset = box->offset[axis], extent = box->extent[axis];
        if (offset < 0 || extent < 0 || offset > n[axis] || extent > n[axis] - offset)
            return pf_fail(PENCILFFT_BAD_SIZE,
                           "the %s box of rank %d has %lld indices of %c from %lld on, but the array has 0..%lld; give "
                           "boxes inside the array",
                           what, rank, (long long)extent, 'x' + axis, (long long)offset, (long long)n[axis] - 1);
    }
    return PENCILFFT_OK;
}

int pf_boxes_check(const int64_t n[3], const pencilfft_box *boxes, int ranks, int me, const char *what)
{
    int64_t held = 0, all = n[0] * n[1] * n[2];
    int status = PENCILFFT_OK;
    for (int rank = 0; rank < ranks && !status; rank++)
        status = check_inside(n, &boxes[rank], rank, what);
    for (int rank = 0; rank < ranks && !status; rank++) {
        pencilfft_box common = pf_box_common(&boxes[me], &boxes[rank]);
        if (rank != me && pf_box_elements(&common) > 0)
            return pf_fail(PENCILFFT_BAD_SIZE,
                           "the %s boxes of ranks %d and %d overlap in element %lld %lld %lld; all boxes together must hold "
                           "each element of the array once",
                           what, me < rank ? me : rank, me < rank ? rank : me, (long long)common.offset[0],
                           (long long)common.offset[1], (long long)common.offset[2]);
        held += pf_box_elements(&boxes[rank]);
        if (held > all)
            break;
    }
    if (!status && held < all)
        status = pf_fail(PENCILFFT_BAD_SIZE,
                         "the %s boxes of all ranks hold %lld of the %lld elements of the array; together they must hold "
                         "each element once",
                         what, (long long)held, (long long)all);
    return status;
}
