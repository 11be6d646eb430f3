#include "matrix_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

enum { SKIPS_WITHOUT_Z = 4 };

/* ---- values of the choices -------------------------------------------------------------------------------------- */

#define GRID_OF(R, C) {#R "x" #C, R, C}
static const struct {
    const char *name;
    int R, C;
} grids[] = {
    GRID_OF(1, 1), GRID_OF(1, 2), GRID_OF(2, 1), GRID_OF(1, 3), GRID_OF(3, 1), GRID_OF(1, 4), GRID_OF(2, 2),
    GRID_OF(4, 1), GRID_OF(1, 5), GRID_OF(5, 1), GRID_OF(1, 6), GRID_OF(2, 3), GRID_OF(3, 2), GRID_OF(6, 1),
    GRID_OF(1, 7), GRID_OF(7, 1), GRID_OF(1, 8), GRID_OF(2, 4), GRID_OF(4, 2), GRID_OF(8, 1),
};

static void divided(int R, int C, int64_t n[3])
{
    n[0] = 2 * C, n[1] = 2 * R * C, n[2] = 2 * R;
}

static void divided_when_halved(int R, int C, int64_t n[3])
{
    n[0] = 3 * C, n[1] = R * C, n[2] = 4 * R - 2;
}

static void one_line_each(int R, int C, int64_t n[3])
{
    n[0] = C, n[1] = R > C ? R : C, n[2] = R;
}

static void one_line_each_when_halved(int R, int C, int64_t n[3])
{
    n[0] = C, n[1] = R > C ? R : C, n[2] = R > 1 ? 2 * R - 1 : 2;
}

/* Numbers, or a formula of the grid. */
static const struct extents {
    const char *name;
    int64_t n[3];
    void (*of_grid)(int R, int C, int64_t n[3]);
} all_extents[] = {
    {"cube", {8, 8, 8}, NULL},        {"even", {24, 40, 36}, NULL},
    {"uneven", {25, 37, 29}, NULL},   {"prime", {7, 11, 13}, NULL},
    {"long", {2, 64, 5}, NULL},       {"small", {3, 4, 2}, NULL},
    {"flat-z", {17, 8, 1}, NULL},     {"flat-x", {1, 9, 10}, NULL},
    {"divided", {0}, divided},        {"divided-halved", {0}, divided_when_halved},
    {"one-line", {0}, one_line_each}, {"one-line-halved", {0}, one_line_each_when_halved},
};

static const char *const schedules[] = {
    "sequence",        "overlap",   "overlap:2",   "overlap:2:x", "overlap:3:z", "overlap:1,3,2:x", "overlap:5,1",
    "overlap:2:field", "pipelined", "pipelined:2", "two-way",     "two-way:1",   "opposite",
};
static const char *const fields[] = {"1", "2", "3"};
static const char *const pieces[] = {"usual", "tiny"};
static const char *const skips[] = {"none", "x", "y", "xy", "z", "xz", "yz", "xyz"};
static const char *const kinds[] = {"c1", "c2", "c3", "c4", "s1", "s2", "s3", "s4"};
static const char *const sent[] = {"as-computed", "single"};
/* Points of the axes with a DFT, of n and at least n. */
static const struct padding {
    const char *name;
    int axes, times, over, more; /* bits of axes; n * times / over + more */
} paddings[] = {{"none", 0, 1, 1, 0}, {"3/2", 7, 3, 2, 1}, {"double", 7, 2, 1, 0}, {"x", 1, 1, 1, 3}, {"yz", 6, 1, 1, 1}};

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Names in a row of structures that begin with them. */
#define NAMES(function, array)                                              \
    static const char *function(int i)                                      \
    {                                                                       \
        return i < COUNT(array) ? *(const char *const *)&(array)[i] : NULL; \
    }
NAMES(grid_name, grids)
NAMES(extents_name, all_extents)
NAMES(schedule_name, schedules)
NAMES(fields_name, fields)
NAMES(pieces_name, pieces)
NAMES(skip_name, skips)
NAMES(padding_name, paddings)
NAMES(sent_name, sent)
NAMES(kind_name, kinds)

static const struct {
    const char *name;
    const char *(*value)(int i);
} choices[N_CHOICES] = {
    [GRID] = {"grid", grid_name},
    [DECOMPOSITION] = {"decomposition", pencilfft_decomposition_name},
    [EXTENTS] = {"extents", extents_name},
    [PRECISION] = {"precision", pencilfft_precision_name},
    [LAYOUT] = {"layout", pencilfft_layout_name},
    [EXCHANGE] = {"exchange", pencilfft_exchange_name},
    [TYPE] = {"type", pencilfft_type_name},
    [SCHEDULE] = {"schedule", schedule_name},
    [FIELDS] = {"fields", fields_name},
    [PIECES] = {"pieces", pieces_name},
    [RIGOR] = {"rigor", pencilfft_rigor_name},
    [SYNC] = {"sync", pencilfft_sync_name},
    [SKIP] = {"skip", skip_name},
    [PADDING] = {"padding", padding_name},
    [SENT] = {"exchange-precision", sent_name},
    [ORDER] = {"order", pencilfft_order_name},
    [KIND_X] = {"kind-x", kind_name},
    [KIND_Y] = {"kind-y", kind_name},
    [KIND_Z] = {"kind-z", kind_name},
};

