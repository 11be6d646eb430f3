#pragma once

#include "line_problem.h"
#include "verify.h"

void line_fill(const struct line_problem *problem);
/* Compare the transform with a serial FFTW and the plain sum, like verify(). Collective. */
int line_verify(const struct line_problem *problem, struct verification *result);
