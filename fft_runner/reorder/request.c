#include "request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "pm_reorder.h"

enum { MAX_TASKS = 1 << 16 };

const char *pm_argument(const char *text, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) || (text[length] && text[length] != ':'))
        return NULL;
    return text[length] ? text + length + 1 : text + length;
}

static int parse_count(const char *text, const char **end, int most)
{
    char *after;
    long value = isdigit((unsigned char)*text) ? strtol(text, &after, 10) : 0;
    *end = value ? after : text;
    return value > 0 && value <= most ? (int)value : 0;
}

static int parse_grid(const char *text, int processes, struct pm_request *r)
{
    const char *end;
    r->row = parse_count(text, &end, processes);
    r->column = *end == 'x' ? parse_count(end + 1, &end, processes) : 0;
    if (!r->row || !r->column || *end || (int64_t)r->row * r->column != processes)
        return pf_fail(PM_ERROR, "process grid '%.40s' does not fit; write RxC with R*C = %d, the size of the communicator",
                       text, processes);
    r->ranks = processes;
    return 0;
}

static int parse_tasks(const char *text, struct pm_request *r)
{
    const char *end;
    r->tasks = parse_count(text, &end, MAX_TASKS);
    if (!r->tasks || *end)
        return pf_fail(PM_ERROR, "tasks=%.40s: 1..%d tasks per node are allowed", text, MAX_TASKS);
    return 0;
}

static int parse_word(char *word, struct pm_request *r)
{
    static const char known[] = "tasks=, placement=, where=";
    char *value = strchr(word, '=');
    if (!value)
        return pf_fail(PM_ERROR, "'%.60s' in the machine text is not understood; known: %s", word, known);
    *value++ = '\0';
    if (!strcmp(word, "tasks"))
        return parse_tasks(value, r);
    if (!strcmp(word, "placement"))
        return snprintf(r->placement, sizeof r->placement, "%s", value), 0;
    if (!strcmp(word, "where"))
        return snprintf(r->where, sizeof r->where, "%s", value), 0;
    return pf_fail(PM_ERROR, "'%.60s=' in the machine text is unknown; known: %s", word, known);
}

static int parse_machine(char *text, struct pm_request *r)
{
    char *rest = NULL, *word = strtok_r(text, " \t\n", &rest);
    int status = torus_parse(word ? word : "", &r->torus);
    while (!status && (word = strtok_r(NULL, " \t\n", &rest)))
        status = parse_word(word, r);
    return status;
}

static int fit(struct pm_request *r)
{
    int64_t nodes = torus_nodes(&r->torus);
    char shape[COORDINATE_TEXT];
    torus_text(&r->torus, shape);
    if (!r->tasks)
        r->tasks = (int)((r->ranks + nodes - 1) / nodes);
    if (r->ranks > (double)nodes * r->tasks)
        return pf_fail(PM_ERROR, "%d processes do not fit on torus %s with %d tasks per node", r->ranks, shape, r->tasks);
    return 0;
}

int pm_request_parse(const char *machine, const char *grid, int processes, struct pm_request *r)
{
    char text[4 * PM_VALUE_SIZE];
    *r = (struct pm_request){.placement = "default", .where = "auto"};
    if (!machine || !grid)
        return pf_fail(PM_ERROR, "machine and grid must be texts such as \"8x8x8\" and \"8x64\", not NULL");
    if (strlen(machine) >= PM_VALUE_SIZE)
        return pf_fail(PM_ERROR, "the machine text is longer than %d characters", PM_VALUE_SIZE - 1);
    snprintf(text, sizeof text, "%s", machine);
    int status = parse_machine(text, r);
    if (!status)
        status = parse_grid(grid, processes, r);
    return status ? status : fit(r);
}

static int axis_of(const struct torus *torus, char letter)
{
    for (int i = 0; i < torus->dims; i++)
        if (letter == torus_letter(torus->dims, i))
            return i;
    return letter == 't' ? torus->dims : -1;
}

int pm_axis_order(const struct torus *torus, const char *order, int axes[MAX_DIMS + 1])
{
    char standard[MAX_DIMS + 2] = "";
    unsigned used = 0;
    for (int i = 0; i < torus->dims; i++)
        standard[i] = torus_letter(torus->dims, i);
    standard[torus->dims] = 't';
    if (!order || !*order)
        order = standard;
    for (int i = 0; i <= torus->dims && order[i]; i++) {
        axes[i] = axis_of(torus, order[i]);
        used |= axes[i] < 0 ? 0 : 1u << axes[i];
    }
    if ((int)strlen(order) != torus->dims + 1 || used != (1u << (torus->dims + 1)) - 1)
        return pf_fail(PM_ERROR, "order '%.40s' must have each letter of %s once", order, standard);
    return 0;
}

int64_t pm_place_in_order(const struct pm_request *r, const int axes[MAX_DIMS + 1], int64_t i)
{
    struct coordinate node = {.dims = r->torus.dims};
    int64_t slot = 0;
    for (int k = 0; k <= r->torus.dims; k++) {
        bool is_slot = axes[k] == r->torus.dims;
        int extent = is_slot ? r->tasks : r->torus.extent[axes[k]];
        if (is_slot)
            slot = i % extent;
        else
            node.at[axes[k]] = (int)(i % extent);
        i /= extent;
    }
    return torus_node(&r->torus, &node) * r->tasks + slot;
}
