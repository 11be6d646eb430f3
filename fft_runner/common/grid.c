#include "common/grid.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/message.h"

static const char *const letters[MAX_GRID_DIMS] = {"s", "rc", "xyz"};

int grid_parse(const char *text, struct grid *grid)
{
    const char *at = text;
    for (*grid = (struct grid){.dims = 0}; grid->dims < MAX_GRID_DIMS; at++) {
        char *end;
        long value = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : 0;
        if (value < 1 || value > INT_MAX)
            return PF_REFUSED;
        grid->letters = letters[grid->dims];
        grid->extent[grid->dims++] = (int)value;
        at = end;
        if (*at != 'x')
            return *at ? PF_REFUSED : 0;
    }
    return PF_REFUSED;
}

void grid_text(const struct grid *grid, char text[GRID_TEXT])
{
    int used = 0;
    for (int i = 0; i < grid->dims; i++)
        used += snprintf(text + used, GRID_TEXT - (size_t)used, "%s%d", i ? "x" : "", grid->extent[i]);
}
