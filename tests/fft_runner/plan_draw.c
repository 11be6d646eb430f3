/* Idea: small extents, among them primes, ones, extents that the grid divides, and rarely long extents; in a third of the
 *       plans some may be too short for all ranks; most plans that must be refused are drawn again. The library lists the
 *       names, so that new names are drawn, too. */
#include "plan_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "checksum.h"
#include "values.h"

enum { MOST_ELEMENTS = 30000, MOST_FIELDS = 5, MOST_THREADS = 4, MOST_CHUNKS = 9 };

/* ---- chance ----------------------------------------------------------------------------------------------------- */

struct dice {
    uint64_t seed, thrown;
};

/* 0 to n - 1. */
static int64_t below(struct dice *dice, int64_t n)
{
    return (int64_t)(value_hash(dice->seed + value_hash(dice->thrown++)) % (uint64_t)n);
}

static bool one_in(struct dice *dice, int64_t n)
{
    return below(dice, n) == 0;
}

const char *plan_draw_name(uint64_t chance, const char *(*name)(int i))
{
    const char *chosen = NULL;
    uint64_t most = 0;
    for (int i = 0; name(i); i++) {
        uint64_t its = value_hash(chance + checksum_of(name(i), strlen(name(i))));
        if (!chosen || its > most) {
            chosen = name(i);
            most = its;
        }
    }
    return chosen;
}

static const char *any_name(struct dice *dice, const char *(*name)(int i))
{
    return plan_draw_name(value_hash(dice->seed + value_hash(dice->thrown++)), name);
}

/* ---- members ---------------------------------------------------------------------------------------------------- */

static void draw_grid(struct dice *dice, int ranks, pencilfft_desc *d)
{
    bool slab = pencilfft_grid_numbers(d->decomposition) == 1;
    do
        d->R = 1 + (int)below(dice, ranks);
    while (ranks % d->R || (slab && d->R > 1 && !one_in(dice, 8)));
    d->C = ranks / d->R;
}

/* Half of them give their bricks. */
static void draw_bricks(struct dice *dice, int ranks, struct drawn_plan *drawn)
{
    int a, b;
    if (strcmp(drawn->plan.desc.decomposition, "brick") || one_in(dice, 2))
        return;
    do {
        a = 1 + (int)below(dice, ranks);
        b = 1 + (int)below(dice, ranks);
    } while (ranks % a || ranks / a % b);
    sprintf(drawn->decomposition, "brick:%dx%dx%d", a, b, ranks / a / b);
    drawn->plan.desc.decomposition = drawn->decomposition;
}

static int64_t draw_extent(struct dice *dice, int R, int C)
{
    static const int most[] = {3, 8, 20, 90}; /* FFTW transforms lines of up to 64 in one piece */
    if (one_in(dice, 12))
        return 50 + below(dice, 250);
    int64_t n = 1 + below(dice, most[below(dice, 4)]);
    return one_in(dice, 3) ? n * (one_in(dice, 2) ? R : C) : n;
}

static void draw_extents(struct dice *dice, pencilfft_desc *d)
{
    int64_t n[3], largest = d->R > d->C ? d->R : d->C;
    const int64_t least[3] = {d->C, largest, type_is_halved(d->type) ? 2 * (d->R - 1) : d->R};
    do {
        bool raise = !one_in(dice, 3);
        for (int axis = 0; axis < 3; axis++) {
            n[axis] = draw_extent(dice, d->R, d->C);
            n[axis] = raise && n[axis] < least[axis] ? least[axis] : n[axis];
            n[axis] += n[axis] == 0;
        }
    } while (n[0] * n[1] * n[2] * d->fields > MOST_ELEMENTS);
    d->nx = n[0], d->ny = n[1], d->nz = n[2];
}

static void draw_chunks(struct dice *dice, char *text)
{
    int chunks = 1 + (int)below(dice, 1 + below(dice, MOST_CHUNKS));
    char *at = text + strlen(text);
    if (chunks == 1 || one_in(dice, 2)) {
        sprintf(at, ":%d", chunks);
        return;
    }
    for (int i = 0; i < chunks; i++)
        at += sprintf(at, "%c%d", i ? ',' : ':', 1 + (int)below(dice, one_in(dice, 4) ? 1000 : 5));
}

