/* Where each process is, and the grid rank a mapfile gives it.
 * Idea:   a coordinate source is one row of a table; the first that understands every host name is taken. Slots are
 *         counted by world rank among the processes of a node, unless the host name tells them.
 * Needs:  the whole table of processes in one place (rank 0). Cost: O(P log P). */
#include "placement.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

/* ---- coordinates from a host name --------------------------------------------------------------------------- */

/* Read the digits that end at host[end - 1]; the place before them, or -1 when there are none. */
static int number_before(const char *host, int end, int *value)
{
    int begin = end;
    while (begin > 0 && isdigit((unsigned char)host[begin - 1]))
        begin--;
    if (begin == end || end - begin > 9)
        return -1;
    *value = atoi(host + begin);
    return begin;
}

/* The integers at the end of the name, single characters between them: node-3-0-7, r1c2n3. */
bool coordinate_from_hostname(const char *host, int dims, struct coordinate *node, int *slot)
{
    int end = (int)strlen(host);
    node->dims = dims;
    *slot = -1;
    for (int i = dims - 1; i >= 0; i--) {
        end = number_before(host, end, &node->at[i]);
        if (end < 0 || (i > 0 && --end < 1))
            return false;
    }
    return true;
}

/* Processor <0,0,0,0> in a <4, 4, 2, 2> mesh; the last number is the slot. */
bool coordinate_from_blue_gene(const char *host, int dims, struct coordinate *node, int *slot)
{
    int values[MAX_DIMS + 1], found = 0, used = 0;
    const char *at = strchr(host, '<');
    if (strncmp(host, "Processor ", 10) || !at)
        return false;
    for (at++; found <= dims && sscanf(at, " %d%n", &values[found], &used) == 1; found++) {
        at += used;
        if (*at == '>')
            break;
        if (*at++ != ',')
            return false;
    }
    if (found != dims || *at != '>')
        return false;
    node->dims = dims;
    memcpy(node->at, values, sizeof(int) * (size_t)dims);
    *slot = values[dims];
    return true;
}

/* ---- coordinates of all processes --------------------------------------------------------------------------- */

typedef bool (*name_reader)(const char *host, int dims, struct coordinate *node, int *slot);

static bool read_names(name_reader reader, const struct placement_request *q, struct process *processes, int n)
{
    for (int i = 0; i < n; i++)
        if (!reader(processes[i].host, q->torus.dims, &processes[i].node, &processes[i].slot))
            return false;
    return true;
}

static int check_inside(const struct placement_request *q, const struct process *processes, int n)
{
    char where[COORDINATE_TEXT], shape[COORDINATE_TEXT];
    for (int i = 0; i < n; i++) {
        int outside = torus_outside(&q->torus, &processes[i].node);
        if (outside < 0)
            continue;
        coordinate_text(&processes[i].node, where);
        torus_text(&q->torus, shape);
        return pf_fail(RUNNER_ERROR,
                       "process %d runs on '%s', so at %s, outside torus %s; %c must be 0..%d. "
                       "Give the machine's shape to --machine-torus, or --coordinates assumed if the name means nothing",
                       i, processes[i].host, where, shape, torus_letter(q->torus.dims, outside),
                       q->torus.extent[outside] - 1);
    }
    return 0;
}

static int letter_to_axis(const struct torus *torus, char letter)
{
    for (int i = 0; i < torus->dims; i++)
        if (letter == torus_letter(torus->dims, i))
            return i;
    return letter == 't' ? torus->dims : -1;
}

/* Axes in launch order, fastest first; axis `dims` is the slot. */
static int parse_launch_order(const struct placement_request *q, int axes[MAX_DIMS + 1])
{
    char standard[MAX_DIMS + 2] = "";
    int dims = q->torus.dims, used = 0;
    for (int i = 0; i < dims; i++)
        standard[i] = torus_letter(dims, i);
    standard[dims] = 't';
    const char *order = q->launch_order ? q->launch_order : standard;
    for (int i = 0; i <= dims && order[i]; i++) {
        axes[i] = letter_to_axis(&q->torus, order[i]);
        used |= axes[i] < 0 ? 0 : 1 << axes[i];
    }
    if ((int)strlen(order) != dims + 1 || used != (1 << (dims + 1)) - 1)
        return pf_fail(RUNNER_ERROR, "launch order '%.40s' must have each letter of %s once", order, standard);
    return 0;
}

