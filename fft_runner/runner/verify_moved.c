/* Are data moved rightly?  Every element holds its global index; after each exchange each rank knows what it must hold.
 * Targets are filled with NaN before, so that an element that was not written is seen. */
#include <math.h>

#include "check_mpi.h"
#include "values.h"
#include "verify.h"

struct move {
    pencilfft_exchange exchange;
    pencilfft_pencil to;
};

static const struct move moves[2][2] = {
    {{PENCILFFT_ROW, PENCILFFT_Y_PENCIL}, {PENCILFFT_COLUMN, PENCILFFT_X_PENCIL}},
    {{PENCILFFT_COLUMN, PENCILFFT_Y_PENCIL}, {PENCILFFT_ROW, PENCILFFT_Z_PENCIL}},
};

static double complex value_nothing(int64_t index)
{
    (void)index;
    return CMPLX(NAN, NAN);
}

static int move_and_count(const struct problem *p, const struct move *move, void *from, void *to, int64_t *wrong)
{
    pencilfft_box box;
    int status = pencilfft_box_mine(p->plan, move->to, &box);
    if (status)
        return status;
    values_fill(&box, p->n, value_nothing, to);
    if ((status = pencilfft_transpose(p->plan, move->exchange, p->direction, from, to)))
        return status;
    *wrong += values_wrong(&box, p->n, value_index, to);
    return status;
}

int verify_moved(const struct problem *p, bool *exact)
{
    const struct move *move = moves[p->direction == PENCILFFT_BACKWARD];
    pencilfft_box box;
    int64_t wrong = 0, all = 0;
    int status = pencilfft_box_mine(p->plan, input_pencil(p), &box);
    if (status)
        return status;
    values_fill(&box, p->n, value_index, p->in);
    if (!(status = move_and_count(p, &move[0], p->in, p->out, &wrong)))
        status = move_and_count(p, &move[1], p->out, p->in, &wrong);
    if (status)
        return status;
    CHECK_MPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, p->grid));
    *exact = all == 0;
    return status;
}
