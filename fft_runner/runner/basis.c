/* The sums that define the line transforms, for the direct check.
 * Source: FFTW's manual, "What FFTW Really Computes". Angles are reduced as integers first, so that large indices lose no
 *         accuracy. */
#include "values.h"

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

/* II and III are inverses of each other. */
static int number_of(const pencilfft_line *line, int backward)
{
    return backward && (line->number == 2 || line->number == 3) ? 5 - line->number : line->number;
}

/* A mode j of n kept modes at point k of `points`, or the reverse: the mode n/2 of an even n stands for -n/2 too. */
static double complex padded_root(const pencilfft_line *line, int64_t mode, int64_t point, int backward)
{
    int64_t n = line->n, points = line->points;
    if (points > n && 2 * mode == n)
        return (backward ? 1 : 2) * creal(root(mode, point, points, backward));
    return root(2 * mode > n ? mode + points - n : mode, point, points, backward);
}

static double complex weight_of(const pencilfft_line *line, int backward, int64_t k, int64_t j)
{
    int64_t n = line->n;
    switch (line->kind) {
    case PENCILFFT_LINE_NONE: return j == k;
    case PENCILFFT_LINE_COSINE: return cosine(number_of(line, backward), j, k, n);
    case PENCILFFT_LINE_SINE: return sine(number_of(line, backward), j, k, n);
    case PENCILFFT_LINE_R2C:
        if (backward) /* the half that is not stored contributes by its conjugate */
            return (j == 0 || 2 * j == n ? 1 : 2) * padded_root(line, j, k, 1);
        break;
    default: break;
    }
    return backward ? padded_root(line, j, k, 1) : padded_root(line, k, j, 0);
}

void basis_line(const pencilfft_line *line, int backward, int64_t k, int64_t offset, int64_t extent, double complex *weight)
{
    for (int64_t j = 0; j < extent; j++)
        weight[j] = weight_of(line, backward, k, offset + j);
}