static int assume(const struct placement_request *q, int tasks_per_node, struct process *processes, int n)
{
    int axes[MAX_DIMS + 1], status = parse_launch_order(q, axes);
    for (int i = 0; i < n && !status; i++) {
        int rest = i;
        processes[i].node.dims = q->torus.dims;
        for (int k = 0; k <= q->torus.dims; k++) {
            bool is_slot = axes[k] == q->torus.dims;
            int extent = is_slot ? tasks_per_node : q->torus.extent[axes[k]];
            *(is_slot ? &processes[i].slot : &processes[i].node.at[axes[k]]) = rest % extent;
            rest /= extent;
        }
    }
    return status;
}

static const struct source {
    const char *name;
    name_reader reader; /* NULL: not from the host name */
} sources[] = {
    {"auto", NULL},
    {"hostname", coordinate_from_hostname},
    {"blue-gene", coordinate_from_blue_gene},
    {"assumed", NULL},
};
const struct pf_table coordinate_sources = PF_TABLE("coordinate source", sources);

static const struct source *named_source(const char *name)
{
    return pf_table_find(&coordinate_sources, name);
}

/* The source that understands every name; "assumed" when none does. */
static const struct source *choose_source(const struct placement_request *q, struct process *processes, int n)
{
    int count = coordinate_sources.count;
    for (int i = 0; i < count; i++)
        if (sources[i].reader && read_names(sources[i].reader, q, processes, n))
            return &sources[i];
    return named_source("assumed");
}

static int locate(const struct placement_request *q, int tasks_per_node, struct process *processes, int n, const char **name)
{
    const struct source *source = named_source(q->coordinates);
    if (source && !strcmp(source->name, "auto"))
        source = choose_source(q, processes, n);
    if (!source)
        return RUNNER_ERROR;
    *name = source->name;
    if (!source->reader)
        return assume(q, tasks_per_node, processes, n);
    if (!read_names(source->reader, q, processes, n))
        return pf_fail(RUNNER_ERROR, "not every host name has %d coordinates of the form '%s'; the first is '%s'",
                       q->torus.dims, source->name, processes[0].host);
    return check_inside(q, processes, n);
}

/* ---- slots and places --------------------------------------------------------------------------------------- */

static const struct process *sorted_by; /* qsort has no context */

static int by_node(const void *a, const void *b)
{
    const struct process *first = sorted_by + *(const int *)a, *second = sorted_by + *(const int *)b;
    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    int host = first->place < 0 ? strcmp(first->host, second->host) : 0;
    return host ? host : first->world_rank - second->world_rank;
}

static bool same_node(const struct process *a, const struct process *b)
{
    return a->place == b->place && (a->place >= 0 || !strcmp(a->host, b->host));
}

/* Number the processes of each node by world rank, where no slot is known. `place` holds the node meanwhile. */
static int count_slots(struct process *processes, int n)
{
    int *order = calloc((size_t)n, sizeof *order);
    if (!order)
        return pf_fail(RUNNER_ERROR, "no memory for a table of %d processes", n);
    for (int i = 0; i < n; i++)
        order[i] = i;
    sorted_by = processes;
    qsort(order, (size_t)n, sizeof *order, by_node);
    for (int i = 0, slot = 0; i < n; i++) {
        struct process *process = &processes[order[i]];
        slot = i && same_node(process, &processes[order[i - 1]]) ? slot + 1 : 0;
        if (process->slot < 0)
            process->slot = slot;
    }
    free(order);
    return 0;
}

static int set_places(const struct placement_request *q, int tasks_per_node, struct process *processes, int n)
{
    char where[COORDINATE_TEXT];
    for (int i = 0; i < n; i++) {
        struct process *process = &processes[i];
        coordinate_text(&process->node, where);
        if (process->slot >= tasks_per_node)
            return pf_fail(RUNNER_ERROR,
                           "node %s ('%s') runs more than %d processes; say --tasks-per-node, or start fewer there", where,
                           process->host, tasks_per_node);
        process->place = torus_node(&q->torus, &process->node) * tasks_per_node + process->slot;
        process->located = true;
    }
    return 0;
}

