/* Texts of tori, process grids and launch orders, one in each line: what is understood numbers every place once. */
#include <stdlib.h>
#include <string.h>

#include "common/grid.h"
#include "common/torus.h"
#include "target.h"

enum { MOST = 1 << 12 };

static void check_places(const struct torus *torus, const char *order)
{
    struct fill_order fill;
    int tasks;
    int64_t nodes = torus_nodes(torus);
    char text[COORDINATE_TEXT];
    torus_text(torus, text);
    target_hold(nodes >= 1 && torus->dims >= 1 && torus->dims <= MAX_DIMS, "a torus has nodes");
    if (torus_fit(torus, 97, 0, &tasks) || torus_order(torus, tasks, order, &fill) || nodes * tasks > MOST)
        return;
    char taken[MOST] = {0};
    for (int64_t i = 0; i < nodes * tasks; i++) {
        int64_t place = order_place(&fill, i);
        target_hold(place >= 0 && place < nodes * tasks && !taken[place], "an order has every place once");
        taken[place] = 1;
        struct coordinate node = torus_coordinate(torus, place / tasks);
        target_hold(torus_outside(torus, &node) < 0 && torus_node(torus, &node) == place / tasks, "node of a coordinate");
        coordinate_text(&node, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size), *rest = text, *line[3] = {"", "", ""};
    struct torus torus;
    struct grid grid;
    for (int i = 0; i < 3 && rest; i++)
        line[i] = strsep(&rest, "\n");
    if (!torus_parse(line[0], &torus))
        check_places(&torus, line[1]);
    if (!grid_parse(line[2], &grid))
        for (int i = 0; i < grid.dims; i++)
            target_hold(grid.extent[i] >= 1, "a grid has tasks");
    free(text);
    return 0;
}
