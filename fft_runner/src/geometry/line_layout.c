/* Layouts of a line over ranks.
 * Idea:  owner, label and number of points are short formulas for each layout, so that a redistribution needs no list of all
 *        points.
 * Cost:  O(1), with the digits O(log P).
 * Needs: no MPI. */
#include "geometry/line_layout.h"

#include "geometry/blocks.h"

static int block_with(int64_t n, int parts, int64_t index)
{
    int64_t size = n / parts, longer = n % parts, in_longer = longer * (size + 1);
    return (int)(index < in_longer ? index / (size + 1) : longer + (index - in_longer) / size);
}

/* d(r): the rank with its digits in reverse order. */
static int reversed(const struct pf_line_layout *l, int rank)
{
    int found = 0, weight = 1, left = l->ranks, at = rank;
    for (int f = l->factors - 1; f >= 0; f--) { /* the largest digit of the rank is the smallest of the result */
        left /= l->factor[f];
        found += at / left * weight;
        at %= left;
        weight *= l->factor[f];
    }
    return found;
}

static int unreversed(const struct pf_line_layout *l, int digits)
{
    int rank = 0, left = l->ranks;
    for (int f = l->factors - 1; f >= 0; f--) {
        left /= l->factor[f];
        rank += digits % l->factor[f] * left;
        digits /= l->factor[f];
    }
    return rank;
}

int64_t pf_line_points(const struct pf_line_layout *l, int rank)
{
    switch (l->order) {
    case PF_LINE_BLOCKS: return pf_block_of(l->n, l->ranks, rank).extent;
    case PF_LINE_COLUMNS: return pf_block_of(l->n2, l->ranks, rank).extent * l->n1;
    case PF_LINE_ROWS:
    case PF_LINE_SPECTRUM: return pf_block_of(l->n1, l->ranks, rank).extent * l->n2;
    default: return l->n / l->ranks;
    }
}

int64_t pf_line_label(const struct pf_line_layout *l, int rank, int64_t i)
{
    switch (l->order) {
    case PF_LINE_BLOCKS: return pf_block_of(l->n, l->ranks, rank).offset + i;
    case PF_LINE_COLUMNS: return i % l->n1 * l->n2 + pf_block_of(l->n2, l->ranks, rank).offset + i / l->n1;
    case PF_LINE_ROWS: return pf_block_of(l->n1, l->ranks, rank).offset * l->n2 + i;
    case PF_LINE_SPECTRUM: return pf_block_of(l->n1, l->ranks, rank).offset + i / l->n2 + i % l->n2 * l->n1;
    default: return reversed(l, rank) + i * l->ranks;
    }
}

int pf_line_owner(const struct pf_line_layout *l, int64_t label)
{
    switch (l->order) {
    case PF_LINE_BLOCKS: return block_with(l->n, l->ranks, label);
    case PF_LINE_COLUMNS: return block_with(l->n2, l->ranks, label % l->n2);
    case PF_LINE_ROWS: return block_with(l->n1, l->ranks, label / l->n2);
    case PF_LINE_SPECTRUM: return block_with(l->n1, l->ranks, label % l->n1);
    default: return unreversed(l, (int)(label % l->ranks));
    }
}
