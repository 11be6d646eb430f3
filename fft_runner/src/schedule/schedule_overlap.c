/* Rows and columns at once, by chunks.
 * Idea:  the row exchange of chunk j + 1 travels beside the column exchange of chunk j, over links that would else be idle.
 *        One chunk of the first exchange is in flight at a time: if all were posted at once, they would share the links,
 *        arrive together, and nothing would be gained. The pass of chunk j + 1 runs before the wait for chunk j, so that the
 *        network never waits for the pass; the last exchange is waited for when its data are needed.
 * Source: two machines of a flow shop with lots that are streamed (C. N. Potts, K. R. Baker, Flow shop scheduling with lot
 *         streaming, Operations Research Letters 8, 1989).
 * Cost:  T(K) = (t_row + (K - 1) t_joint + t_col) / K, where t_joint is the time of the link with the largest joint load; K
 *        times as many messages. Needs: a block of K indices along the cut axis. */
#include <stdio.h>
#include <string.h>

#include "pencilfft.h"
#include "schedule/schedule.h"

enum { LEAST = 2, MOST = 8 }; /* chunks by rule */

static int refuse(const char *text, const struct pf_choice *choice)
{
    return pf_fail(PENCILFFT_UNKNOWN_NAME,
                   "schedule '%.100s': after overlap comes a number of chunks from 1 to %d, or their sizes, from 1 to %d "
                   "each, and then an axis, %c, %c or field: overlap:4, overlap:1,2,4:%c",
                   text, PF_MAX_CHUNKS, PF_MAX_SIZE, choice->letter[0], choice->letter[1], choice->letter[1]);
}

static int read_text(const char *text, const char *after, struct pf_choice *choice)
{
    size_t length = strcspn(after, ":");
    char name[PF_CUT_NAME];
    if (!pf_chunks_read(after, length, choice))
        return refuse(text, choice);
    if (!after[length])
        return PENCILFFT_OK;
    for (int axis = 0; axis < PF_CUT_AXES; axis++)
        if (!strcmp(after + length + 1, pf_cut_name(choice, (enum pf_cut_axis)axis, name))) {
            choice->axis = (enum pf_cut_axis)axis;
            return PENCILFFT_OK;
        }
    return refuse(text, choice);
}

/* As many chunks as leave messages with a transfer longer than their start, at most the indices of the longest axis. */
static int by_rule(const struct pf_shape *shape)
{
    int64_t chunks = shape->message_bytes / shape->enough_bytes, longest = pf_most_chunks(shape);
    chunks = chunks < LEAST ? LEAST : chunks > MOST ? MOST : chunks;
    return (int)(chunks < longest ? chunks : longest);
}

static int settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    if (!choice->chunks)
        pf_chunks_equal(choice, by_rule(shape));
    return pf_chunks_settle(shape, choice);
}

static void write_text(const struct pf_choice *choice, char text[PF_SCHEDULE_TEXT])
{
    bool equal = true;
    for (int k = 1; k < choice->chunks; k++)
        equal &= choice->size[k] == choice->size[0];
    int used = snprintf(text, PF_SCHEDULE_TEXT, "%s", choice->schedule->name);
    if (choice->chunks && equal)
        used += snprintf(text + used, PF_SCHEDULE_TEXT - (size_t)used, ":%d", choice->chunks);
    for (int k = 0; k < choice->chunks && !equal; k++)
        used += snprintf(text + used, PF_SCHEDULE_TEXT - (size_t)used, "%c%lld", k ? ',' : ':', (long long)choice->size[k]);
    if (choice->axis != PF_CUT_BY_RULE) {
        char name[PF_CUT_NAME];
        snprintf(text + used, PF_SCHEDULE_TEXT - (size_t)used, ":%s", pf_cut_name(choice, choice->axis, name));
    }
}

static void order(const struct pf_order *o)
{
    int done = 0;
    pf_order_pass(o, 0, 0);
    pf_order_start(o, 0, 0);
    for (int lane = 0; lane < o->lanes; lane++) {
        bool more = lane + 1 < o->lanes;
        if (more)
            pf_order_pass(o, 0, lane + 1);
        pf_order_finish(o, 0, lane);
        if (more)
            pf_order_start(o, 0, lane + 1);
        for (int pass = 1; pass < o->exchanges; pass++) {
            if (pass > 1)
                pf_order_finish(o, pass - 1, lane);
            pf_order_pass(o, pass, lane);
            pf_order_start(o, pass, lane);
        }
        /* With one exchange, its lane has arrived; with two, the lane before has, while this lane travels. */
        if (o->by_lane[o->exchanges])
            pf_order_last(o, &done, o->exchanges > 1 ? lane : lane + 1, lane + 2 >= o->lanes);
    }
    pf_order_last(o, &done, o->lanes, true);
}

const struct pf_schedule pf_schedule_overlap = {
    .name = "overlap",
    .takes = "[:K|S1,S2,...[:x|z|field]]",
    .keeps_boxes = true,
    .beside = true,
    .read = read_text,
    .settle = settle,
    .write = write_text,
    .order = order,
};
