#pragma once

#include "line_problem.h"
#include "verify.h"

void line_fill(const struct line_problem *problem);
/* Its transform against a serial FFTW and the plain sum, as verify() does. Collective. */
int line_verify(const struct line_problem *problem, struct verification *result);
