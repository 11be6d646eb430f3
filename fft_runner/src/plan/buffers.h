#pragma once

#include "plan/plan.h"

/* One buffer of the plan's size, to be freed by free(raw). */
int pf_buffer_make(const struct pencilfft_plan_s *plan, struct pf_buffer *buffer);
/* All that pencilfft_alloc() handed out. */
void pf_buffers_release(pencilfft_plan plan);
/* Where the buffers of a transform are; NULL for those it does not have. */
void pf_buffers_list(const struct pencilfft_plan_s *plan, int backward, const void *in, void *out, char *buffer[PF_BUFFERS]);
