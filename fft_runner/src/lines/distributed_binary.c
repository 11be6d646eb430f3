/* A distributed line by binary exchange of radix 2 or 4; other prime factors of P get stages of their own radix.
 * Idea:  distributed.c, pf_line_add_stages(): a stage for each factor.
 * Source: Jocksch 2021.
 * Cost:  for each factor r of P, r - 1 messages with the whole block; in natural order one all-to-all more.
 * Needs: P divides n. */
#include "lines/distributed.h"

static int plan2(struct pf_line_steps *steps)
{
    return pf_line_binary(steps, 2);
}

static int plan4(struct pf_line_steps *steps)
{
    return pf_line_binary(steps, 4);
}

const struct pf_line_algorithm pf_line_binary2 = {"binary2", plan2}, pf_line_binary4 = {"binary4", plan4};
