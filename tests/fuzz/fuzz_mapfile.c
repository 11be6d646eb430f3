/* A mapfile after a line with torus, tasks per node and ranks: what is read has every rank at a place of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mapfile.h"
#include "target.h"

enum { MOST = 1 << 12 };

static void check(const struct torus *torus, int tasks, int ranks, const char *content, size_t size)
{
    struct placing placing;
    char taken[MOST] = {0};
    int status = mapfile_read(target_file(content, size), torus, tasks, ranks, &placing);
    target_forget();
    if (status)
        return;
    for (int i = 0; i < ranks; i++) {
        int64_t place = placing.place[i];
        target_hold(place >= 0 && place < torus_nodes(torus) * tasks && place < MOST && !taken[place],
                    "a rank has its place");
        target_hold(placing.line[i] > 0, "a rank has its line");
        taken[place] = 1;
    }
    placing_release(&placing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size), shape[128] = "";
    const char *content = strchr(text, '\n');
    struct torus torus;
    int tasks = 0, ranks = 0;
    if (content && sscanf(text, "%127s %d %d", shape, &tasks, &ranks) == 3 && !torus_parse(shape, &torus) && tasks > 0 &&
        ranks > 0 && ranks <= MOST && torus_nodes(&torus) <= MOST && tasks <= MOST / torus_nodes(&torus))
        check(&torus, tasks, ranks, content + 1, size - (size_t)(content + 1 - text));
    free(text);
    return 0;
}
