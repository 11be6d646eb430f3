/* Lattice tilings spelled out.
 * Idea:  the elements of the lattice are the places that the rows of its normal form reduce to nothing; each moves the tile.
 * Source: the same numbering as Tiling.mapping() in mapper/seeds/tilings.py; the tests compare the two.
 * Cost:  O(ranks * dimensions^2). */
#include "placing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

enum { MAX_AXES = MAX_DIMS + 1 };

struct tiling {
    int axes, extent[MAX_AXES], form[MAX_AXES][MAX_AXES];
    int64_t places;
    bool tile_is_row; /* columns are the cosets */
    int tiles, *tile; /* places of the tile */
};

static int refuse(const char *text, const char *why)
{
    return pf_fail(PF_REFUSED,
                   "placement=lattice:%.60s: %s; take the text that a search has printed, e.g. "
                   "lattice:c=1.2.0/0.5.0/0.0.1,tile=0.5.1.20.4",
                   text, why);
}

/* A number; returns the text behind, or NULL. */
static const char *parse_number(const char *at, int *number)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    long long found = strtoll(at, &end, 10);
    *number = (int)found;
    return found < 1 << 30 ? end : NULL;
}

static const char *parse_form(const char *at, struct tiling *t)
{
    for (int i = 0; i < t->axes; i++)
        for (int j = 0; j < t->axes; j++) {
            if (!(at = parse_number(at, &t->form[i][j])))
                return NULL;
            char after = (char)(j + 1 < t->axes ? '.' : i + 1 < t->axes ? '/' : ',');
            if (*at++ != after)
                return NULL;
        }
    return at;
}

/* Whether the rows of the form reduce a vector to nothing. */
static bool is_element(const struct tiling *t, const int64_t vector[])
{
    int64_t rest[MAX_AXES];
    memcpy(rest, vector, sizeof rest);
    for (int i = 0; i < t->axes; i++) {
        if (rest[i] % t->form[i][i])
            return false;
        int64_t times = rest[i] / t->form[i][i];
        for (int j = i; j < t->axes; j++)
            rest[j] -= times * t->form[i][j];
    }
    return true;
}

/* Whether the form is upper triangular, and its lattice has so many cosets and contains the extents. */
static bool is_form(const struct tiling *t)
{
    int64_t index = 1;
    for (int i = 0; i < t->axes; i++) {
        for (int j = 0; j < i; j++)
            if (t->form[i][j])
                return false;
        if (!t->form[i][i] || t->extent[i] % t->form[i][i])
            return false;
        index *= t->form[i][i];
    }
    for (int i = 0; i < t->axes; i++) {
        int64_t vector[MAX_AXES] = {0};
        vector[i] = t->extent[i];
        if (!is_element(t, vector))
            return false;
    }
    return index == t->tiles;
}

static void coordinates(const struct tiling *t, int64_t place, int64_t at[])
{
    for (int i = 0; i < t->axes; i++, place /= t->extent[i - 1])
        at[i] = place % t->extent[i];
}

/* The place of an element of the tile moved by an element of the lattice. */
static int64_t moved(const struct tiling *t, int64_t place, const int64_t by[])
{
    int64_t at[MAX_AXES], found = 0;
    coordinates(t, place, at);
    for (int i = t->axes - 1; i >= 0; i--)
        found = found * t->extent[i] + (at[i] + by[i]) % t->extent[i];
    return found;
}

/* Place all ranks; false if two get the same place. */
static bool lay(const struct tiling *t, int tasks, struct placing *p)
{
    int64_t nodes = t->places / tasks, element = 0, elements = t->places / t->tiles;
    bool *taken = calloc((size_t)t->places, sizeof *taken), distinct = taken != NULL;
    for (int64_t place = 0; place < t->places && distinct; place++) {
        int64_t by[MAX_AXES] = {0};
        coordinates(t, place, by);
        if (!is_element(t, by))
            continue;
        for (int k = 0; k < t->tiles && distinct; k++) {
            int64_t to = moved(t, t->tile[k], by), rank = t->tile_is_row ? element * t->tiles + k : k * elements + element;
            distinct = rank < p->ranks && !taken[to];
            taken[to] = true;
            if (distinct)
                p->place[rank] = to % nodes * tasks + to / nodes;
        }
        element++;
    }
    free(taken);
    return distinct;
}

static int parse(const char *text, struct tiling *t)
{
    const char *at = text + 2;
    if ((*text != 'c' && *text != 'r') || text[1] != '=' || !(at = parse_form(at, t)) || strncmp(at, "tile=", 5))
        return refuse(text, "not understood");
    at += 4;
    for (int k = 0; k < t->tiles; k++)
        if (*at != (k ? '.' : '=') || !(at = parse_number(at + 1, &t->tile[k])) || t->tile[k] >= t->places)
            return refuse(text, "the tile has not one place for each member of its group");
    if (*at)
        return refuse(text, "the tile has more places than its group has members");
    return is_form(t) ? 0 : refuse(text, "names no lattice of this torus whose cosets the tile can take");
}

int tiling_place(const char *text, const struct torus *torus, const struct grid *grid, int tasks, struct placing *p)
{
    struct tiling t = {.axes = torus->dims + 1, .places = torus_nodes(torus) * tasks, .tile_is_row = *text == 'c'};
    for (int i = 0; i < torus->dims; i++) {
        t.extent[i] = torus->extent[i];
        if (t.extent[i] > 2 && !torus->wrapped[i])
            return refuse(text, "a dimension of the torus is open, but lattices need rings");
    }
    t.extent[torus->dims] = tasks;
    if (grid->dims != 2 || grid->extent[0] < 2 || grid->extent[1] < 2 || p->ranks != t.places)
        return refuse(text, "lattices need rows and columns of 2 tasks or more that fill every slot");
    t.tiles = grid->extent[t.tile_is_row ? 0 : 1];
    t.tile = calloc((size_t)t.tiles, sizeof *t.tile);
    int status = t.tile ? parse(text, &t) : refuse(text, "no memory");
    if (!status && !lay(&t, tasks, p))
        status = refuse(text, "the tile needs one place of every coset");
    free(t.tile);
    return status;
}
