#include "lines/fftw_calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A plan of a library that loops over lines once: loop[0] is inside the plan, the others are outside. */
struct looped {
    void *plan;
    fftw_iodim64 loop[PF_MANY];
};

/* MKL's interface of FFTW plans at most one loop over lines. */
static bool plans_one_loop(void)
{
    return strstr(fftw_version, "MKL") != NULL;
}

/* The loops with those joined that are one loop in memory; the longest first. */
static void join_loops(const struct pf_line_shape *s, fftw_iodim64 loop[PF_MANY])
{
    memcpy(loop, s->many, sizeof s->many);
    for (int i = 0; i < PF_MANY; i++)
        for (int j = 0; j < PF_MANY; j++)
            if (i != j && loop[i].is == loop[j].n * loop[j].is && loop[i].os == loop[j].n * loop[j].os) {
                loop[j].n *= loop[i].n;
                loop[i] = (fftw_iodim64){1, 0, 0};
            }
    for (int i = 1; i < PF_MANY; i++)
        if (loop[i].n > loop[0].n) {
            fftw_iodim64 longest = loop[i];
            loop[i] = loop[0];
            loop[0] = longest;
        }
}

#define REAL double
#define FFTW(name) fftw_##name
#define OF(name) name##_double
#include "lines/fftw_calls_body.h"
#undef REAL
#undef FFTW
#undef OF

#define REAL float
#define FFTW(name) fftwf_##name
#define OF(name) name##_single
#include "lines/fftw_calls_body.h"
