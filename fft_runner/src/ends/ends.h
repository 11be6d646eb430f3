/* The ends of a transform, remapped. */
#pragma once

#include "handle/plan.h"

/* Which boxes the descriptors give for the ends of a transform, or bricks; plan->end[]. Collective. */
int pf_ends_take(pencilfft_plan plan, const pencilfft_desc *desc);
/* Once all else is there: the remaps. Collective. */
int pf_ends_make(pencilfft_plan plan);
void pf_ends_release(pencilfft_plan plan);
/* The box of a rank outside, once the grid is known and where this end is remapped; and inside, where it begins and ends its
 * transform. */
pencilfft_box pf_end_box(const struct pencilfft_plan_s *plan, int end, int rank);
pencilfft_box pf_end_inside(const struct pencilfft_plan_s *plan, int end, int rank);
/* The element of an end. */
size_t pf_end_bytes(const struct pencilfft_plan_s *plan, int end);
/* What rank `rank` sends of a field in both remaps of a forward transform, in bytes, with the grid that is in the geometry;
 * n[2] in there is that of what is exchanged. */
int64_t pf_ends_sent(const struct pencilfft_plan_s *plan, int rank);
/* A remap as part of a run, or alone; the clock runs. */
int pf_end_run(pencilfft_plan plan, int end, int backward, const void *from, void *to);
