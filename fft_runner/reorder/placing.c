/* Placements that need no search: axis orders, digit patterns, mapfiles.
 * Idea:   a digit pattern writes a dimension in mixed radix, low digit first; the digits of the rows together are the number
 *         in the row, those of the columns the number in the column; the first dimension varies fastest, the slots last.
 * Source: the same numbering as Product.mapping() in model/product.py, with which the tests compare.
 * Cost:   O(ranks * digits). */
#include "placing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "common/names.h"
#include "mapfile.h"
#include "pm_reorder.h"

/* ---- axis orders -------------------------------------------------------------------------------------------------- */

static int place_by_order(const char *order, const struct pm_request *r, int64_t *place)
{
    int axes[MAX_DIMS + 1], status = pm_axis_order(&r->torus, order, axes);
    for (int64_t rank = 0; rank < r->ranks && !status; rank++)
        place[rank] = pm_place_in_order(r, axes, rank);
    return status;
}

/* ---- digit patterns ------------------------------------------------------------------------------------------------ */

enum { MAX_DIGITS = 32, ROW = 0, COLUMN = 1 };

struct pattern {
    int digits;
    int owner[MAX_DIGITS]; /* ROW or COLUMN */
    int radix[MAX_DIGITS];
};

struct product {
    struct pattern axis[MAX_DIMS + 1]; /* the last is the slots' */
};

static int refuse_pattern(const char *text, const char *why)
{
    return pf_fail(PM_ERROR,
                   "placement=digits: '%.60s': %s; write AXIS=PATTERN with owner and radix of each digit, lowest "
                   "first, e.g. x=r2c4",
                   text, why);
}

static const char *parse_digit(const char *at, struct pattern *p)
{
    char *end;
    if ((*at != 'r' && *at != 'c') || !isdigit((unsigned char)at[1]) || p->digits == MAX_DIGITS)
        return NULL;
    long radix = strtol(at + 1, &end, 10);
    if (radix < 1 || radix > 1 << 20)
        return NULL;
    p->owner[p->digits] = *at == 'r' ? ROW : COLUMN;
    p->radix[p->digits++] = (int)radix;
    return end;
}

static int64_t extent_of(const struct pattern *p, int owner)
{
    int64_t product = 1;
    for (int i = 0; i < p->digits; i++)
        product *= p->owner[i] == owner ? p->radix[i] : 1;
    return product;
}

static int axis_named(const struct torus *torus, char letter)
{
    for (int i = 0; i < torus->dims; i++)
        if (letter == torus_letter(torus->dims, i))
            return i;
    return letter == 't' ? torus->dims : -1;
}

/* One AXIS=PATTERN; the place after it, or NULL with a message. */
static const char *parse_axis(const char *at, const struct torus *torus, struct product *product)
{
    const char *begin = at;
    int axis = axis_named(torus, *at);
    if (axis < 0 || at[1] != '=' || product->axis[axis].digits) {
        refuse_pattern(begin, "no axis of the torus, or twice");
        return NULL;
    }
    for (at += 2; at && *at && *at != ',';)
        at = parse_digit(at, &product->axis[axis]);
    if (!at || !product->axis[axis].digits) {
        refuse_pattern(begin, "no digit pattern");
        return NULL;
    }
    return at;
}

/* Axes that are not named belong to the columns; slots to the rows as far as they still need tasks. */
static void fill_in(const struct pm_request *r, struct product *product)
{
    int64_t row = 1;
    for (int i = 0; i < r->torus.dims; i++) {
        struct pattern *p = &product->axis[i];
        if (!p->digits)
            *p = (struct pattern){1, {COLUMN}, {r->torus.extent[i]}};
        row *= extent_of(p, ROW);
    }
    struct pattern *slots = &product->axis[r->torus.dims];
    int64_t k = row && r->row / row > 1 ? r->row / row : 1;
    if (!slots->digits && r->tasks % k == 0)
        *slots = (struct pattern){2, {ROW, COLUMN}, {(int)k, r->tasks / (int)k}};
    else if (!slots->digits)
        *slots = (struct pattern){1, {COLUMN}, {r->tasks}};
}

