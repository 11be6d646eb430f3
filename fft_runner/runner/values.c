/* Source of the hash: the finaliser of splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number
 * generators, OOPSLA 2014). */
#include "values.h"

/* Whole numbers below these are exact. */
static double exact_below(const pencilfft_format *f)
{
    return f->real_bytes == sizeof(float) ? 0x1p24 : 0x1p53;
}

static double complex cut(const pencilfft_format *f, double complex v)
{
    if (f->real_bytes == sizeof(float))
        v = CMPLX((float)creal(v), (float)cimag(v));
    return f->is_complex ? v : creal(v);
}

static double complex index_below(const pencilfft_format *f, int64_t index, int64_t limit)
{
    int64_t whole = index / limit;
    return cut(f, CMPLX((double)(index % limit), -(double)whole - (double)(index % 1021) - 1));
}

double complex value_index(const pencilfft_format *f, int64_t index)
{
    return index_below(f, index, (int64_t)exact_below(f));
}

double complex value_index_single(const pencilfft_format *f, int64_t index)
{
    return index_below(f, index, (int64_t)0x1p24);
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

double complex value_random(const pencilfft_format *f, int64_t index)
{
    double imaginary = f->is_complex ? part(2 * (uint64_t)index + 1) : 0;
    return cut(f, CMPLX(part(2 * (uint64_t)index), imaginary));
}

double complex element_load(const pencilfft_format *f, const void *array, int64_t i)
{
    if (f->real_bytes == sizeof(float))
        return f->is_complex ? (double complex)((const float complex *)array)[i] : ((const float *)array)[i];
    return f->is_complex ? ((const double complex *)array)[i] : ((const double *)array)[i];
}

void element_store(const pencilfft_format *f, void *array, int64_t i, double complex value)
{
    if (f->real_bytes == sizeof(float) && f->is_complex)
        ((float complex *)array)[i] = CMPLXF((float)creal(value), (float)cimag(value));
    else if (f->real_bytes == sizeof(float))
        ((float *)array)[i] = (float)creal(value);
    else if (f->is_complex)
        ((double complex *)array)[i] = value;
    else
        ((double *)array)[i] = creal(value);
}

struct line {
    int64_t index, start; /* of (x, y, 0) in the global array, and of (offset x + i, offset y + j, offset z) here */
};

/* Arrays are periodic: a plane beside the array, in a halo, is a plane of the other end. */
static int64_t inside(int64_t at, int64_t n)
{
    return at < 0 ? at + n : at < n ? at : at - n;
}

/* Lines along z of all fields, one after the other. */
static struct line line_of(const pencilfft_part *part, const pencilfft_format *f, int64_t number)
{
    const pencilfft_box *b = &part->box;
    int64_t j = number % b->extent[1], i = number / b->extent[1] % b->extent[0];
    int64_t field = number / (b->extent[1] * b->extent[0]);
    return (struct line){
        .index = (((part->first_field + field) * f->n[0] + inside(b->offset[0] + i, f->n[0])) * f->n[1] +
                  inside(b->offset[1] + j, f->n[1])) *
                 f->n[2],
        .start = part->start + field * part->field_stride + i * b->stride[0] + j * b->stride[1],
    };
}

static int64_t lines_in(const pencilfft_part *part)
{
    return part->box.extent[0] * part->box.extent[1] * part->fields;
}

void values_fill(const pencilfft_part *part, const pencilfft_format *f, value_function value, void *array)
{
    for (int64_t number = 0; number < lines_in(part); number++) {
        struct line line = line_of(part, f, number);
        for (int64_t k = 0; k < part->box.extent[2]; k++)
            element_store(f, array, line.start + k * part->box.stride[2],
                          value(f, line.index + inside(part->box.offset[2] + k, f->n[2])));
    }
}

int64_t values_wrong(const pencilfft_part *part, const pencilfft_format *f, value_function value, const void *array)
{
    int64_t wrong = 0;
    for (int64_t number = 0; number < lines_in(part); number++) {
        struct line line = line_of(part, f, number);
        for (int64_t k = 0; k < part->box.extent[2]; k++)
            wrong += element_load(f, array, line.start + k * part->box.stride[2]) !=
                     value(f, line.index + inside(part->box.offset[2] + k, f->n[2]));
    }
    return wrong;
}
