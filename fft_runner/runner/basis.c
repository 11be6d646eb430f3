/* The sums that define the line transforms, for the direct check.
 * Source: FFTW's manual, "What FFTW Really Computes". Angles are reduced as whole numbers first, so that large indices
 *         lose nothing. */
#include "basis.h"

#include <math.h>

/* pi * numerator / denominator, with the numerator taken modulo a full turn. */
static double angle(int64_t numerator, int64_t denominator)
{
    return M_PI * ((double)(numerator % (2 * denominator)) / (double)denominator);
}

static double complex root(int64_t j, int64_t k, int64_t n, int backward)
{
    double a = angle(2 * (j * k % n), n);
    return CMPLX(cos(a), backward ? sin(a) : -sin(a));
}

static double cosine(int kind, int64_t j, int64_t k, int64_t n)
{
    double sign = k % 2 ? -1 : 1;
    switch (kind) {
    case 1: return j == 0 ? 1 : j == n - 1 ? sign : 2 * cos(angle(j * k, n - 1));
    case 2: return 2 * cos(angle((2 * j + 1) * k, 2 * n));
    case 3: return j == 0 ? 1 : 2 * cos(angle(j * (2 * k + 1), 2 * n));
    default: return 2 * cos(angle((2 * j + 1) * (2 * k + 1), 4 * n));
    }
}

static double sine(int kind, int64_t j, int64_t k, int64_t n)
{
    double sign = k % 2 ? -1 : 1;
    switch (kind) {
    case 1: return 2 * sin(angle((j + 1) * (k + 1), n + 1));
    case 2: return 2 * sin(angle((2 * j + 1) * (k + 1), 2 * n));
    case 3: return j == n - 1 ? sign : 2 * sin(angle((j + 1) * (2 * k + 1), 2 * n));
    default: return 2 * sin(angle((2 * j + 1) * (2 * k + 1), 4 * n));
    }
}

/* II and III are each other's inverse. */
static int kind_of(int kind, int backward)
{
    return backward && (kind == 2 || kind == 3) ? 5 - kind : kind;
}

static double complex weight_of(const struct pf_line *line, int backward, int64_t n, int64_t k, int64_t j)
{
    if (line->kind == PF_SKIP)
        return j == k;
    if (line->kind == PF_R2R && line->cosine_kind)
        return cosine(kind_of(line->cosine_kind, backward), j, k, n);
    if (line->kind == PF_R2R)
        return sine(kind_of(line->sine_kind, backward), j, k, n);
    if (line->kind == PF_R2C && backward) /* the half that is not stored counts by its conjugate */
        return (j == 0 || 2 * j == n ? 1 : 2) * root(j, k, n, 1);
    return root(j, k, n, backward);
}

void basis_line(const struct pf_line *line, int backward, int64_t n, int64_t k, int64_t offset, int64_t extent,
                double complex *weight)
{
    for (int64_t j = 0; j < extent; j++)
        weight[j] = weight_of(line, backward, n, k, offset + j);
}