static int fit(const struct placement_request *q, int n, int *tasks_per_node)
{
    int64_t nodes = torus_nodes(&q->torus);
    char shape[COORDINATE_TEXT];
    torus_text(&q->torus, shape);
    *tasks_per_node = q->tasks_per_node ? q->tasks_per_node : (int)((n + nodes - 1) / nodes);
    if (n > nodes * (double)*tasks_per_node)
        return pf_fail(RUNNER_ERROR, "%d processes do not fit on torus %s with %d per node", n, shape, *tasks_per_node);
    return 0;
}

/* ---- grid ranks --------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct process *first = sorted_by + *(const int *)a, *second = sorted_by + *(const int *)b;
    return (first->place > second->place) - (first->place < second->place);
}

static int refuse_empty_place(const struct placement_request *q, int tasks_per_node, const struct mapfile *m, int rank)
{
    char where[COORDINATE_TEXT];
    struct coordinate node = torus_coordinate(&q->torus, m->place[rank] / tasks_per_node);
    coordinate_text(&node, where);
    return pf_fail(RUNNER_ERROR,
                   "MapfileError: %.200s line %d: no process runs at node %s slot %d; "
                   "start one there, or make the mapfile for the nodes of this job",
                   m->path, m->line[rank], where, (int)(m->place[rank] % tasks_per_node));
}

static int *process_order(const struct process *processes, int n)
{
    int *order = calloc((size_t)n, sizeof *order);
    for (int i = 0; order && i < n; i++)
        order[i] = i;
    sorted_by = processes;
    if (order)
        qsort(order, (size_t)n, sizeof *order, by_place);
    return order;
}

static int find_place(const struct process *processes, const int *order, int n, int64_t place)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (processes[order[middle]].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && processes[order[low]].place == place ? order[low] : -1;
}

static int apply_mapfile(const struct placement_request *q, int tasks_per_node, struct process *processes, int n,
                         struct mapfile *m)
{
    int status = mapfile_read(q->mapfile, n, &q->torus, tasks_per_node, m);
    if (status)
        return status;
    int *order = process_order(processes, n);
    if (!order)
        status = pf_fail(RUNNER_ERROR, "no memory for a table of %d processes", n);
    for (int rank = 0; rank < n && !status; rank++) {
        int process = find_place(processes, order, n, m->place[rank]);
        if (process < 0)
            status = refuse_empty_place(q, tasks_per_node, m, rank);
        else
            processes[process].grid_rank = rank;
    }
    free(order);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- */

static int resolve_on_torus(const struct placement_request *q, struct process *processes, int n, const char **source,
                            int *tasks_per_node)
{
    int status = fit(q, n, tasks_per_node);
    if (!status)
        status = locate(q, *tasks_per_node, processes, n, source);
    for (int i = 0; i < n && !status; i++)
        processes[i].place = torus_node(&q->torus, &processes[i].node);
    if (!status)
        status = count_slots(processes, n);
    return status ? status : set_places(q, *tasks_per_node, processes, n);
}

int placement_resolve(const struct placement_request *q, struct process *processes, int n, const char **source,
                      int *tasks_per_node, struct mapfile *mapfile)
{
    *source = "none";
    *tasks_per_node = q->tasks_per_node;
    for (int i = 0; i < n; i++) {
        processes[i].slot = -1;
        processes[i].place = -1;
        processes[i].located = false;
        processes[i].grid_rank = i;
    }
    if (q->mapfile && !q->has_torus)
        return pf_fail(RUNNER_ERROR, "--mapfile needs --machine-torus, to know what its coordinates mean");
    int status = q->has_torus ? resolve_on_torus(q, processes, n, source, tasks_per_node) : count_slots(processes, n);
    if (!status && q->mapfile)
        status = apply_mapfile(q, *tasks_per_node, processes, n, mapfile);
    return status;
}