static void draw_schedule(struct dice *dice, struct drawn_plan *drawn)
{
    static const char *const axes[] = {"x", "z", "field"};
    pencilfft_desc *d = &drawn->plan.desc;
    d->schedule = drawn->schedule;
    if (one_in(dice, 3)) {
        d->schedule = NULL;
        return;
    }
    if (one_in(dice, 6))
        strcpy(drawn->schedule, "auto");
    else
        strcpy(drawn->schedule, any_name(dice, pencilfft_schedule_name));
    if (!strcmp(drawn->schedule, "auto") && one_in(dice, 2))
        d->schedule = NULL;
    if (one_in(dice, 4))
        return;
    if (!strcmp(drawn->schedule, "overlap")) {
        draw_chunks(dice, drawn->schedule);
        if (one_in(dice, 2))
            sprintf(drawn->schedule + strlen(drawn->schedule), ":%s", axes[below(dice, 3)]);
    } else if (!strcmp(drawn->schedule, "pipelined"))
        sprintf(drawn->schedule + strlen(drawn->schedule), ":%d", 1 + (int)below(dice, MOST_CHUNKS));
    else if (!strcmp(drawn->schedule, "two-way"))
        sprintf(drawn->schedule + strlen(drawn->schedule), ":%lld", 1 + (long long)below(dice, d->nz));
}

/* A third of the types list the kinds of x, y and z, by a chance of their own, so that the others stay as they are. */
static void draw_list(struct dice dice, struct drawn_plan *drawn)
{
    char *at = drawn->type;
    dice.seed = value_hash(dice.seed + 1);
    if (!one_in(&dice, 3))
        return;
    for (int axis = 0; axis < 3; axis++) {
        const char *kind;
        do
            kind = any_name(&dice, pencilfft_line_kind_name);
        while (axis < 2 && !strcmp(kind, "r2c") && !one_in(&dice, 4));
        at += sprintf(at, "%s%s", axis ? "," : "", kind);
    }
    drawn->plan.desc.type = drawn->type;
}

static void draw_kinds(struct dice *dice, struct drawn_plan *drawn)
{
    char *at = drawn->kinds;
    for (int axis = 0; axis < 3; axis++) {
        static const char *const families[] = {"", "c", "s"};
        at += sprintf(at, "%s%s%d", axis ? "," : "", families[below(dice, 3)], 1 + (int)below(dice, 4));
    }
    if (type_is_real(drawn->plan.desc.type) && !one_in(dice, 8) && !type_is_list(drawn->plan.desc.type))
        drawn->plan.desc.kinds = drawn->kinds;
}

/* Half of the plans with skipped axes skip all axes, if possible, because only these check moved data exactly. */
static void draw_skip(struct dice *dice, struct drawn_plan *drawn)
{
    bool all = !type_is_halved(drawn->plan.desc.type);
    int axes = all && one_in(dice, 2) ? 7 : 1 + (int)below(dice, all ? 7 : 3);
    char *at = drawn->skip;
    for (int axis = 0; axis < 3; axis++)
        if (axes & 1 << axis)
            *at++ = (char)('x' + axis);
    if (one_in(dice, 3) && !type_is_list(drawn->plan.desc.type))
        drawn->plan.desc.skip = drawn->skip;
}

static void draw_torus(struct dice *dice, struct drawn_plan *drawn)
{
    int sides[TORUS_DIMENSIONS] = {1 + (int)below(dice, 4), 1 + (int)below(dice, 4)};
    sprintf(drawn->torus, "%dx%d%s", sides[0], sides[1], one_in(dice, 3) ? ":mesh" : "");
    if (one_in(dice, 4))
        drawn->plan.desc.torus = drawn->torus;
}

/* Up to twice the points of an axis, the 3/2 rule, or any more. */
static int64_t draw_points(struct dice *dice, int64_t n)
{
    return one_in(dice, 3) ? (3 * n + 1) / 2 : n + below(dice, one_in(dice, 2) ? n + 1 : 8);
}

