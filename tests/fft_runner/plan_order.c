#include "plan_order.h"

#include <stdio.h>
#include <string.h>

bool plan_is_flat(const pencilfft_desc *d)
{
    return strlen(d->order) == 2;
}

int plan_axis_outside(const pencilfft_desc *d, int inside)
{
    return plan_is_flat(d) && inside == 0 ? 2 : d->order[2 - inside] - 'x';
}

/* to[i] is the axis of the result with the name of axis i. */
static void rename_axes(pencilfft_desc *d, const int to[3], struct plan_texts *texts)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz}, padded[3] = {d->padded_nx, d->padded_ny, d->padded_nz};
    int64_t *new_n[3] = {&d->nx, &d->ny, &d->nz}, *new_padded[3] = {&d->padded_nx, &d->padded_ny, &d->padded_nz};
    const char *last = d->schedule ? strrchr(d->schedule, ':') : NULL;
    for (int axis = 0; axis < 3; axis++) {
        *new_n[to[axis]] = n[axis];
        *new_padded[to[axis]] = padded[axis];
    }
    if (last && last[1] >= 'x' && last[1] <= 'z') {
        snprintf(texts->schedule, sizeof texts->schedule, "%.*s%c", (int)(last + 1 - d->schedule), d->schedule,
                 'x' + to[last[1] - 'x']);
        d->schedule = texts->schedule;
    }
    if (d->skip) {
        char letters[8] = "";
        for (int i = 0; d->skip[i] && i < 3; i++)
            letters[i] = (char)('x' + to[d->skip[i] - 'x']);
        strcpy(texts->skip, letters);
        d->skip = texts->skip;
    }
}

/* The kind of each axis, "c1"; those that the text leaves out are cosines of kind II. */
static void read_kinds(const char *text, char kind[3][4])
{
    for (int axis = 0; axis < 3; axis++) {
        size_t length = strcspn(text, ",");
        snprintf(kind[axis], sizeof kind[axis], "%.*s", length ? (int)length : 2, length ? text : "c2");
        text += length + (text[length] == ',');
    }
}

static void write_kinds(pencilfft_desc *d, char kind[3][4], const int from[3], int axes, struct plan_texts *texts)
{
    char text[16] = "";
    for (int axis = 0, used = 0; axis < axes; axis++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.3s", axis ? "," : "", kind[from[axis]]);
    strcpy(texts->kinds, text);
    d->kinds = texts->kinds;
}

static void find_axes(const pencilfft_desc *d, int outside[3], int inside[3])
{
    for (int axis = 0; axis < 3; axis++) {
        outside[axis] = plan_axis_outside(d, axis);
        inside[outside[axis]] = axis;
    }
}

pencilfft_desc plan_inside(const pencilfft_desc *d, struct plan_texts *texts)
{
    pencilfft_desc found = *d;
    int outside[3], inside[3];
    find_axes(d, outside, inside);
    if (plan_is_flat(d))
        found.nz = 1;
    rename_axes(&found, inside, texts);
    if (d->kinds) {
        char kind[3][4];
        read_kinds(d->kinds, kind);
        write_kinds(&found, kind, outside, 3, texts);
    }
    if (plan_is_flat(d) && !(found.skip && strchr(found.skip, 'x'))) {
        char skip[8];
        snprintf(skip, sizeof skip, "x%.3s", found.skip ? found.skip : "");
        strcpy(texts->skip, skip);
        found.skip = texts->skip;
    }
    return found;
}

void plan_turn(pencilfft_desc *d, const char *order, struct plan_texts *texts)
{
    int outside[3], inside[3];
    d->order = order;
    find_axes(d, outside, inside);
    if (plan_is_flat(d)) {
        d->nx = d->padded_nx = 0;
        if (d->skip && strchr(d->skip, 'x')) { /* x comes first */
            d->skip = d->skip[1] ? d->skip + 1 : NULL;
        }
    }
    rename_axes(d, outside, texts);
    if (d->kinds) {
        char kind[3][4];
        read_kinds(d->kinds, kind);
        write_kinds(d, kind, inside, plan_is_flat(d) ? 2 : 3, texts);
    }
}
