#include "common/torus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

static const int64_t max_nodes = (int64_t)1 << 40;
enum { MAX_EXTENT = 1 << 30 };

/* ---- the text ------------------------------------------------------------------------------------------------- */

static int refuse(const char *text)
{
    return pf_fail(PF_REFUSED,
                   "torus '%.100s' is not understood; write 8x8x8 (all dimensions wrap), 8x8x8:mesh, or 8wx8x4w (w marks "
                   "the dimensions that wrap), 1 to %d extents of 1 or more, and :axes=LETTERS after it for letters other "
                   "than xyz",
                   text, MAX_DIMS);
}

/* One extent with its optional w; returns the text behind, or NULL. */
static const char *parse_extent(const char *at, int *extent, bool *w)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    long value = strtol(at, &end, 10);
    if (value < 1 || value > MAX_EXTENT)
        return NULL;
    *extent = (int)value;
    *w = *end == 'w';
    return end + *w;
}

static const char *parse_extents(const char *at, struct torus *torus, bool *any_w)
{
    for (torus->dims = 0; at && torus->dims < MAX_DIMS; at++) {
        int i = torus->dims++;
        if (!(at = parse_extent(at, &torus->extent[i], &torus->wrapped[i])))
            return NULL;
        *any_w |= torus->wrapped[i];
        if (*at != 'x')
            return at;
    }
    return NULL;
}

/* The text behind `word`, or NULL. */
static const char *after(const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) ? NULL : at + length;
}

static bool set_letters(const char *letters, struct torus *torus)
{
    if ((int)strlen(letters) != torus->dims)
        return false;
    for (const char *at = letters; *at; at++)
        if (!isalpha((unsigned char)*at) || *at == 't' || strchr(at + 1, *at))
            return false;
    snprintf(torus->letter, sizeof torus->letter, "%st", letters);
    return true;
}

int torus_parse(const char *text, struct torus *torus)
{
    bool any_w = false;
    char standard[MAX_DIMS + 1];
    const char *at = parse_extents(text, torus, &any_w), *rest;
    if (!at)
        return refuse(text);
    bool mesh = (rest = after(at, ":mesh")), kind = mesh || (rest = after(at, ":torus"));
    at = kind ? rest : at;
    snprintf(standard, sizeof standard, "%.*s", torus->dims, torus->dims <= 3 ? "xyz" : "abcdefgh");
    const char *letters = (rest = after(at, ":axes=")) ? rest : *at ? "" : standard;
    if ((kind && any_w) || !set_letters(letters, torus) || torus_nodes(torus) > max_nodes)
        return refuse(text);
    for (int i = 0; i < torus->dims && !any_w; i++)
        torus->wrapped[i] = !mesh;
    return 0;
}

void torus_text(const struct torus *torus, char text[COORDINATE_TEXT])
{
    int used = 0;
    for (int i = 0; i < torus->dims; i++)
        used += snprintf(text + used, COORDINATE_TEXT - (size_t)used, "%s%d", i ? "x" : "", torus->extent[i]);
}

