/* The two texts of pm_comm_reorder, a line each: a placement that is made has every rank at a place of its own. */
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "placing.h"
#include "request.h"
#include "target.h"

enum { MOST = 1 << 12 };

static void check(struct pm_request *request, int ranks)
{
    struct placing placing;
    char taken[MOST] = {0};
    int tasks = 0;
    const struct torus *torus = &request->seats.torus;
    if (torus_fit(torus, ranks, request->seats.tasks_per_node, &tasks) || torus_nodes(torus) * tasks > MOST ||
        !strncmp(request->placement, "file", 4)) /* fuzz_mapfile reads those */
        return;
    if (pm_place_ranks(request, torus, tasks, ranks, &placing))
        return;
    for (int i = 0; i < ranks; i++) {
        int64_t place = placing.place[i];
        target_hold(place >= 0 && place < torus_nodes(torus) * tasks && !taken[place], "a rank has a place of its own");
        taken[place] = 1;
    }
    placing_release(&placing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size), *rest = text;
    const char *machine = strsep(&rest, "\n");
    struct grid grid;
    struct pm_request *request = malloc(sizeof *request);
    int64_t ranks = 1;
    if (!request)
        abort();
    bool understood = rest && !grid_parse(rest, &grid);
    for (int i = 0; understood && i < grid.dims && ranks <= MOST; i++)
        ranks *= grid.extent[i];
    if (!pm_request_parse(machine, rest ? rest : "", ranks <= MOST ? (int)ranks : 1, request) && understood && ranks <= MOST)
        check(request, (int)ranks);
    target_hold(strlen(pf_message()) < PF_MESSAGE_SIZE, "messages end");
    free(request);
    free(text);
    return 0;
}
