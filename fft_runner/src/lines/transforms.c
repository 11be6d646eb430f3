/* The kinds of transform.
 * Idea:  a transform is three line transforms; a row of the table lists the three. r2c halves z, so that y and x work on
 *        nz/2 + 1 complex numbers; the cosine and sine transforms stay real. Chebyshev and empty are r2c along z, then y,
 *        and a cosine transform or nothing along x, the third axis.
 *        Padded lines are longer than the modes of the spectrum that they become (pass.c).
 * Source: names and scales of the real transforms: FFTW's manual, "1d Real-even DFTs" and "1d Real-odd DFTs"; Chebyshev and
 *         empty: P3DFFT's user guide.
 * Needs: at least 2 points for a cosine transform of kind I. */
#include "lines/transforms.h"

#include <string.h>

#include "common/failure.h"

enum { X, Y, Z };
enum { COSINE, SINE };

struct type {
    const char *name;
    enum pf_line_kind kind[3];
    int family; /* PF_R2R lines whose kind the caller may choose */
};

static const struct type rows[] = {
    {"c2c", {PF_DFT, PF_DFT, PF_DFT}, COSINE},    {"r2c", {PF_DFT, PF_DFT, PF_R2C}, COSINE},
    {"c2r", {PF_DFT, PF_DFT, PF_R2C}, COSINE},    {"dct", {PF_R2R, PF_R2R, PF_R2R}, COSINE},
    {"dst", {PF_R2R, PF_R2R, PF_R2R}, SINE},      {"chebyshev", {PF_R2R, PF_DFT, PF_R2C}, COSINE},
    {"empty", {PF_SKIP, PF_DFT, PF_R2C}, COSINE},
};
const struct pf_table pf_types = PF_TABLE("type", rows);

static const struct pf_precision precisions[] = {
    {"double", &pf_fftw_double},
    {"single", &pf_fftw_single},
};
const struct pf_table pf_precisions = PF_TABLE("precision", precisions);

/* Forward and backward kinds of FFTW, by family and kind I..IV. */
static const int fftw_kinds[2][4][2] = {
    [COSINE] = {{FFTW_REDFT00, FFTW_REDFT00},
                {FFTW_REDFT10, FFTW_REDFT01},
                {FFTW_REDFT01, FFTW_REDFT10},
                {FFTW_REDFT11, FFTW_REDFT11}},
    [SINE] = {{FFTW_RODFT00, FFTW_RODFT00},
              {FFTW_RODFT10, FFTW_RODFT01},
              {FFTW_RODFT01, FFTW_RODFT10},
              {FFTW_RODFT11, FFTW_RODFT11}},
};

static void set_r2r(struct pf_line *line, int family, int kind)
{
    memcpy(line->r2r, fftw_kinds[family][kind - 1], sizeof line->r2r);
    line->cosine_kind = family == COSINE ? kind : 0;
    line->sine_kind = family == SINE ? kind : 0;
}

static int refuse_kinds(const char *text)
{
    return pf_fail(PENCILFFT_UNKNOWN_NAME,
                   "kinds '%.60s' are not understood; give x,y,z, each 1 to 4 for DCT or DST I to "
                   "IV, with c or s before it for a cosine or sine transform: 2,2,2 or c1,s1,2",
                   text);
}

/* "2,2,2" or "c1,s1,2". */
static int take_kinds(const char *text, int family, struct pf_transform *t)
{
    const char *at = text;
    for (int axis = X; axis <= Z; axis++) {
        int of = *at == 'c' ? COSINE : *at == 's' ? SINE : family;
        at += *at == 'c' || *at == 's';
        if (*at < '1' || *at > '4' || at[1] != (axis < Z ? ',' : '\0'))
            return refuse_kinds(text);
        set_r2r(&t->line[axis], of, *at - '0');
        at += 2;
    }
    return PENCILFFT_OK;
}

