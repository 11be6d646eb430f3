/* Chunks that travel beside the FFTs, rows and columns one after the other.
 * Idea:  while a chunk of an exchange travels, the next chunk is made and the chunk before is used. The second exchange
 *        starts only after the first exchange is complete. If long enough, z is cut, to put both exchanges beside FFTs.
 * Source: C. E. Cramer and J. A. Board, The development and integration of a distributed 3D FFT for a cluster of
 *         workstations, Atlanta Linux Showcase 2000: sends started as soon as a part of the lines is done.
 * Cost:  t_row + t_col, of which at best all but a chunk of the work beside them is hidden. Needs: blocks of K indices. */
#include <string.h>

#include "pencilfft.h"
#include "schedule/schedule.h"

enum { USUAL = 4 }; /* a quarter is then not hidden; eight are no faster on a node */

static const enum pf_cut_axis preferred[PF_CUT_AXES] = {PF_CUT_Z, PF_CUT_X, PF_CUT_FIELD};

static int read_text(const char *text, const char *after, struct pf_choice *choice)
{
    int64_t chunks = pf_number_read(after, strlen(after), PF_MAX_CHUNKS);
    pf_chunks_equal(choice, (int)chunks);
    return chunks ? PENCILFFT_OK
                  : pf_fail(PENCILFFT_UNKNOWN_NAME,
                            "schedule '%.100s': after pipelined comes a number of chunks from 1 to %d, as in pipelined:4",
                            text, PF_MAX_CHUNKS);
}

static int settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    int64_t longest = pf_most_chunks(shape);
    if (!choice->chunks)
        pf_chunks_equal(choice, longest < USUAL ? (int)longest : USUAL);
    for (int i = 0; i < PF_CUT_AXES && choice->axis == PF_CUT_BY_RULE; i++)
        if (shape->most[preferred[i]] >= choice->chunks)
            choice->axis = preferred[i];
    return pf_chunks_settle(shape, choice);
}

/* Exchange i, with the pass before the first exchange and the pass behind exchange i. */
static void run_exchange(const struct pf_order *o, int i)
{
    int done = 0;
    bool last = i + 1 == o->exchanges;
    for (int lane = -1; lane < o->lanes; lane++) {
        bool more = lane + 1 < o->lanes;
        if (more && i == 0)
            pf_order_pass(o, 0, lane + 1);
        if (lane >= 0)
            pf_order_finish(o, i, lane);
        if (more)
            pf_order_start(o, i, lane + 1);
        if (last && lane >= 0 && (i > 0 || o->early || lane + 2 >= o->lanes))
            for (; done <= lane; done++)
                pf_order_pass(o, i + 1, done);
        else if (!last && lane >= 0)
            pf_order_pass(o, i + 1, lane);
    }
}

static void order(const struct pf_order *o)
{
    for (int i = 0; i < o->exchanges; i++)
        run_exchange(o, i);
}

const struct pf_schedule pf_schedule_pipelined = {
    .name = "pipelined",
    .takes = "[:K]",
    .keeps_boxes = true,
    .beside = true,
    .read = read_text,
    .settle = settle,
    .order = order,
};
