/* Where each process is.
 * Idea:  a source is one row of a table and reads the coordinates from what one process knows; "auto" takes the first source
 *        that works on all processes, by one all-reduce a source. Then one all-gather of node and slot numbers the slots.
 * Cost:  16 bytes a process on every process, and O(P) to count. */
#include "where.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "placement.h"
#include "pm_reorder.h"

enum { TABLE_LIMIT = 1 << 26 };

/* What a process can go by. */
struct clues {
    const struct pm_request *request;
    const char *argument; /* after the colon of where= */
    int rank;
    char host[MPI_MAX_PROCESSOR_NAME + 1];
    char *table; /* text of the table, on every process; NULL without one */
};

/* A source: 0 with the node and perhaps the slot (else -1), or a failure. */
typedef int (*source_reader)(const struct clues *clues, struct coordinate *node, int *slot);

static int from_name(const struct clues *c, const char *name, struct coordinate *node, int *slot)
{
    int dims = c->request->torus.dims;
    char short_name[HOST_SIZE];
    snprintf(short_name, sizeof short_name, "%.*s", (int)strcspn(name, "."), name);
    if (coordinate_from_hostname(short_name, dims, node, slot))
        return 0;
    return pf_fail(PM_ERROR, "the host name '%.100s' does not end in %d coordinates; say where= another way", name, dims);
}

static int from_hostname(const struct clues *c, struct coordinate *node, int *slot)
{
    return from_name(c, c->host, node, slot);
}

static int from_environment(const struct clues *c, struct coordinate *node, int *slot)
{
    const char *name = getenv("PENCILMAP_HOST");
    if (!name)
        return pf_fail(PM_ERROR, "PENCILMAP_HOST is not set on process %d; it must hold a name such as node-3-0-7", c->rank);
    return from_name(c, name, node, slot);
}

static int from_blue_gene(const struct clues *c, struct coordinate *node, int *slot)
{
    if (coordinate_from_blue_gene(c->host, c->request->torus.dims, node, slot))
        return 0;
    return pf_fail(PM_ERROR, "the processor name '%.100s' is not that of a Blue Gene", c->host);
}

static int from_order(const struct clues *c, struct coordinate *node, int *slot)
{
    int axes[MAX_DIMS + 1], status = pm_axis_order(&c->request->torus, c->argument, axes);
    if (status)
        return status;
    int64_t place = pm_place_in_order(c->request, axes, c->rank);
    *node = torus_coordinate(&c->request->torus, place / c->request->tasks);
    *slot = (int)(place % c->request->tasks);
    return 0;
}

/* Whether a line of the table is about this host; then its coordinates. */
static bool read_table_line(const char *line, const char *host, int dims, struct coordinate *node)
{
    size_t name = strcspn(line, " \t\r\n");
    size_t wanted = strlen(host), shorter = strcspn(host, ".");
    if (strncmp(line, host, name) || (name != wanted && name != shorter))
        return false;
    const char *at = line + name;
    for (int i = 0; i < dims; i++) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || value < 0 || value > 1 << 30)
            return false;
        node->at[i] = (int)value;
        at = end;
    }
    node->dims = dims;
    return true;
}

static int from_table(const struct clues *c, struct coordinate *node, int *slot)
{
    const char *host = getenv("PENCILMAP_HOST") ? getenv("PENCILMAP_HOST") : c->host;
    for (const char *line = c->table; line && *line;) {
        while (isspace((unsigned char)*line))
            line++;
        if (*line && read_table_line(line, host, c->request->torus.dims, node))
            return *slot = -1, 0;
        line = strchr(line, '\n');
    }
    return pf_fail(PM_ERROR, "host '%.100s' has no line 'NAME %s' in %.200s", host,
                   c->request->torus.dims == 3 ? "x y z" : "coordinates", c->argument);
}

static const struct source {
    const char *name;
    source_reader reader;
    bool automatic; /* whether where=auto tries it */
} sources[] = {
    {"environment", from_environment, true}, {"blue-gene", from_blue_gene, true},
    {"hostname", from_hostname, true},       {"table", from_table, false},
    {"assumed", from_order, false},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* ---- the table, from rank 0 to all ---------------------------------------------------------------------------------- */

static int read_text(const char *path, char **text, int *length)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return pf_fail(PM_ERROR, "%.200s cannot be opened: %s", path, strerror(errno));
    int status = 0;
    *text = malloc(TABLE_LIMIT + 1);
    size_t found = *text ? fread(*text, 1, TABLE_LIMIT + 1, file) : 0;
    if (!*text || ferror(file) || found > TABLE_LIMIT)
        status = pf_fail(PM_ERROR, "%.200s cannot be read, or is longer than %d bytes", path, TABLE_LIMIT);
    *length = (int)found;
    fclose(file);
    return status;
}

