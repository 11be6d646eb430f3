/* Placements without MPI: reads pairs of lines MACHINE, GRID and prints for each pair the places of the ranks in one line,
 * or "refused: " and the message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "placing.h"

static int place(const struct pm_request *r, int ranks)
{
    struct placing p;
    int tasks, status = torus_fit(&r->seats.torus, ranks, r->seats.tasks_per_node, &tasks);
    if (status || (status = pm_place_ranks(r, &r->seats.torus, tasks, ranks, &p)))
        return status;
    for (int i = 0; i < ranks; i++)
        printf("%lld ", (long long)p.place[i]);
    placing_release(&p);
    return 0;
}

int main(void)
{
    char machine[2 * PM_VALUE_SIZE], grid[64];
    while (fgets(machine, sizeof machine, stdin) && fgets(grid, sizeof grid, stdin)) {
        struct pm_request request;
        struct grid parsed;
        int ranks = 1;
        machine[strcspn(machine, "\n")] = grid[strcspn(grid, "\n")] = '\0';
        for (int i = grid_parse(grid, &parsed) ? -1 : parsed.dims - 1; i >= 0; i--)
            ranks *= parsed.extent[i];
        if (pm_request_parse(machine, grid, ranks, &request) || place(&request, ranks))
            printf("refused: %s", pf_message());
        printf("\n");
    }
    return 0;
}
