#include "placing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

enum { MAX_TASKS = 1 << 16 };
static const char LISTED[] = "hosts:"; /* of a file, for any network */

static int parse_grid(const char *text, int processes, struct pm_request *r)
{
    int64_t tasks = 1;
    int status = grid_parse(text, &r->grid);
    for (int i = 0; i < r->grid.dims && tasks <= processes; i++) /* three extents may exceed 64 bits */
        tasks *= r->grid.extent[i];
    if (status || tasks != processes)
        return pf_fail(
            PF_REFUSED,
            "process grid '%.40s' does not fit; write RxC with R*C = %d, the size of the communicator, or %d alone "
            "for slabs",
            text, processes, processes);
    return 0;
}

static int parse_tasks(const char *text, struct pm_request *r)
{
    char *end;
    long tasks = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    if (tasks < 1 || tasks > MAX_TASKS || *end)
        return pf_fail(PF_REFUSED, "tasks=%.40s: 1..%d tasks per node are allowed", text, MAX_TASKS);
    r->seats.tasks_per_node = (int)tasks;
    return 0;
}

static int parse_word(char *word, struct pm_request *r)
{
    static const char known[] = "tasks=, placement=, where=";
    char *value = strchr(word, '=');
    if (!value)
        return pf_fail(PF_REFUSED, "'%.60s' in the machine text is not recognised; known: %s", word, known);
    *value++ = '\0';
    if (!strcmp(word, "tasks"))
        return parse_tasks(value, r);
    if (!strcmp(word, "placement"))
        return snprintf(r->placement, sizeof r->placement, "%s", value), 0;
    if (!strcmp(word, "where"))
        return snprintf(r->where, sizeof r->where, "%s", value), source_check(value);
    return pf_fail(PF_REFUSED, "'%.60s=' in the machine text is unknown; known: %s", word, known);
}

static int parse_machine(char *text, struct pm_request *r)
{
    char *rest = NULL, *word = strtok_r(text, " \t\n", &rest);
    int status = torus_parse(word ? word : "", &r->seats.torus);
    while (!status && (word = strtok_r(NULL, " \t\n", &rest)))
        status = parse_word(word, r);
    return status;
}

int pm_request_parse(const char *machine, const char *grid, int processes, struct pm_request *r)
{
    char text[PM_VALUE_SIZE];
    *r = (struct pm_request){.seats.has_torus = true, .placement = "default", .where = "auto"};
    r->seats.where = r->where;
    if (!machine || !grid)
        return pf_fail(PF_REFUSED, "machine and grid must be texts such as \"8x8x8\" and \"8x64\", not NULL");
    if (strlen(machine) >= PM_VALUE_SIZE)
        return pf_fail(PF_REFUSED, "the machine text is longer than %d characters", PM_VALUE_SIZE - 1);
    snprintf(text, sizeof text, "%s", machine);
    if (!strncmp(text, LISTED, strlen(LISTED))) {
        snprintf(r->placement, sizeof r->placement, "%s", text + strlen(LISTED));
        r->list = r->placement;
        return parse_grid(grid, processes, r);
    }
    int status = parse_machine(text, r);
    return status ? status : parse_grid(grid, processes, r);
}