const char *matrix_choice_name(int choice)
{
    return choices[choice].name;
}

const char *matrix_value_name(int choice, int i)
{
    return choices[choice].value(i);
}

static int count_values(int choice)
{
    int n = 0;
    while (matrix_value_name(choice, n))
        n++;
    return n;
}

/* ---- a case ----------------------------------------------------------------------------------------------------- */

/* Beside the types there is another case: any type, with axes left alone. */
int matrix_size(void)
{
    int size = count_values(TYPE) + 1;
    for (int choice = 0; choice < TYPE; choice++)
        size *= count_values(choice);
    return size;
}

static int draw(int number, int choice, int values)
{
    return (int)(value_hash((uint64_t)number * N_CHOICES + (uint64_t)choice) % (uint64_t)values);
}

static void set_crossed(struct matrix_case *c, int number)
{
    int left = number;
    for (int choice = 0; choice < TYPE; choice++) {
        c->value[choice] = left % count_values(choice);
        left /= count_values(choice);
    }
    bool skips_axes = left == count_values(TYPE);
    int type = c->value[TYPE] = skips_axes ? draw(number, TYPE, count_values(TYPE)) : left;
    int ways = type_is_halved(matrix_value_name(TYPE, type)) ? SKIPS_WITHOUT_Z : COUNT(skips);
    c->value[SKIP] = skips_axes ? 1 + draw(number, SKIP, ways - 1) : 0;
}

/* Every second case is in sequence. Rigor measure takes its time, and patient longer. */
static void set_drawn(struct matrix_case *c, int number)
{
    enum { ONE_IN = 10 };
    int schedule = draw(number, SCHEDULE, 2 * COUNT(schedules));
    c->value[SCHEDULE] = schedule < COUNT(schedules) ? schedule : 0;
    c->value[FIELDS] = draw(number, FIELDS, COUNT(fields));
    c->value[PIECES] = draw(number, PIECES, COUNT(pieces));
    c->value[RIGOR] = draw(number, RIGOR, ONE_IN) == 0;
    c->value[SYNC] = draw(number, SYNC, count_values(SYNC));
}

static void set_extents(struct matrix_case *c)
{
    const struct extents *extents = &all_extents[c->value[EXTENTS]];
    pencilfft_desc *desc = &c->plan.desc;
    int64_t n[3];
    memcpy(n, extents->n, sizeof n);
    desc->R = grids[c->value[GRID]].R;
    desc->C = grids[c->value[GRID]].C;
    if (extents->of_grid)
        extents->of_grid(desc->R, desc->C, n);
    desc->nx = n[0], desc->ny = n[1], desc->nz = n[2];
}

/* A cosine transform of kind I has no line of one point: take the next kind. Kinds of the type's own family are written
 * without a letter. */
static void set_kinds(struct matrix_case *c, int number)
{
    const pencilfft_desc *desc = &c->plan.desc;
    const int64_t n[3] = {desc->nx, desc->ny, desc->nz};
    char own = desc->type[1] == 'c' ? 'c' : 's', *at = c->kinds;
    for (int axis = 0; axis < 3; axis++) {
        int kind = draw(number, KIND_X + axis, COUNT(kinds));
        kind += kind == 0 && n[axis] < 2;
        c->value[KIND_X + axis] = type_is_real(desc->type) ? kind : NOT_CHOSEN;
        at += sprintf(at, "%s%s", kinds[kind] + (kinds[kind][0] == own), axis < 2 ? "," : "");
    }
}

/* Every second case is not padded. */
static void set_padding(struct matrix_case *c, int number)
{
    pencilfft_desc *desc = &c->plan.desc;
    int drawn = draw(number, PADDING, 2 * COUNT(paddings));
    const struct padding *padding = &paddings[c->value[PADDING] = drawn < COUNT(paddings) ? drawn : 0];
    int64_t *padded[3] = {&desc->padded_nx, &desc->padded_ny, &desc->padded_nz};
    const int64_t n[3] = {desc->nx, desc->ny, desc->nz};
    for (int axis = 0; axis < 3; axis++)
        if (padding->axes >> axis & 1 && plan_has_dft(desc, axis))
            *padded[axis] = n[axis] * padding->times / padding->over + padding->more;
}

