/* The kinds of transform.
 * Idea:  a transform is a kind of line for each axis. A type names the kinds of all axes, or it is a short name for them.
 *        r2c halves the first axis of the order, so that the others work on complex numbers; without r2c and c2c all
 *        numbers are real. Cosine and sine transforms take complex numbers as two real ones.
 *        Padded lines are longer than the modes of the spectrum that they become (pass.c).
 * Source: names and scales of the real transforms: FFTW's manual, "1d Real-even DFTs" and "1d Real-odd DFTs"; Chebyshev and
 *         empty: P3DFFT's user guide.
 * Needs: at least 2 points for a cosine transform of kind I. */
#include "lines/transforms.h"

#include <stdio.h>
#include <string.h>

enum { X, Y, Z };

/* Forward and backward. */
#define COSINE(number, forward, backward) {PF_R2R, {FFTW_REDFT##forward, FFTW_REDFT##backward}, number, 0}
#define SINE(number, forward, backward) {PF_R2R, {FFTW_RODFT##forward, FFTW_RODFT##backward}, 0, number}
static const struct kind {
    const char *name;
    struct pf_line line;
} kinds[] = {
    {"none", {.kind = PF_SKIP}}, {"c2c", {.kind = PF_DFT}},   {"r2c", {.kind = PF_R2C}},   {"dct1", COSINE(1, 00, 00)},
    {"dct2", COSINE(2, 10, 01)}, {"dct3", COSINE(3, 01, 10)}, {"dct4", COSINE(4, 11, 11)}, {"dst1", SINE(1, 00, 00)},
    {"dst2", SINE(2, 10, 01)},   {"dst3", SINE(3, 01, 10)},   {"dst4", SINE(4, 11, 11)},
};
const struct pf_table pf_line_kinds = PF_TABLE("kind of transform along an axis", kinds);

/* Short names, with the kinds along the last, the second and the first axis of the order: x, y and z of order zyx. */
static const struct type {
    const char *name, *kinds;
} rows[] = {
    {"c2c", "c2c,c2c,c2c"},    {"r2c", "c2c,c2c,r2c"},        {"c2r", "c2c,c2c,r2c"},    {"dct", "dct2,dct2,dct2"},
    {"dst", "dst2,dst2,dst2"}, {"chebyshev", "dct1,c2c,r2c"}, {"empty", "none,c2c,r2c"},
};
const struct pf_table pf_types = PF_TABLE("type", rows);

static const struct pf_precision precisions[] = {
    {"double", &pf_fftw_double},
    {"single", &pf_fftw_single},
};
const struct pf_table pf_precisions = PF_TABLE("precision", precisions);

enum { WORD = 8 };

/* The words between the commas of a text; false if they are not so many, or one is long. */
static bool split(const char *text, int words, char word[3][WORD])
{
    for (int i = 0; i < words; i++) {
        size_t length = strcspn(text, ",");
        if (length >= WORD || text[length] != (i < words - 1 ? ',' : '\0'))
            return false;
        snprintf(word[i], WORD, "%.*s", (int)length, text);
        text += length + 1;
    }
    return true;
}

static const char *letters_of(const struct pf_transform *t)
{
    return t->axes->dimensions == 2 ? "x and y" : "x, y and z";
}

static const char *list_of(const struct pf_transform *t)
{
    return t->axes->dimensions == 2 ? "dct1,r2c" : "dct1,c2c,r2c";
}

static int refuse_type(const struct pf_transform *t)
{
    char known[PF_MESSAGE_SIZE];
    snprintf(known, sizeof known, "%s", pf_message());
    return pf_fail(PENCILFFT_UNKNOWN_NAME, "%.400s, and a kind for each of %s, as in %s", known, letters_of(t), list_of(t));
}

/* The kinds along the caller's axes. */
static int take_words(char word[3][WORD], struct pf_transform *t)
{
    for (int axis = 0; axis < t->axes->dimensions; axis++) {
        const struct kind *kind = pf_table_find(&pf_line_kinds, word[axis]);
        if (!kind)
            return PENCILFFT_UNKNOWN_NAME;
        t->line[pf_axis_inside(t->axes, axis)] = kind->line;
    }
    return PENCILFFT_OK;
}

static int take_list(const char *type, struct pf_transform *t)
{
    char word[3][WORD];
    if (split(type, t->axes->dimensions, word))
        return take_words(word, t);
    return pf_fail(PENCILFFT_UNKNOWN_NAME, "type '%.60s' is not understood; give a kind for each of %s, as in %s", type,
                   letters_of(t), list_of(t));
}

/* "2,2,2" or "c1,s1,2" in place of the kinds of a type of cosines or sines. */
static int take_kinds(const char *text, char family, struct pf_transform *t)
{
    char word[3][WORD];
    bool understood = split(text, t->axes->dimensions, word);
    for (int axis = 0; axis < t->axes->dimensions && understood; axis++) {
        const char *at = word[axis];
        char of = family;
        if (*at == 'c' || *at == 's')
            of = *at++;
        char number = *at;
        understood = number >= '1' && number <= '4' && !at[1];
        snprintf(word[axis], WORD, "d%ct%c", of, number);
    }
    if (understood)
        return take_words(word, t);
    return pf_fail(PENCILFFT_UNKNOWN_NAME,
                   "kinds '%.60s' are not understood; give %s, each 1 to 4 for DCT or DST I to "
                   "IV, with c or s before it for a cosine or sine transform: %s",
                   text, t->axes->dimensions == 2 ? "x,y" : "x,y,z",
                   t->axes->dimensions == 2 ? "2,2 or c1,s1" : "2,2,2 or c1,s1,2");
}

