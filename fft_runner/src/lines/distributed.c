/* Common parts of the algorithms for distributed lines: putting steps together, and the stages of a binary exchange.
 * Idea:  with point n' of rank p being point p n + n' of the line, a transform of P points over the ranks for each n',
 *        twiddle factors, and a transform of n points on each rank. The transform over the ranks is split along the factors
 *        of P, largest digit of p first (decimation in frequency): in each stage a rank needs the blocks of its group,
 *        whole, and all points of a block are multiplied by the same number, root of r for the butterfly times twiddle
 *        factor. The spectrum comes out with the digits of p reversed.
 * Source: Jocksch 2021, radix 2 and 4. */
#include "lines/distributed.h"

#include <math.h>
#include <stdio.h>

#include "common/failure.h"
#include "pencilfft.h"

/* Reduced to an eighth of the circle: exact at the axes, and with a small angle. */
double complex pf_root(int64_t of, int64_t n)
{
    const double turn = 6.283185307179586476925286766559;
    int64_t quarter = 4 * of / n;       /* of < 2^53 */
    int64_t left = 4 * of - quarter * n; /* of a quarter: left / n */
    int beyond = 2 * left > n;
    double angle = turn * (double)(beyond ? n - left : left) / (double)(4 * n);
    double c = beyond ? sin(angle) : cos(angle), s = beyond ? cos(angle) : sin(angle);
    switch (quarter) {
    case 0: return CMPLX(c, -s);
    case 1: return CMPLX(-s, -c);
    case 2: return CMPLX(-c, s);
    default: return CMPLX(s, c);
    }
}

struct pf_line_layout pf_line_blocks(const struct pf_line_steps *s)
{
    return (struct pf_line_layout){.order = PF_LINE_BLOCKS, .ranks = s->ranks, .n = s->n};
}

struct pf_line_step *pf_line_add(struct pf_line_steps *s, enum pf_line_step_kind kind, const struct pf_line_layout *to)
{
    struct pf_line_step *step = &s->step[s->count++];
    *step = (struct pf_line_step){.kind = kind, .from = s->to, .to = to ? *to : s->to};
    s->to = step->to;
    return step;
}

void pf_line_add_move(struct pf_line_steps *s, const char *name, const struct pf_line_layout *to)
{
    struct pf_line_step *step = pf_line_add(s, PF_LINE_MOVE, to);
    snprintf(step->name, sizeof step->name, "%s", name);
}

void pf_line_add_fft(struct pf_line_steps *s, int64_t length)
{
    if (length > 1)
        pf_line_add(s, PF_LINE_FFT, NULL)->length = length;
}

void pf_line_rename(struct pf_line_steps *s, const struct pf_line_layout *layout)
{
    s->to = *layout;
}

/* The factor of point i on rank d(p): label d + P i of the digits' layout. */
static double complex digits_twiddle(const struct pf_line_step *step, int rank, int64_t label)
{
    (void)rank;
    int64_t d = label % step->to.ranks, i = label / step->to.ranks;
    return pf_root(d * i, step->to.n);
}

void pf_line_add_stages(struct pf_line_steps *s, int factors, const int *factor)
{
    struct pf_line_layout digits = {.order = PF_LINE_DIGITS, .ranks = s->ranks, .n = s->n, .factors = factors};
    int apart = s->ranks;
    for (int f = 0; f < factors; f++)
        digits.factor[f] = factor[f];
    for (int f = factors - 1, number = 1; f >= 0; f--, number++) {
        struct pf_line_step *step = pf_line_add(s, PF_LINE_MEET, NULL);
        apart /= factor[f];
        step->radix = factor[f];
        step->apart = apart;
        snprintf(step->name, sizeof step->name, "stage_%d", number);
    }
    pf_line_rename(s, &digits);
    if (s->ranks > 1 && s->n > s->ranks)
        pf_line_add(s, PF_LINE_SCALE, NULL)->weight = digits_twiddle;
    pf_line_add_fft(s, s->n / s->ranks);
}

/* The radix as often as possible, and then 2 and the other primes. */
static int factors_of(int ranks, int radix, int factor[PF_LINE_FACTORS])
{
    int count = 0;
    for (; ranks % radix == 0; ranks /= radix)
        factor[count++] = radix;
    for (int r = 2; ranks > 1; r++) {
        if (r > ranks / r)
            r = ranks; /* the rest is a prime */
        for (; ranks % r == 0; ranks /= r)
            factor[count++] = r;
    }
    return count;
}

int pf_line_binary(struct pf_line_steps *s, int radix)
{
    int factor[PF_LINE_FACTORS];
    int64_t next = (s->n / s->ranks + 1) * s->ranks;
    if (s->n % s->ranks)
        return pf_fail(
            PENCILFFT_NOT_POSSIBLE,
            "a binary exchange needs points that divide evenly: %lld points are not a multiple of %d ranks; take %lld "
            "points, or algorithm transpose or dft",
            (long long)s->n, s->ranks, (long long)next);
    pf_line_add_stages(s, factors_of(s->ranks, radix, factor), factor);
    struct pf_line_layout blocks = pf_line_blocks(s);
    if (s->order == PF_WISH_NATURAL && s->ranks > 1)
        pf_line_add_move(s, "to_blocks", &blocks);
    return PENCILFFT_OK;
}