static void draw_padding(struct dice *dice, pencilfft_desc *d)
{
    int64_t *padded[3] = {&d->padded_nx, &d->padded_ny, &d->padded_nz}, n[3] = {d->nx, d->ny, d->nz};
    if (!one_in(dice, 3))
        return;
    for (int axis = 0; axis < 3; axis++)
        if ((plan_has_dft(d, axis) && !one_in(dice, 3)) || one_in(dice, 100))
            *padded[axis] = draw_points(dice, n[axis]) - one_in(dice, 100);
    if (plan_points(d, 0) * plan_points(d, 1) * plan_points(d, 2) * d->fields > MOST_ELEMENTS)
        d->padded_nx = d->padded_ny = d->padded_nz = 0;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* Ranks go round the nodes. */
static void set_node(int rank, struct drawn_plan *drawn)
{
    int sides[TORUS_DIMENSIONS] = {1, 1};
    const char *by;
    if (!drawn->plan.desc.torus || !(by = strchr(drawn->plan.desc.torus, 'x')))
        return;
    sides[0] = atoi(drawn->plan.desc.torus);
    sides[1] = atoi(by + 1);
    snprintf(drawn->node, sizeof drawn->node, "%d %d", rank % sides[0], rank / sides[0] % sides[1]);
    drawn->plan.desc.node = drawn->node;
}

/* The input has the points of padded lines; the output may be halved along z. */
static void set_boxes(const struct plan_check *check, struct drawn_plan *drawn)
{
    enum { MOST_RANKS = 64 };
    pencilfft_desc *d = &drawn->plan.desc;
    pencilfft_box boxes[MOST_RANKS];
    if (!drawn->boxes || check->ranks > MOST_RANKS)
        return;
    for (int end = 0; end < 2; end++) {
        pencilfft_box whole = {.extent = {d->nx, d->ny, d->nz}};
        for (int axis = 0; axis < 3; axis++)
            if (end == 0)
                whole.extent[axis] = plan_points(d, axis);
            else if (type_is_halved(d->type) && axis == 2)
                whole.extent[axis] = whole.extent[axis] / 2 + 1;
        uint64_t thrown = drawn->boxes * 1000 + (uint64_t)end * 500;
        boxes_cut(&thrown, whole, 0, check->ranks, boxes);
        drawn->box[end] = boxes[(check->rank + (int)(drawn->boxes % 7)) % check->ranks];
    }
    d->input_box = &drawn->box[0];
    d->output_box = &drawn->box[1];
}

static void add_text(char *words, const char *member, const char *value)
{
    size_t used = strlen(words);
    if (value)
        snprintf(words + used, CASE_NAME_SIZE - used, " %s=%s", member, value);
}

static void add_number(char *words, const char *member, int64_t value)
{
    size_t used = strlen(words);
    if (value)
        snprintf(words + used, CASE_NAME_SIZE - used, " %s=%lld", member, (long long)value);
}

static void set_name(struct plan_case *plan, uint64_t boxes)
{
    const pencilfft_desc *d = &plan->desc;
    snprintf(
        plan->name, sizeof plan->name,
        "R=%d C=%d nx=%lld ny=%lld nz=%lld fields=%d threads=%d destroy_input=%d nonblocking=%d directions=%d pieces=%s",
        d->R, d->C, (long long)d->nx, (long long)d->ny, (long long)d->nz, d->fields, d->threads, d->destroy_input,
        d->nonblocking, d->directions, plan_pieces[plan->pieces]);
    add_number(plan->name, "interleaved", d->interleaved);
    add_number(plan->name, "caller_work", d->caller_work);
    add_number(plan->name, "padded_nx", d->padded_nx);
    add_number(plan->name, "padded_ny", d->padded_ny);
    add_number(plan->name, "padded_nz", d->padded_nz);
    add_text(plan->name, "decomposition", d->decomposition);
    add_text(plan->name, "type", d->type);
    add_text(plan->name, "kinds", d->kinds);
    add_text(plan->name, "skip", d->skip);
    add_text(plan->name, "precision", d->precision);
    add_text(plan->name, "exchange_precision", d->exchange_precision);
    add_text(plan->name, "layout", d->layout);
    add_text(plan->name, "exchange", d->exchange);
    add_text(plan->name, "schedule", d->schedule);
    add_text(plan->name, "rigor", d->rigor);
    add_text(plan->name, "sync", d->sync);
    add_text(plan->name, "torus", d->torus);
    add_number(plan->name, "boxes", (int64_t)boxes);
}

static bool is_number(const char *value)
{
    return *value && strspn(value, "0123456789") == strlen(value);
}

/* The budget of auto is always short: each candidate runs at most once. */
static void init(struct drawn_plan *drawn)
{
    *drawn = (struct drawn_plan){.plan.pieces = 0};
    pencilfft_desc_init(&drawn->plan.desc);
    drawn->plan.desc.auto_budget_s = 0.002;
    drawn->plan.desc.exchange = "alltoallv";
}

bool plan_from_words(char **words, const struct plan_check *check, struct drawn_plan *drawn)
{
    init(drawn);
    for (; *words; words++) {
        static char member[PLAN_TEXT_SIZE];
        char *value = strchr(*words, '=');
        if (plan_check_names_a_variant(*words))
            continue;
        if (!value)
            return false;
        snprintf(member, sizeof member, "%.*s", (int)(value++ - *words), *words);
        if (!strcmp(member, "boxes"))
            drawn->boxes = strtoull(value, NULL, 10);
        else if (!strcmp(member, "pieces"))
            while (plan_pieces[drawn->plan.pieces + 1] && strcmp(value, plan_pieces[drawn->plan.pieces]) != 0)
                drawn->plan.pieces++;
        else if (is_number(value) ? pencilfft_desc_set_integer(&drawn->plan.desc, member, atoll(value))
                                  : pencilfft_desc_set_text(&drawn->plan.desc, member, value))
            return false;
    }
    set_node(check->rank, drawn);
    set_boxes(check, drawn);
    set_name(&drawn->plan, drawn->boxes);
    return true;
}

static void draw(struct dice *dice, int ranks, struct drawn_plan *drawn)
{
    init(drawn);
    pencilfft_desc *d = &drawn->plan.desc;
    d->decomposition = any_name(dice, pencilfft_decomposition_name);
    if (pencilfft_grid_numbers(d->decomposition) == 1 && one_in(dice, 2))
        d->decomposition = "pencil"; /* draws more */
    draw_bricks(dice, ranks, drawn);
    d->type = any_name(dice, pencilfft_type_name);
    draw_list(*dice, drawn);
    d->precision = any_name(dice, pencilfft_precision_name);
    d->layout = any_name(dice, pencilfft_layout_name);
    d->exchange = any_name(dice, pencilfft_exchange_name);
    d->sync = any_name(dice, pencilfft_sync_name);
    d->rigor = one_in(dice, ranks == 1 ? 3 : 12) ? "measure" : "estimate"; /* one rank tries FFTW's plans of several axes */
    d->directions = one_in(dice, 4) ? 1 + (int)below(dice, 2) : PENCILFFT_FORWARD | PENCILFFT_BACKWARD;
    d->fields = one_in(dice, 2) ? 1 : 1 + (int)below(dice, MOST_FIELDS);
    d->threads = one_in(dice, 3) ? 2 + (int)below(dice, MOST_THREADS - 1) : 1;
    d->destroy_input = one_in(dice, 4);
    drawn->plan.pieces = (int)below(dice, 5) % 3; /* clocked is one in five */
    draw_grid(dice, ranks, d);
    draw_extents(dice, d);
    draw_schedule(dice, drawn);
    draw_kinds(dice, drawn);
    draw_skip(dice, drawn);
    draw_torus(dice, drawn);
    draw_padding(dice, d);
    d->nonblocking = one_in(dice, 3);
    d->exchange_precision = one_in(dice, 3) ? any_name(dice, pencilfft_precision_name) : NULL;
    d->caller_work = one_in(dice, 4);
    d->interleaved = one_in(dice, 2);
}

/* A quarter of the grids is left to the library, which may take a grid on which the plan is impossible. */
static void open_grid(struct dice *dice, pencilfft_desc *d)
{
    if (one_in(dice, 4))
        d->R = d->C = 0;
}

/* A fifth of the plans get boxes, by a chance of their own, so that the others stay as they are. */
static void draw_boxes(struct dice dice, const struct plan_check *check, struct drawn_plan *drawn)
{
    dice.seed = value_hash(dice.seed);
    if (!one_in(&dice, 5))
        return;
    drawn->boxes = 1 + (uint64_t)below(&dice, 1000);
    set_boxes(check, drawn);
    if (plan_must_be_refused(&drawn->plan.desc, check->absent) && !one_in(&dice, 12)) {
        drawn->boxes = 0;
        drawn->plan.desc.input_box = drawn->plan.desc.output_box = NULL;
    }
}

void plan_draw(uint64_t seed, int64_t number, const struct plan_check *check, struct drawn_plan *drawn)
{
    struct dice dice = {.seed = value_hash(seed) + value_hash((uint64_t)number) * 3 + (uint64_t)check->ranks};
    do
        draw(&dice, check->ranks, drawn);
    while (plan_must_be_refused(&drawn->plan.desc, check->absent) && !one_in(&dice, 12));
    draw_boxes(dice, check, drawn);
    open_grid(&dice, &drawn->plan.desc);
    set_node(check->rank, drawn);
    set_name(&drawn->plan, drawn->boxes);
}
