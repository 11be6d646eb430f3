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

static int refuse_kinds(const char *text, bool flat)
{
    return pf_fail(PENCILFFT_UNKNOWN_NAME,
                   "kinds '%.60s' are not understood; give %s, each 1 to 4 for DCT or DST I to "
                   "IV, with c or s before it for a cosine or sine transform: %s",
                   text, flat ? "x,y" : "x,y,z", flat ? "2,2 or c1,s1" : "2,2,2 or c1,s1,2");
}

/* "2,2,2" or "c1,s1,2", of the caller's x, y, z. */
static int take_kinds(const char *text, int family, struct pf_transform *t)
{
    const char *at = text;
    for (int axis = X, last = t->axes->dimensions - 1; axis <= last; axis++) {
        int of = *at == 'c' ? COSINE : *at == 's' ? SINE : family;
        at += *at == 'c' || *at == 's';
        if (*at < '1' || *at > '4' || at[1] != (axis < last ? ',' : '\0'))
            return refuse_kinds(text, last == Y);
        set_r2r(&t->line[pf_axis_inside(t->axes, axis)], of, *at - '0');
        at += 2;
    }
    return PENCILFFT_OK;
}

static const char *default_kinds(const struct pf_transform *t, const char *kinds)
{
    return kinds + (t->axes->dimensions == 2 ? 2 : 0); /* one less */
}

static int take_skipped(const char *axes, struct pf_transform *t)
{
    for (const char *at = axes; *at; at++) {
        if (*at < 'x' || *at >= 'x' + t->axes->dimensions)
            return pf_fail(PENCILFFT_UNKNOWN_NAME, "skip '%.60s' is not understood; give letters of %s", axes,
                           t->axes->dimensions == 2 ? "x and y" : "x, y and z");
        if (strchr(at + 1, *at))
            return pf_fail(PENCILFFT_UNKNOWN_NAME, "skip '%.60s' has %c twice; give each axis once", axes, *at);
        struct pf_line *line = &t->line[pf_axis_inside(t->axes, *at - 'x')];
        if (line->kind == PF_R2C)
            return pf_fail(PENCILFFT_BAD_CALL,
                           "skip '%.60s': this transform turns real numbers into complex ones along %c, "
                           "so %c cannot be skipped",
                           axes, *at, *at);
        line->kind = PF_SKIP;
    }
    return PENCILFFT_OK;
}

/* Lines may be longer than the modes that are kept. */
static int take_padding(const pencilfft_desc *desc, struct pf_transform *t)
{
    const int64_t given[3] = {desc->padded_nx, desc->padded_ny, desc->padded_nz};
    int64_t padded[3];
    pf_numbers_inside(t->axes, given, padded);
    for (int axis = X; axis <= Z; axis++) {
        char letter = pf_axis_letter(t->axes, axis);
        enum pf_line_kind kind = t->line[axis].kind;
        if (padded[axis] == 0 || padded[axis] == t->n[axis])
            continue;
        if (padded[axis] < t->n[axis])
            return pf_fail(PENCILFFT_BAD_SIZE, "padded_n%c is %lld; give 0 or at least n%c, which is %lld", letter,
                           (long long)padded[axis], letter, (long long)t->n[axis]);
        if (kind != PF_DFT && kind != PF_R2C)
            return pf_fail(PENCILFFT_NOT_POSSIBLE,
                           "padded_n%c is %lld, but only DFTs are padded, and along %c there is %s; omit padded_n%c", letter,
                           (long long)padded[axis], letter, kind == PF_SKIP ? "no transform" : "a cosine or sine transform",
                           letter);
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

static int check_lines(const struct pf_transform *t)
{
    for (int axis = X; axis <= Z; axis++)
        if (t->line[axis].kind == PF_R2R && t->line[axis].cosine_kind == 1 && t->n[axis] < 2)
            return pf_fail(PENCILFFT_BAD_SIZE, "n%c is %lld; a cosine transform of kind I needs at least 2 points",
                           pf_axis_letter(t->axes, axis), (long long)t->n[axis]);
    return PENCILFFT_OK;
}

/* The extents of the caller; with two dimensions nz is open, and 1. */
static int take_extents(const pencilfft_desc *desc, const struct type *type, struct pf_transform *t)
{
    bool flat = t->axes->dimensions == 2;
    const int64_t n[3] = {desc->nx, desc->ny, flat ? 1 : desc->nz};
    if (flat && (desc->nz < 0 || desc->nz > 1))
        return pf_fail(PENCILFFT_BAD_SIZE,
                       "order %s has two dimensions, and nz is %lld; give 0 or 1, or an order of three letters such as zyx",
                       t->axes->name, (long long)desc->nz);
    if (flat && type->kind[X] != type->kind[Y])
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "type %s is for a third axis, and order %s has two; use r2c, with skip if an axis is not transformed",
                       type->name, t->axes->name);
    pf_numbers_inside(t->axes, n, t->n);
    memcpy(t->points, t->n, sizeof t->points);
    memcpy(t->modes, t->n, sizeof t->modes);
    return PENCILFFT_OK;
}

int pf_transform_make(const pencilfft_desc *desc, struct pf_transform *t)
{
    const struct type *type = pf_table_find(&pf_types, desc->type);
    const struct pf_axes *axes = type ? pf_table_find(&pf_orders, desc->order) : NULL;
    if (!axes)
        return PENCILFFT_UNKNOWN_NAME;
    *t = (struct pf_transform){.axes = axes, .scale = 1};
    int status = take_extents(desc, type, t);
    bool free_kinds = type->kind[Y] == PF_R2R; /* Chebyshev's is always I */
    if (!status && desc->kinds && !free_kinds)
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "kinds '%.60s' were given, but type %s has no kinds; omit them or use dct "
                         "or dst",
                         desc->kinds, type->name);
    if (status)
        return status;
    status = take_kinds(!free_kinds   ? default_kinds(t, "1,1,1")
                        : desc->kinds ? desc->kinds
                                      : default_kinds(t, "2,2,2"),
                        type->family, t);
    for (int axis = X; axis <= Z; axis++)
        t->line[axis].kind = axis == X && axes->dimensions == 2 ? PF_SKIP : type->kind[axis];
    if (!status)
        status = take_skipped(desc->skip ? desc->skip : "", t);
    if (!status)
        status = take_padding(desc, t);
    t->real_input = type->kind[Z] != PF_DFT;
    t->real_output = type->kind[Y] == PF_R2R;
    if (type->kind[Z] == PF_R2C)
        t->modes[Z] = t->n[Z] / 2 + 1;
    for (int axis = X; axis <= Z; axis++)
        t->scale *= line_scale(&t->line[axis], t->points[axis]);
    return status ? status : check_lines(t);
}