/* Every second case has order zyx, the first of the names. */
static void set_order(struct matrix_case *c, int number)
{
    int orders = count_values(ORDER), drawn = draw(number, ORDER, 2 * orders);
    c->value[ORDER] = drawn < orders ? drawn : 0;
    plan_turn(&c->plan.desc, pencilfft_order_name(c->value[ORDER]), &c->turned);
}

static void add(struct matrix_case *c, const char *format, const char *value)
{
    size_t used = strlen(c->plan.name);
    if (value)
        snprintf(c->plan.name + used, sizeof c->plan.name - used, format, value);
}

static void set_name(struct matrix_case *c)
{
    const pencilfft_desc *d = &c->plan.desc;
    snprintf(c->plan.name, sizeof c->plan.name,
             "%dx%d %s %lldx%lldx%lld %s %s %s %s %s %s sync=%s pieces=%s fields=%d %sthreads=%d%s%s%s", d->R, d->C,
             d->decomposition, (long long)d->nx, (long long)d->ny, (long long)d->nz, d->type, d->precision, d->layout,
             d->exchange, d->schedule, d->rigor, d->sync, pieces[c->value[PIECES]], d->fields,
             d->interleaved ? "interleaved " : "", d->threads, d->destroy_input ? " destroy_input" : "",
             d->nonblocking ? " nonblocking" : "", d->caller_work ? " caller_work" : "");
    add(c, " kinds=%s", d->kinds);
    add(c, " skip=%s", d->skip);
    add(c, " order=%s", d->order);
    add(c, " padding=%s", c->value[PADDING] ? paddings[c->value[PADDING]].name : NULL);
    add(c, " exchange_precision=%s", d->exchange_precision);
}

/* Plans of r2c and of c2r, which are the same type, have a single direction, others both. */
static int directions_of(const char *type)
{
    return !strcmp(type, "r2c")   ? PENCILFFT_FORWARD
           : !strcmp(type, "c2r") ? PENCILFFT_BACKWARD
                                  : PENCILFFT_FORWARD | PENCILFFT_BACKWARD;
}

/* Chance of a member beyond the choices, of a chain of its own: by hashes of the number, with more added to the last. */
static int chance(int number, int hashes, int more, int values)
{
    uint64_t h = (uint64_t)number;
    while (hashes-- > 0)
        h = value_hash(h);
    return (int)(value_hash(h + (uint64_t)more) % (uint64_t)values);
}

/* Every third of the cases in double precision sends single precision. */
static void set_sent(struct matrix_case *c, int number)
{
    enum { ONE_IN = 3 };
    bool may = !strcmp(c->plan.desc.precision, "double");
    c->value[SENT] = may ? draw(number, SENT, ONE_IN) == 0 : NOT_CHOSEN;
    c->plan.desc.exchange_precision = c->value[SENT] == 1 ? sent[1] : NULL;
}

void matrix_case_make(int number, struct matrix_case *c)
{
    pencilfft_desc *desc = &c->plan.desc;
    pencilfft_desc_init(desc);
    set_crossed(c, number);
    set_drawn(c, number);
    set_extents(c);
    desc->decomposition = matrix_value_name(DECOMPOSITION, c->value[DECOMPOSITION]);
    desc->type = matrix_value_name(TYPE, c->value[TYPE]);
    desc->directions = directions_of(desc->type);
    desc->precision = matrix_value_name(PRECISION, c->value[PRECISION]);
    desc->layout = matrix_value_name(LAYOUT, c->value[LAYOUT]);
    desc->exchange = matrix_value_name(EXCHANGE, c->value[EXCHANGE]);
    desc->schedule = matrix_value_name(SCHEDULE, c->value[SCHEDULE]);
    desc->rigor = matrix_value_name(RIGOR, c->value[RIGOR]);
    desc->sync = matrix_value_name(SYNC, c->value[SYNC]);
    desc->fields = 1 + c->value[FIELDS];
    int threads = chance(number, 1, 0, 10);
    desc->threads = threads < 2 ? 2 + threads : 1; /* every fifth case */
    desc->destroy_input = chance(number, 2, 0, 4) == 0;
    bool may_start = !strcmp(desc->sync, "none") && exchange_runs_beside(desc->exchange);
    desc->nonblocking = may_start && chance(number, 1, 1, 3) == 0;
    desc->interleaved = desc->fields > 1 && chance(number, 1, 3, 2) == 0;
    desc->caller_work = chance(number, 1, 2, 4) == 0;
    desc->skip = c->value[SKIP] ? skips[c->value[SKIP]] : NULL;
    desc->auto_budget_s = 0.002;
    c->plan.tiny_pieces = c->value[PIECES] == 1;
    set_kinds(c, number);
    set_padding(c, number);
    set_sent(c, number);
    desc->kinds = type_is_real(desc->type) ? c->kinds : NULL;
    set_order(c, number);
    set_name(c);
}