static int take_skipped(const char *axes, struct pf_transform *t)
{
    for (const char *at = axes; *at; at++) {
        if (*at < 'x' || *at > 'z')
            return pf_fail(PENCILFFT_UNKNOWN_NAME, "skip '%.60s' is not understood; give letters of x, y and z", axes);
        if (strchr(at + 1, *at))
            return pf_fail(PENCILFFT_UNKNOWN_NAME, "skip '%.60s' has %c twice; give each axis once", axes, *at);
        if (t->line[*at - 'x'].kind == PF_R2C)
            return pf_fail(PENCILFFT_BAD_CALL,
                           "skip '%.60s': this transform turns real numbers into complex ones along z, "
                           "so z cannot be skipped",
                           axes);
        t->line[*at - 'x'].kind = PF_SKIP;
    }
    return PENCILFFT_OK;
}

/* Lines may be longer than the modes that are kept. */
static int take_padding(const pencilfft_desc *desc, struct pf_transform *t)
{
    const int64_t padded[3] = {desc->padded_nx, desc->padded_ny, desc->padded_nz};
    for (int axis = X; axis <= Z; axis++) {
        if (padded[axis] == 0 || padded[axis] == t->n[axis])
            continue;
        if (padded[axis] < t->n[axis])
            return pf_fail(PENCILFFT_BAD_SIZE, "padded_n%c is %lld; give 0 or at least n%c, which is %lld", "xyz"[axis],
                           (long long)padded[axis], "xyz"[axis], (long long)t -> n[axis]);
        if (t->line[axis].kind != PF_DFT && t->line[axis].kind != PF_R2C)
            return pf_fail(PENCILFFT_NOT_POSSIBLE,
                           "padded_n%c is %lld, but only DFTs are padded, and along %c there is %s; omit padded_n%c",
                           "xyz"[axis], (long long)padded[axis], "xyz"[axis],
                           t -> line[axis].kind == PF_SKIP ? "no transform" : "a cosine or sine transform", "xyz"[axis]);
        t->points[axis] = padded[axis];
    }
    return PENCILFFT_OK;
}

static double line_scale(const struct pf_line *line, int64_t n)
{
    if (line->kind == PF_SKIP)
        return 1;
    if (line->kind != PF_R2R)
        return (double)n;
    return 2 * (double)(n - (line->cosine_kind == 1) + (line->sine_kind == 1));
}

static int check_lines(const int64_t n[3], const struct pf_transform *t)
{
    for (int axis = X; axis <= Z; axis++)
        if (t->line[axis].kind == PF_R2R && t->line[axis].cosine_kind == 1 && n[axis] < 2)
            return pf_fail(PENCILFFT_BAD_SIZE, "n%c is %lld; a cosine transform of kind I needs at least 2 points",
                           "xyz"[axis], (long long)n[axis]);
    return PENCILFFT_OK;
}

int pf_transform_make(const pencilfft_desc *desc, struct pf_transform *t)
{
    const int64_t n[3] = {desc->nx, desc->ny, desc->nz};
    const struct type *type = pf_table_find(&pf_types, desc->type);
    if (!type)
        return PENCILFFT_UNKNOWN_NAME;
    *t = (struct pf_transform){.scale = 1};
    memcpy(t->n, n, sizeof n);
    memcpy(t->points, n, sizeof n);
    memcpy(t->modes, n, sizeof n);
    bool free_kinds = type->kind[Y] == PF_R2R; /* Chebyshev's is always I */
    if (desc->kinds && !free_kinds)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "kinds '%.60s' were given, but type %s has no kinds; omit them or use dct "
                       "or dst",
                       desc->kinds, type->name);
    int status = take_kinds(free_kinds ? (desc->kinds ? desc->kinds : "2,2,2") : "1,1,1", type->family, t);
    for (int axis = X; axis <= Z; axis++)
        t->line[axis].kind = type->kind[axis];
    if (!status)
        status = take_skipped(desc->skip ? desc->skip : "", t);
    if (!status)
        status = take_padding(desc, t);
    t->real_input = type->kind[Z] != PF_DFT;
    t->real_output = type->kind[Y] == PF_R2R;
    if (type->kind[Z] == PF_R2C)
        t->modes[Z] = desc->nz / 2 + 1;
    for (int axis = X; axis <= Z; axis++)
        t->scale *= line_scale(&t->line[axis], t->points[axis]);
    return status ? status : check_lines(n, t);
}
