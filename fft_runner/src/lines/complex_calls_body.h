/* Text of complex_double.c and complex_single.c; they define PF_REAL, PF_CMPLX(x, y) and PF_TABLE_NAME before. Products are
 * written out: C's own look for infinities. */

static void store(void *array, int64_t i, double complex value)
{
    ((PF_REAL complex *)array)[i] = PF_CMPLX((PF_REAL)creal(value), (PF_REAL)cimag(value));
}

static void scale(const void *from, const void *weights, bool conjugate, int64_t n, void *to)
{
    const PF_REAL *restrict x = from, *restrict weight = weights;
    PF_REAL *restrict y = to, sign = conjugate ? -1 : 1;
    for (int64_t i = 0; i < 2 * n; i += 2) {
        PF_REAL c = weight[i], s = sign * weight[i + 1], re = x[i], im = x[i + 1];
        y[i] = re * c - im * s;
        y[i + 1] = re * s + im * c;
    }
}

static void add(const void *from, double complex weight, bool first, int64_t n, void *to)
{
    const PF_REAL *restrict x = from, c = (PF_REAL)creal(weight), s = (PF_REAL)cimag(weight);
    PF_REAL *restrict y = to;
    for (int64_t i = 0; i < 2 * n; i += 2) {
        PF_REAL re = x[i] * c - x[i + 1] * s, im = x[i] * s + x[i + 1] * c;
        y[i] = first ? re : y[i] + re;
        y[i + 1] = first ? im : y[i + 1] + im;
    }
}

const struct pf_complex PF_TABLE_NAME = {sizeof(PF_REAL complex), store, scale, add};