void coordinate_text(const struct coordinate *coordinate, char text[COORDINATE_TEXT])
{
    int used = snprintf(text, COORDINATE_TEXT, "(");
    for (int i = 0; i < coordinate->dims; i++)
        used += snprintf(text + used, COORDINATE_TEXT - (size_t)used, "%s%d", i ? ", " : "", coordinate->at[i]);
    snprintf(text + used, COORDINATE_TEXT - (size_t)used, ")");
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

int64_t torus_nodes(const struct torus *torus)
{
    int64_t nodes = 1;
    for (int i = 0; i < torus->dims; i++)
        nodes = nodes > INT64_MAX / torus->extent[i] ? INT64_MAX : nodes * torus->extent[i];
    return nodes;
}

int torus_outside(const struct torus *torus, const struct coordinate *coordinate)
{
    for (int i = 0; i < torus->dims; i++)
        if (coordinate->at[i] < 0 || coordinate->at[i] >= torus->extent[i])
            return i;
    return -1;
}

int64_t torus_node(const struct torus *torus, const struct coordinate *coordinate)
{
    int64_t node = 0;
    for (int i = torus->dims - 1; i >= 0; i--)
        node = node * torus->extent[i] + coordinate->at[i];
    return node;
}

struct coordinate torus_coordinate(const struct torus *torus, int64_t node)
{
    struct coordinate coordinate = {.dims = torus->dims};
    for (int i = 0; i < torus->dims; i++) {
        coordinate.at[i] = (int)(node % torus->extent[i]);
        node /= torus->extent[i];
    }
    return coordinate;
}

int torus_axis(const struct torus *torus, char letter)
{
    const char *found = letter ? strchr(torus->letter, letter) : NULL;
    return found ? (int)(found - torus->letter) : -1;
}

/* ---- places --------------------------------------------------------------------------------------------------- */

/* The letters of an order: the letters of the axes and t, or n and t. */
struct counted {
    char letter;
    int64_t extent, stride; /* of a step, in places */
    int64_t step;           /* unit of the digits so far */
    bool named, done;
};

/* The digits of an order; false if the text is no order. */
static bool read_digits(const char *text, struct counted *all, int n, struct fill_order *fill)
{
    for (fill->digits = 0; *text && fill->digits < MAX_ORDER_DIGITS; fill->digits++) {
        struct counted *c = all;
        while (c < all + n && c->letter != *text)
            c++;
        size_t figures = strspn(++text, "0123456789");
        if (c == all + n || c->done || figures > 6)
            return false;
        int64_t left = c->extent / c->step, count = figures ? atoi(text) : left;
        if (count < 1 || left % count)
            return false;
        fill->digit[fill->digits] = (struct order_digit){.count = count, .stride = c->step * c->stride};
        c->named = true;
        c->done = !figures;
        c->step *= count;
        text += figures;
    }
    bool whole = !*text;
    for (int i = 0; i < n; i++)
        whole = whole && all[i].named && all[i].step == all[i].extent;
    return whole;
}

static bool read_axes(const struct torus *torus, int tasks_per_node, const char *order, struct fill_order *fill)
{
    struct counted all[MAX_DIMS + 1] = {{.letter = 't', .extent = tasks_per_node, .stride = 1, .step = 1}};
    int64_t stride = tasks_per_node;
    for (int i = 0; i < torus->dims; i++) {
        all[i + 1] = (struct counted){torus->letter[i], torus->extent[i], stride, 1, false, false};
        stride *= torus->extent[i];
    }
    return read_digits(order, all, torus->dims + 1, fill);
}

static bool read_numbers(const struct torus *torus, int tasks_per_node, const char *order, struct fill_order *fill)
{
    struct counted all[] = {{.letter = 't', .extent = tasks_per_node, .stride = 1, .step = 1},
                            {.letter = 'n', .extent = torus_nodes(torus), .stride = tasks_per_node, .step = 1}};
    return read_digits(order, all, 2, fill);
}

int torus_order(const struct torus *torus, int tasks_per_node, const char *order, struct fill_order *fill)
{
    if (!order || !*order)
        order = USUAL_ORDER;
    if (read_axes(torus, tasks_per_node, order, fill) || read_numbers(torus, tasks_per_node, order, fill))
        return 0;
    return pf_fail(PF_REFUSED,
                   "launch order '%.40s' must have each letter of %s once, the fastest first, or be tn or nt (nodes in the "
                   "order of their numbers, slots first or last). A number behind a letter takes so many of its steps, "
                   "and the rest follows later: t2nt",
                   order, torus->letter);
}

int64_t order_place(const struct fill_order *fill, int64_t i)
{
    int64_t place = 0;
    for (int k = 0; k < fill->digits; k++) {
        place += i % fill->digit[k].count * fill->digit[k].stride;
        i /= fill->digit[k].count;
    }
    return place;
}

int torus_fit(const struct torus *torus, int processes, int asked, int *tasks_per_node)
{
    int64_t nodes = torus_nodes(torus);
    char shape[COORDINATE_TEXT];
    torus_text(torus, shape);
    *tasks_per_node = asked ? asked : (int)((processes + nodes - 1) / nodes);
    if (((int64_t)processes + *tasks_per_node - 1) / *tasks_per_node > nodes)
        return pf_fail(PF_REFUSED, "%d processes do not fit on torus %s with %d per node", processes, shape,
                       *tasks_per_node);
    return 0;
}
