/* The ends of a transform, remapped. */
#pragma once

#include "handle/plan.h"

/* The boxes of the ends of a transform from the descriptors, or bricks; plan->layout.end[]. Collective. */
int pf_ends_take(pencilfft_plan plan, const pencilfft_desc *desc);
/* Make the remaps, after all other parts. Collective. */
int pf_ends_make(pencilfft_plan plan);
void pf_ends_release(pencilfft_plan plan);
/* The box of a rank outside, if this end is remapped, and inside, at the start or end of its transform. The grid is
 * known. */
pencilfft_box pf_end_box(const struct pencilfft_plan_s *plan, int end, int rank);
pencilfft_box pf_end_inside(const struct pencilfft_plan_s *plan, int end, int rank);
/* Bytes of an element of an end, and of a rank's box outside, with all fields. */
size_t pf_end_bytes(const struct pencilfft_plan_s *plan, int end);
int64_t pf_end_array_bytes(const struct pencilfft_plan_s *plan, int end, int rank);
/* Bytes of a field that rank `rank` sends in both remaps of a forward transform, with the grid of the geometry; n[2] there
 * is the extent of the exchanged arrays. */
int64_t pf_ends_sent(const struct pencilfft_plan_s *plan, int rank);
/* A step PF_REMAP_... of a remap, as part of a run, or alone; the clock runs. */
int pf_end_step(pencilfft_plan plan, const struct pf_step *step, const void *from, void *to);
/* Lets MPI work between start and finish; tells whether finish would not wait. */
int pf_end_progress(pencilfft_plan plan, const struct pf_step *step, int *done);
