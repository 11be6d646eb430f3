/* Under smpirun, a call of FFTW takes the time of its operations on the simulated node, if the environment variable
 * PENCILMAP_PACE is set. This file is linked into the simulated programs, whose sources are otherwise the same: the wrappers
 * below replace the functions of FFTW that they call.
 * A line of n elements has 5 n log2 n operations, and half of that if its elements are real. The node needs operations /
 * speed_flops seconds (platform file); messages travel on meanwhile. Copies take no time. So every run gives the same times,
 * on any machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fftw3.h>
#include <math.h>
#include <smpi/smpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1 << 14 }; /* of a rank */
static struct {
    const void *plan;
    double operations;
} known[SLOTS]; /* by address, then the next free slot; an address that FFTW uses again is overwritten */

static size_t slot_of(const void *plan)
{
    size_t slot = ((uintptr_t)plan >> 4) * 2654435761U % SLOTS;
    for (size_t tried = 0; known[slot].plan && known[slot].plan != plan; slot = (slot + 1) % SLOTS)
        if (++tried == SLOTS) {
            fprintf(stderr, "fftw_pace: more than %d plans\n", SLOTS);
            abort();
        }
    return slot;
}

/* Enter a new plan of rank `rank`; `share` is 1 for complex and 1/2 for real elements. Return the plan. */
static void *entered(void *plan, int rank, const fftw_iodim64 *line, int loops, const fftw_iodim64 *many, double share)
{
    double elements = 1, operations = 0;
    for (int i = 0; i < rank; i++)
        elements *= (double)line[i].n;
    for (int i = 0; i < loops; i++)
        elements *= (double)many[i].n;
    for (int i = 0; i < rank; i++)
        operations += 5 * share * elements * log2((double)line[i].n);
    if (plan) {
        size_t slot = slot_of(plan);
        known[slot].plan = plan;
        known[slot].operations = operations;
    }
    return plan;
}

static void pace(const void *plan)
{
    size_t slot = slot_of(plan);
    if (known[slot].operations > 0 && getenv("PENCILMAP_PACE"))
        smpi_execute_flops(known[slot].operations);
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "fftw_pace: FFTW has no %s\n", name);
        abort();
    }
    return found;
}

#define LINES int rank, const fftw_iodim64 *line, int loops, const fftw_iodim64 *many
#define GIVEN rank, line, loops, many

#define PLANNER(name, share, arguments, ...)             \
    fftw_plan name arguments                             \
    {                                                    \
        static void *(*real)arguments;                   \
        if (!real)                                       \
            *(void **)&real = next(#name);               \
        return entered(real(__VA_ARGS__), GIVEN, share); \
    }

#define EXECUTOR(name, from, to)                            \
    void name(const fftw_plan plan, from *in, to *out)      \
    {                                                       \
        static void (*real)(const fftw_plan, from *, to *); \
        if (!real)                                          \
            *(void **)&real = next(#name);                  \
        real(plan, in, out);                                \
        pace(plan);                                         \
    }

PLANNER(fftw_plan_guru64_dft, 1, (LINES, fftw_complex *in, fftw_complex *out, int sign, unsigned flags), GIVEN, in, out,
        sign, flags)
PLANNER(fftw_plan_guru64_r2r, 0.5, (LINES, double *in, double *out, const fftw_r2r_kind *kind, unsigned flags), GIVEN, in,
        out, kind, flags)
PLANNER(fftw_plan_guru64_dft_r2c, 0.5, (LINES, double *in, fftw_complex *out, unsigned flags), GIVEN, in, out, flags)
PLANNER(fftw_plan_guru64_dft_c2r, 0.5, (LINES, fftw_complex *in, double *out, unsigned flags), GIVEN, in, out, flags)
EXECUTOR(fftw_execute_dft, fftw_complex, fftw_complex)
EXECUTOR(fftw_execute_r2r, double, double)
EXECUTOR(fftw_execute_dft_r2c, double, fftw_complex)
EXECUTOR(fftw_execute_dft_c2r, fftw_complex, double)
