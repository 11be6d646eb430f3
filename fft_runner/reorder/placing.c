/* Placements that need no search: axis orders, digit patterns, ring maps, lattice tilings, mapfiles.
 * Idea:  a digit pattern writes a dimension in mixed radix, low digit first; the digits of one grid dimension together are
 *        the number in it; the first dimension of the torus varies fastest, the slots last. Of idle digits only 0 is used. A
 *        ring map is the pattern rRcC followed by the positions that its text lists.
 * Source: the same numbering as Product.mapping() in model/placement/product.py; the tests compare the two.
 * Cost:  O(ranks * digits). */
#include "placing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

struct job {
    const struct pm_request *request;
    const struct torus *torus;
    int tasks; /* per node */
};

/* ---- axis orders -------------------------------------------------------------------------------------------------- */

static int place_by_order(const char *order, const struct job *job, struct placing *p)
{
    struct fill_order fill;
    int status = torus_order(job->torus, job->tasks, order, &fill);
    for (int rank = 0; rank < p->ranks && !status; rank++)
        p->place[rank] = order_place(&fill, rank);
    return status;
}

/* ---- digit patterns ------------------------------------------------------------------------------------------------ */

enum { MAX_DIGITS = 32, IDLE = MAX_GRID_DIMS, N_OWNERS };

struct pattern {
    int digits;
    int owner[MAX_DIGITS]; /* dimension of the grid, or IDLE */
    int radix[MAX_DIGITS];
    const int *map; /* of a ring map: the position of member p of row q is map[q R + p] */
};

struct product {
    const char *name;                  /* of the placement */
    struct pattern axis[MAX_DIMS + 1]; /* the last is the slots' */
    int positions[PM_VALUE_SIZE], used;
};

static int refuse_pattern(const struct product *product, const char *text, const char *why)
{
    return pf_fail(PF_REFUSED,
                   "placement=%s: '%.60s': %s; write AXIS=PATTERN with owner and radix of each digit, lowest "
                   "first, e.g. x=r2c4 (i: idle; s instead of r and c for slabs), or of ring maps the positions of each "
                   "row, e.g. x=0.1/3.2",
                   product->name, text, why);
}

/* The positions of a ring map, rows separated by strokes; returns the text behind, or NULL. */
static const char *parse_map(const char *at, struct product *product, struct pattern *p)
{
    int *positions = product->positions + product->used, n = 0, in_row = 0, rows = 0, row = 0;
    bool seen[PM_VALUE_SIZE] = {false};
    for (;; at++) {
        if (!isdigit((unsigned char)*at))
            return NULL;
        char *end;
        long position = strtol(at, &end, 10);
        if (position >= PM_VALUE_SIZE || seen[position])
            return NULL;
        seen[position] = true;
        positions[n++] = (int)position;
        row++;
        at = end;
        if (*at == '.')
            continue;
        if (rows++ && row != in_row)
            return NULL;
        in_row = row;
        row = 0;
        if (*at != '/')
            break;
    }
    for (int i = 0; i < n; i++)
        if (!seen[i])
            return NULL;
    *p = (struct pattern){2, {0, 1}, {in_row, rows}, positions};
    product->used += n;
    return at;
}

/* One digit; returns the text behind, or NULL. */
static const char *parse_digit(const char *at, const char *letters, bool idle, struct pattern *p)
{
    char *end;
    const char *owner = *at ? strchr(letters, *at) : NULL;
    if ((!owner && !(idle && *at == 'i')) || !isdigit((unsigned char)at[1]) || p->digits == MAX_DIGITS)
        return NULL;
    long radix = strtol(at + 1, &end, 10);
    if (radix < 1 || radix > 1 << 30)
        return NULL;
    p->owner[p->digits] = owner ? (int)(owner - letters) : IDLE;
    p->radix[p->digits++] = (int)radix;
    return end;
}