static int take_short_name(const pencilfft_desc *desc, const struct type *type, struct pf_transform *t)
{
    char word[3][WORD];
    split(type->kinds, 3, word);
    bool real = true, flat = t->axes->dimensions == 2;
    for (int axis = X; axis <= Z; axis++) {
        const struct kind *kind = pf_table_find(&pf_line_kinds, word[axis]);
        t->line[axis] = kind->line;
        real &= kind->line.kind == PF_R2R;
    }
    if (flat && t->line[X].kind != t->line[Y].kind)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "type %s is for a third axis, and order %s has two; use r2c, with skip if an axis is not transformed",
                       type->name, t->axes->name);
    if (!desc->kinds)
        return PENCILFFT_OK;
    if (real)
        return take_kinds(desc->kinds, type->name[1], t);
    return pf_fail(PENCILFFT_BAD_CALL,
                   "kinds '%.60s' were given, but type %s has no kinds; omit them or use dct "
                   "or dst",
                   desc->kinds, type->name);
}

static int take_skipped(const char *axes, struct pf_transform *t)
{
    for (const char *at = axes; *at; at++) {
        if (*at < 'x' || *at >= 'x' + t->axes->dimensions)
            return pf_fail(PENCILFFT_UNKNOWN_NAME, "skip '%.60s' is not understood; give letters of %s", axes,
                           letters_of(t));
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
            return pf_fail(
                PENCILFFT_NOT_POSSIBLE,
                "padded_n%c is %lld, but only DFTs are padded, and along %c there is %s; give padding (padded_nx, "
                "padded_ny, padded_nz, or a factor for each axis) to the axes with DFTs alone",
                letter, (long long)padded[axis], letter, kind == PF_SKIP ? "no transform" : "a cosine or sine transform");
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
static int take_extents(const pencilfft_desc *desc, struct pf_transform *t)
{
    bool flat = t->axes->dimensions == 2;
    const int64_t n[3] = {desc->nx, desc->ny, flat ? 1 : desc->nz};
    if (flat && (desc->nz < 0 || desc->nz > 1))
        return pf_fail(PENCILFFT_BAD_SIZE,
                       "order %s has two dimensions, and nz is %lld; give 0 or 1, or an order of three letters such as zyx",
                       t->axes->name, (long long)desc->nz);
    pf_numbers_inside(t->axes, n, t->n);
    memcpy(t->points, t->n, sizeof t->points);
    memcpy(t->modes, t->n, sizeof t->modes);
    return PENCILFFT_OK;
}

/* Real numbers become complex along the first axis, or nowhere. */
static int check_halved(const char *type, const struct pf_transform *t)
{
    for (int axis = X; axis < Z; axis++) {
        char letter = pf_axis_letter(t->axes, axis), first = pf_axis_letter(t->axes, Z);
        if (t->line[axis].kind == PF_R2C && t->line[Z].kind == PF_R2C)
            return pf_fail(
                PENCILFFT_NOT_POSSIBLE,
                "type '%.60s' has r2c along %c and %c, but r2c takes real numbers and gives complex ones; give c2c "
                "along %c",
                type, first, letter, letter);
        if (t->line[axis].kind == PF_R2C)
            return pf_fail(
                PENCILFFT_NOT_POSSIBLE,
                "type '%.60s' has r2c along %c, but a forward transform of order %s begins along %c, and only its "
                "first axis can be halved; give r2c along %c, or an order that begins with %c",
                type, letter, t->axes->name, first, first, letter);
    }
    return PENCILFFT_OK;
}

static int take_lines(const pencilfft_desc *desc, struct pf_transform *t)
{
    if (!desc->type || !strchr(desc->type, ',')) {
        const struct type *type = pf_table_find(&pf_types, desc->type);
        return type ? take_short_name(desc, type, t) : refuse_type(t);
    }
    const char *skip = desc->skip && *desc->skip ? desc->skip : NULL, *given = desc->kinds ? desc->kinds : skip;
    if (given)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "%s '%.60s' was given, but type '%.60s' has a kind for each axis, such as dct1 or none; omit %s",
                       desc->kinds ? "kinds" : "skip", given, desc->type, desc->kinds ? "kinds" : "skip");
    int status = take_list(desc->type, t);
    return status ? status : check_halved(desc->type, t);
}

static bool has(const struct pf_transform *t, enum pf_line_kind kind)
{
    return t->line[X].kind == kind || t->line[Y].kind == kind || t->line[Z].kind == kind;
}

int pf_transform_make(const pencilfft_desc *desc, struct pf_transform *t)
{
    const struct pf_axes *axes = pf_table_find(&pf_orders, desc->order);
    if (!axes)
        return PENCILFFT_UNKNOWN_NAME;
    *t = (struct pf_transform){.axes = axes, .scale = 1};
    int status = take_extents(desc, t);
    if (!status)
        status = take_lines(desc, t);
    if (status)
        return status;
    if (axes->dimensions == 2)
        t->line[X].kind = PF_SKIP;
    t->real_output = !has(t, PF_R2C) && !has(t, PF_DFT);
    t->real_input = t->real_output || has(t, PF_R2C);
    if (!(status = take_skipped(desc->skip ? desc->skip : "", t)))
        status = take_padding(desc, t);
    if (t->line[Z].kind == PF_R2C)
        t->modes[Z] = t->n[Z] / 2 + 1;
    for (int axis = X; axis <= Z; axis++)
        t->scale *= line_scale(&t->line[axis], t->points[axis]);
    return status ? status : check_lines(t);
}
