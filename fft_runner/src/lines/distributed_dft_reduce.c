/* A distributed line by one exchange of all ranks with all, by reduce-scatter.
 * Idea:  like dft, but each rank computes the share of its own block in the block of every other rank, and sends this share;
 *        received blocks are added. If P divides n and the order may change, the shares are products of a dense DFT of P
 *        points, otherwise parts of the transform of the rank's block with zeros around the block. Sent directly, so that
 *        messages and bytes equal the allgather's.
 * Source: Jocksch 2021, parallel DFT by reduce-scatter.
 * Cost:  P - 1 messages with a whole block, P times as much memory, and n P^2 or P n log n operations in all.
 * Needs: no condition on n and P. */
#include <stdio.h>

#include "lines/distributed.h"
#include "pencilfft.h"

extern const struct pf_line_algorithm pf_line_dft;

static int plan(struct pf_line_steps *s)
{
    int status = pf_line_dft.plan(s);
    for (int i = 0; i < s->count; i++) {
        struct pf_line_step *step = &s->step[i];
        step->scatter = step->kind == PF_LINE_MEET || step->kind == PF_LINE_WHOLE;
        if (step->kind == PF_LINE_WHOLE)
            snprintf(step->name, sizeof step->name, "scatter");
    }
    return status;
}

const struct pf_line_algorithm pf_line_dft_reduce = {"dft-reduce", plan};