/* Product of the radices of an owner; of all owners for N_OWNERS. At most 2^31, more than any grid or torus. */
static int64_t extent_of(const struct pattern *p, int owner)
{
    int64_t product = 1;
    for (int i = 0; i < p->digits; i++)
        if ((owner == N_OWNERS || p->owner[i] == owner) && product <= INT32_MAX)
            product *= p->radix[i];
    return product <= INT32_MAX ? product : (int64_t)INT32_MAX + 1;
}

static int64_t extent_of_all(const struct product *product, int dims, int owner)
{
    int64_t all = 1;
    for (int i = 0; i <= dims && all <= INT32_MAX; i++)
        all *= extent_of(&product->axis[i], owner);
    return all;
}

/* One AXIS=PATTERN; returns the text behind, or NULL with a message. */
static const char *parse_axis(const char *at, const struct job *job, struct product *product)
{
    const char *begin = at, *letters = job->request->grid.letters;
    bool rings = !strcmp(product->name, "ring");
    int axis = torus_axis(job->torus, *at);
    if (axis < 0 || at[1] != '=' || product->axis[axis].digits) {
        refuse_pattern(product, begin, "not an axis of the torus, or given twice");
        return NULL;
    }
    at += 2;
    if (rings && axis < job->torus->dims && isdigit((unsigned char)*at))
        at = parse_map(at, product, &product->axis[axis]);
    while (at && *at && *at != ',')
        at = product->axis[axis].map ? NULL : parse_digit(at, letters, !rings, &product->axis[axis]);
    if (!at || !product->axis[axis].digits) {
        refuse_pattern(product, begin, "not a digit pattern");
        return NULL;
    }
    return at;
}

/* Axes that are not named belong to the last dimension of the grid (the columns). So do the slots; but without idle digits,
 * the first dimension (the rows) takes as many slots as needed. */
static void fill_in(const struct job *job, struct product *product)
{
    const struct grid *grid = &job->request->grid;
    int dims = job->torus->dims, last = grid->dims - 1;
    bool idle = extent_of_all(product, dims, IDLE) > 1;
    for (int i = 0; i < dims; i++)
        if (!product->axis[i].digits)
            product->axis[i] = (struct pattern){1, {last}, {job->torus->extent[i]}, NULL};
    struct pattern *slots = &product->axis[dims];
    if (slots->digits)
        return;
    int64_t k = idle ? 1 : grid->extent[0] / extent_of_all(product, dims, 0);
    if (k < 1 || job->tasks % k)
        k = 1;
    *slots = (struct pattern){2, {0, last}, {(int)k, job->tasks / (int)k}, NULL};
}

static int check_product(const char *text, const struct job *job, const struct product *product)
{
    const struct torus *torus = job->torus;
    const struct grid *grid = &job->request->grid;
    for (int i = 0; i <= torus->dims; i++) {
        int64_t found = extent_of(&product->axis[i], N_OWNERS), wanted = i < torus->dims ? torus->extent[i] : job->tasks;
        if (found != wanted)
            return pf_fail(PF_REFUSED, "placement=%s:%.60s: the pattern of %c stands for %lld, but there are %lld",
                           product->name, text, torus->letter[i], (long long)found, (long long)wanted);
    }
    for (int i = 0; i < grid->dims; i++) {
        int64_t found = extent_of_all(product, torus->dims, i);
        if (found != grid->extent[i])
            return pf_fail(PF_REFUSED, "placement=%s:%.60s: its %c digits make %lld, but the grid has %d there",
                           product->name, text, grid->letters[i], (long long)found, grid->extent[i]);
    }
    return 0;
}

/* Position in the dimension from the numbers in the grid, which lose the digits used. */
static int64_t take_digits(const struct pattern *p, int64_t number[N_OWNERS])
{
    int64_t position = 0, stride = 1;
    for (int i = 0; i < p->digits; i++) {
        int64_t *rest = &number[p->owner[i]];
        position += *rest % p->radix[i] * stride;
        *rest /= p->radix[i];
        stride *= p->radix[i];
    }
    return p->map ? p->map[position] : position;
}

