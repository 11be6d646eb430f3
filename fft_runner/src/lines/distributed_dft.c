/* A distributed line by one exchange of all ranks with all.
 * Idea:  if P divides n and the order may change, a dense DFT of P points over the ranks: a binary exchange of radix P.
 *        Otherwise an allgather of the line, and each rank transforms the line for its own block.
 * Source: Jocksch 2021, parallel DFT by allgather.
 * Cost:  P - 1 messages with the whole block, P times as much memory, and n P^2 or P n log n operations in all.
 * Needs: no condition on n and P. */
#include <stdio.h>

#include "lines/distributed.h"
#include "pencilfft.h"

static int plan(struct pf_line_steps *s)
{
    if (s->order != PF_WISH_NATURAL && s->n % s->ranks == 0)
        pf_line_add_stages(s, s->ranks > 1, &s->ranks);
    else if (s->ranks == 1)
        pf_line_add_fft(s, s->n);
    else {
        struct pf_line_step *step = pf_line_add(s, PF_LINE_WHOLE, NULL);
        step->length = s->n;
        snprintf(step->name, sizeof step->name, "gather");
    }
    return PENCILFFT_OK;
}

const struct pf_line_algorithm pf_line_dft = {"dft", plan};