static int share_table(struct clues *c, MPI_Comm comm)
{
    int length = 0, status = 0;
    if (c->rank == 0)
        status = read_text(c->argument, &c->table, &length);
    if ((status = pf_agree(status, comm)))
        return status;
    PF_MPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
    if (c->rank)
        c->table = malloc((size_t)length + 1);
    if ((status = pf_agree(c->table ? 0 : pf_fail(PM_ERROR, "no memory for a table of %d bytes", length), comm)))
        return status;
    PF_MPI(MPI_Bcast(c->table, length, MPI_CHAR, 0, comm));
    c->table[length] = '\0';
done:
    return status;
}

/* ---- one source for all --------------------------------------------------------------------------------------------- */

static int check_inside(const struct clues *c, const struct coordinate *node)
{
    char where[COORDINATE_TEXT], shape[COORDINATE_TEXT];
    if (torus_outside(&c->request->torus, node) < 0)
        return 0;
    coordinate_text(node, where);
    torus_text(&c->request->torus, shape);
    return pf_fail(PM_ERROR, "process %d is on '%.100s', so at %s, outside torus %s", c->rank, c->host, where, shape);
}

static int read_source(const struct source *source, const struct clues *c, struct coordinate *node, int *slot)
{
    *slot = -1;
    int status = source->reader(c, node, slot);
    return status ? status : check_inside(c, node);
}

static int read_any(const struct clues *c, MPI_Comm comm, struct coordinate *node, int *slot)
{
    for (int i = 0; i < SOURCES; i++)
        if (sources[i].automatic && !pf_agree(read_source(&sources[i], c, node, slot), comm))
            return 0;
    return pf_agree(pf_fail(PM_ERROR,
                            "no way to know where process %d is: '%.100s' tells no coordinates of this torus; say "
                            "where=table:PATH, where=environment or where=assumed",
                            c->rank, c->host),
                    comm);
}

static int read_named(const struct clues *given, MPI_Comm comm, struct coordinate *node, int *slot)
{
    struct clues c = *given;
    for (int i = 0; i < SOURCES; i++)
        if ((c.argument = pm_argument(c.request->where, sources[i].name))) {
            int status = sources[i].reader == from_table ? share_table(&c, comm) : 0;
            if (!status)
                status = pf_agree(read_source(&sources[i], &c, node, slot), comm);
            free(c.table);
            return status;
        }
    return pf_agree(pf_fail(PM_ERROR,
                            "where=%.60s is unknown; known: auto, environment, hostname, blue-gene, table:PATH, "
                            "assumed[:ORDER]",
                            c.request->where),
                    comm);
}

/* ---- slots ---------------------------------------------------------------------------------------------------------- */

static int check_slot(const struct pm_request *r, const struct pm_seat *seat)
{
    if (seat->slot < r->tasks)
        return 0;
    return pf_fail(PM_ERROR, "node %lld runs more than %d processes; say tasks=T, or start fewer there",
                   (long long)seat->node, r->tasks);
}

static int number_slots(const struct pm_request *r, MPI_Comm comm, struct pm_seat *mine)
{
    int status, rank, unnumbered = mine->slot < 0;
    struct pm_seat *seats = calloc((size_t)r->ranks, sizeof *seats);
    if ((status = pf_agree(seats ? 0 : pf_fail(PM_ERROR, "no memory for %d seats", r->ranks), comm)))
        goto done;
    PF_MPI(MPI_Comm_rank(comm, &rank));
    PF_MPI(MPI_Allgather(mine, 2, MPI_INT64_T, seats, 2, MPI_INT64_T, comm));
    if (unnumbered)
        mine->slot = 0;
    for (int i = 0; i < rank && unnumbered; i++)
        mine->slot += seats[i].node == mine->node;
    status = pf_agree(check_slot(r, mine), comm);
done:
    free(seats);
    return status;
}

int pm_find_seat(const struct pm_request *r, MPI_Comm comm, struct pm_seat *seat)
{
    struct clues clues = {.request = r, .argument = ""};
    struct coordinate node = {.dims = 0};
    int slot = -1, length = 0, status = 0;
    PF_MPI(MPI_Comm_rank(comm, &clues.rank));
    PF_MPI(MPI_Get_processor_name(clues.host, &length));
    if (!strcmp(r->where, "auto"))
        status = read_any(&clues, comm, &node, &slot);
    else
        status = read_named(&clues, comm, &node, &slot);
    if (status)
        goto done;
    *seat = (struct pm_seat){torus_node(&r->torus, &node), slot};
    status = number_slots(r, comm, seat);
done:
    return status;
}