static int64_t place_of(const struct job *job, const struct product *product, int64_t rank)
{
    const struct torus *torus = job->torus;
    int64_t number[N_OWNERS] = {0};
    struct coordinate node = {.dims = torus->dims};
    for (int i = 0; i < job->request->grid.dims; i++) {
        number[i] = rank % job->request->grid.extent[i];
        rank /= job->request->grid.extent[i];
    }
    for (int i = 0; i < torus->dims; i++)
        node.at[i] = (int)take_digits(&product->axis[i], number);
    return torus_node(torus, &node) * job->tasks + take_digits(&product->axis[torus->dims], number);
}

static int place_by_patterns(const char *name, const char *text, const struct job *job, struct placing *p)
{
    struct product product = {.name = name};
    for (const char *at = text; *at;) {
        if (!(at = parse_axis(at, job, &product)))
            return PF_REFUSED;
        if (*at == ',' && !*++at)
            return refuse_pattern(&product, text, "ends with a comma");
    }
    fill_in(job, &product);
    int status = check_product(text, job, &product);
    for (int rank = 0; rank < p->ranks && !status; rank++)
        p->place[rank] = place_of(job, &product, rank);
    return status;
}

static int place_by_digits(const char *text, const struct job *job, struct placing *p)
{
    return place_by_patterns("digits", text, job, p);
}

static int place_by_rings(const char *text, const struct job *job, struct placing *p)
{
    if (job->request->grid.dims != 2 || !*text)
        return pf_fail(PF_REFUSED,
                       "placement=ring:%.60s: name the positions of the rows and columns of a grid RxC, e.g. "
                       "ring:x=0.1/3.2; `pencilmap predict` prints them",
                       text);
    return place_by_patterns("ring", text, job, p);
}

/* ---- lattice tilings ------------------------------------------------------------------------------------------------- */

static int place_by_lattice(const char *text, const struct job *job, struct placing *p)
{
    return tiling_place(text, job->torus, &job->request->grid, job->tasks, p);
}

/* ---- mapfiles ------------------------------------------------------------------------------------------------------ */

static int place_by_file(const char *path, const struct job *job, struct placing *p)
{
    int ranks = p->ranks;
    placing_release(p);
    return mapfile_read(path, job->torus, job->tasks, ranks, p);
}

/* -------------------------------------------------------------------------------------------------------------------- */

static const struct placement {
    const char *name;
    int (*place)(const char *argument, const struct job *job, struct placing *placing);
} placements[] = {
    {"default", place_by_order},   {"digits", place_by_digits}, {"ring", place_by_rings},
    {"lattice", place_by_lattice}, {"file", place_by_file},
};

int pm_place_ranks(const void *request, const struct torus *torus, int tasks_per_node, int ranks, struct placing *p)
{
    const struct job job = {request, torus, tasks_per_node};
    const char *text = job.request->placement;
    size_t length = strcspn(text, ":");
    *p = (struct placing){.name = text, .ranks = ranks, .place = calloc((size_t)ranks, sizeof *p->place)};
    if (!p->place)
        return pf_fail(PF_REFUSED, "no memory for the places of %d ranks", ranks);
    int status = -1;
    for (size_t i = 0; i < sizeof placements / sizeof *placements && status < 0; i++)
        if (strlen(placements[i].name) == length && !strncmp(text, placements[i].name, length))
            status = placements[i].place(text[length] ? text + length + 1 : "", &job, p);
    if (status < 0)
        status = pf_fail(PF_REFUSED,
                         "placement=%.60s is unknown; known: default[:ORDER], digits:x=r2c4,.., "
                         "ring:x=0.1/3.2,.., lattice:c=FORM,tile=PLACES, file:PATH",
                         text);
    if (status)
        placing_release(p);
    return status;
}
