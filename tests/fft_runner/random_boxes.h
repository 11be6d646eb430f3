/* Boxes at random, the same on every rank, for the tests of halos and remaps. */
#pragma once

#include "pencilfft.h"
#include "values.h"

enum { MOST_RANKS = 16 };

static int rank, ranks;
static uint64_t thrown;

static int64_t below(int64_t n)
{
    return (int64_t)(value_hash(thrown++) % (uint64_t)n);
}

/* Boxes first to end - 1 of a part of the array; some are empty. */
static void cut(pencilfft_box whole, int first, int end, pencilfft_box *boxes)
{
    if (end - first == 1) {
        boxes[first] = whole;
        return;
    }
    int axis = (int)below(3), middle = first + 1 + (int)below(end - first - 1);
    int64_t at = below(whole.extent[axis] + 1);
    pencilfft_box upper = whole;
    whole.extent[axis] = at;
    upper.offset[axis] += at;
    upper.extent[axis] -= at;
    cut(whole, first, middle, boxes);
    cut(upper, middle, end, boxes);
}
