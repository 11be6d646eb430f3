/* Idea:  a source is a row of the table and reads the node of one process; `auto` takes the first source that understands
 *        all processes. Slots are counted in order of launch among the processes of a node, unless the source names slots.
 * Needs: the table of all processes in one place. Cost: O(P log P). */
#include "common/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/whole_file.h"

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

/* The integers at the end of the name without its domain, with single characters between: node-3-0-7, r1c2n3. */
bool coordinate_from_hostname(const char *host, int dims, struct coordinate *node, int *slot)
{
    int end = (int)strcspn(host, ".");
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

/* ---- the sources ------------------------------------------------------------------------------------------------ */

struct clues {
    const struct torus *torus;
    int tasks_per_node;
    const char *argument; /* after the colon; empty without a colon */
    struct fill_order order;
    struct host_table table;
};

/* Node and perhaps slot of a process, or a failure. */
typedef int (*source_reader)(const struct clues *clues, struct seat *seat);

static int from_name(const struct clues *c, const char *name, struct seat *seat)
{
    if (coordinate_from_hostname(name, c->torus->dims, &seat->node, &seat->slot))
        return 0;
    return pf_fail(PF_REFUSED, "process %d: the host name '%.100s' does not end in %d coordinates, as node-3-0-7 does",
                   seat->launched, name, c->torus->dims);
}

static int from_hostname(const struct clues *c, struct seat *seat)
{
    return from_name(c, seat->host, seat);
}

static int from_environment(const struct clues *c, struct seat *seat)
{
    if (!seat->named[0])
        return pf_fail(PF_REFUSED, "PENCILMAP_HOST is not set on process %d; it must hold a name such as node-3-0-7",
                       seat->launched);
    return from_name(c, seat->named, seat);
}

static int from_blue_gene(const struct clues *c, struct seat *seat)
{
    if (coordinate_from_blue_gene(seat->host, c->torus->dims, &seat->node, &seat->slot))
        return 0;
    return pf_fail(PF_REFUSED, "process %d: the processor name '%.100s' is not a Blue Gene name with %d coordinates",
                   seat->launched, seat->host, c->torus->dims);
}

static int from_table(const struct clues *c, struct seat *seat)
{
    return host_table_find(&c->table, seat->named[0] ? seat->named : seat->host, c->torus->dims, &seat->node);
}

static int from_order(const struct clues *c, struct seat *seat)
{
    int64_t place = order_place(&c->order, seat->launched);
    seat->node = torus_coordinate(c->torus, place / c->tasks_per_node);
    seat->slot = (int)(place % c->tasks_per_node);
    return 0;
}

static const struct source {
    const char *name, *usage;
    source_reader read;
    bool automatic; /* auto tries this source */
} sources[] = {
    {"auto", "auto", NULL, false},
    {"environment", "environment", from_environment, true},
    {"blue-gene", "blue-gene", from_blue_gene, true},
    {"hostname", "hostname", from_hostname, true},
    {"table", "table:PATH", from_table, false},
    {"assumed", "assumed[:ORDER]", from_order, false},
};
enum { N_SOURCES = sizeof sources / sizeof sources[0] };

const char *source_name(int i)
{
    return i >= 0 && i < N_SOURCES ? sources[i].name : NULL;
}

const char *source_usage(int i)
{
    return i >= 0 && i < N_SOURCES ? sources[i].usage : NULL;
}

static const char *behind_colon(const char *where)
{
    const char *colon = strchr(where, ':');
    return colon ? colon + 1 : "";
}

/* The source that `where` names, and its argument behind the colon; NULL with a message if there is no such source. */
static const struct source *find_source(const char *where, const char **argument)
{
    char known[PF_MESSAGE_SIZE / 2] = "";
    size_t used = 0, length = strcspn(where, ":");
    *argument = behind_colon(where);
    for (int i = 0; i < N_SOURCES; i++) {
        const struct source *s = &sources[i];
        bool takes_one = strchr(s->usage, ':'), needs_one = takes_one && !strchr(s->usage, '[');
        if (strlen(s->name) == length && !strncmp(where, s->name, length) && (takes_one || !where[length]) &&
            (**argument || !needs_one))
            return s;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", s->usage);
    }
    pf_fail(PF_REFUSED, "unknown coordinate source '%.100s'; known: %s", where, known);
    return NULL;
}

int source_check(const char *where)
{
    const char *argument;
    return find_source(where, &argument) ? 0 : PF_REFUSED;
}

const char *seats_order(const struct seats_request *q, int source)
{
    if (source < 0 || sources[source].read != from_order)
        return NULL;
    const char *argument = behind_colon(q->where ? q->where : "");
    return *argument ? argument : q->order && *q->order ? q->order : USUAL_ORDER;
}

/* ---- nodes of all processes ------------------------------------------------------------------------------------- */

static int read_all(const struct source *source, const struct clues *c, struct seat *seats, int n)
{
    int status = 0;
    for (int i = 0; i < n && !status; i++) {
        seats[i].slot = -1;
        status = source->read(c, &seats[i]);
    }
    return status;
}

static int read_named(const struct source *source, struct clues *c, struct seat *seats, int n)
{
    int status = 0;
    if (source->read == from_table)
        status = host_table_read(c->argument, &c->table);
    else if (source->read == from_order)
        status = torus_order(c->torus, c->tasks_per_node, c->argument, &c->order);
    if (!status)
        status = read_all(source, c, seats, n);
    host_table_release(&c->table);
    return status;
}

static int read_any(const struct seats_request *q, struct clues *c, struct seat *seats, int n, const struct source **source)
{
    for (*source = sources; *source < sources + N_SOURCES; ++*source)
        if ((*source)->automatic && !read_all(*source, c, seats, n))
            return 0;
    if (q->may_assume)
        return read_named(*source = find_source("assumed", &(const char *){NULL}), c, seats, n);
    return pf_fail(PF_REFUSED,
                   "nothing tells where the processes are: '%.100s' has no coordinates of this torus; set PENCILMAP_HOST to "
                   "a name such as node-3-0-7, or take the source table:PATH or assumed (where=, --coordinates)",
                   seats[0].host);
}

static int check_inside(const struct torus *torus, const struct seat *seats, int n)
{
    char where[COORDINATE_TEXT], shape[COORDINATE_TEXT];
    for (int i = 0; i < n; i++) {
        int outside = torus_outside(torus, &seats[i].node);
        if (outside < 0)
            continue;
        coordinate_text(&seats[i].node, where);
        torus_text(torus, shape);
        return pf_fail(
            PF_REFUSED,
            "process %d runs on '%.100s', so at %s, outside torus %s; %c must be 0..%d. Give the machine's shape, "
            "or say assumed if the name means nothing",
            seats[i].launched, seats[i].host, where, shape, torus->letter[outside], torus->extent[outside] - 1);
    }
    return 0;
}

/* ---- slots and places ------------------------------------------------------------------------------------------- */

static const struct seat *sorted_by; /* qsort has no context */

/* Seats of a node, or of a host if nodes are unknown, side by side in order of launch. `place` holds the node. */
static int by_node(const void *a, const void *b)
{
    const struct seat *first = sorted_by + *(const int *)a, *second = sorted_by + *(const int *)b;
    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    int host = first->place < 0 ? strcmp(first->host, second->host) : 0;
    return host ? host : first->launched - second->launched;
}

static int by_place(const void *a, const void *b)
{
    const struct seat *first = sorted_by + *(const int *)a, *second = sorted_by + *(const int *)b;
    return (first->place > second->place) - (first->place < second->place);
}

static bool same_node(const struct seat *a, const struct seat *b)
{
    return a->place == b->place && (a->place >= 0 || !strcmp(a->host, b->host));
}

/* Numbers of the seats in order; NULL with a message without memory. */
static int *sorted(const struct seat *seats, int n, int (*order)(const void *, const void *))
{
    int *numbers = calloc((size_t)n, sizeof *numbers);
    for (int i = 0; numbers && i < n; i++)
        numbers[i] = i;
    sorted_by = seats;
    if (numbers)
        qsort(numbers, (size_t)n, sizeof *numbers, order);
    else
        pf_fail(PF_REFUSED, "no memory for a table of %d processes", n);
    return numbers;
}

static int count_slots(struct seat *seats, int n)
{
    int *order = sorted(seats, n, by_node);
    if (!order)
        return PF_REFUSED;
    for (int i = 0, slot = 0; i < n; i++) {
        struct seat *seat = &seats[order[i]];
        slot = i && same_node(seat, &seats[order[i - 1]]) ? slot + 1 : 0;
        if (seat->slot < 0)
            seat->slot = slot;
    }
    free(order);
    return 0;
}

static int set_places(int tasks_per_node, struct seat *seats, int n)
{
    char where[COORDINATE_TEXT];
    for (int i = 0; i < n; i++) {
        struct seat *seat = &seats[i];
        coordinate_text(&seat->node, where);
        if (seat->slot >= tasks_per_node)
            return pf_fail(PF_REFUSED,
                           "node %s ('%.100s') runs more than %d processes; allow more tasks per node, or start fewer there",
                           where, seat->host, tasks_per_node);
        seat->place = seat->place * tasks_per_node + seat->slot;
        seat->located = true;
    }
    return 0;
}

static int locate_on_torus(const struct seats_request *q, struct seat *seats, int n, const struct source **source,
                           int *tasks_per_node)
{
    int status = torus_fit(&q->torus, n, q->tasks_per_node, tasks_per_node);
    struct clues c = {.torus = &q->torus, .tasks_per_node = *tasks_per_node};
    if (status || !(*source = find_source(q->where ? q->where : "auto", &c.argument)))
        return PF_REFUSED;
    if (!*c.argument && q->order)
        c.argument = q->order;
    status = (*source)->read ? read_named(*source, &c, seats, n) : read_any(q, &c, seats, n, source);
    if (!status)
        status = check_inside(&q->torus, seats, n);
    for (int i = 0; i < n && !status; i++)
        seats[i].place = torus_node(&q->torus, &seats[i].node);
    if (!status)
        status = count_slots(seats, n);
    return status ? status : set_places(*tasks_per_node, seats, n);
}

int seats_locate(const struct seats_request *q, struct seat *seats, int n, int *number, int *tasks_per_node)
{
    const struct source *source = NULL;
    *tasks_per_node = q->tasks_per_node;
    for (int i = 0; i < n; i++) {
        seats[i].slot = -1;
        seats[i].place = -1;
        seats[i].located = false;
    }
    int status = q->has_torus ? locate_on_torus(q, seats, n, &source, tasks_per_node) : count_slots(seats, n);
    *number = source ? (int)(source - sources) : -1;
    return status;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------ */

static int refuse_empty_place(const struct torus *torus, int tasks_per_node, const struct placing *p, int rank)
{
    char where[COORDINATE_TEXT], line[64];
    struct coordinate node = torus_coordinate(torus, p->place[rank] / tasks_per_node);
    coordinate_text(&node, where);
    snprintf(line, sizeof line, p->line ? "line %d" : "rank %d", p->line ? p->line[rank] : rank);
    return pf_fail(
        PF_REFUSED,
        "%s%.200s %s: no process runs at node %s slot %d; start one there, or make the placement for the nodes of "
        "this job",
        p->line ? "MapfileError: " : "", p->name, line, where, (int)(p->place[rank] % tasks_per_node));
}

static int with_place(const void *place, const void *number)
{
    int64_t wanted = *(const int64_t *)place, found = sorted_by[*(const int *)number].place;
    return (wanted > found) - (wanted < found);
}

/* Number of the seat at that place, or -1. */
static int find_place(const int *order, int n, int64_t place)
{
    const int *found = bsearch(&place, order, (size_t)n, sizeof *order, with_place);
    return found ? *found : -1;
}

int seats_rank(const struct torus *torus, int tasks_per_node, const struct placing *placing, struct seat *seats, int n)
{
    int status = 0, *order = sorted(seats, n, by_place);
    if (!order)
        return PF_REFUSED;
    for (int rank = 0; rank < n && !status; rank++) {
        int seat = placing ? find_place(order, n, placing->place[rank]) : rank;
        if (seat < 0)
            status = refuse_empty_place(torus, tasks_per_node, placing, rank);
        else
            seats[seat].rank = rank;
    }
    free(order);
    return status;
}

/* ---- a table of hosts ------------------------------------------------------------------------------------------------- */

/* Idea:  the text is read once, its lines are sorted by name, and hosts are looked up by bisection. */

enum { LIMIT = 1 << 26 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct host_line *)a)->name, ((const struct host_line *)b)->name);
}

