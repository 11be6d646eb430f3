/* A host name, then a table of hosts: coordinates come from either, from Blue Gene's names too, or a refusal. */
#include <stdlib.h>
#include <string.h>

#include "common/host_table.h"
#include "common/sources.h"
#include "target.h"

static void check_name(const char *host, int dims)
{
    struct coordinate node;
    int slot;
    if (coordinate_from_hostname(host, dims, &node, &slot))
        for (int i = 0; i < dims; i++)
            target_hold(node.at[i] >= 0, "coordinates in a name are digits");
    coordinate_from_blue_gene(host, dims, &node, &slot);
}

/* The job of two processes with these names: they sit apart, and inside the torus. */
static void check_seats(const char *host, const char *where)
{
    struct seats_request request = {.has_torus = true, .where = where, .may_assume = true};
    struct seat seats[2] = {{.launched = 0, .node.dims = 0}, {.launched = 1, .node.dims = 0}};
    int source, tasks;
    torus_parse("4x3x2", &request.torus);
    strncpy(seats[0].host, host, HOST_SIZE - 1);
    strncpy(seats[1].host, "node-3-0-1", HOST_SIZE - 1);
    if (seats_locate(&request, seats, 2, &source, &tasks))
        return;
    for (int i = 0; i < 2; i++)
        target_hold(seats[i].place >= 0 && seats[i].place < 24 * (int64_t)tasks, "a process sits inside");
    target_hold(seats[0].place != seats[1].place || tasks == 1, "two processes do not share a place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size), *content = text, where[128] = "table:";
    const char *host = strsep(&content, "\n");
    struct host_table table;
    struct coordinate node;
    for (int dims = 1; dims <= MAX_DIMS; dims++)
        check_name(host, dims);
    size_t left = content ? size - (size_t)(content - text) : 0;
    if (!host_table_read(target_file(content ? content : "", left), &table))
        for (int dims = 1; dims <= MAX_DIMS; dims++)
            host_table_find(&table, host, dims, &node);
    host_table_release(&table);
    target_forget();
    strcat(where, target_file(content ? content : "", left));
    check_seats(host, where);
    check_seats(host, NULL);
    target_forget();
    free(text);
    return 0;
}
