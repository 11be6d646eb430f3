/* Verification inside the run.
 * Idea:   (1) data that is only moved is compared exactly; (2) the transform of random data is compared with a serial
 *         FFTW on rank 0; (3) some of its values with the plain sum, which shares nothing with any FFT.
 *         A round trip would pass with a permuted spectrum, and FFTW alone might err with itself.
 * Source: the error measure and its growth with log N are those of FFTW's accuracy benchmark (fftw.org/accuracy).
 * Needs:  room for the whole array on rank 0 for (2); without it, or above a limit, (2) is left out and said so. */
#include "verify.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "check_mpi.h"
#include "runner.h"
#include "values.h"

/* Largest error seen in many runs is some tenths of epsilon * log2 N; the factor leaves room for other machines. */
static const struct precision {
    const char *name;
    double epsilon, factor;
} precisions[] = {
    {"double", DBL_EPSILON, 10},
};

double tolerance_of(const char *name, int64_t elements)
{
    double logarithm = log2((double)elements);
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++)
        if (!strcmp(name, precisions[i].name))
            return precisions[i].epsilon * precisions[i].factor * (logarithm > 1 ? logarithm : 1);
    return 0;
}

pencilfft_pencil input_pencil(const struct problem *p)
{
    return p->direction == PENCILFFT_FORWARD ? PENCILFFT_Z_PENCIL : PENCILFFT_X_PENCIL;
}

pencilfft_pencil output_pencil(const struct problem *p)
{
    return p->direction == PENCILFFT_FORWARD ? PENCILFFT_X_PENCIL : PENCILFFT_Z_PENCIL;
}

/* Parseval: the root mean square of the transform is the square root of the energy of the input. */
static double result_scale(const struct problem *p)
{
    pencilfft_box box;
    double energy = 0, all = 0;
    if (!pencilfft_box_mine(p->plan, input_pencil(p), &box))
        energy = values_energy(&box, p->n, value_random);
    CHECK_MPI(MPI_Allreduce(&energy, &all, 1, MPI_DOUBLE, MPI_SUM, p->grid));
    return sqrt(all);
}

static int transform_random(const struct problem *p)
{
    pencilfft_box box;
    int status = pencilfft_box_mine(p->plan, input_pencil(p), &box);
    if (status)
        return status;
    values_fill(&box, p->n, value_random, p->in);
    return pencilfft_execute(p->plan, p->direction, p->in, p->out);
}

double worse_error(double one, double other)
{
    return isnan(one) || one > other ? one : other;
}

/* Written so that an error that is not a number does not pass. */
static bool is_small(double error, double tolerance)
{
    return error <= tolerance;
}

int verify(const struct problem *p, struct verification *v)
{
    *v = (struct verification){.tolerance = tolerance_of("double", p->n[0] * p->n[1] * p->n[2])};
    int status = verify_moved(p, &v->moved_data_exact);
    if (status || (status = transform_random(p)))
        return status;
    double scale = result_scale(p);
    if ((status = verify_serial(p, scale, v)) || (status = verify_direct(p, scale, v)))
        return status;
    v->passed = v->moved_data_exact && is_small(v->error_direct, v->tolerance) &&
                (!v->fftw_done || is_small(v->error_fftw, v->tolerance));
    return status;
}
