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

static double complex value_nothing(const pencilfft_format *format, int64_t index)
{
    (void)format, (void)index;
    return CMPLX(NAN, NAN);
}

static int move_and_count(const struct problem *p, const struct move *move, void *from, void *to, int64_t *wrong)
{
    struct side side;
    int status = side_of(p, move->to, &side);
    if (status)
        return status;
    values_fill(&side.box, &side.format, value_nothing, to);
    or_abort(pencilfft_transpose(p->plan, move->exchange, p->direction, from, to));
    *wrong += values_wrong(&side.box, &side.format, value_index, to);
    return status;
}

int verify_moved(const struct problem *p, bool *exact)
{
    const struct move *move = moves[p->direction == PENCILFFT_BACKWARD];
    struct side side;
    int64_t wrong = 0, all = 0;
    int status = side_of(p, p->direction == PENCILFFT_FORWARD ? PENCILFFT_Z_PENCIL : PENCILFFT_X_PENCIL, &side);
    if (status)
        return status;
    values_fill(&side.box, &side.format, value_index, p->in);
    if (!(status = move_and_count(p, &move[0], p->in, p->other, &wrong)))
        status = move_and_count(p, &move[1], p->other, p->in, &wrong);
    if (status)
        return status;
    CHECK_MPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, p->grid));
    *exact = all == 0;
    return status;
}
