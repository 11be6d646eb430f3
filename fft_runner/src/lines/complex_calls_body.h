/* Text of complex_calls.c, which defines REAL, NUMBER(x, y) and OF(name) before. Products are written out: C's own product
 * checks for infinities. */

static void OF(store)(void *array, int64_t i, double complex value)
{
    ((REAL complex *)array)[i] = NUMBER((REAL)creal(value), (REAL)cimag(value));
}

static void OF(scale)(const void *from, const void *weights, bool conjugate, int64_t n, void *to)
{
    const REAL *restrict x = from, *restrict weight = weights;
    REAL *restrict y = to, sign = conjugate ? -1 : 1;
    for (int64_t i = 0; i < 2 * n; i += 2) {
        REAL c = weight[i], s = sign * weight[i + 1], re = x[i], im = x[i + 1];
        y[i] = re * c - im * s;
        y[i + 1] = re * s + im * c;
    }
}

static void OF(add)(const void *from, double complex weight, bool first, int64_t n, void *to)
{
    const REAL *restrict x = from, c = (REAL)creal(weight), s = (REAL)cimag(weight);
    REAL *restrict y = to;
    for (int64_t i = 0; i < 2 * n; i += 2) {
        REAL re = x[i] * c - x[i + 1] * s, im = x[i] * s + x[i + 1] * c;
        y[i] = first ? re : y[i] + re;
        y[i + 1] = first ? im : y[i + 1] + im;
    }
}

const struct pf_complex OF(pf_complex) = {sizeof(REAL complex), OF(store), OF(scale), OF(add)};
