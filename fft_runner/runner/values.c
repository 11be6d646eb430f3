/* Source of the hash: the finaliser of splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number
 * generators, OOPSLA 2014). */
#include "values.h"

double complex value_index(int64_t index)
{
    return CMPLX((double)index, -(double)index - 1);
}

uint64_t value_hash(uint64_t number)
{
    uint64_t h = number + 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

static double part(uint64_t number)
{
    return (double)(value_hash(number) >> 11) * 0x1p-53 - 0.5;
}

double complex value_random(int64_t index)
{
    return CMPLX(part(2 * (uint64_t)index), part(2 * (uint64_t)index + 1));
}

/* Global index of (x, y, 0), and local element of (offset x + i, offset y + j, offset z). */
static int64_t line_index(const pencilfft_box *b, const int64_t n[3], int64_t i, int64_t j)
{
    return ((b->offset[0] + i) * n[1] + b->offset[1] + j) * n[2];
}

static int64_t line_start(const pencilfft_box *b, int64_t i, int64_t j)
{
    return i * b->stride[0] + j * b->stride[1];
}

void values_fill(const pencilfft_box *b, const int64_t n[3], value_function value, double complex *a)
{
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t j = 0; j < b->extent[1]; j++)
            for (int64_t k = 0; k < b->extent[2]; k++)
                a[line_start(b, i, j) + k * b->stride[2]] = value(line_index(b, n, i, j) + b->offset[2] + k);
}

int64_t values_wrong(const pencilfft_box *b, const int64_t n[3], value_function value, const double complex *a)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t j = 0; j < b->extent[1]; j++)
            for (int64_t k = 0; k < b->extent[2]; k++)
                wrong += a[line_start(b, i, j) + k * b->stride[2]] != value(line_index(b, n, i, j) + b->offset[2] + k);
    return wrong;
}

double values_energy(const pencilfft_box *b, const int64_t n[3], value_function value)
{
    double sum = 0;
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t j = 0; j < b->extent[1]; j++)
            for (int64_t k = 0; k < b->extent[2]; k++) {
                double complex v = value(line_index(b, n, i, j) + b->offset[2] + k);
                sum += creal(v) * creal(v) + cimag(v) * cimag(v);
            }
    return sum;
}