static int read_text(struct host_table *t)
{
    FILE *file = text_file_open(t->path, "");
    if (!file)
        return PF_REFUSED;
    size_t size = 1 << 16, found = 0, got = 1;
    while (got && found <= LIMIT) {
        char *larger = realloc(t->text, size *= 2);
        if (!larger)
            break;
        t->text = larger;
        found += got = fread(t->text + found, 1, size - found - 1, file);
        t->text[found] = '\0';
    }
    bool whole = !ferror(file) && !got;
    fclose(file);
    return whole ? 0 : pf_fail(PF_REFUSED, "%.200s cannot be read, or is longer than %d bytes", t->path, LIMIT);
}

static int split_lines(struct host_table *t)
{
    int most = 1;
    for (const char *at = t->text; (at = strchr(at, '\n')); at++)
        most++;
    if (!(t->lines = calloc((size_t)most, sizeof *t->lines)))
        return pf_fail(PF_REFUSED, "no memory for a table of %d hosts", most);
    char *next = NULL;
    for (char *line = strtok_r(t->text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        char *name = line + strspn(line, " \t\r"), *end = name + strcspn(name, " \t\r");
        if (!*name || *name == '#')
            continue;
        t->lines[t->n++] = (struct host_line){name, *end ? end + 1 : end};
        *end = '\0';
    }
    qsort(t->lines, (size_t)t->n, sizeof *t->lines, by_name);
    for (int i = 1; i < t->n; i++)
        if (!by_name(&t->lines[i - 1], &t->lines[i]))
            return pf_fail(PF_REFUSED, "%.200s has two lines for host '%.100s'; one is needed", t->path, t->lines[i].name);
    return 0;
}

int host_table_read(const char *path, struct host_table *t)
{
    *t = (struct host_table){.path = path};
    int status = read_text(t);
    return status ? status : split_lines(t);
}

void host_table_release(struct host_table *t)
{
    free(t->text);
    free(t->lines);
    *t = (struct host_table){.path = NULL};
}

static bool read_coordinates(const char *at, int dims, struct coordinate *node)
{
    node->dims = dims;
    for (int i = 0; i < dims; i++) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || value < 0 || value > 1 << 30)
            return false;
        node->at[i] = (int)value;
        at = end;
    }
    return true;
}

int host_table_find(const struct host_table *t, const char *host, int dims, struct coordinate *node)
{
    char bare[256];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(host, "."), host);
    const struct host_line *line = bsearch(&(struct host_line){host, ""}, t->lines, (size_t)t->n, sizeof *line, by_name);
    if (!line)
        line = bsearch(&(struct host_line){bare, ""}, t->lines, (size_t)t->n, sizeof *line, by_name);
    if (line && read_coordinates(line->rest, dims, node))
        return 0;
    return pf_fail(PF_REFUSED, "host '%.100s' has no line 'NAME %s' in %.200s", host, dims == 3 ? "x y z" : "coordinates",
                   t->path);
}
