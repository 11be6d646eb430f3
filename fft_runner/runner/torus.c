#include "torus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

enum { MAX_EXTENT = 1 << 20 };

static int refuse(const char *text)
{
    return pf_fail(RUNNER_ERROR,
                   "torus '%.100s' is not understood; write 8x8x8 (wrapped), 8x8x8:mesh, or 8wx8x4w (w: wrapped), "
                   "1 to %d extents of 1..%d",
                   text, MAX_DIMS, MAX_EXTENT);
}

/* One extent with its optional w; the place after it, or NULL. */
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

static void set_wrap(struct torus *torus, bool any_w, bool mesh)
{
    for (int i = 0; i < torus->dims && !any_w; i++)
        torus->wrapped[i] = !mesh;
}

int torus_parse(const char *text, struct torus *torus)
{
    const char *at = text;
    bool any_w = false;
    for (torus->dims = 0; torus->dims < MAX_DIMS;) {
        int i = torus->dims++;
        if (!(at = parse_extent(at, &torus->extent[i], &torus->wrapped[i])))
            return refuse(text);
        any_w |= torus->wrapped[i];
        if (*at != 'x')
            break;
        at++;
    }
    bool mesh = !strcmp(at, ":mesh");
    if ((*at && !mesh && strcmp(at, ":torus")) || at[-1] == 'x' || (mesh && any_w))
        return refuse(text);
    set_wrap(torus, any_w, mesh);
    return 0;
}

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

char torus_letter(int dims, int dim)
{
    return dims <= 3 ? "xyz"[dim] : (char)('a' + dim);
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