static int check_product(const char *text, const struct pm_request *r, const struct product *product)
{
    int64_t row = 1, column = 1;
    for (int i = 0; i <= r->torus.dims; i++) {
        const struct pattern *p = &product->axis[i];
        int64_t wanted = i < r->torus.dims ? r->torus.extent[i] : r->tasks, found = extent_of(p, ROW) * extent_of(p, COLUMN);
        if (found != wanted)
            return pf_fail(PM_ERROR, "placement=digits:%.60s: the pattern of %c stands for %lld, but there are %lld", text,
                           i < r->torus.dims ? torus_letter(r->torus.dims, i) : 't', (long long)found, (long long)wanted);
        row *= extent_of(p, ROW);
        column *= extent_of(p, COLUMN);
    }
    if (row != r->row || column != r->column)
        return pf_fail(PM_ERROR, "placement=digits:%.60s makes a grid of %lldx%lld, but %dx%d is asked for", text,
                       (long long)row, (long long)column, r->row, r->column);
    return 0;
}

/* Position in the dimension from the numbers in row and column, which lose the digits used. */
static int64_t take_digits(const struct pattern *p, int64_t number[2])
{
    int64_t position = 0, stride = 1;
    for (int i = 0; i < p->digits; i++) {
        int64_t *rest = &number[p->owner[i]];
        position += *rest % p->radix[i] * stride;
        *rest /= p->radix[i];
        stride *= p->radix[i];
    }
    return position;
}

static int64_t place_of(const struct pm_request *r, const struct product *product, int64_t rank)
{
    int64_t number[2] = {rank % r->row, rank / r->row};
    struct coordinate node = {.dims = r->torus.dims};
    for (int i = 0; i < r->torus.dims; i++)
        node.at[i] = (int)take_digits(&product->axis[i], number);
    return torus_node(&r->torus, &node) * r->tasks + take_digits(&product->axis[r->torus.dims], number);
}

static int place_by_digits(const char *text, const struct pm_request *r, int64_t *place)
{
    struct product product = {.axis = {{0, {0}, {0}}}};
    for (const char *at = text; *at;) {
        if (!(at = parse_axis(at, &r->torus, &product)))
            return PM_ERROR;
        if (*at == ',' && !*++at)
            return refuse_pattern(text, "ends with a comma");
    }
    fill_in(r, &product);
    int status = check_product(text, r, &product);
    for (int64_t rank = 0; rank < r->ranks && !status; rank++)
        place[rank] = place_of(r, &product, rank);
    return status;
}

/* ---- mapfiles ------------------------------------------------------------------------------------------------------ */

static int place_by_file(const char *path, const struct pm_request *r, int64_t *place)
{
    struct mapfile mapfile;
    int status = mapfile_read(path, r->ranks, &r->torus, r->tasks, &mapfile);
    if (status)
        return status;
    memcpy(place, mapfile.place, sizeof *place * (size_t)r->ranks);
    mapfile_release(&mapfile);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------------- */

static const struct placement {
    const char *name;
    int (*place)(const char *argument, const struct pm_request *request, int64_t *place);
} placements[] = {
    {"default", place_by_order},
    {"digits", place_by_digits},
    {"file", place_by_file},
};

int pm_place_ranks(const struct pm_request *r, int64_t *place)
{
    for (size_t i = 0; i < sizeof placements / sizeof *placements; i++) {
        const char *argument = pm_argument(r->placement, placements[i].name);
        if (argument)
            return placements[i].place(argument, r, place);
    }
    return pf_fail(PM_ERROR, "placement=%.60s is unknown; known: default[:ORDER], digits:x=r2c4,.., file:PATH",
                   r->placement);
}
