#pragma once

#include "pencilfft_line.h"
#include "verify.h"

/* A distributed line as the runner runs it. */
struct line_problem {
    pencilfft_line_plan plan;
    pencilfft_line_desc desc;
    pencilfft_direction direction;
    MPI_Comm comm;
    int rank, ranks;
    pencilfft_format format; /* of its elements */
    void *in, *out;          /* the same when in place */
};

void line_fill(const struct line_problem *problem);
/* Its transform against a serial FFTW and the plain sum, as verify() does. Collective. */
int line_verify(const struct line_problem *problem, struct verification *result);
