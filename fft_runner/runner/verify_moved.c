/* Check that data are moved correctly. Every element holds its global index; after each exchange each rank compares its
 * elements with the expected indices. Targets are filled with NaN first, so that unwritten elements are detected. If arrays
 * have several parts, no exchange can run alone, and only the transform itself checks the moves. Remaps are checked by
 * themselves, because they may move real numbers. */
#include <math.h>

#include "runner.h"
#include "values.h"
#include "verify.h"

static double complex value_nothing(const pencilfft_format *format, int64_t index)
{
    (void)format, (void)index;
    return CMPLX(NAN, NAN);
}

/* Values that survive the exchanges of a plan. */
static value_function index_values(const struct problem *p)
{
    double rounding = 0;
    pencilfft_exchange_error(p->plan, &rounding);
    return rounding > 0 ? value_index_single : value_index;
}

static int move_and_count(const struct problem *p, int exchange, int target, void *from, void *to, int64_t *wrong)
{
    struct side side;
    int status = side_of(p, target, &side);
    if (status)
        return status;
    values_fill(&side.part[0], &side.format, value_nothing, to);
    or_abort(pencilfft_transpose(p->plan, exchange, p->direction, from, to));
    *wrong += values_wrong(&side.part[0], &side.format, index_values(p), to);
    return 0;
}

static int check_remap(const struct problem *p, int remap, int64_t *wrong)
{
    int outer = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
    int inner = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INNER_INPUT : PENCILFFT_INNER_OUTPUT;
    bool inwards = (remap == PENCILFFT_REMAP_IN) == (p->direction == PENCILFFT_FORWARD);
    struct side side;
    if (!pencilfft_exchange_stage(p->plan, remap))
        return 0;
    int status = side_of(p, inwards ? outer : inner, &side);
    if (status)
        return status;
    values_fill(&side.part[0], &side.format, index_values(p), p->in);
    return move_and_count(p, remap, inwards ? inner : outer, p->in, p->other, wrong);
}

static int check_exchanges(const struct problem *p, int64_t *wrong)
{
    bool forward = p->direction == PENCILFFT_FORWARD;
    struct side side;
    int exchanges, parts, status = pencilfft_exchanges(p->plan, &exchanges);
    if (!status)
        status = pencilfft_parts(p->plan, PENCILFFT_INNER_OUTPUT, &parts);
    if (!status && parts > 1)
        return status;
    for (int e = 0; e < exchanges && !status; e++) {
        int array[2] = {e, PENCILFFT_BEFORE + e + 1};
        if ((status = side_of(p, array[!forward], &side)))
            return status;
        values_fill(&side.part[0], &side.format, index_values(p), p->in);
        status = move_and_count(p, e, array[forward], p->in, p->other, wrong);
    }
    return status;
}

int verify_moved(const struct problem *p, bool *exact)
{
    int64_t wrong = 0, all = 0;
    int status = check_remap(p, PENCILFFT_REMAP_IN, &wrong);
    *exact = false;
    if (!status)
        status = check_exchanges(p, &wrong);
    if (!status)
        status = check_remap(p, PENCILFFT_REMAP_OUT, &wrong);
    if (status)
        return status;
    CHECK_MPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, p->grid));
    *exact = all == 0;
    return 0;
}
